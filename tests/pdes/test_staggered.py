"""Staggered flow: divergence, balances, agreement of namespaces, bad input."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import sympy
from scipy.interpolate import CubicSpline

import pdes
from pdes.boundary import Dirichlet, Neumann, NoSlip, Outflow, Periodic
from pdes.incompressible import VelocityEquation, VorticityEquation
from pdes.solvers import SolverDivergence
from pdes.solvers.staggered import FlowMarch, StaggeredFlow, staggered_rollout

from ..conftest import public_data


def _box(n: int = 16, periodic: str = "") -> pdes.Grid:
    return pdes.Grid(
        tuple(
            pdes.Axis(name, 0.0, 1.0, n + (name not in periodic), name in periodic)
            for name in ("x", "y")
        )
    )


WALLS = dict.fromkeys(("x-", "x+", "y-", "y+"), NoSlip())
LID = {**WALLS, "y+": NoSlip((1.0, 0.0))}
X, Y, T = (sympy.Symbol(name, real=True) for name in "xyt")


def _swirl(grid: pdes.Grid, amplitude: float = 1.0, shift: float = 0.0) -> dict[str, np.ndarray]:
    """Velocity that vanishes on the walls, nearly free of divergence."""
    x, y = grid.mesh()["x"], grid.mesh()["y"]
    u = np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y) * (1 + 0.3 * np.cos(np.pi * x + shift))
    v = -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2
    return {"u": amplitude * u, "v": amplitude * v}


# --- What holds for every flow -------------------------------------------------------------------

BOUNDARIES = {
    "cavity": (LID, ""),
    "channel": ({**WALLS, "x-": NoSlip((Y * (1 - Y), 0.0)), "x+": Outflow()}, ""),
    "shear": ({"y-": NoSlip((-1.0, 0.0)), "y+": NoSlip((1.0, 0.0))}, "x"),
    "torus": ({}, "xy"),
    "oscillating": ({**WALLS, "x-": NoSlip((0.0, sympy.sin(3 * T)))}, ""),
    "slip": ({**WALLS, "y+": {"u": Neumann(0.0), "v": Dirichlet(0.0)}}, ""),
    "piston": (
        {**WALLS, "x-": NoSlip((sympy.sin(T), 0.0)), "x+": NoSlip((sympy.sin(T), 0.0))}, "",
    ),
    "open": ({**WALLS, "x-": Outflow(), "x+": Outflow()}, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDARIES)
@pytest.mark.parametrize("method", ["mac_rk3", "mac_ab2"])
def test_divergence_is_rounding(name: str, method: str) -> None:
    boundary, periodic = BOUNDARIES[name]
    grid = _box(16, periodic)
    run = staggered_rollout(
        VelocityEquation.of(viscosity=0.02), grid, boundary, _swirl(grid), [0.1, 0.2], method=method
    )
    assert run.status == "ok"
    assert run.tail < 1e-11
    assert all(values.shape == (2, *grid.shape) for values in run.fields.values())
    assert float(np.abs(run.fields["u"][-1]).max()) > 0.05


def test_kinetic_energy_obeys_its_balance() -> None:
    """Central fluxes do no work: on a torus energy falls by viscosity alone, exactly so."""
    grid = _box(16, "xy")
    rng = np.random.default_rng(2)
    for viscosity in (0.0, 0.03):
        equation = VelocityEquation.of(viscosity=viscosity)
        flow = StaggeredFlow(equation, grid, {})
        state = flow.from_nodes({n: rng.normal(size=grid.shape) for n in "uv"})
        rates = flow.rates(state, 0.0)
        work = sum(
            float(np.sum(part[:16, :16] * rate[:16, :16]))
            for part, rate in zip(state, rates, strict=True)
        )
        drops = 0.0
        for part in state:
            inside = part[:16, :16]
            for axis in (0, 1):
                drops += float(np.sum((np.roll(inside, -1, axis) - inside) ** 2)) * 16**2
        assert work == pytest.approx(-viscosity * drops, rel=1e-12, abs=1e-10)
        assert drops > 1e3


def test_slip_walls_do_no_work_either() -> None:
    slip_x = {"u": Dirichlet(0.0), "v": Neumann(0.0)}
    slip_y = {"u": Neumann(0.0), "v": Dirichlet(0.0)}
    boundary = {"x-": slip_x, "x+": slip_x, "y-": slip_y, "y+": slip_y}
    flow = StaggeredFlow(VelocityEquation.of(viscosity=0.0), _box(12), boundary)
    rng = np.random.default_rng(3)
    state = flow.from_nodes({n: rng.normal(size=(13, 13)) for n in "uv"})
    rates = flow.rates(state, 0.0)
    work = [part * rate for part, rate in zip(state, rates, strict=True)]
    gross = sum(float(np.sum(np.abs(w))) for w in work)
    assert abs(sum(float(np.sum(w)) for w in work)) < 1e-13 * gross
    assert gross > 1.0


def test_force_and_drag_balance() -> None:
    """A uniform force on a periodic box against drag: u = (f/mu)(1 - exp(-mu t)), all over."""
    equation = VelocityEquation.of(viscosity=0.01, drag=0.5, force=(0.3, -0.1 * sympy.cos(T)))
    grid = _box(8, "xy")
    zero = {n: np.zeros(grid.shape) for n in "uv"}
    run = staggered_rollout(equation, grid, {}, zero, [1.0], time_step=0.02)
    assert np.abs(run.fields["u"][-1] - 0.6 * (1 - np.exp(-0.5))).max() < 1e-7
    t = 1.0
    wanted = -0.1 * (0.5 * np.cos(t) + np.sin(t) - 0.5 * np.exp(-0.5 * t)) / 1.25
    assert np.abs(run.fields["v"][-1] - wanted).max() < 1e-7


def test_force_that_varies_in_space_is_a_pressure_if_it_is_a_gradient() -> None:
    push = (sympy.cos(2 * sympy.pi * X), 0.0)
    equation = VelocityEquation.of(viscosity=0.01, force=push)
    grid = _box(16)
    zero = {n: np.zeros(grid.shape) for n in "uv"}
    run = staggered_rollout(equation, grid, WALLS, zero, [1.0])
    assert float(np.abs(run.fields["u"]).max()) < 1e-13
    p = run.fields["p"][-1]
    wanted = np.sin(2 * np.pi * grid.coordinates()["x"])[:, None] / (2 * np.pi) + 0 * p
    assert np.abs((p - p.mean()) - (wanted - wanted.mean())).max() < 0.01


def test_batch_equals_single_runs() -> None:
    grid, equation = _box(12), VelocityEquation.of(viscosity=0.05)
    singles = [_swirl(grid, 1.0, s) for s in (0.0, 1.0, 2.0)]
    batch = {n: np.stack([single[n] for single in singles]) for n in "uv"}
    whole = staggered_rollout(equation, grid, LID, batch, [0.1], time_step=0.01)
    assert whole.fields["u"].shape == (3, 1, 13, 13)
    for i, single in enumerate(singles):
        alone = staggered_rollout(equation, grid, LID, single, [0.1], time_step=0.01)
        for name in "uvp":
            assert np.abs(whole.fields[name][i] - alone.fields[name]).max() < 1e-13


@pytest.mark.parametrize("name", ["cavity", "channel", "torus"])
def test_torch_agrees_and_differentiates_with_respect_to_viscosity(name: str) -> None:
    torch = pytest.importorskip("torch")
    boundary, periodic = BOUNDARIES[name]
    grid, equation = _box(10, periodic), VelocityEquation.of(viscosity=0.05)
    fields = _swirl(grid)
    tensors = {n: torch.from_numpy(values) for n, values in fields.items()}

    def run(viscosity: object, arrays: dict) -> dict:
        found = staggered_rollout(
            equation, grid, boundary, arrays, [0.15], time_step=0.01,
            parameters={"viscosity": viscosity},
        )  # fmt: skip
        return dict(found.fields)

    nu = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    mine, theirs = run(0.05, fields), run(nu, tensors)
    for key, values in mine.items():
        assert np.abs(theirs[key].detach().numpy() - values).max() < 1e-12
    loss = (theirs["u"] ** 2).mean() + theirs["p"].mean() ** 2
    (gradient,) = torch.autograd.grad(loss, nu)
    h = 1e-5

    def value(viscosity: float) -> float:
        found = run(viscosity, fields)
        return float((found["u"] ** 2).mean() + found["p"].mean() ** 2)

    slope = (value(0.05 + h) - value(0.05 - h)) / (2 * h)
    assert float(gradient) == pytest.approx(slope, rel=1e-6)
    assert abs(slope) > 1e-3


def test_initial_field_is_differentiable() -> None:
    torch = pytest.importorskip("torch")
    grid, equation = _box(8), VelocityEquation.of(viscosity=0.05)
    fields = {n: torch.from_numpy(v).requires_grad_() for n, v in _swirl(grid).items()}
    run = staggered_rollout(equation, grid, LID, fields, [0.05], time_step=0.01)
    (run.fields["u"] ** 2).sum().backward()
    direction = np.random.default_rng(0).normal(size=grid.shape)

    def value(step: float) -> float:
        moved = {"u": _swirl(grid)["u"] + step * direction, "v": _swirl(grid)["v"]}
        found = staggered_rollout(equation, grid, LID, moved, [0.05], time_step=0.01)
        return float(np.sum(found.fields["u"] ** 2))

    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    assert float((fields["u"].grad.numpy() * direction).sum()) == pytest.approx(slope, rel=1e-6)


def test_single_precision_stays_single() -> None:
    run = pdes.simulate(pdes.get("channel_flow"), [0.1], dtype="float32")
    assert run.u.dtype == np.float32
    exact = pdes.simulate(pdes.get("channel_flow"), [0.1], solver="exact")
    assert float(np.abs(run.u - exact.u).max()) < 1e-5


# --- Cavity against the literature ---------------------------------------------------------------


def _ghia(folder: Path, reynolds: int) -> dict[str, np.ndarray]:
    """Coordinates and values of the published profiles, the point with a misprint left out."""
    with (folder / "ghia1982_cavity.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if int(r["Re"]) == reynolds]
    return {
        profile: np.array(
            [
                (float(r["coordinate"]), float(r["value"]))
                for r in rows
                if r["profile"] == profile and r["suspect"] == "0"
            ]
        )
        for profile in ("u_at_x=0.5", "v_at_y=0.5")
    }


@pytest.mark.parametrize(("reynolds", "limit"), [(100, 5e-3), (400, 1.6e-2)])
def test_cavity_against_published_profiles(reynolds: int, limit: float) -> None:
    published = _ghia(public_data("flows"), reynolds)
    assert len(published["v_at_y=0.5"]) == (17 if reynolds == 100 else 16)
    problem = pdes.get("lid_driven_cavity", reynolds=reynolds)
    flow = StaggeredFlow(problem.equation, problem.grid, problem.boundary)
    zero = {n: np.zeros(problem.grid.shape) for n in "uv"}
    march = FlowMarch(flow, flow.from_nodes(zero), method="mac_ab2")
    march.to_steady(1e-5, 40.0)
    assert march.divergence < 1e-11
    nodes = flow.to_nodes(march.state, march.time)
    points, middle = problem.grid.coordinates()["y"], 16
    assert points[middle] == 0.5
    found = {"u_at_x=0.5": nodes["u"][middle], "v_at_y=0.5": nodes["v"][:, middle]}
    errors = {}
    for profile, table in published.items():
        curve = CubicSpline(points, found[profile])(table[:, 0])
        errors[profile] = float(np.sqrt(np.mean((curve - table[:, 1]) ** 2)))
    assert max(errors.values()) < limit, errors


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boundary", "periodic", "message"),
    [
        ({}, "", "no condition for side 'x-'"),
        ({**WALLS, "z-": NoSlip()}, "", "unknown sides"),
        ({**WALLS, "x-": Periodic()}, "", "not periodic"),
        ({"y-": NoSlip(), "y+": NoSlip(), "x+": NoSlip()}, "x", "periodic; make them agree"),
        ({**WALLS, "x-": Dirichlet(0.0)}, "", "wanted NoSlip"),
        ({**WALLS, "x-": NoSlip((1.0, 0.0))}, "", "volume flux through the sides is -1"),
        ({**WALLS, "x-": NoSlip((0.0, 0.0, 0.0))}, "", "velocity has 3 entries"),
        ({**WALLS, "x-": {"u": Neumann(0.0), "v": Neumann(0.0)}}, "", "wanted NoSlip"),
    ],
)
def test_boundaries_that_make_no_sense_are_refused(
    boundary: dict, periodic: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        StaggeredFlow(VelocityEquation.of(viscosity=0.1), _box(8, periodic), boundary)


def test_other_equations_are_refused() -> None:
    with pytest.raises(ValueError, match="wants velocities"):
        StaggeredFlow(VorticityEquation.of(viscosity=0.1), _box(8), WALLS)
    grid = pdes.Grid((pdes.Axis("x", 0, 1, 9, False),))
    with pytest.raises(ValueError, match="wants two"):
        StaggeredFlow(VelocityEquation.of(viscosity=0.1), grid, {})
    with pytest.raises(ValueError, match="at least 4"):
        StaggeredFlow(VelocityEquation.of(viscosity=0.1), _box(3), WALLS)


def test_runaway_flow_is_said() -> None:
    """A force that keeps accelerating a fluid breaks the step it started with."""
    equation = VelocityEquation.of(viscosity=1e-3, force=(50.0, 0.0))
    grid = _box(16, "xy")
    zero = {n: np.zeros(grid.shape) for n in "uv"}
    with pytest.raises(SolverDivergence, match="Courant") as caught:
        staggered_rollout(equation, grid, {}, zero, [0.01, 1.0], time_step=0.01)
    assert caught.value.last_good_time == 0.01
    run = staggered_rollout(equation, grid, {}, zero, [0.01, 1.0], time_step=0.01, strict=False)
    assert run.status == "step_too_large"
    # With the step left to the solver it is chosen anew and the run goes through.
    times = np.linspace(0.05, 1.0, 20)
    free = staggered_rollout(equation, grid, {}, zero, times)
    assert free.status == "ok"
    assert np.abs(free.fields["u"][-1] - 50.0).max() < 1e-9


def test_dataset_says_what_it_is() -> None:
    problem = pdes.get("cavity", reynolds=50.0)
    run = pdes.simulate(dataclasses.replace(problem, stored_points=None), [0.0, 0.1])
    assert set(run.data_vars) == {"u", "v", "p"}
    assert run.u.dims == ("time", "x", "y")
    assert np.all(run.u.values[:, 1:-1, -1] == 1.0)
    assert np.all(run.u.values[:, :, 0] == 0.0)
    solver = json.loads(run.attrs["solver"])
    assert (solver["name"], solver["order"]) == ("mac_rk3", 3)
    assert 0.0 < solver["divergence"] < 1e-11
    assert "p_x" in run.attrs["equation"]
