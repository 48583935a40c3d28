"""The staggered solver shows its orders: two in space, three or two in time; exact parabolas."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import sympy

import pdes
from pdes.boundary import NoSlip
from pdes.exact import kovasznay, taylor_green
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VelocityEquation
from pdes.solvers import SolverDivergence, StabilityError
from pdes.solvers.staggered import METHODS, FlowMarch, StaggeredFlow
from pdes.symbols import number, parameter


def _grid(
    nx: int, ny: int, box: tuple[float, float, float, float], periodic: str = ""
) -> pdes.Grid:
    x0, x1, y0, y1 = box
    return pdes.Grid(
        (
            pdes.Axis("x", x0, x1, nx + ("x" not in periodic), "x" in periodic),
            pdes.Axis("y", y0, y1, ny + ("y" not in periodic), "y" in periodic),
        )
    )


def _velocity_sides(solution: FlowSolution, sides: str) -> dict[str, NoSlip]:
    """Velocity of a closed form on the sides named."""
    values = {**solution.equation.parameters, **solution.parameters}
    exact = {parameter(name): number(value) for name, value in values.items()}
    velocity = tuple(solution.fields[name].xreplace(exact) for name in ("u", "v"))
    return {side: NoSlip(velocity) for side in sides.split()}


def _error(flow: StaggeredFlow, march: FlowMarch, solution: FlowSolution) -> float:
    """Root mean square error of the velocity on its faces."""
    total, count = 0.0, 0
    for place, name in enumerate(("u", "v")):
        wanted = solution.evaluate(flow.box.face_grid(place), [march.time])[name][0]
        found = march.state[place][: wanted.shape[0], : wanted.shape[1]]
        total += float(np.sum((found - wanted) ** 2))
        count += wanted.size
    return float(np.sqrt(total / count))


def _slope(sizes: list[float], errors: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def _evolved(
    solution: FlowSolution, grid: pdes.Grid, boundary: Mapping, stop: float, **options: float
) -> float:
    flow = StaggeredFlow(solution.equation, grid, boundary)
    march = FlowMarch(flow, flow.from_functions(solution.initial, 0.0), **options)
    march.to(stop)
    assert march.divergence < 1e-11
    return _error(flow, march, solution)


def test_space_order_on_taylor_green() -> None:
    solution = taylor_green(VelocityEquation.of(viscosity=0.05))
    counts = (8, 16, 32)
    errors = [
        _evolved(solution, _grid(n, n, (0, 2 * np.pi, 0, 2 * np.pi), "xy"), {}, 1.0) for n in counts
    ]
    assert abs(_slope([1 / n for n in counts], errors) - 2.0) < 0.15, errors


@pytest.mark.parametrize("sides", ["x- x+", "x- x+ y- y+"])
def test_space_order_on_kovasznay(sides: str) -> None:
    """Steady, with velocities given on two sides and a periodic axis, or on all four sides."""
    solution = kovasznay(VelocityEquation.of(viscosity=1.0 / 40.0))
    boundary = _velocity_sides(solution, sides)
    periodic = "" if "y-" in boundary else "y"
    counts, errors = (10, 20, 40), []
    for n in counts:
        grid = _grid(3 * n // 2, n, (-0.5, 1.0, -0.5, 0.5), periodic)
        flow = StaggeredFlow(solution.equation, grid, boundary)
        march = FlowMarch(flow, flow.from_functions(solution.initial, 0.0))
        assert march.flow.box.closed
        march.to_steady(1e-6, 6.0)
        assert march.divergence < 1e-11
        errors.append(_error(flow, march, solution))
    assert _slope([1 / n for n in counts], errors) > 2.0 - 0.15, errors


def test_space_order_with_moving_sides() -> None:
    """Taylor and Green's vortices cut by a box: all velocities on it depend on time."""
    solution = taylor_green(VelocityEquation.of(viscosity=0.2))
    boundary = _velocity_sides(solution, "x- x+ y- y+")
    counts = (8, 16, 32)
    errors = [_evolved(solution, _grid(n, n, (0.3, 2.1, 0.4, 2.0)), boundary, 0.5) for n in counts]
    assert _slope([1 / n for n in counts], errors) > 2.0 - 0.15, errors


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("walls", [False, True])
def test_order_in_time(method: str, walls: bool) -> None:
    rng = np.random.default_rng(0)
    equation = VelocityEquation.of(viscosity=0.01)
    grid = _grid(16, 16, (0, 1, 0, 1), "" if walls else "xy")
    boundary = dict.fromkeys(("x-", "x+", "y-", "y+"), NoSlip()) if walls else {}
    flow = StaggeredFlow(equation, grid, boundary)
    phase = [2 * np.pi * c for c in grid.mesh().values()]
    psi = np.sin(phase[0] / 2) ** 2 * np.sin(phase[1] / 2) ** 2 * (1 + 0.3 * rng.normal())
    noise = {"u": psi * np.cos(phase[1]), "v": psi * np.sin(phase[0] + phase[1])}
    start = flow.from_nodes(noise)

    def end(count: int, name: str = method) -> np.ndarray:
        march = FlowMarch(flow, start, method=name, time_step=0.4 / count)
        march.to(0.4)
        assert march.steps == count
        return march.state[0]

    reference = end(1280, "mac_rk3")
    counts = (40, 80, 160)
    errors = [float(np.abs(end(count) - reference).max()) for count in counts]
    order = METHODS[method].order
    assert abs(_slope([1 / n for n in counts], errors) - order) < 0.15, errors


def test_poiseuille_is_exact() -> None:
    """Ghosts on the parabola make the discrete profile the continuous one, pressure included."""
    problem = pdes.get("channel_flow", viscosity=0.05)
    run = pdes.simulate(problem, [0.5, 1.0])
    exact = pdes.simulate(problem, [0.5, 1.0], solver="exact")
    for name in ("u", "v", "p"):
        assert float(np.abs(run[name] - exact[name]).max()) < 1e-13


def test_poiseuille_develops_from_a_uniform_inflow() -> None:
    y = sympy.Symbol("y", real=True)
    problem = pdes.get("channel_flow", viscosity=0.2)
    boundary = {**problem.boundary, "x-": NoSlip((6 * y * (1 - y) + sympy.sin(6 * y) / 50, 0.0))}
    grid = _grid(24, 12, (0, 2, 0, 1))
    problem = pdes.get("channel_flow", viscosity=0.2, boundary=boundary, grid=grid)
    run = pdes.simulate(problem, [2.0])
    profile = run.u.values[-1, -1]
    heights = run.y.values
    parabola = heights * (1 - heights)
    height = profile @ parabola / (parabola @ parabola)
    assert np.abs(profile - height * parabola).max() < 2e-3 * height
    assert np.abs(run.u.values[-1, 0] - profile).max() > 1e-2


@pytest.mark.parametrize("method", METHODS)
def test_viscous_limit_is_where_the_method_stops_being_stable(method: str) -> None:
    """At the limit small noise decays; a step beyond it is refused."""
    equation, grid = VelocityEquation.of(viscosity=1.0), _grid(16, 16, (0, 1, 0, 1), "xy")
    flow = StaggeredFlow(equation, grid, {})
    rng = np.random.default_rng(1)
    start = flow.from_nodes({n: 1e-8 * rng.normal(size=grid.shape) for n in "uv"})
    h, real = grid.spacings[0], METHODS[method].real_limit
    limit = real * h**2 / 8.0
    march = FlowMarch(flow, start, method=method, time_step=limit)
    march.to(200 * limit)
    # Adams-Bashforth keeps the fastest mode at its limit, Runge-Kutta damps it.
    assert float(np.abs(march.state[0]).max()) < 0.5 * float(np.abs(start[0]).max())
    with pytest.raises(StabilityError, match="viscous limit"):
        FlowMarch(flow, start, method=method, time_step=1.01 * limit)


def test_beyond_the_limit_adams_bashforth_blows_up() -> None:
    """The limit is sharp: 0.13 h^2/nu grows where 0.125 is allowed."""
    equation, grid = VelocityEquation.of(viscosity=1.0), _grid(16, 16, (0, 1, 0, 1), "xy")
    flow = StaggeredFlow(equation, grid, {})
    rng = np.random.default_rng(1)
    state = flow.from_nodes({n: 1e-8 * rng.normal(size=grid.shape) for n in "uv"})
    march = FlowMarch(flow, state, method="mac_ab2", time_step=0.12 * grid.spacings[0] ** 2)
    march._given = 0.13 * grid.spacings[0] ** 2
    with pytest.raises(SolverDivergence):
        march.to(2000 * march._given)


def test_courant_limit_is_refused() -> None:
    problem = pdes.get("lid_driven_cavity", reynolds=1000.0)
    h = problem.grid.spacings[0]
    with pytest.raises(StabilityError, match="Courant"):
        pdes.simulate(problem, [1.0], time_step=0.31 * h)
