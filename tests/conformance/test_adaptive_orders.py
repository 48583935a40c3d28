"""Adaptive spectral runs: errors follow the tolerance, the order is the declared one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pdes
from pdes.solvers import SolverDivergence, rollout
from pdes.time import INTEGRATORS

# End of the run, parameters.
CASES: dict[str, tuple[float, dict[str, Any]]] = {
    "burgers": (1.0, {"viscosity": 0.05}),
    "kdv": (1.0, {}),
    "fisher_kpp": (4.0, {}),
    "allen_cahn": (4.0, {}),
}
TOLERANCES = 10.0 ** -np.arange(4.0, 9.0)


@pytest.mark.parametrize("name", CASES)
def test_error_follows_the_tolerance(name: str) -> None:
    """Error per step ~ tolerance, so the error at the end ~ tolerance^(4/5) and steps^-4."""
    stop, parameters = CASES[name]
    problem = pdes.get(name, **parameters, stored_points=None)
    times = [0.3 * stop, stop]
    assert problem.time_step is not None
    wanted = pdes.simulate(problem, times, time_step=problem.time_step / 2.0).u.values[-1]
    errors, steps = [], []
    for rtol in TOLERANCES:
        data = pdes.simulate(problem, times, rtol=rtol)
        errors.append(np.linalg.norm(data.u.values[-1] - wanted) / np.linalg.norm(wanted))
        steps.append(json.loads(data.attrs["solver"])["steps"])
    assert np.all(np.array(errors) < TOLERANCES), errors
    slope = np.polyfit(np.log(TOLERANCES), np.log(errors), 1)[0]
    assert 0.65 < slope < 1.0, (slope, errors)
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order > INTEGRATORS["etdrk4"].order - 0.15, (order, errors, steps)


@pytest.mark.parametrize("method", ["rk4", "ssprk3"])
def test_explicit_methods_keep_a_tolerance(method: str) -> None:
    """Stability limits their step: the estimate notices, and the error stays below."""
    grid = pdes.Grid.periodic(x=(0.0, 4 * np.pi, 64))
    problem = pdes.get("fisher_kpp", grid=grid, stored_points=None)
    wanted = pdes.simulate(problem, [2.0], solver="etdrk4", time_step=0.005).u.values
    found = pdes.simulate(problem, [2.0], solver=method, rtol=1e-7).u.values
    assert 0.0 < np.linalg.norm(found - wanted) < 1e-6 * np.linalg.norm(wanted)


def test_a_first_step_that_is_too_long_is_taken_back() -> None:
    problem = pdes.get("allen_cahn", stored_points=None)
    data = pdes.simulate(problem, [0.0, 0.37, 4.0], rtol=1e-8, time_step=2.0)
    record = json.loads(data.attrs["solver"])
    assert record["rejected"] >= 1
    assert record["rtol"] == 1e-8
    # Lands on the output times, not near them.
    halfway = pdes.simulate(problem, [0.37], time_step=0.005)
    assert float(abs(data.u[1] - halfway.u[0]).max()) < 1e-7


def test_steps_stay_below_the_longest_allowed() -> None:
    data = pdes.simulate(pdes.get("burgers"), [0.0, 0.5], rtol=1e-2, time_step=0.004)
    record = json.loads(data.attrs["solver"])
    assert record["time_step"] <= 0.004
    assert record["steps"] == 125


def test_a_linear_equation_is_solved_in_one_step() -> None:
    data = pdes.simulate(pdes.get("heat_one_mode"), [0.0, 1.0], rtol=1e-6)
    assert json.loads(data.attrs["solver"])["steps"] == 1


def test_every_sample_of_a_batch_meets_the_tolerance() -> None:
    problem = pdes.get("burgers", stored_points=None)
    batch = pdes.simulate(problem, [0.5], samples=2, rtol=1e-6)
    wanted = pdes.simulate(problem, [0.5], samples=2)
    errors = np.linalg.norm(batch.u.values - wanted.u.values, axis=-1)
    assert np.all(errors < 1e-6 * np.linalg.norm(wanted.u.values, axis=-1))


def test_torch_takes_the_same_steps_and_keeps_gradients() -> None:
    torch = pytest.importorskip("torch")
    grid = pdes.Grid.periodic(x=(0.0, 2 * np.pi, 64))
    problem = pdes.get("burgers", grid=grid, stored_points=None)
    x = problem.grid.coordinates()["x"]
    runs, times = [], np.array([0.5])
    start = torch.tensor(np.sin(x), requires_grad=True)
    for u in (np.sin(x), start):
        runs.append(rollout(problem.equation, problem.grid, {"u": u}, times, rtol=1e-6))
    assert runs[0].steps == runs[1].steps
    values = runs[1].fields["u"]
    assert np.max(np.abs(values.detach().numpy() - runs[0].fields["u"])) < 1e-12
    (gradient,) = torch.autograd.grad(values.sum(), start)
    # The equation conserves the integral.
    assert float((gradient - 1.0).abs().max()) < 1e-10


def test_bad_tolerances_are_refused() -> None:
    for rtol in (0.0, -1e-3, 1.0, float("nan")):
        with pytest.raises(ValueError, match="rtol"):
            pdes.simulate(pdes.get("burgers"), [0.1], rtol=rtol)
    with pytest.raises(ValueError, match="'weno5' takes equal steps"):
        pdes.simulate(pdes.get("burgers_inviscid"), [0.1], solver="weno5", rtol=1e-4)
    with pytest.raises(ValueError, match="rtol"):
        pdes.simulate(pdes.get("allen_cahn_cosine"), [0.1], solver="exact", rtol=1e-4)


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_a_run_that_blows_up_says_so() -> None:
    """``u_t = u^2`` from 1 is infinite at t = 1."""
    problem = pdes.Problem(
        equation=pdes.Equation.from_text("u_t = u^2 + 0.1*u_xx", name="blow_up"),
        grid=pdes.Grid.periodic(x=(0.0, 1.0, 16)),
        initial=lambda grid, rng: {"u": np.ones(grid.shape)},
        times=np.array([0.5, 2.0]),
    )
    with pytest.raises(SolverDivergence, match="no step meets rtol") as caught:
        pdes.simulate(problem, rtol=1e-6)
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    data = pdes.simulate(problem, rtol=1e-6, strict=False)
    assert data.attrs["status"] == "diverged"
    assert data.u[0].values == pytest.approx(2.0, rel=1e-5)
    assert np.all(np.isnan(data.u[1]))
