"""Runs that would take millions of steps are refused, or given up on the way."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
from pdes import Equation, Grid
from pdes.solvers.lines import StepLimits, march_lines
from pdes.solvers.staggered.flow import StaggeredFlow
from pdes.solvers.staggered.march import FlowMarch
from pdes.solvers.step_budget import MOST_STEPS, over_budget


def _wave(text: str, size: float, **options) -> pdes.Problem:
    return pdes.Problem(
        equation=Equation.from_text(text, name="test"),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 64)),
        initial=lambda grid, rng: {"u": size * np.sin(grid.coordinates()["x"])},
        times=np.array([0.0, 10.0]),
        **options,
    )


def test_the_message_counts_what_is_done_and_what_is_left() -> None:
    assert over_budget(1.0, 1.0 / MOST_STEPS) == ""
    said = over_budget(2.0, 1e-6, done=5)
    assert "another 2e+06 steps after 5 to cover a time of 2, above 2000000 in all" in said
    assert said.endswith("insist with time_step=1e-06")
    assert "inf steps" in over_budget(1.0, 0.0)


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
@pytest.mark.parametrize("solver", ["etdrk4", "rk4", "weno5", "finite_difference"])
def test_a_field_that_is_too_fast_is_refused_before_the_first_step(solver: str) -> None:
    problem = _wave("u_t = -u*u_x + 0.1*u_xx", 1e7, solver=solver)
    with pytest.raises(pdes.StabilityError, match=r"smaller field.*time_step=\d"):
        pdes.simulate(problem)
    # Not strict is about what happens on the way: nothing has begun here.
    with pytest.raises(pdes.StabilityError, match="smaller field"):
        pdes.simulate(problem, strict=False)


def test_a_short_run_of_the_same_field_goes_through() -> None:
    problem = _wave("u_t = -u*u_x + 1e6*u_xx", 1e7)
    data = pdes.simulate(problem, [0.0, 1e-8])
    assert data.attrs["status"] == "ok"
    with pytest.raises(pdes.StabilityError, match="above 2000000"):
        pdes.simulate(problem, [0.0, 1e-8, 10.0])


def test_a_step_by_name_is_taken_at_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdes.solvers.step_budget.MOST_STEPS", 10)
    for solver in ("etdrk4", "weno5"):
        problem = _wave("u_t = -u*u_x + 0.1*u_xx", 1.0, solver=solver)
        with pytest.raises(pdes.StabilityError, match="above 10 in all"):
            pdes.simulate(problem, [0.0, 1.0])
        assert pdes.simulate(problem, [0.0, 0.5], time_step=0.02).attrs["status"] == "ok"


def test_a_linear_equation_needs_no_steps() -> None:
    data = pdes.simulate(_wave("u_t = 0.1*u_xx", 1e12), [0.0, 1.0])
    assert np.max(np.abs(data.u.values[1] / np.exp(-0.1) - data.u.values[0])) < 1e-2


class _Tightening:
    """Nothing moves, but from time 1 on the limit of the step is a millionth."""

    xp, dimension = np, 1

    def forward(self, fields, time):
        return np.asarray(fields["u"], dtype=float)[None]

    def backward(self, state, time):
        return {"u": state[0]}

    def limits(self, state, time) -> StepLimits:
        rate = 1.0 if time < 1.0 else 1e6
        return StepLimits(rates={"c": rate}, largest={"c": 1e9}, default={"c": 0.5})


def test_a_limit_that_tightens_on_the_way_ends_the_run() -> None:
    def march(**options):
        times = np.array([0.5, 0.9, 2.0, 10.0])
        start = {"u": np.ones(4)}
        return march_lines(_Tightening(), lambda size: lambda s, t, _: s, start, times, **options)

    with pytest.raises(pdes.SolverDivergence, match=r"steps of 5e-07.*after 2 to cover") as caught:
        march()
    assert caught.value.last_good_time == 0.9
    run = march(strict=False)
    assert run.status == "diverged"
    assert run.steps == 2
    assert np.isfinite(run.fields["u"]).all(axis=1).tolist() == [True, True, False, False]
    assert march(time_step=0.1).status == "ok"


def test_flow_in_a_box_keeps_to_the_budget() -> None:
    problem = pdes.get("lid_driven_cavity")
    with pytest.raises(pdes.StabilityError, match="above 2000000"):
        pdes.simulate(problem, [0.0, 1e6])
    flow = StaggeredFlow(problem.equation, problem.grid, problem.boundary)
    rest = {name: np.zeros(problem.grid.shape) for name in "uv"}
    march = FlowMarch(flow, flow.from_nodes(rest), end=0.01, strict=False)
    march.to(0.01)
    assert march.status == "ok"
    march.state = tuple(1e9 * (part + 1.0) for part in march.state)
    march._end = 1.0
    march.to(1.0)
    assert march.status == "diverged"
    assert "after" in march.message
    assert march.time == 1.0
