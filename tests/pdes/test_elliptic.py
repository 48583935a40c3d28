"""Steady problems on grids: transforms, balances, agreement of solvers, recordings, bad input."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import sympy
import xarray

import pdes
from pdes.boundary import Dirichlet, Neumann, Outflow, Periodic, Robin
from pdes.grid import Axis, Grid
from pdes.mesh import Rectangle
from pdes.solvers.box_modes import BoxAxis
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.eikonal import solve_eikonal
from pdes.solvers.fast_sweeping import sweep
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate

from ..conftest import public_data

X, Y, U = coordinate("x"), coordinate("y"), unknown("u")
SIDES = ("x-", "x+", "y-", "y+")


def _plane(points: int = 17, periodic: str = "") -> Grid:
    return Grid(tuple(Axis(n, 0.0, 1.0, points, periodic=n in periodic) for n in "xy"))


def _problem(residual: Any, **options: Any) -> SteadyProblem:
    defaults = {
        "domain": _plane(),
        "boundary": dict.fromkeys(SIDES, Dirichlet()),
        "solver": "fast_poisson",
    }
    return SteadyProblem(name="trial", residual={"u": residual}, **{**defaults, **options})


def _laplacian(u: Any = U) -> Any:
    return u.diff(X, 2) + u.diff(Y, 2)


# --- Transforms ----------------------------------------------------------------------------------

KINDS = [
    ("dirichlet", "dirichlet"),
    ("neumann", "neumann"),
    ("dirichlet", "neumann"),
    ("neumann", "dirichlet"),
    ("periodic", "periodic"),
]


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("points", [8, 9])
def test_transforms_diagonalize_the_second_difference(kinds: tuple[str, str], points: int) -> None:
    axis = BoxAxis(Axis("x", 0.0, 1.0, points, periodic=kinds[0] == "periodic"), *kinds)
    n, h = axis.count, axis.axis.spacing
    matrix = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    if kinds[0] == "periodic":
        matrix[0, -1] = matrix[-1, 0] = 1.0
    if kinds[0] == "neumann":
        matrix[0, 1] = 2.0
    if kinds[1] == "neumann":
        matrix[-1, -2] = 2.0
    values = np.random.default_rng(0).normal(size=n)
    turned = axis.synthesize(axis.eigenvalues * axis.analyze(values, 0), 0)
    np.testing.assert_allclose(np.real(turned), matrix @ values / h**2, atol=1e-10)


@pytest.mark.parametrize("order", [2, 4])
def test_many_samples_are_solved_in_one_call(order: int) -> None:
    loads = np.random.default_rng(1).normal(size=(3, 17, 17))
    f = unknown("f")
    boundary = {"x-": Neumann(1.0), "x+": Dirichlet(Y), "y-": Dirichlet(), "y+": Neumann()}
    problem = _problem(-_laplacian() - f, coefficients={"f": loads}, boundary=boundary)
    together = pdes.solve(problem, order=order)
    assert together.u.dims == ("sample", "x", "y")
    for i, load in enumerate(loads):
        alone = pdes.solve(dataclasses.replace(problem, coefficients={"f": load}), order=order)
        np.testing.assert_allclose(together.u.values[i], alone.u.values, atol=1e-14)


@pytest.mark.parametrize("order", [2, 4])
def test_quadratic_solution_is_reproduced_exactly(order: int) -> None:
    solution = X**2 + 3 * X * Y - 2 * Y**2 + 1
    boundary = {
        "x-": Neumann(-solution.diff(X).subs(X, 0)),
        "x+": Dirichlet(solution.subs(X, 1)),
        "y-": Dirichlet(solution.subs(Y, 0)),
        "y+": Neumann(solution.diff(Y).subs(Y, 1)),
    }
    found = pdes.solve(_problem(-_laplacian() - 2, boundary=boundary), order=order)
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    np.testing.assert_allclose(found.u.values, x**2 + 3 * x * y - 2 * y**2 + 1, atol=1e-13)


def test_solvers_agree_on_one_problem() -> None:
    """Boxes, cells, collocation and elements on the same equation."""
    residual = -_laplacian() + 3 * U - sympy.exp(X) * sympy.cos(Y)
    problem = _problem(residual, domain=_plane(65))
    middle = {"x": 0.5, "y": 0.5}
    sharp = pdes.solve(dataclasses.replace(problem, domain=_plane(25)), "chebyshev")
    wanted = float(sharp.u.sel(middle, method="nearest"))
    assert float(pdes.solve(problem, order=4).u.sel(middle)) == pytest.approx(wanted, abs=5e-9)
    assert float(pdes.solve(problem, order=2).u.sel(middle)) == pytest.approx(wanted, abs=5e-5)
    cells = pdes.solve(problem, "cell_centered")
    assert float(cells.u.interp(middle)) == pytest.approx(wanted, abs=5e-5)
    elements = pdes.solve(dataclasses.replace(problem, domain=Rectangle()), "finite_element",
                          resolution=16, degree=2)  # fmt: skip
    at = np.hypot(elements.x.values - 0.5, elements.y.values - 0.5).argmin()
    assert float(elements.u[at]) == pytest.approx(wanted, abs=1e-5)


def test_complex_data_give_complex_solutions() -> None:
    problem = _problem(-_laplacian() - 1, boundary={**dict.fromkeys(SIDES, Dirichlet(sympy.I * X))})
    found = pdes.solve(problem, order=4).u.values
    np.testing.assert_allclose(found.real, pdes.solve(_problem(-_laplacian() - 1), order=4).u)
    np.testing.assert_allclose(found.imag, np.broadcast_to(_plane().mesh()["x"], (17, 17)),
                               atol=1e-14)  # fmt: skip


# --- Porous media --------------------------------------------------------------------------------


@pytest.mark.parametrize("permeability", ["two_phase", "lognormal"])
@pytest.mark.parametrize("linear_solver", ["direct", "multigrid"])
def test_fluxes_of_every_cell_balance(permeability: str, linear_solver: str) -> None:
    """Computed anew from the values: what leaves each cell is what its source makes."""
    problem = pdes.get("darcy", permeability=permeability, cells=40, seed=3)
    data = pdes.solve(problem, linear_solver=linear_solver)
    a = problem.coefficients["a"](x=data.x.values[:, None], y=data.y.values[None, :])
    out = np.zeros(a.shape)
    for axis in (0, 1):
        u, k = np.moveaxis(data.u.values, axis, 0), np.moveaxis(a, axis, 0)
        flux = 2 * k[1:] * k[:-1] / (k[1:] + k[:-1]) * (u[:-1] - u[1:])
        total = np.zeros_like(u)
        total[:-1] += flux
        total[1:] -= flux
        total[0] += 2 * k[0] * u[0]
        total[-1] += 2 * k[-1] * u[-1]
        out += np.moveaxis(total, 0, axis)
    assert np.max(np.abs(out * 40**2 - 1.0)) < 1e-8
    assert json.loads(data.attrs["solver"])["flux_balance"] < 1e-10
    assert json.loads(data.attrs["solver"])["linear_solver"] == linear_solver


def test_methods_agree_and_are_chosen_by_size() -> None:
    large = pdes.get("darcy", cells=152)
    data = pdes.solve(large)
    assert json.loads(data.attrs["solver"])["linear_solver"] == "multigrid"
    direct = pdes.solve(large, linear_solver="direct")
    assert float(np.abs(data.u - direct.u).max()) < 1e-10 * float(direct.u.max())
    small = json.loads(pdes.solve(pdes.get("darcy", cells=32)).attrs["solver"])
    assert small["linear_solver"] == "direct"


def test_random_permeability_is_that_of_its_field() -> None:
    one, same, other = (pdes.solve(pdes.get("darcy", cells=16, seed=s)) for s in (5, 5, 6))
    np.testing.assert_array_equal(one.u.values, same.u.values)
    assert float(np.abs(one.u - other.u).max()) > 1e-4
    double = pdes.solve(pdes.get("darcy", cells=16, seed=5, force=2.0))
    np.testing.assert_allclose(double.u.values, 2 * one.u.values, rtol=1e-12)


def test_many_permeabilities_are_solved_in_one_call(tmp_path: Any) -> None:
    fields = np.exp(np.random.default_rng(2).normal(size=(3, 16, 16)))
    problem = dataclasses.replace(pdes.get("darcy", cells=16), coefficients={"a": fields})
    together = pdes.solve(problem)
    assert together.u.dims == ("sample", "x", "y")
    for i, field in enumerate(fields):
        alone = pdes.solve(dataclasses.replace(problem, coefficients={"a": field}))
        np.testing.assert_array_equal(together.u.values[i], alone.u.values)
    together.to_netcdf(tmp_path / "darcy.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "darcy.nc", engine="h5netcdf") as back:
        np.testing.assert_array_equal(back.u.values, together.u.values)


def test_layered_flow_conserves_its_flux() -> None:
    """Without a source the flux is the same through every face: resistances in series."""
    u, a = unknown("u", ("x",)), unknown("a", ("x",))
    layers = np.array([1.0, 10.0, 0.1, 5.0])
    problem = SteadyProblem(
        name="series",
        residual={"u": -(a * u.diff(X)).diff(X)},
        coefficients={"a": layers},
        coordinates=("x",),
        domain=Grid((Axis("x", 0.0, 1.0, 5, periodic=False),)),
        boundary={"x-": Dirichlet(1.0), "x+": Dirichlet(0.0)},
        solver="cell_centered",
    )
    values = pdes.solve(problem).u.values
    flux = 1.0 / np.sum(0.25 / layers)
    before = 1.0 - flux * (np.cumsum(0.25 / layers) - 0.125 / layers)
    np.testing.assert_allclose(values, before, rtol=1e-12)


def _on_recording(a: np.ndarray, low: float, high: float) -> np.ndarray:
    """Solution with unit source at the nodes ``i/n`` where the recording has its values."""
    n = a.shape[0]
    nearest = np.minimum((np.arange(2 * n) + 1) // 2, n - 1)
    cells = np.where(a > 0, high, low)[np.ix_(nearest, nearest)]
    problem = dataclasses.replace(pdes.get("darcy", cells=2 * n), coefficients={"a": cells})
    u = np.pad(pdes.solve(problem).u.values, 1)
    # Two cells in a spacing: every node is where four of them meet, or on the boundary.
    nodes = (u[1:, 1:] + u[1:, :-1] + u[:-1, 1:] + u[:-1, :-1]) / 4
    nodes[0, :] = nodes[:, 0] = 0.0
    return nodes[: 2 * n : 2, : 2 * n : 2]


def test_published_recordings_obey_the_equation() -> None:
    """Contrast and scale from four samples; the other samples follow without further freedom."""
    with np.load(public_data("flows") / "darcy_small_test.npz") as file:
        a, u = file["a32"][:10], file["u32"][:10].astype(float)

    def misfit(contrast: float) -> np.ndarray:
        found = np.stack([_on_recording(sample, 1.0, contrast) for sample in a])
        scale = np.sum(found[:4] * u[:4]) / np.sum(found[:4] ** 2)
        gaps = np.linalg.norm((scale * found - u).reshape(10, -1), axis=1)
        return gaps / np.linalg.norm(u.reshape(10, -1), axis=1)

    contrasts = (12.0, 16.0, 18.0, 20.0, 24.0)
    fits = [misfit(contrast) for contrast in contrasts]
    best = int(np.argmin([np.mean(fit[:4]) for fit in fits]))
    assert contrasts[best] in (18.0, 20.0)
    assert np.mean(fits[best][4:]) < 0.03
    assert np.mean(misfit(1.0)[4:]) > 0.3


# --- Waves and fronts ----------------------------------------------------------------------------


def test_impedance_reflects_as_little_as_it_should() -> None:
    data = pdes.solve(pdes.get("helmholtz_interval", wavenumber=10.0, points=201))
    size = np.abs(data.u.values)
    assert np.ptp(size) < 0.005


def test_times_scale_with_the_speed_and_respect_symmetry() -> None:
    slow, fast = (pdes.solve(pdes.get("eikonal_distance", speed=c, points=33)) for c in (0.5, 2.0))
    np.testing.assert_allclose(slow["T"].values, 4 * fast["T"].values, rtol=1e-12)
    np.testing.assert_allclose(fast["T"].values, fast["T"].values[::-1], atol=1e-15)
    np.testing.assert_allclose(fast["T"].values, fast["T"].values.T, atol=1e-15)


def test_times_never_fall_below_straight_rays() -> None:
    """Godunov's scheme is monotone: times around a source are too late, never too early."""
    problem = pdes.get("eikonal_distance", points=65)
    times = pdes.solve(problem, ball=0.0)["T"].values
    exact = problem.exact["distance"].evaluate(**problem.domain.mesh())["T"]
    assert np.min(times - exact) > -1e-14


def test_waves_go_around_what_is_slow() -> None:
    """A slow wall with a gap: the first arrival behind it comes through the gap."""
    speed = np.ones((65, 65))
    speed[30:34, :48] = 1e-3
    problem = dataclasses.replace(
        pdes.get("eikonal_distance", x_source=0.0, y_source=0.0, points=65),
        coefficients={"c": speed},
        exact_name=None,
    )
    times = pdes.solve(problem)["T"].values
    around = 2 * np.hypot(0.5, 0.75)
    assert times[-1, 0] == pytest.approx(around, rel=0.06)


def test_sweeps_that_do_not_settle_are_said() -> None:
    start = np.full((9, 9), np.inf)
    start[4, 4] = 0.0
    with pytest.raises(ConvergenceError, match="fast sweeping") as caught:
        sweep(np.ones((9, 9)), start, (0.1, 0.1), frozen=start == 0.0, max_sweeps=3)
    assert len(caught.value.history) == 3


# --- Bad input -----------------------------------------------------------------------------------

NEUMANN = dict.fromkeys(SIDES, Neumann())
HELMHOLTZ = {"solver": "helmholtz"}


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("boundary", ["neumann", "periodic"])
def test_sources_that_do_not_balance_are_refused(order: int, boundary: str) -> None:
    periodic = boundary == "periodic"
    options = {
        "boundary": dict.fromkeys(SIDES, Periodic()) if periodic else NEUMANN,
        "domain": _plane(16, "xy" if periodic else ""),
    }
    load = sympy.cos(2 * sympy.pi * X)
    assert (
        pdes.solve(_problem(-_laplacian() - load, **options), order=order).attrs["status"] == "ok"
    )
    with pytest.raises(ValueError, match=r"source plus inflow is 0\.001 instead of 0"):
        pdes.solve(_problem(-_laplacian() - load - sympy.Rational(1, 1000), **options), order=order)
    array = _problem(-_laplacian() - unknown("f"), coefficients={"f": np.ones((16, 16))}, **options)
    with pytest.raises(ValueError, match="source plus inflow is 1 instead of 0"):
        pdes.solve(array, order=order)


def test_small_imbalance_is_seen_by_finite_volumes() -> None:
    options = {"boundary": NEUMANN, "solver": "cell_centered"}
    residual = -_laplacian() - sympy.cos(sympy.pi * X)
    assert pdes.solve(_problem(residual, **options)).attrs["residual_norm"] < 1e-10
    with pytest.raises(ValueError, match=r"source plus inflow is 0\.001 instead of 0"):
        pdes.solve(_problem(residual - sympy.Rational(1, 1000), **options))


def test_sources_that_jump_are_balanced_as_sums() -> None:
    """No rule integrates a jump exactly: halves that cancel must not be refused."""
    step = sympy.sign(1 - 2 * X)
    for solver in ("fast_poisson", "cell_centered"):
        problem = _problem(-_laplacian() - step, boundary=NEUMANN, solver=solver, domain=_plane(33))
        values = pdes.solve(problem).u.values
        assert float(values[0, 0] - values[-1, 0]) == pytest.approx(0.25, rel=0.05)


def test_fluxes_that_do_not_balance_are_refused() -> None:
    boundary = {**NEUMANN, "x+": Neumann(1.0)}
    with pytest.raises(ValueError, match="source plus inflow is 1 instead of 0"):
        pdes.solve(_problem(-_laplacian(), boundary=boundary))
    with pytest.raises(ValueError, match="source plus inflow is 1 instead of 0"):
        pdes.solve(_problem(-_laplacian(), boundary=boundary, solver="cell_centered"))
    balanced = pdes.solve(_problem(-_laplacian(), boundary={**boundary, "x-": Neumann(-1.0)}))
    x = _plane().mesh()["x"]
    np.testing.assert_allclose(balanced.u.values, np.broadcast_to(x - 0.5, (17, 17)), atol=1e-13)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_permeability_must_be_positive(value: float) -> None:
    a = unknown("a")
    residual = -(a * U.diff(X)).diff(X) - (a * U.diff(Y)).diff(Y) - 1
    cells = np.ones((16, 16))
    cells[3, 5] = value
    problem = _problem(residual, coefficients={"a": cells}, solver="cell_centered")
    with pytest.raises(ValueError, match=r"diffusivity is -?\d at x=0.21875, y=0.34375"):
        pdes.solve(problem)
    cells[3, 5] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        pdes.solve(problem)


@pytest.mark.parametrize("speed", [0.0, -2.0, np.nan])
def test_speed_must_be_positive(speed: float) -> None:
    field = np.ones((65, 65))
    field[2, 1] = speed
    problem = dataclasses.replace(pdes.get("eikonal_distance"), coefficients={"c": field})
    with pytest.raises(ValueError, match=r"x=0.03125, y=0.015625|not finite"):
        pdes.solve(problem)


BAD = [
    ("constant a and c", lambda: _problem(-_laplacian() + U.diff(X))),
    ("constant a and c", lambda: _problem(-((1 + X) * U.diff(X)).diff(X) - U.diff(Y, 2))),
    ("constant a and c", lambda: _problem(-2 * U.diff(X, 2) - U.diff(Y, 2))),
    ("wanted it positive", lambda: _problem(_laplacian() - 1)),
    ("not linear", lambda: _problem(-_laplacian() + U**2)),
    ("works on grids", lambda: _problem(-_laplacian(), domain=Rectangle())),
    ("take Dirichlet, Neumann and Periodic", lambda: _problem(
        -_laplacian(), boundary={**NEUMANN, "x-": Robin(1.0, 0.0)})),
    ("is not periodic", lambda: _problem(-_laplacian(), boundary=dict.fromkeys(SIDES, Periodic()))),
    ("is periodic", lambda: _problem(-_laplacian(), domain=_plane(16, "xy"))),
    ("wanted 4 or more", lambda: _problem(-_laplacian(), domain=_plane(3))),
    ("not finite at", lambda: _problem(-_laplacian() - 1 / X)),
    ("data on the side 'x-' are not finite", lambda: _problem(
        -_laplacian(), boundary={**NEUMANN, "x-": Dirichlet(1 / Y)})),
    ("is an eigenvalue of the box", lambda: _problem(
        -_laplacian() - 4 * 256 * sympy.sin(sympy.pi / 32) ** 2 * 2 * U - 1)),
    ("has the shape", lambda: _problem(
        -_laplacian() - unknown("f"), coefficients={"f": np.ones((16, 16))})),
    ("has no waves", lambda: _problem(-_laplacian() + U, **HELMHOLTZ)),
    ("within 1e-8 of the eigenvalue", lambda: _problem(
        -_laplacian() - 5 * sympy.pi**2 * U - 1, **HELMHOLTZ)),
    ("radians on the way", lambda: _problem(-_laplacian() - 2000 * U - 1, **HELMHOLTZ)),
    ("take Dirichlet, Neumann and Periodic", lambda: _problem(
        -_laplacian(), boundary=dict.fromkeys(SIDES, Robin(1.0)), solver="cell_centered")),
    ("use a mesh", lambda: _problem(-_laplacian() + U.diff(X), solver="cell_centered")),
    ("axes that are not periodic", lambda: _problem(
        -_laplacian(), domain=_plane(16, "xy"), boundary=dict.fromkeys(SIDES, Periodic()),
        solver="chebyshev")),
    ("at most 2500 points", lambda: _problem(-_laplacian(), domain=_plane(65), solver="chebyshev")),
    ("are arrays on a uniform grid", lambda: _problem(
        -_laplacian() - unknown("f"), coefficients={"f": np.ones((17, 17))}, solver="chebyshev")),
    ("collocation takes", lambda: _problem(
        -_laplacian(), boundary={**NEUMANN, "y+": Outflow()}, solver="chebyshev")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "build"), BAD)
def test_bad_problems_are_refused(message: str, build: Any) -> None:
    with pytest.raises(ValueError, match=message):
        pdes.solve(build())


def test_a_field_that_floats_is_no_solution_of_collocation() -> None:
    with pytest.raises(ValueError, match=r"fluxes are given at all sides .*known up to a constant"):
        pdes.solve(_problem(-_laplacian(), boundary=NEUMANN, solver="chebyshev"))
    # The same written another way is found out by its matrix.
    flux = dict.fromkeys(NEUMANN, Robin(0.0, 0.0))
    with pytest.raises(ConvergenceError, match="singular"):
        pdes.solve(_problem(-_laplacian(), boundary=flux, solver="chebyshev"))


@pytest.mark.parametrize(
    ("entry", "options", "message"),
    [
        ("poisson_box", {"order": 3}, "order=3"),
        ("poisson_box", {"degree": 2}, "no option 'degree'"),
        ("helmholtz_plane_wave", {"order": 4}, "wanted 2 or 4, and 2 with Robin"),
        ("helmholtz_box", {"tolerance": 0.0}, "tolerance=0.0"),
        ("darcy", {"linear_solver": "magic"}, "linear_solver='magic'"),
        ("eikonal_distance", {"ball": -1.0}, "ball=-1.0"),
        ("eikonal_distance", {"sources": []}, "at least one pair"),
        ("eikonal_distance", {"sources": [(0.5, 1.5)]}, "lies outside"),
    ],
)
def test_bad_options_are_refused(entry: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pdes.solve(pdes.get(entry), **options)


def test_fronts_want_their_own_equation() -> None:
    problem = pdes.get("eikonal_distance")
    for changed, message in (
        (dataclasses.replace(problem, coefficients={"c": 1.0}, residual={
            "T": unknown("T").diff(X) - unknown("c")}), "solves"),
        (dataclasses.replace(problem, boundary=dict.fromkeys(SIDES, Dirichlet())), "use Outflow"),
        (dataclasses.replace(problem, domain=_plane(16, "xy")), "two axes that are not periodic"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            solve_eikonal(changed, sources=[(0.5, 0.5)])


@pytest.mark.parametrize(
    ("entry", "parameters", "message"),
    [
        ("eikonal_linear_speed", {"y_slope": -1.0}, "wanted it positive everywhere"),
        ("helmholtz_point_source", {"x_source": 0.5}, "in the unit square"),
        ("darcy_layered", {"left": 0.0}, "left=0.0"),
        ("poisson_box", {"points": 4}, "points=4"),
    ],
)
def test_bad_parameters_are_refused(entry: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pdes.get(entry, **parameters)


def test_a_published_grid_of_jumping_permeability_is_solved():
    """Multigrid does not reach 1e-12 there; factorization takes over."""
    state = pdes.solve(pdes.get("darcy", cells=421, seed=0))
    assert state.attrs["status"] == "ok"
    assert state.attrs["residual_norm"] < 1e-10
