"""Finite volumes show the orders that they declare, refuse what they cannot do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy
import torch

import pdes
from pdes.boundary import Dirichlet, Neumann, Outflow, Periodic, Robin
from pdes.equation import Equation
from pdes.exact import BurgersRiemann
from pdes.grid import Axis, Grid
from pdes.solvers.cell_sides import cell_grid
from pdes.solvers.conservation_form import balance_law
from pdes.solvers.line_solvers import LINE_SOLVERS, rollout_lines

ADVECTION = Equation.from_text("u_t = -u_x", name="advection")
CIRCLE = 2.0 * np.pi


def _slope(sizes, errors) -> float:
    return float(-np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def _l1(problem: pdes.Problem, stop: float, step: float | None = None) -> float:
    """Mean error at one time against the closed form of the problem."""
    solution = problem.exact[problem.exact_name]
    run = pdes.simulate(problem, [stop], time_step=step)
    wanted = solution.evaluate(problem.grid, [stop])
    return max(float(np.mean(np.abs(run[n].values - v))) for n, v in wanted.items())


def _advected(points: int, step: float | None) -> float:
    grid = Grid.periodic(x=(0.0, CIRCLE, points))
    x = grid.coordinates()["x"]
    run = rollout_lines(
        ADVECTION, grid, {"u": np.sin(x)}, np.array([1.0]), solver="weno5", time_step=step
    )
    return float(np.mean(np.abs(run.fields["u"][0] - np.sin(x - 1.0))))


def test_order_five_in_space() -> None:
    """With a step that shrinks like spacing^(5/3) the error in time keeps up."""
    sizes = np.array([40, 80, 160])
    steps = 0.5 * CIRCLE / 40 * (40 / sizes) ** (5 / 3)
    errors = [_advected(int(n), float(h)) for n, h in zip(sizes, steps, strict=True)]
    assert LINE_SOLVERS["weno5"].space_order == 5
    assert abs(_slope(sizes, errors) - 5.0) < 0.15, errors


def test_order_three_at_a_fixed_courant_number() -> None:
    sizes = (80, 160, 320)
    errors = [_advected(n, None) for n in sizes]
    assert LINE_SOLVERS["weno5"].order == 3
    assert abs(_slope(sizes, errors) - 3.0) < 0.15, errors


def test_order_before_the_shock_of_burgers() -> None:
    sizes = (80, 160, 320)
    errors = []
    for n in sizes:
        problem = pdes.get("burgers_inviscid", grid=Grid.periodic(x=(0.0, CIRCLE, n)))
        errors.append(_l1(problem, 0.5))
    assert _slope(sizes, errors) > 3.0 - 0.15, errors


@pytest.mark.parametrize(("left", "right"), [(1.0, 0.0), (2.0, -1.0)])
def test_order_one_after_a_shock(left: float, right: float) -> None:
    sizes = (50, 100, 200, 400)
    problem = pdes.get("burgers_riemann", left=left, right=right)
    errors = []
    for n in sizes:
        finer = dataclasses.replace(problem, grid=cell_grid(x=(-1.0, 1.0, n)))
        errors.append(_l1(finer, 0.3))
    assert _slope(sizes, errors) > 1.0 - 0.15, errors


def test_a_rarefaction_is_the_entropy_solution() -> None:
    """Through a sonic point too: the jump opens into a fan instead of staying put."""
    sizes = (50, 100, 200, 400)
    problem = pdes.get("burgers_riemann", left=-1.0, right=0.7)
    errors = []
    for n in sizes:
        finer = dataclasses.replace(problem, grid=cell_grid(x=(-1.0, 1.0, n)))
        errors.append(_l1(finer, 0.5))
    assert errors[-1] < 2e-3
    assert _slope(sizes, errors) > 0.75, errors


def test_order_with_an_inflow_side() -> None:
    """The value of the side, written as a function of space, continues the field beyond it."""
    x, t = pdes.equation.coordinate("x"), pdes.equation.coordinate("t")
    inflow = {"x-": Dirichlet(sympy.sin(x - t)), "x+": Outflow()}
    sizes, errors = np.array([40, 80, 160]), []
    for n in sizes:
        grid = cell_grid(x=(0.0, 3.0, int(n)))
        points = grid.coordinates()["x"]
        run = rollout_lines(
            ADVECTION,
            grid,
            {"u": np.sin(points)},
            np.array([1.0]),
            solver="weno5",
            boundary=inflow,
            time_step=0.03 * (40 / n) ** (5 / 3),
        )
        # Outflow copies the last cell, which is of first order there: look away from it.
        inner = points < 1.5
        errors.append(np.mean(np.abs(run.fields["u"][0] - np.sin(points - 1.0))[inner]))
    assert _slope(sizes, errors) > 4.85, errors


def test_order_of_rotation_in_the_plane() -> None:
    """Two axes at once and speeds that vary: the order in time at a fixed Courant number."""
    errors, sizes = [], (48, 72, 96)
    for n in sizes:
        grid = cell_grid(x=(0.0, 1.0, n), y=(0.0, 1.0, n))
        problem = pdes.get("advection_rotation", grid=grid)
        wide = pdes.exact.rotated_gaussian(problem.equation, center=(0.5, 0.6), width=0.09)
        problem = dataclasses.replace(
            problem, initial=wide.initial, exact={"wide": wide}, exact_name="wide"
        )
        errors.append(_l1(problem, 0.1))
    assert _slope(sizes, errors) > 3.0 - 0.15, errors


def test_the_swirl_turns_back() -> None:
    """Drawn out, where its paths are known, and wound back to the initial field."""
    sizes, halfway, back = (32, 48, 64), [], []
    for n in sizes:
        grid = Grid.periodic(x=(0.0, 1.0, n), y=(0.0, 1.0, n))
        problem = pdes.get("advection_swirl", grid=grid, period=0.4)
        run = pdes.simulate(problem, [0.0, 0.2, 0.4]).u.values
        wanted = problem.exact["swirled_hump"].evaluate(grid, [0.2])["u"][0]
        halfway.append(float(np.abs(run[1] - wanted).mean()))
        back.append(float(np.abs(run[2] - run[0]).mean()))
    assert float(np.abs(run[1] - run[0]).mean()) > 500.0 * back[-1]
    assert _slope(sizes, halfway) > 3.0 - 0.15, halfway
    assert _slope(sizes, back) > 3.0 - 0.15, back


@pytest.mark.parametrize("exponent", [2.0, 3.0])
def test_porous_medium_rate(exponent: float) -> None:
    """The edge makes single rates irregular; their mean over five grids is 1.5 or more."""
    sizes, errors = (40, 80, 160, 320, 640), []
    for n in sizes:
        problem = pdes.get("porous_medium", exponent=exponent)
        problem = dataclasses.replace(problem, grid=Grid.periodic(x=(-8.0, 8.0, n)))
        errors.append(_l1(problem, 1.25))
    mean = float(np.mean(-np.diff(np.log2(errors))))
    assert mean >= 1.5, errors


def test_porous_medium_in_the_plane() -> None:
    errors = []
    for n in (24, 48):
        grid = Grid.periodic(x=(-8.0, 8.0, n), y=(-8.0, 8.0, n))
        errors.append(_l1(pdes.get("porous_medium_2d", grid=grid), 1.5))
    assert errors[1] < errors[0] / 2.0
    assert errors[1] < 1e-3


def test_diffusion_is_of_order_two() -> None:
    """Viscous Burgers against Cole and Hopf."""
    sizes, errors = (32, 64, 128), []
    solution = pdes.get("burgers", viscosity=0.2).exact["cole_hopf"]
    for n in sizes:
        grid = Grid.periodic(x=(0.0, CIRCLE, n))
        problem = pdes.get("burgers", viscosity=0.2, grid=grid, stored_points=None)
        problem = dataclasses.replace(
            problem, initial=solution.initial, exact_name="cole_hopf", solver="weno5"
        )
        errors.append(_l1(problem, 0.5))
    assert abs(_slope(sizes, errors) - 2.0) < 0.15, errors


def test_a_step_stays_a_step() -> None:
    """No new extrema, nothing lost: a box is carried once around."""
    grid = Grid.periodic(x=(0.0, 1.0, 100))
    box = np.where(np.abs(grid.coordinates()["x"] - 0.5) < 0.2, 1.0, 0.0)
    run = rollout_lines(ADVECTION, grid, {"u": box}, np.array([1.0]), solver="weno5")
    u = run.fields["u"][0]
    assert u.min() > -1e-3 and u.max() < 1.0 + 1e-3
    assert abs(u.sum() - box.sum()) < 1e-11
    assert np.mean(np.abs(u - box)) < 0.04


def test_shock_position_is_right_for_a_nonlinear_flux() -> None:
    """Only a conservative scheme lets a shock run at the mean of its states."""
    problem = pdes.get("burgers_riemann", left=1.0, right=0.0)
    run = pdes.simulate(problem, [0.0, 0.8])
    x, u = run.x.values, run.u.values[1]
    solution = BurgersRiemann(equation=problem.equation, left=1.0, right=0.0)
    assert abs(np.interp(-0.5, -u, x) - solution.speed * 0.8) < 0.01


# Arrays: batch, torch, gradients


BURGERS = Equation.from_text(
    "u_t = -u*u_x + viscosity*u_xx", name="burgers", parameters={"viscosity": 0.05}
)


def test_numpy_and_torch_agree_in_a_batch() -> None:
    grid = Grid.periodic(x=(0.0, CIRCLE, 64))
    x = grid.coordinates()["x"]
    fields = np.stack([np.sin(x), 0.5 + np.cos(2 * x), np.where(x < 3, 1.0, 0.0)])
    times = np.array([0.3])
    options = {"solver": "weno5", "time_step": 0.02}
    ours = rollout_lines(BURGERS, grid, {"u": fields}, times, **options).fields["u"]
    theirs = rollout_lines(BURGERS, grid, {"u": torch.tensor(fields)}, times, **options)
    assert np.max(np.abs(ours - theirs.fields["u"].numpy())) < 1e-12
    for i in range(3):
        alone = rollout_lines(BURGERS, grid, {"u": fields[i]}, times, **options).fields["u"]
        assert np.max(np.abs(ours[i] - alone)) < 1e-13


def test_numpy_and_torch_agree_in_the_plane() -> None:
    problem = pdes.get("advection_swirl", grid=Grid.periodic(x=(0.0, 1.0, 24), y=(0.0, 1.0, 16)))
    runs = [pdes.simulate(problem, [0.1], backend=b).u.values for b in ("numpy", "torch")]
    assert np.max(np.abs(runs[0] - runs[1])) < 1e-12
    single = pdes.simulate(problem, [0.1], dtype="float32").u
    assert single.dtype == np.float32
    assert np.max(np.abs(single.values - runs[0])) < 1e-5


def test_gradient_of_a_rollout() -> None:
    """With respect to viscosity and initial field, against central differences."""
    grid = Grid.periodic(x=(0.0, CIRCLE, 48))
    x = torch.tensor(grid.coordinates()["x"])
    times = np.array([0.4])

    def loss(viscosity, amplitude):
        run = rollout_lines(
            BURGERS,
            grid,
            {"u": amplitude * torch.sin(x)},
            times,
            solver="weno5",
            time_step=0.02,
            parameters={"viscosity": viscosity},
        )
        return (run.fields["u"] ** 2).mean()

    values = [torch.tensor(0.05, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)]
    inputs = [value.clone().requires_grad_() for value in values]
    found = torch.autograd.grad(loss(*inputs), inputs)
    for place, gradient in enumerate(found):
        shifted = []
        for sign in (1.0, -1.0):
            moved = [v + sign * 1e-5 * (i == place) for i, v in enumerate(values)]
            shifted.append(float(loss(*moved)))
        assert float(gradient) == pytest.approx((shifted[0] - shifted[1]) / 2e-5, rel=1e-6)


# What is refused


def test_steps_beyond_the_limit_are_refused_before_the_first_step() -> None:
    problem = pdes.get("burgers_inviscid")
    spacing, fastest = problem.grid.spacings[0], 1.5
    with pytest.raises(pdes.StabilityError, match=r"Courant number 1\.02, above 1: use time_step"):
        pdes.simulate(problem, [0.1], time_step=1.02 * spacing / fastest)
    run = pdes.simulate(problem, [spacing / fastest], time_step=0.98 * spacing / fastest)
    assert run.attrs["status"] == "ok"
    with pytest.raises(pdes.StabilityError, match="diffusive rate"):
        pdes.simulate(pdes.get("porous_medium"), [1.1], time_step=0.1)


def test_default_courant_number_is_one_half() -> None:
    problem = pdes.get("burgers_inviscid")
    run = rollout_lines(
        problem.equation, problem.grid, problem.initial(problem.grid), [0.5], solver="weno5"
    )
    assert 0.49 < 1.5 * run.time_step / problem.grid.spacings[0] <= 0.5 + 1e-9


def test_a_step_that_becomes_too_large_is_noticed() -> None:
    equation = Equation.from_text("u_t = u - u*u_x", name="growing wind")
    grid = Grid.periodic(x=(0.0, CIRCLE, 32))
    fields = {"u": np.ones(32)}
    with pytest.raises(pdes.SolverDivergence, match="Courant number has grown"):
        rollout_lines(equation, grid, fields, [3.0], solver="weno5", time_step=0.1)
    run = rollout_lines(equation, grid, fields, [3.0], solver="weno5", time_step=0.1, strict=False)
    assert run.status == "step_too_large"


def test_a_sample_that_blows_up_is_said_and_leaves_the_others_alone() -> None:
    equation = Equation.from_text("u_t = u^3 - u_x", name="blow-up")
    grid = Grid.periodic(x=(0.0, 1.0, 16))
    fields = {"u": np.stack([np.full(16, 5.0), np.zeros(16)])}
    with pytest.raises(pdes.SolverDivergence, match="not finite"):
        rollout_lines(equation, grid, fields, [1.0], solver="weno5", time_step=0.02)
    run = rollout_lines(equation, grid, fields, [1.0], solver="weno5", time_step=0.02, strict=False)
    assert run.status == "diverged"
    assert np.all(np.isnan(run.fields["u"][0]))
    assert np.all(run.fields["u"][1] == 0.0)


@pytest.mark.parametrize("solver", ["etdrk4", "rk4"])
def test_spectral_methods_are_refused_without_viscosity(solver: str) -> None:
    problem = pdes.get("burgers_inviscid")
    with pytest.raises(ValueError, match=r"viscosity 0.*weno5"):
        pdes.simulate(problem, solver=solver)
    assert pdes.simulate(pdes.get("advection"), [0.1], solver=solver).attrs["status"] == "ok"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u_t = -u*u_x - u_xxx", r"no balance law.*u_xxx"),
        ("u_t = u_x^2", r"no balance law.*u_x"),
        ("h_t = I*h_xx", "real fields"),
    ],
)
def test_equations_without_fluxes_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        balance_law(Equation.from_text(text, name="other"))


def test_fluxes_are_found() -> None:
    """Variable speeds leave a source, conservative ones do not; systems are taken apart."""
    carried = balance_law(Equation.from_text("u_t = -sin(x)*u_x"))
    assert str(carried.flux["u", 0]) == "u*sin(x)"
    assert str(carried.source["u"]) == "u*cos(x)"
    assert balance_law(Equation.from_text("u_t = -(sin(x)*u)_x")).source == {}
    water = Equation.from_text("h_t = -(h*u)_x; u_t = -u*u_x - h_x")
    law = balance_law(water)
    assert law.flux["h", 0] == water.space.from_functions(
        Equation.from_text("h_t = h*u; u_t = 0", coordinates=("x",)).rhs["h"]
    )
    assert law.source == {}


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        (None, "not periodic"),
        ({"x-": Outflow()}, r"add \['x\+'\]"),
        ({"x-": Periodic(), "x+": Periodic()}, "not periodic"),
        ({"x-": Robin(1.0), "x+": Outflow()}, "finite volumes take"),
        ({"x-": Neumann(2.0), "x+": Outflow()}, "finite volumes take"),
    ],
)
def test_sides_that_do_not_fit_are_refused(boundary, message: str) -> None:
    grid = cell_grid(x=(0.0, 1.0, 20))
    with pytest.raises(ValueError, match=message):
        rollout_lines(ADVECTION, grid, {"u": np.ones(20)}, [0.1], solver="weno5", boundary=boundary)


def test_a_mirror_keeps_everything_inside() -> None:
    """Diffusion between two walls: the cells beyond repeat those inside."""
    heat = Equation.from_text("u_t = 0.1*u_xx", name="heat")
    grid = cell_grid(x=(0.0, 1.0, 40))
    u = grid.coordinates()["x"] ** 2
    walls = {"x-": Neumann(0.0), "x+": Neumann(0.0)}
    run = rollout_lines(heat, grid, {"u": u}, [5.0], solver="weno5", boundary=walls)
    assert np.max(np.abs(run.fields["u"][0] - u.mean())) < 5e-3
    assert abs(run.fields["u"][0].sum() - u.sum()) < 1e-11


def test_grids_that_are_too_short_are_refused() -> None:
    grid = Grid((Axis("x", 0.0, 1.0, 5),))
    with pytest.raises(ValueError, match="axis x: got 5 cells, WENO wants at least 6"):
        rollout_lines(ADVECTION, grid, {"u": np.ones(5)}, [0.1], solver="weno5")


def test_times_after_the_shock_are_refused() -> None:
    problem = pdes.get("burgers_inviscid")
    with pytest.raises(ValueError, match="before the first shock"):
        problem.exact["characteristics"].evaluate(problem.grid, [1.0])
    with pytest.raises(ValueError, match="before the first shock"):
        pdes.simulate(problem, [0.0, 1.5], solver="exact")
    assert pdes.simulate(problem, [0.0, 1.5]).attrs["status"] == "ok"


@pytest.mark.parametrize("amplitude", [0.5, 2.0])
def test_the_shock_forms_at_the_steepest_slope(amplitude: float) -> None:
    solution = pdes.get("burgers_inviscid", amplitude=amplitude).exact["characteristics"]
    assert solution.stop == pytest.approx(1.0 / amplitude, rel=1e-9)


def test_unknown_solvers_are_named() -> None:
    with pytest.raises(ValueError, match=r"unknown solver 'weno7'.*weno5"):
        pdes.simulate(pdes.get("burgers_inviscid"), solver="weno7")
