"""Solvers of steady problems on grids converge with the orders that they declare."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pdes
from pdes.solvers import chebyshev, collocation, darcy, eikonal, helmholtz, impedance
from pdes.solvers.elliptic import ORDERS


def _errors(data: Any) -> dict[str, float]:
    assert data.attrs["status"] == "ok"
    (norms,) = json.loads(data.attrs["errors"]).values()
    return norms


@dataclass(frozen=True)
class Row:
    """An entry, the option that chooses its resolution, and the predicted order."""

    entry: str
    order: float
    sizes: tuple[int, ...]
    norm: str = "l2"
    resolution: str = "points"
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    # How far above the prediction a slope may be.
    above: float = 0.15

    def __str__(self) -> str:
        words = {**self.parameters, **self.options}
        return "-".join([self.entry, *[f"{k}={v}" for k, v in words.items()]])


def _slope(row: Row) -> float:
    errors, steps = [], []
    for n in row.sizes:
        problem = pdes.get(row.entry, **{row.resolution: n}, **row.parameters)
        errors.append(_errors(pdes.solve(problem, **row.options))[row.norm])
        steps.append(problem.domain.spacings[0])
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


THREE, CELLS = (17, 33, 65), (16, 32, 64)
BOXES = [
    Row("poisson_box", order, (33, 65, 129) if order == 4 else THREE, "max",
        parameters={"kind": kind}, options={"order": order})
    for kind in ("dirichlet", "neumann", "periodic", "mixed", "channel")
    for order in ORDERS
]  # fmt: skip
LINES_AND_BLOCKS = [
    Row("poisson_box", order, THREE if dimension == 1 else (17, 25, 33), "max",
        parameters={"kind": kind, "dimension": dimension}, options={"order": order}, above=above)
    for kind, dimension, order, above in [
        ("dirichlet", 1, 2, 0.15), ("dirichlet", 1, 4, 0.15), ("mixed", 1, 4, 0.15),
        # Edges where two fluxes meet are still before their asymptotic range: steeper.
        ("dirichlet", 3, 2, 0.15), ("dirichlet", 3, 4, 0.2), ("mixed", 3, 4, 1.5),
    ]
]  # fmt: skip
POROUS = [
    Row("darcy_manufactured", 2, CELLS, resolution="cells"),
    Row("darcy_manufactured", 2, CELLS, resolution="cells", parameters={"kind": "neumann"}),
    Row("darcy_layered", 2, CELLS, resolution="cells"),
    Row("darcy_layered", 2, CELLS, resolution="cells", parameters={"interface": 0.25}),
    # Odd numbers of cells put the jump into the middle of a cell, others anywhere in one.
    Row("darcy_layered", 1, (17, 33, 65, 129), resolution="cells", above=0.2),
    Row("darcy_layered", 1, tuple(range(20, 400, 13)), resolution="cells",
        parameters={"interface": 0.3719}, above=0.2),
]  # fmt: skip
WAVES = [
    Row("helmholtz_plane_wave", 2, (25, 49, 73), options={"tolerance": 0.5}),
    Row("helmholtz_point_source", 2, (25, 49, 73), options={"tolerance": 0.5}),
    Row("helmholtz_box", 2, THREE, options={"order": 2, "tolerance": 0.5}),
    Row("helmholtz_box", 4, THREE, options={"order": 4}),
]
FRONTS = [
    Row("eikonal_distance", 1, (33, 65, 129, 257), "l1"),
    Row("eikonal_linear_speed", 1, (33, 65, 129, 257), "l1"),
    Row("eikonal_two_sources", 1, (33, 65, 129, 257), "l1"),
    Row("eikonal_linear_speed", 1, (33, 65, 129), "l1",
        options={"ball": 0.0, "factored": True}),
    # A bare point: h log h, which looks like this on grids of up to 257 points.
    Row("eikonal_distance", 0.75, (33, 65, 129, 257), "l1", options={"ball": 0.0}, above=0.05),
    Row("eikonal_linear_speed", 0.75, (33, 65, 129, 257), "l1", options={"ball": 0.0}, above=0.05),
]  # fmt: skip


@pytest.mark.parametrize("row", BOXES + LINES_AND_BLOCKS + POROUS + WAVES + FRONTS, ids=str)
def test_orders_are_as_predicted(row: Row) -> None:
    assert row.order - 0.15 <= _slope(row) <= row.order + row.above


def test_declared_orders_are_those_measured() -> None:
    assert ORDERS == (2, 4)
    assert sorted(helmholtz.POLLUTION) == [2, 4]
    assert (darcy.ORDER, impedance.ORDER, eikonal.ORDER) == (2, 2, 1)
    assert collocation.ORDER == "spectral"


# --- Collocation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degree", "limit"), [(8, 2.5e-4), (12, 1.5e-7), (16, 2.5e-11), (20, 5e-14)]
)
def test_collocation_converges_exponentially(degree: int, limit: float) -> None:
    error = _errors(pdes.solve(pdes.get("poisson_interval", points=degree + 1)))["max"]
    assert error < limit
    assert degree == 20 or error > limit / 4


@pytest.mark.parametrize(("points", "limit"), [(9, 6e-4), (13, 7e-7), (17, 3e-10), (25, 1e-13)])
def test_collocation_resolves_a_layer(points: int, limit: float) -> None:
    error = _errors(pdes.solve(pdes.get("advection_diffusion_interval", points=points)))["max"]
    assert error < limit
    assert points == 25 or error > limit / 4


def test_a_thin_layer_does_not_overflow() -> None:
    data = pdes.solve(pdes.get("advection_diffusion_interval", peclet=1000.0, points=257))
    assert _errors(data)["max"] < 1e-10
    assert float(data.u[-1]) == 1.0


@pytest.mark.parametrize("entry", ["poisson_box", "darcy_manufactured"])
def test_collocation_in_the_plane(entry: str) -> None:
    kind = {"kind": "mixed"} if entry == "poisson_box" else {}
    size = "points" if entry == "poisson_box" else "cells"
    errors = [
        _errors(pdes.solve(pdes.get(entry, **{size: n}, **kind), "chebyshev"))["max"]
        for n in (9, 13, 19)
    ]
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 100
    assert errors[2] < 1e-12


def test_spectral_radius_grows_with_the_fourth_power() -> None:
    for degree in (32, 64):
        matrix = chebyshev.differentiation_matrix(chebyshev.chebyshev_points(degree))
        radius = float(np.max(np.abs(np.linalg.eigvals((matrix @ matrix)[1:-1, 1:-1]))))
        assert radius / degree**4 == pytest.approx(chebyshev.SPECTRAL_RADIUS, rel=0.01)
        assert chebyshev.stable_step(degree, 1.0) * radius < 2.7853


def test_steps_above_the_limit_of_collocation_blow_up() -> None:
    """The classical Runge-Kutta method on ``u_t = u_xx``: its factor for the fastest mode."""
    degree = 32
    matrix = chebyshev.differentiation_matrix(chebyshev.chebyshev_points(degree))
    radius = float(np.max(np.abs(np.linalg.eigvals((matrix @ matrix)[1:-1, 1:-1]))))
    for factor, stable in ((1.0, True), (1.05, False)):
        z = -radius * factor * chebyshev.stable_step(degree, 1.0)
        growth = abs(sum(z**k / math.factorial(k) for k in range(5)))
        assert (growth < 1.0) == stable


def test_constants_and_lines_are_differentiated_exactly() -> None:
    x = chebyshev.chebyshev_points(64, -3.0, 5.0)
    matrix = chebyshev.differentiation_matrix(x)
    np.testing.assert_array_equal(matrix.sum(axis=1).round(12), 0.0)
    np.testing.assert_allclose(matrix @ x, 1.0, atol=1e-11)


# --- Pollution -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("wavenumber", "measured"), [(20.0, 0.219), (80.0, 0.812)])
def test_pollution_is_as_predicted(wavenumber: float, measured: float) -> None:
    """``k h = 1/2`` at both wave numbers: the error grows with the number of waves."""
    points = round(2 * wavenumber) + 1
    problem = pdes.get("helmholtz_interval", wavenumber=wavenumber, points=points)
    data = pdes.solve(problem, tolerance=1.0)
    predicted = json.loads(data.attrs["solver"])["pollution"]
    assert predicted == pytest.approx(wavenumber / 96.0, rel=1e-12)
    assert _errors(data)["max"] == pytest.approx(measured, abs=5e-4)
    assert _errors(data)["max"] == pytest.approx(predicted, rel=0.06)


@pytest.mark.parametrize("order", [2, 4])
def test_phase_error_of_the_stencils(order: int) -> None:
    """The discrete wave number from the stencil's own eigenvalue."""
    k, h = 1.0, 0.1
    sine = np.sin(0.5 * k * h) ** 2
    # -4 sin^2/h^2 is the second difference of the exact wave; what k^2 does the stencil see?
    seen = 4 * sine / h**2 / (1.0 if order == 2 else 1.0 - sine / 3.0)
    assert k - math.sqrt(seen) == pytest.approx(helmholtz.phase_error(k, h, order), rel=0.01)


# --- Fast sweeping -------------------------------------------------------------------------------


def test_uniform_speed_takes_four_sweeps() -> None:
    for n in (33, 65, 129):
        assert pdes.solve(pdes.get("eikonal_distance", points=n)).attrs["iterations"] <= 4


def test_linear_speed_takes_twelve_sweeps_at_most() -> None:
    for n in (33, 65, 129):
        assert pdes.solve(pdes.get("eikonal_linear_speed", points=n)).attrs["iterations"] <= 12


@pytest.mark.parametrize("name", ["eikonal_distance", "eikonal_two_sources"])
def test_factored_form_is_exact_in_a_uniform_medium(name: str) -> None:
    data = pdes.solve(pdes.get(name, points=33), ball=0.0, factored=True)
    assert _errors(data)["max"] < 1e-14
