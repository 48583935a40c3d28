"""Bodies in a staggered flow: order, divergence, pressure, namespaces, bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy

import pdes
from pdes.boundary import NoSlip, Obstacle, Outflow
from pdes.incompressible import VelocityEquation
from pdes.solvers.staggered import FlowMarch, StaggeredFlow, staggered_rollout
from pdes.solvers.staggered.obstacles import solid_cells

X, Y = (sympy.Symbol(name, real=True) for name in "xy")
WALLS = dict.fromkeys(("x-", "x+", "y-", "y+"), NoSlip())
DISC = Obstacle((X - 0.5) ** 2 + (Y - 0.45) ** 2 - 0.04)


def _square(n: int, low: float = 0.0, high: float = 1.0) -> pdes.Grid:
    return pdes.Grid(tuple(pdes.Axis(name, low, high, n + 1, False) for name in "xy"))


def _slope(sizes, errors) -> float:
    return float(np.polyfit(np.log(1.0 / np.asarray(sizes)), np.log(errors), 1)[0])


def _couette(n: int) -> float:
    """Root mean square error of the steady flow around a disc on `n` by `n` cells."""
    problem = pdes.get("circular_couette", grid=_square(n, -1.0, 1.0), viscosity=0.5)
    exact = problem.exact["circular_couette"]
    flow = StaggeredFlow(problem.equation, problem.grid, problem.boundary)
    march = FlowMarch(flow, flow.from_functions(exact.initial, 0.0))
    march.to_steady(1e-5, 2.0)
    assert march.divergence < 1e-11
    total = 0.0
    for place, name in enumerate("uv"):
        wanted = exact.evaluate(flow.box.face_grid(place), [0.0])[name][0]
        total += float(np.sum((march.state[place] - wanted) ** 2))
        still = 1.0 - flow.obstacles.open[place]
        assert still.sum() > 0
        assert np.all(march.state[place][still == 1.0] == 0.0)
    return (total / (2 * n * n)) ** 0.5


def test_steady_flow_around_a_disc_follows_its_closed_form() -> None:
    assert _couette(16) < 0.25 / 16
    assert _couette(24) < 0.25 / 24


def _layer(n: int, edge: float) -> float:
    """Error of a decaying shear flow over a solid layer that crosses a periodic axis."""
    k = np.pi / (1.0 - edge)
    grid = pdes.Grid((pdes.Axis("x", 0.0, 1.0, 8), pdes.Axis("y", 0.0, 1.0, n + 1, False)))
    boundary = {"y-": NoSlip(), "y+": NoSlip(), "layer": Obstacle(Y - edge)}
    flow = StaggeredFlow(VelocityEquation.of(viscosity=0.1), grid, boundary)

    def start(box: pdes.Grid) -> dict[str, np.ndarray]:
        mesh = box.mesh()
        y = mesh["y"] + 0.0 * mesh["x"]
        return {"u": np.where(y > edge, np.sin(k * (y - edge)), 0.0), "v": 0.0 * y}

    march = FlowMarch(flow, flow.from_functions(start, 0.0))
    march.to(0.2)
    wanted = start(flow.box.face_grid(0))["u"] * np.exp(-0.02 * k**2)
    return float(np.abs(march.state[0][:-1] - wanted).max())


def test_surface_along_faces_is_of_second_order() -> None:
    counts = (16, 32, 64)
    errors = [_layer(n, 0.25) for n in counts]
    assert _slope(counts, errors) > 1.85, errors
    assert _layer(32, 0.26) > 10.0 * errors[1]


def test_staircase_is_of_first_order() -> None:
    """The surface jumps with the grid, and the error with it: the mean over many places of it."""
    places = 0.2 + 0.1 * (np.arange(8) + 0.5) / 8 + 0.003
    counts = (10, 20, 40)
    errors = [float(np.mean([_layer(n, float(edge)) for edge in places])) for n in counts]
    assert abs(_slope(counts, errors) - 1.0) < 0.15, errors


@pytest.mark.parametrize("periodic", [False, True])
def test_projection_is_the_one_of_the_fluid_cells(periodic: bool) -> None:
    """Against dense least squares: the nearest field without divergence and at rest on bodies."""
    axes = [pdes.Axis("x", 0.0, 1.0, 8 + (not periodic), periodic)]
    grid = pdes.Grid((*axes, pdes.Axis("y", 0.0, 1.0, 9, False)))
    boundary = dict(WALLS) if not periodic else {"y-": NoSlip(), "y+": NoSlip()}
    blocks = {
        "two": Obstacle(sympy.Max(sympy.Abs(X - 0.31) - 0.13, sympy.Abs(Y - 0.56) - 0.19)),
        "seam": Obstacle(sympy.Max(sympy.Abs(X - 0.94) - 0.1, sympy.Abs(Y - 0.2) - 0.07)),
    }
    flow = StaggeredFlow(VelocityEquation.of(viscosity=0.1), grid, {**boundary, **blocks})
    rng = np.random.default_rng(3)
    shapes = [(9, 8), (8, 9)]
    state = [rng.normal(size=shape) for shape in shapes]
    if periodic:
        state[0][-1] = state[0][0]
    found = flow.project((state[0], state[1]), 0.0)
    solid = flow.obstacles.solid
    assert solid.any() and not solid.all()
    # Unknown faces: between two fluid cells. Their divergence, as a matrix.
    faces, columns = [], []
    for place, shape in enumerate(shapes):
        for index in np.ndindex(*shape):
            if place == 0 and periodic and index[0] == 8:
                continue
            cells = [list(index), list(index)]
            cells[0][place] -= 1
            inside = [0 <= c[place] < 8 for c in cells]
            if place == 0 and periodic:
                cells = [[c[0] % 8, c[1]] for c in cells]
                inside = [True, True]
            if not all(inside) or any(solid[tuple(c)] for c in cells):
                continue
            column = np.zeros((8, 8))
            column[tuple(cells[0])] += 8.0
            column[tuple(cells[1])] -= 8.0
            faces.append((place, index))
            columns.append(column.reshape(-1))
    matrix = np.array(columns).T
    given = np.array([state[place][index] for place, index in faces])
    wanted = given - np.linalg.pinv(matrix) @ (matrix @ given)
    assert np.abs(np.array([found[p][i] for p, i in faces]) - wanted).max() < 1e-12
    known = set(faces)
    for place, shape in enumerate(shapes):
        for index in np.ndindex(*shape):
            mirrored = (0, index[1]) if place == 0 and periodic and index[0] == 8 else index
            if (place, mirrored) not in known:
                assert found[place][index] == 0.0
    again = flow.project(found, 0.0)
    assert max(np.abs(a - b).max() for a, b in zip(found, again, strict=True)) < 1e-13


def test_channel_with_a_block_keeps_its_volume() -> None:
    problem = pdes.get("channel_block")
    run = pdes.simulate(problem, [0.2, 0.4])
    assert run.attrs["status"] == "ok"
    x, y = run.x.values, run.y.values
    inside = np.maximum(np.abs(x - 1.0)[:, None], np.abs(y - 0.5)) < 0.125 - 1e-9
    for name in "uv":
        assert np.all(run[name].values[:, inside] == 0.0)
    through = np.trapezoid(run.u.values[-1], y, axis=-1)
    # What comes in goes over and under the block and out; away from it nodes hold it well.
    assert np.abs(through - 2.0 / 3.0)[np.abs(x - 1.0) > 0.3].max() < 2e-3
    front = run.p.sel(x=0.8125, y=0.5, method="nearest")
    back = run.p.sel(x=1.1875, y=0.5, method="nearest")
    assert float((front - back)[-1]) > 0.3
    flow = StaggeredFlow(problem.equation, problem.grid, problem.boundary)
    march = FlowMarch(flow, flow.from_nodes({n: run[n].values[-1] for n in "uv"}), time=0.4)
    march.to(0.5)
    assert march.divergence < 1e-11
    assert np.ptp(np.sum(march.state[0], axis=-1)) < 1e-10


def test_pressure_pushes_the_flow_around_the_body() -> None:
    """Rates minus the pressure gradient have no divergence and vanish on the body."""
    flow = StaggeredFlow(VelocityEquation.of(viscosity=0.05), _square(16), {**WALLS, "disc": DISC})
    rng = np.random.default_rng(0)
    state = flow.project((rng.normal(size=(17, 16)), rng.normal(size=(16, 17))), 0.0)
    rates, p = flow.rates(state, 0.0), flow.pressure(state, 0.0)
    slope = flow.gradient(p)
    moved = [(r - g) * o for r, g, o in zip(rates, slope, flow.obstacles.open, strict=True)]
    assert np.abs(flow.divergence((moved[0], moved[1]))).max() < 1e-9 * np.abs(rates[0]).max()


def test_batch_torch_and_gradients() -> None:
    torch = pytest.importorskip("torch")
    grid, equation = _square(8), VelocityEquation.of(viscosity=0.05)
    boundary = {**WALLS, "y+": NoSlip((1.0, 0.0)), "disc": DISC}
    rng = np.random.default_rng(1)
    fields = {n: rng.normal(size=(2, 9, 9)) for n in "uv"}
    mine = staggered_rollout(equation, grid, boundary, fields, [0.02], time_step=0.005)
    alone = {n: v[1] for n, v in fields.items()}
    single = staggered_rollout(equation, grid, boundary, alone, [0.02], time_step=0.005)
    tensors = {n: torch.from_numpy(v).requires_grad_() for n, v in fields.items()}
    theirs = staggered_rollout(equation, grid, boundary, tensors, [0.02], time_step=0.005)
    for name in "uvp":
        assert np.abs(mine.fields[name][1] - single.fields[name]).max() < 1e-11
        assert np.abs(theirs.fields[name].detach().numpy() - mine.fields[name]).max() < 1e-11
    (theirs.fields["u"] ** 2).sum().backward()
    way = rng.normal(size=(2, 9, 9))

    def value(step: float) -> float:
        moved = {"u": fields["u"] + step * way, "v": fields["v"]}
        run = staggered_rollout(equation, grid, boundary, moved, [0.02], time_step=0.005)
        return float(np.sum(run.fields["u"] ** 2))

    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    assert float((tensors["u"].grad.numpy() * way).sum()) == pytest.approx(slope, rel=1e-6)


def test_single_precision_stays_single() -> None:
    grid = _square(12)
    start = {n: np.zeros(grid.shape, dtype=np.float32) for n in "uv"}
    boundary = {**WALLS, "y+": NoSlip((1.0, 0.0)), "disc": DISC}
    run = staggered_rollout(
        VelocityEquation.of(viscosity=0.05), grid, boundary, start, [0.05], dtype="float32"
    )
    assert run.fields["u"].dtype == np.float32
    assert run.tail < 1e-4


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        ({**WALLS, "disc": Obstacle(X + 1.0)}, "'disc'.*none of the 64"),
        ({**WALLS, "disc": Obstacle(X - 2.0)}, "'disc'.*all of the 64"),
        ({**WALLS, "disc": Obstacle(sympy.log(X - 0.5))}, "not finite"),
        ({**WALLS, "x+": Outflow(), "rod": Obstacle(sympy.Abs(Y - 0.5) - 0.1)}, "touches.*'x\\+'"),
        (
            {**WALLS, "x-": NoSlip((Y - 0.5, 0)), "rod": Obstacle(sympy.Abs(Y - 0.5) - 0.1)},
            "touches.*'x-'",
        ),
        ({**WALLS, "x-": Obstacle(X - 0.5)}, "no side"),
        ({**WALLS, "dsic": NoSlip()}, "unknown sides \\['dsic'\\]"),
    ],
)
def test_bad_obstacles_are_refused(boundary: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StaggeredFlow(VelocityEquation.of(viscosity=0.1), _square(8), boundary)


def test_other_solvers_refuse_obstacles() -> None:
    problem = pdes.get("heat_dirichlet")
    boundary = {**problem.boundary, "block": Obstacle(X - 0.2)}
    with pytest.raises(ValueError, match="block"):
        pdes.simulate(dataclasses.replace(problem, boundary=boundary))


def test_too_large_a_surface_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdes.solvers.staggered.obstacles.LARGEST_SURFACE", 8)
    with pytest.raises(ValueError, match="above 8"):
        StaggeredFlow(VelocityEquation.of(viscosity=0.1), _square(16), {**WALLS, "disc": DISC})


def test_levels_may_use_parameters() -> None:
    radius = sympy.Symbol("radius", real=True)
    found = solid_cells(
        {"disc": Obstacle(X**2 + Y**2 - radius**2)}, _square(20, -1.0, 1.0), {"radius": 0.5}
    )
    assert found.sum() * 0.01 == pytest.approx(np.pi * 0.25, abs=0.03)
