"""Steady problems: what solve returns, bad input, warnings, and entries judged by other means."""

from __future__ import annotations

import dataclasses
import json
import warnings
from typing import Any

import numpy as np
import pytest
import sympy

import pdes
from pdes.boundary import Dirichlet, Neumann, Outflow, Periodic, Robin
from pdes.exact import kellogg as crossing
from pdes.exact.motz import motz_coefficients, motz_residual
from pdes.library.battery import by_material
from pdes.mesh import Annulus, Rectangle
from pdes.simulate import checksum
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.errors import ResolutionWarning
from pdes.solvers.finite_element import LockingWarning
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, parameter

X, Y, U = coordinate("x"), coordinate("y"), unknown("u")
SIDES = ("x-", "x+", "y-", "y+")


def _problem(residual: Any, **options: Any) -> SteadyProblem:
    options = {"domain": Rectangle(), "boundary": dict.fromkeys(SIDES, Dirichlet()), **options}
    return SteadyProblem(name="trial", residual={"u": residual}, **options)


def _laplacian(u: Any = U) -> Any:
    return u.diff(X, 2) + u.diff(Y, 2)


# --- What solve returns --------------------------------------------------------------------------


def test_dataset_is_labeled_and_documented() -> None:
    data = pdes.solve(pdes.get("motz"), resolution=4, degree=2)
    assert data.u.dims == ("point",)
    assert data.cells.dims == ("cell", "vertex")
    assert data.cells.attrs["cell_type"] == "triangle6"
    assert data.attrs["status"] == "ok"
    assert data.attrs["residual_norm"] < 1e-12
    solver = json.loads(data.attrs["solver"])
    assert solver["name"] == "finite_element"
    assert solver["order"] == {"l2": 3.0, "h1": 2.0}
    assert json.loads(data.attrs["boundary"])["x+"] == {"kind": "dirichlet", "value": "500.0"}
    assert data.u.attrs["sha256"] == checksum(data.u.values)
    # The points of each cell: corners, then the middles of the edges between them.
    points = np.stack([data.x.values, data.y.values], axis=1)[data.cells.values]
    np.testing.assert_allclose(points[:, 3], 0.5 * (points[:, 0] + points[:, 1]), atol=1e-15)
    np.testing.assert_allclose(points[:, 5], 0.5 * (points[:, 0] + points[:, 2]), atol=1e-15)


def test_dataset_goes_to_disk_and_back(tmp_path: Any) -> None:
    import xarray

    data = pdes.solve(pdes.get("elastic_stretch"), resolution=3)
    data.to_netcdf(tmp_path / "stretch.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "stretch.nc", engine="h5netcdf") as back:
        np.testing.assert_array_equal(back.v.values, data.v.values)
        np.testing.assert_array_equal(back.cells.values, data.cells.values)
        assert back.attrs["equation"] == data.attrs["equation"]


def test_overrides_replace_what_may_be_replaced() -> None:
    problem = pdes.get("poisson_polynomial", power=1, resolution=4)
    assert pdes.solve(problem).u.shape == (25,)
    with pytest.raises(ValueError, match="has no parameter 'residual'"):
        pdes.get("poisson_polynomial", residual={})
    with pytest.raises(ValueError, match="did you mean 'resolution'"):
        pdes.get("poisson_polynomial", resolutions=4)


def test_all_conditions_together() -> None:
    """Fixed, insulated with given flux and Robin sides reproduce a quadratic solution exactly."""
    exact = X**2 + 3 * X * Y - Y**2 + 2 * X
    problem = _problem(
        -_laplacian(),
        boundary={
            "x-": Dirichlet(exact),
            "x+": Robin(2.0, exact.diff(X) + 2 * exact),
            "y-": Neumann(-exact.diff(Y)),
            "y+": Neumann(exact.diff(Y)),
        },
    )
    data = pdes.solve(problem, resolution=3, degree=2)
    wanted = data.x**2 + 3 * data.x * data.y - data.y**2 + 2 * data.x
    assert float(abs(data.u - wanted).max()) < 1e-13


def test_lower_order_terms_and_mixed_derivatives() -> None:
    """An anisotropic tensor, drift and reaction with a quadratic solution, exact for degree 2."""
    exact = 1 + X - 2 * Y + X * Y + Y**2

    def operator(u: Any) -> Any:
        diffusion = 3 * u.diff(X, 2) + 2 * u.diff(X, Y) + 2 * u.diff(Y, 2)
        return -diffusion + (1 + X) * u.diff(X) - u.diff(Y) + (2 + Y) * u

    problem = _problem(
        operator(U) - operator(exact), boundary=dict.fromkeys(SIDES, Dirichlet(exact))
    )
    data = pdes.solve(problem, resolution=4, degree=2)
    wanted = 1 + data.x - 2 * data.y + data.x * data.y + data.y**2
    assert float(abs(data.u - wanted).max()) < 1e-13


def test_coefficient_as_expression_and_as_function_agree() -> None:
    a = unknown("a")
    residual = -(a * U.diff(X)).diff(X) - (a * U.diff(Y)).diff(Y) - 1

    def diffusivity(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 1.0 + 0.5 * np.sin(2.0 * x) * y

    first = _problem(residual, coefficients={"a": 1 + sympy.sin(2 * X) * Y / 2})
    second = _problem(residual, coefficients={"a": diffusivity})
    u, v = pdes.solve(first, resolution=8).u, pdes.solve(second, resolution=8).u
    assert float(u.max()) > 0.05
    assert float(abs(u - v).max()) < 1e-15


def test_only_fluxes_give_the_solution_of_zero_mean() -> None:
    exact = sympy.cos(sympy.pi * X)
    problem = _problem(
        -_laplacian() - sympy.pi**2 * exact, boundary=dict.fromkeys(SIDES, Neumann())
    )
    data = pdes.solve(problem, resolution=24, degree=2)
    assert float(abs(data.u - np.cos(np.pi * data.x)).max()) < 1e-4


def test_multigrid_and_factorization_agree() -> None:
    for degree in (1, 2):
        problem = pdes.get("laplace_l_shape", grading=0.6)
        direct = pdes.solve(problem, resolution=24, degree=degree, linear_solver="direct")
        multi = pdes.solve(problem, resolution=24, degree=degree, linear_solver="multigrid")
        assert multi.attrs["iterations"] > 2
        assert direct.attrs["iterations"] == 0
        assert float(abs(direct.u - multi.u).max()) < 1e-8


def test_large_problems_choose_multigrid() -> None:
    data = pdes.solve(pdes.get("poisson_polynomial"), resolution=160)
    assert json.loads(data.attrs["solver"])["linear_solver"] == "multigrid"
    assert 0 < data.attrs["iterations"] < 20
    assert data.attrs["residual_norm"] < 1e-9


# --- Bad input -----------------------------------------------------------------------------------


def test_fluxes_that_do_not_balance_are_refused() -> None:
    problem = _problem(-_laplacian() - 1, boundary=dict.fromkeys(SIDES, Neumann()))
    with pytest.raises(ValueError, match="source plus inflow is 1 instead of 0"):
        pdes.solve(problem, resolution=4)


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_diffusivity_must_be_positive(value: float) -> None:
    k = parameter("k")
    problem = _problem(-k * _laplacian() - 1, parameters={"k": value})
    with pytest.raises(ValueError, match="diffusivity must be positive"):
        pdes.solve(problem, resolution=4)


def test_coefficient_that_is_negative_somewhere_is_refused() -> None:
    a = unknown("a")
    residual = -(a * U.diff(X)).diff(X) - (a * U.diff(Y)).diff(Y) - 1
    with pytest.raises(ValueError, match=r"least value is -0\.4.*coefficients \['a'\]"):
        pdes.solve(_problem(residual, coefficients={"a": X - 0.5}), resolution=8)


def test_source_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'u' have \d+ values that are not finite"):
        pdes.solve(_problem(-_laplacian() - sympy.log(X - 0.5)), resolution=4)


def test_boundary_value_that_is_not_finite_is_refused() -> None:
    walls = dict.fromkeys(SIDES, Dirichlet(sympy.log(X)))
    with pytest.raises(ValueError, match=r"boundary\['x-'\] has 5 values that are not finite"):
        pdes.solve(_problem(-_laplacian(), boundary=walls), resolution=4)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"boundary": {"x-": Dirichlet()}}, r"add \['x\+', 'y\+', 'y-'\]"),
        ({"boundary": dict.fromkeys([*SIDES, "z-"], Dirichlet())}, r"remove \['z-'\]"),
        ({"boundary": dict.fromkeys(SIDES, 0.0)}, "wanted a condition such as Dirichlet"),
        ({"boundary": dict.fromkeys(SIDES, Periodic())}, "finite elements take"),
    ],
)
def test_boundary_must_fit(change: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pdes.solve(_problem(-_laplacian(), **change), resolution=4)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"solver": "spectral"}, "unknown solver 'spectral'"),
        ({"degree": 3}, "degree=3, wanted 1 or 2"),
        ({"linear_solver": "jacobi"}, "linear_solver='jacobi'"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pdes.solve(pdes.get("poisson_polynomial"), resolution=4, **options)


@pytest.mark.parametrize(
    ("residual", "match"),
    [
        (-_laplacian() + U**2, "not linear in 'u'"),
        (U.diff(X, 4), "derivatives beyond the second"),
        (-_laplacian() - parameter("q"), "contains 'q'"),
        (-_laplacian() - unknown("w"), "contains the function 'w'"),
    ],
)
def test_residuals_that_cannot_be_solved_are_refused(residual: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pdes.solve(_problem(residual), resolution=4)


def test_problem_checks_its_own_numbers() -> None:
    with pytest.raises(ValueError, match="k=nan must be a finite number"):
        _problem(-_laplacian(), parameters={"k": float("nan")})
    with pytest.raises(ValueError, match="resolution=0"):
        _problem(-_laplacian(), resolution=0)
    with pytest.raises(ValueError, match="exact_name='wrong'"):
        dataclasses.replace(pdes.get("motz"), exact_name="wrong")
    with pytest.raises(ValueError, match="wanted a SteadyProblem"):
        pdes.solve(pdes.get("heat"))
    with pytest.raises(ValueError, match=r"is a SteadyProblem, for pdes\.solve"):
        pdes.simulate(pdes.get("motz"))


def test_a_flux_that_does_not_belong_to_the_residual_is_refused() -> None:
    wrong = {"u": (2 * U.diff(X), U.diff(Y))}
    with pytest.raises(ValueError, match="correct `flux`"):
        pdes.solve(_problem(-_laplacian(), flux=wrong), resolution=4)


def test_a_body_that_floats_is_refused() -> None:
    problem = dataclasses.replace(
        pdes.get("elastic_stretch"), boundary=dict.fromkeys(SIDES, Neumann())
    )
    with pytest.raises(ValueError, match=r"no condition holds \['u', 'v'\] in place"):
        pdes.solve(problem, resolution=4)


def test_unreachable_tolerance_raises_with_the_history() -> None:
    with pytest.raises(ConvergenceError, match="conjugate gradients") as caught:
        pdes.solve(
            pdes.get("laplace_wedge"), resolution=16, linear_solver="multigrid", tolerance=1e-25
        )
    assert len(caught.value.history) > 5
    assert caught.value.history[-1] > 1e-25


def test_multigrid_refuses_what_is_not_symmetric() -> None:
    with pytest.raises(ValueError, match="needs a symmetric system"):
        pdes.solve(pdes.get("advection_diffusion_layer"), linear_solver="multigrid")


# --- Warnings ------------------------------------------------------------------------------------


def _stretch_error(poisson: float, degree: int) -> float:
    problem = pdes.get("lame_cylinder", poisson=poisson, cell_type="triangle")
    norms = json.loads(pdes.solve(problem, resolution=6, degree=degree).attrs["errors"])["u"]
    return norms["l2"] / norms["l2_exact"]


def test_nearly_incompressible_bodies_lock_and_warn() -> None:
    with pytest.warns(LockingWarning, match=r"Poisson's ratio is 0\.4999, above 0\.49"):
        locked = _stretch_error(0.4999, degree=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compressible = _stretch_error(0.3, degree=1)
        quadratic = _stretch_error(0.4999, degree=2)
    assert locked > 10.0 * compressible
    assert quadratic < 0.05 * locked


def test_unresolved_layers_warn() -> None:
    with pytest.warns(ResolutionWarning, match="Peclet number is 63"):
        pdes.solve(pdes.get("advection_diffusion_layer", diffusivity=0.01), resolution=10)


# --- Entries judged by other means ---------------------------------------------------------------


def test_motz_coefficients_and_boundary() -> None:
    """Leading coefficients known to seven decimals, and what the series leaves of the data."""
    known = [401.1624537, 87.6559202, 17.2379151, -8.0712153, 1.4402727, 0.3310549]
    np.testing.assert_allclose(motz_coefficients()[:6], known, atol=6e-8)
    assert motz_residual() < 3e-9


def test_kellogg_is_continuous_with_its_flux() -> None:
    """Values and fluxes agree on both sides of each half axis, in units of their size."""
    theta = sympy.Symbol("theta", real=True)
    parts = crossing.angular_parts(theta)
    contrast = sympy.Rational(repr(crossing.CONTRAST))
    for i, part in enumerate(parts):
        angle, after = (i + 1) * sympy.pi / 2, parts[(i + 1) % 4]
        start = angle if i < 3 else sympy.S.Zero
        jump = part.subs(theta, angle) - after.subs(theta, start)
        inside, outside = (contrast, 1) if i % 2 == 0 else (1, contrast)
        flux = inside * part.diff(theta).subs(theta, angle)
        flux -= outside * after.diff(theta).subs(theta, start)
        assert abs(sympy.N(jump, 30)) < 1e-15
        assert abs(sympy.N(flux, 30)) < 1e-15


def test_battery_balances_its_heat() -> None:
    """What the materials make leaves through the sides, and refinement changes little."""
    problem = pdes.get("battery")
    coarse, fine = (pdes.solve(problem, resolution=n, degree=2) for n in (3, 6))
    assert float(abs(coarse.u.max() / fine.u.max() - 1.0)) < 0.01
    lost = 0.0
    for side, (axis, level, coefficient, inflow) in {
        "y+": ("y", 24.0, 1.0, 3.0),
        "x+": ("x", 8.4, 2.0, 2.0),
        "y-": ("y", 0.0, 3.0, 1.0),
    }.items():
        assert problem.boundary[side] == Robin(coefficient, inflow)
        wall = fine.isel(point=np.flatnonzero(fine[axis].values == level))
        along = wall["x" if axis == "y" else "y"]
        order = np.argsort(along.values)
        place, value = along.values[order], wall.u.values[order]
        # Simpson's rule is exact for elements of degree 2: corner, middle, corner.
        thirds = (place[2::2] - place[:-2:2]) / 6.0
        mean = thirds @ (value[:-2:2] + 4.0 * value[1::2] + value[2::2])
        lost += coefficient * mean - inflow * (place[-1] - place[0])
    made = 6.1 * (2.0 + 15.2 + 2.4)
    assert by_material(2).subs({X: 1.0, Y: 20.0}) == 1
    assert lost == pytest.approx(made, rel=1e-10)


def test_uniform_heating_leaves_no_stress() -> None:
    data = pdes.solve(pdes.get("thermoelastic_free", temperature=2.0), resolution=4)
    # Plane strain: both strains are (1 + nu) times what the free material would show.
    np.testing.assert_allclose(data.u, 1.3 * 0.1 * 2.0 * data.x, atol=1e-14)
    np.testing.assert_allclose(data.v, 1.3 * 0.1 * 2.0 * data.y, atol=1e-14)


def test_outflow_is_a_side_without_flux() -> None:
    ends = {"x-": Dirichlet(), "x+": Dirichlet(1.0)}
    free = _problem(-_laplacian(), boundary={**ends, "y-": Outflow(), "y+": Neumann()})
    data = pdes.solve(free, resolution=6)
    np.testing.assert_allclose(data.u, data.x, atol=1e-14)


def test_curved_edges_matter() -> None:
    """Quadratic elements with straight edges lose an order on a ring: the mapping keeps it."""

    def straight(resolution: int) -> Any:
        mesh = Annulus(inner=1.0, outer=2.0)(resolution)
        return dataclasses.replace(mesh, mapping=None, reference=None)

    problem = pdes.get("lame_cylinder")
    errors = {}
    for label, domain in (("bent", problem.domain), ("straight", straight)):
        data = pdes.solve(dataclasses.replace(problem, domain=domain), resolution=8, degree=2)
        errors[label] = json.loads(data.attrs["errors"])["u"]["l2"]
    assert errors["straight"] > 20.0 * errors["bent"]
