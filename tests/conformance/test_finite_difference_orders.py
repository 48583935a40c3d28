"""Finite differences with sides, sines and cosines, and leapfrog show their declared orders."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy
import torch

import pdes
from pdes.boundary import Dirichlet, Neumann, NoSlip, Outflow, Robin
from pdes.equation import Equation, coordinate
from pdes.grid import Axis, Grid
from pdes.solvers.errors import ResolutionWarning
from pdes.solvers.line_solvers import LINE_SOLVERS, rollout_lines
from pdes.solvers.side_basis import side_modes


def _slope(sizes, errors) -> float:
    return float(-np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def _finer(problem: pdes.Problem, points: int) -> pdes.Problem:
    """The same box with another number of intervals."""
    axes = tuple(
        dataclasses.replace(axis, points=points if axis.periodic else points + 1)
        for axis in problem.grid.axes
    )
    return dataclasses.replace(problem, grid=Grid(axes), stored_points=None)


def _error(problem: pdes.Problem, stop: float, step: float, solver: str | None = None) -> float:
    solution = problem.exact[problem.exact_name]
    run = pdes.simulate(problem, [stop], time_step=step, solver=solver)
    wanted = solution.evaluate(problem.grid, [stop])
    return max(float(np.max(np.abs(run[n].values - v))) for n, v in wanted.items())


# Problem, parameters, end, intervals, step of the coarsest grid; step and spacing shrink together.
REFINED = {
    "heat_robin": ({}, 1.0, (16, 32, 64), 0.05),
    "heat_driven": ({}, 1.0, (32, 64, 128), 0.02),
    "advection_diffusion_wall": ({}, 4.0, (32, 64, 128), 0.02),
    "fisher_front": ({}, 2.0, (64, 128, 256), 0.1),
    "nagumo_front": ({}, 1.0, (64, 128, 256), 0.05),
    "burgers_2d": ({"viscosity": 0.05}, 0.2, (12, 24, 48), 0.01),
    "fitzhugh_nagumo_manufactured": ({}, 0.5, (16, 32, 64), 0.1),
}
IMPLICIT = ("finite_difference", "finite_difference_sbdf2", "finite_difference_ars443")


@pytest.mark.parametrize("name", REFINED)
def test_order_two_in_space_and_time(name: str) -> None:
    parameters, stop, sizes, coarsest = REFINED[name]
    errors = []
    for n in sizes:
        problem = _finer(pdes.get(name, **parameters), n)
        step = coarsest * sizes[0] / n
        errors.append(_error(problem, stop, step, "finite_difference"))
    assert LINE_SOLVERS["finite_difference"].space_order == 2
    assert abs(_slope(sizes, errors) - 2.0) < 0.15, errors


@pytest.mark.parametrize("solver", IMPLICIT)
def test_order_in_time(solver: str) -> None:
    """On one grid, against the same solver with tiny steps: space drops out."""
    problem = _finer(pdes.get("nagumo_front"), 64)
    problem = dataclasses.replace(problem, boundary={"x-": Neumann(0.0), "x+": Neumann(0.0)})
    steps = np.array([0.05, 0.025, 0.0125])

    def run(step: float) -> np.ndarray:
        return pdes.simulate(problem, [1.0], time_step=step, solver=solver).u.values[-1]

    reference = run(0.0005)
    errors = [np.max(np.abs(run(float(h)) - reference)) for h in steps]
    slope = _slope(1.0 / steps, errors)
    assert slope > LINE_SOLVERS[solver].order - 0.15, errors


@pytest.mark.parametrize("name", ["heat_dirichlet", "heat_neumann"])
def test_sines_and_cosines_are_exact_at_any_step(name: str) -> None:
    problem = pdes.get(name)
    assert _error(problem, 1.0, 1.0) < 1e-11
    rough = _finer(problem, 16)
    assert _error(rough, 0.5, 0.5) < 1e-13


def test_cosines_integrate_a_reaction_with_order_four() -> None:
    """FitzHugh-Nagumo in an insulated square by ETDRK4 on cosines."""
    problem = _finer(pdes.get("fitzhugh_nagumo_manufactured"), 16)
    steps = np.array([0.1, 0.05, 0.025])
    reference = pdes.simulate(problem, [1.0], solver="sine_cosine", time_step=0.002)
    errors = []
    for step in steps:
        run = pdes.simulate(problem, [1.0], solver="sine_cosine", time_step=float(step))
        errors.append(float(np.abs(run.u - reference.u).max()))
    assert abs(_slope(1.0 / steps, errors) - 4.0) < 0.2, errors
    wanted = problem.exact["manufactured"].evaluate(problem.grid, [1.0])["u"]
    assert float(np.abs(reference.u.values - wanted).max()) < 1e-9


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (Dirichlet(), Dirichlet()),
        (Neumann(), Neumann()),
        (Dirichlet(), Neumann()),
        (Outflow(), Dirichlet()),
    ],
)
def test_eigenvectors_of_the_second_difference(low, high) -> None:
    """Difference and second derivative have the same vectors, with their own eigenvalues."""
    n, h = 17, 1.0 / 16
    modes = side_modes(n, h, low, high)
    matrix = modes.vectors * modes.values @ modes.inverse
    inner = np.arange(1, n - 1)
    x = np.linspace(0.0, 1.0, n)
    given = [isinstance(side, Dirichlet) for side in (low, high)]
    k = np.pi * (1.0 if given[0] == given[1] else 0.5)
    u = np.sin(k * x) if given[0] else np.cos(k * x)
    assert np.allclose((matrix @ u)[inner], -4 / h**2 * np.sin(k * h / 2) ** 2 * u[inner])
    exact = side_modes(n, h, low, high, exact=True)
    spectral = exact.vectors * exact.values @ exact.inverse
    assert np.allclose((spectral @ u)[inner], -(k**2) * u[inner], atol=1e-11)
    assert np.allclose(modes.vectors @ modes.inverse, np.eye(n), atol=1e-13)


def test_robin_sides_hold_to_second_order() -> None:
    """The solution itself satisfies the condition that its problem states."""
    problem = pdes.get("heat_robin", loss=0.7)
    solution = problem.exact["robin_mode"]
    u = solution.fields["u"]
    values = {**problem.equation.parameters, **solution.parameters, "t": 0.3}
    slope = u.diff(coordinate("x"))
    for place, normal in ((0.0, -1.0), (1.0, 1.0)):
        known = {s: {**values, "x": place}[s.name] for s in u.free_symbols}
        flux = normal * problem.equation.parameters["diffusivity"] * float(slope.subs(known))
        assert flux + 0.7 * float(u.subs(known)) == pytest.approx(0.0, abs=1e-14)


def test_a_flux_fills_an_insulated_rod() -> None:
    """Mass grows by exactly what flows in; the shape tends to a parabola."""
    heat = Equation.from_text("u_t = 0.5*u_xx", name="heat")
    grid = Grid((Axis("x", 0.0, 2.0, 41, periodic=False),))
    sides = {"x-": Neumann(0.3), "x+": Neumann(0.0)}
    run = rollout_lines(
        heat,
        grid,
        {"u": np.zeros(41)},
        np.array([8.0, 20.0]),
        solver="finite_difference",
        boundary=sides,
        time_step=0.02,
    )
    u = run.fields["u"]
    weights = np.full(41, 0.05)
    weights[[0, -1]] = 0.025
    assert np.allclose(u @ weights, 0.3 * np.array([8.0, 20.0]), rtol=1e-10)
    x = grid.coordinates()["x"]
    parabola = 0.3 * (2.0 - x) ** 2 / (2.0 * 2.0 * 0.5)
    assert np.ptp(u[1] - parabola) < 1e-6


def test_mixed_conditions_of_two_fields() -> None:
    """Each field has sides of its own: one is held, the other is free."""
    pair = Equation.from_text("u_t = 0.1*u_xx; v_t = 0.1*v_xx", name="pair")
    grid = Grid((Axis("x", 0.0, 1.0, 33, periodic=False),))
    x = grid.coordinates()["x"]
    sides = {"u": Dirichlet(0.0), "v": Neumann(0.0)}
    run = rollout_lines(
        pair,
        grid,
        {"u": np.sin(np.pi * x), "v": np.cos(np.pi * x)},
        np.array([1.0]),
        solver="sine_cosine",
        boundary={"x-": sides, "x+": sides},
    )
    decay = np.exp(-0.1 * np.pi**2)
    assert np.allclose(run.fields["u"][0], decay * np.sin(np.pi * x), atol=1e-12)
    assert np.allclose(run.fields["v"][0], decay * np.cos(np.pi * x), atol=1e-12)


# Waves


@pytest.mark.parametrize(
    ("name", "sizes", "stop"),
    [
        ("wave", (64, 128, 256), 1.0),
        ("wave_string", (32, 64, 128), 0.9),
        ("wave_2d", (16, 32, 64), 1),
    ],
)
def test_leapfrog_is_of_order_two(name: str, sizes: tuple[int, ...], stop: float) -> None:
    errors = []
    for n in sizes:
        problem = _finer(pdes.get(name), n)
        errors.append(_error(problem, stop, 0.4 * min(problem.grid.spacings)))
    assert abs(_slope(sizes, errors) - LINE_SOLVERS["leapfrog"].order) < 0.15, errors


def test_leapfrog_at_the_magic_step_is_exact() -> None:
    """At Courant number one values move from point to point, if the string starts at rest."""
    x = coordinate("x")
    problem = _finer(pdes.get("wave", speed=2.0), 64)
    solution = pdes.exact.dalembert(problem.equation, sympy.sin(3 * x), sympy.sin(3 * x))
    problem = dataclasses.replace(
        problem, initial=solution.initial, exact={"d": solution}, exact_name="d"
    )
    spacing = problem.grid.spacings[0]
    run = pdes.simulate(problem, [0.0, 20 * spacing], time_step=0.5 * spacing)
    wanted = solution.evaluate(problem.grid, [20 * spacing])["u"][0]
    assert np.max(np.abs(run.u.values[1] - wanted)) < 1e-12


@pytest.mark.parametrize(("name", "dimension"), [("wave", 1), ("wave_2d", 2)])
def test_leapfrog_limit(name: str, dimension: int) -> None:
    problem = _finer(pdes.get(name, speed=3.0), 32)
    limit = problem.grid.spacings[0] / (3.0 * np.sqrt(dimension))
    with pytest.raises(pdes.StabilityError, match="highest frequency"):
        pdes.simulate(problem, [1.0], time_step=1.01 * limit)
    run = pdes.simulate(problem, np.linspace(0.0, 20.0, 3), time_step=0.999 * limit)
    assert float(np.abs(run.u).max()) < 3.0


@pytest.mark.parametrize("text", ["u_t = v; v_t = u_xx - v", "u_t = u_xx", "u_t = 2*v; v_t = u_xx"])
def test_leapfrog_refuses_other_systems(text: str) -> None:
    equation = Equation.from_text(text, name="other")
    grid = Grid.periodic(x=(0.0, 1.0, 16))
    fields = {name: np.ones(16) for name in equation.fields}
    with pytest.raises(ValueError, match="leapfrog solves"):
        rollout_lines(equation, grid, fields, np.array([0.1]), solver="leapfrog")


# Arrays and gradients


@pytest.mark.parametrize("solver", [*IMPLICIT, "sine_cosine"])
def test_numpy_torch_and_batches_agree(solver: str) -> None:
    problem = _finer(pdes.get("fitzhugh_nagumo_manufactured"), 12)
    start = problem.initial(problem.grid, None)
    batch = {n: np.stack([v, 0.5 * v]) for n, v in start.items()}
    runs = [
        pdes.simulate(problem, [0.1], initial=batch, solver=solver, backend=b, time_step=0.02)
        for b in ("numpy", "torch")
    ]
    assert float(np.abs(runs[0].u - runs[1].u).max()) < 1e-12
    alone = pdes.simulate(problem, [0.1], solver=solver, time_step=0.02)
    assert float(np.abs(runs[0].v[0] - alone.v).max()) < 1e-13


def test_gradient_of_a_rollout_between_sides() -> None:
    heat = Equation.from_text("u_t = k*u_xx + u - u^3", name="front", parameters={"k": 0.1})
    grid = Grid((Axis("x", 0.0, 1.0, 17, periodic=False),))
    x = torch.tensor(grid.coordinates()["x"])

    def loss(diffusivity):
        run = rollout_lines(
            heat,
            grid,
            {"u": torch.cos(3.0 * x)},
            np.array([0.5]),
            solver="finite_difference",
            boundary={"x-": Dirichlet(1.0), "x+": Neumann(0.0)},
            time_step=0.05,
            parameters={"k": diffusivity},
        )
        return (run.fields["u"] ** 2).mean()

    k = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(k), k)
    h = 1e-5
    moved = [float(loss(torch.tensor(0.1 + s * h, dtype=torch.float64))) for s in (1, -1)]
    assert float(gradient) == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


# What is refused


LINE = Grid((Axis("x", 0.0, 1.0, 17, periodic=False),))
HELD = {"x-": Dirichlet(0.0), "x+": Dirichlet(0.0)}


@pytest.mark.parametrize(
    ("text", "solver", "boundary", "message"),
    [
        ("u_t = -u_xxxx", "finite_difference", HELD, "u_xxxx has no stencil"),
        ("h_t = I*h_xx", "finite_difference", HELD, "real fields"),
        ("u_t = u_xx", "finite_difference", {}, "not periodic"),
        ("u_t = u_xx", "sine_cosine", {"x-": Dirichlet(1.0), "x+": Dirichlet()}, "homogeneous"),
        ("u_t = u_xx", "sine_cosine", {"x-": Robin(1.0), "x+": Robin(1.0)}, "homogeneous"),
        (
            "u_t = -u",
            "finite_difference",
            {"x-": Neumann(1.0), "x+": Neumann()},
            "does not diffuse",
        ),
        ("u_t = u_xx", "finite_difference", {"x-": NoSlip(), "x+": NoSlip()}, "take Periodic"),
        (
            "u_t = u_xx",
            "finite_difference",
            {"x-": Robin(coordinate("t")), "x+": Dirichlet()},
            "constant in space and time",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text, solver, boundary, message) -> None:
    equation = Equation.from_text(text, name="test")
    field = equation.fields[0]
    problem = pdes.Problem(
        equation=equation,
        grid=LINE,
        boundary=boundary,
        initial={field: np.zeros(17) * (1j if "h_t" in text else 1.0)},
        times=[0.1],
        solver=solver,
    )
    with pytest.raises(ValueError, match=message):
        pdes.simulate(problem)


def test_steps_beyond_the_explicit_limit_are_refused() -> None:
    problem = pdes.get("nagumo_front")
    with pytest.raises(pdes.StabilityError, match="rate of the reaction"):
        pdes.simulate(problem, [2.0], time_step=1.0)
    assert pdes.simulate(problem, [1.0], time_step=0.1).attrs["status"] == "ok"


def test_spectral_solvers_are_refused_between_sides() -> None:
    with pytest.raises(ValueError, match="axis x: Fourier methods need a periodic axis"):
        pdes.simulate(pdes.get("heat_robin"), solver="etdrk4")


def test_cells_in_which_the_flow_outruns_diffusion_are_announced() -> None:
    """Peclet number of a cell 1.0 * 0.0625/0.02 = 3.125."""
    equation = Equation.from_text("u_t = -u_x + 0.02*u_xx", name="boundary layer")
    problem = pdes.Problem(
        equation=equation,
        grid=LINE,
        boundary={"x-": Dirichlet(0.0), "x+": Dirichlet(1.0)},
        initial={"u": np.linspace(0.0, 1.0, 17)},
        times=np.array([3.0]),
        solver="finite_difference",
        time_step=0.005,
    )
    with pytest.warns(
        ResolutionWarning, match=r"Peclet number of a cell along x is 3\.12, above 2"
    ):
        run = pdes.simulate(problem)
    assert run.attrs["status"] == "under_resolved"
    # It rings: the steady layer is monotone.
    assert float(run.u.min()) < -0.01
    fine = dataclasses.replace(
        problem,
        grid=Grid((Axis("x", 0.0, 1.0, 33, periodic=False),)),
        initial={"u": np.linspace(0.0, 1.0, 33)},
    )
    run = pdes.simulate(fine)
    assert run.attrs["status"] == "ok"
    layer = np.expm1(50.0 * run.x.values) / np.expm1(50.0)
    assert float(np.abs(run.u.values[0] - layer).max()) < 0.1
    assert float(run.u.min()) > -1e-3


def test_transients_are_for_spectral_solvers() -> None:
    problem = dataclasses.replace(pdes.get("heat_robin"), discard=1.0)
    with pytest.raises(ValueError, match="discard=1"):
        pdes.simulate(problem)


def test_a_layer_that_is_not_resolved_rings_by_the_known_amount() -> None:
    """Central differences solve ``r^i``, ``r = (2 + P)/(2 - P)``: next to the wall ``1/r``."""
    coarse = pdes.get("advection_diffusion_wall", diffusivity=0.01, points=33)
    cell = 1.0 / 32 / 0.01
    with pytest.warns(ResolutionWarning, match="Peclet number of a cell along x is 3"):
        run = pdes.simulate(coarse, [4.0], time_step=0.005)
    ratio = (2.0 + cell) / (2.0 - cell)
    places = np.arange(33)
    wanted = (ratio**places - 1.0) / (ratio**32 - 1.0)
    np.testing.assert_allclose(run.u.values[-1], wanted, atol=1e-6)
    assert float(run.u.min()) == pytest.approx(1.0 / ratio, rel=1e-5)
