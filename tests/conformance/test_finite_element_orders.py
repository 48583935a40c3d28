"""Finite elements converge with the orders that they declare and that corners allow."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pdes
from pdes.solvers.finite_element import ORDERS
from pdes.solvers.taylor_hood import ORDERS as FLOW_ORDERS


@dataclass(frozen=True)
class Row:
    """An entry, its parameters, and the predicted orders of values and derivatives."""

    entry: str
    degree: int
    l2: float
    h1: float
    resolutions: tuple[int, ...] = (8, 16, 32)
    parameters: dict[str, Any] = field(default_factory=dict)
    # How far above the prediction a slope may be: tight where theory gives it exactly.
    above: float = 0.15

    def __str__(self) -> str:
        words = [
            f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}"
            for k, v in self.parameters.items()
        ]
        return "-".join([self.entry, f"degree{self.degree}", *words])


PI = math.pi
CORNER = 2.0 / 3.0
ROWS = [
    # Smooth solutions: the full order, values degree + 1 and derivatives degree.
    Row("poisson_polynomial", 1, 2.0, 1.0, (16, 32, 64)),
    Row("poisson_polynomial", 2, 3.0, 2.0, (16, 32, 64)),
    Row("poisson_peak", 1, 2.0, 1.0, (24, 48, 96), {"sharpness": 100.0}),
    Row("poisson_peak", 2, 3.0, 2.0, (16, 32, 64), {"sharpness": 100.0}),
    Row("poisson_wave_front", 1, 2.0, 1.0, (32, 64, 128)),
    Row("poisson_wave_front", 2, 3.0, 2.0, (24, 48, 96)),
    Row("poisson_oscillatory", 1, 2.0, 1.0, (16, 32, 64), {"oscillations": 0.5}),
    Row("poisson_oscillatory", 2, 3.0, 2.0, (16, 32, 64), {"oscillations": 0.5}, above=0.4),
    Row("advection_diffusion_layer", 1, 2.0, 1.0, (16, 32, 64), {"diffusivity": 0.2}),
    Row("advection_diffusion_layer", 2, 3.0, 2.0, (16, 32, 64), {"diffusivity": 0.2}),
    Row("lame_cylinder", 1, 2.0, 1.0, (4, 8, 16)),
    Row("lame_cylinder", 2, 3.0, 2.0, (4, 8, 16)),
    Row("thermoelastic_cylinder", 1, 2.0, 1.0, (4, 8, 16)),
    Row("thermoelastic_cylinder", 2, 3.0, 2.0, (4, 8, 16)),
    # A complex wave with sides that absorb: the hard disc also tests natural conditions.
    Row("helmholtz_disc", 1, 2.0, 1.0, (6, 9, 13)),
    Row("helmholtz_disc", 2, 3.0, 2.0, (3, 5, 8), {"surface": "hard"}),
    Row("thermoelastic_mode", 1, 2.0, 1.0, (8, 16, 32)),
    Row("thermoelastic_mode", 2, 3.0, 2.0, (8, 16, 32)),
    # A kink of the second derivative across cells: derivatives exponent - 1/2 = 2 at most.
    Row("poisson_interior_line", 1, 2.0, 1.0, (16, 32, 64)),
    # A corner of angle omega on a uniform mesh: derivatives a = pi/omega, values 2 a.
    Row("laplace_wedge", 1, 2 * CORNER, CORNER, (16, 32, 64), above=0.05),
    Row("laplace_wedge", 2, 2 * CORNER, CORNER, (16, 32, 64), above=0.05),
    Row("laplace_l_shape", 1, 2 * CORNER, CORNER, (16, 32, 64), above=0.05),
    Row("laplace_wedge", 1, 1.6, 0.8, (16, 32, 64), {"angle": 1.25 * PI}, above=0.06),
    Row("laplace_wedge", 1, 8 / 7, 4 / 7, (16, 32, 64), {"angle": 1.75 * PI}, above=0.05),
    Row("laplace_wedge", 1, 2.0, 1.0, (16, 32, 64), {"angle": PI + 0.01}, above=0.05),
    Row("laplace_wedge", 1, 2.0, 1.0, (8, 16, 32), {"angle": 0.5 * PI}, above=0.05),
    Row("laplace_slit", 1, 1.0, 0.5, (16, 32, 64), above=0.06),
    Row("laplace_wedge", 1, CORNER, CORNER / 2, (16, 32, 64), {"mixed": True}, above=0.06),
    Row("motz", 1, 1.0, 0.5, (8, 16, 32), above=0.08),
    Row("crack_tip", 1, 1.0, 0.5, above=0.1),
    # On a slit the dual problem is as singular as r^(1/2): values a + 1/2.
    Row("elastic_slit", 1, 1.0445, 0.5445, (16, 32, 64), above=0.2),
    Row("elastic_slit", 1, 1.4085, 0.9085, (16, 32, 64), {"mode": 2}, above=0.4),
    # Cells gathered at the corner, grading below a/degree: the full order again.
    Row("laplace_wedge", 1, 2.0, 1.0, (16, 32, 64), {"grading": 0.5}),
    Row("laplace_wedge", 2, 3.0, 2.0, (16, 32, 64), {"grading": 0.3}),
    Row("laplace_l_shape", 1, 2.0, 1.0, (16, 32, 64), {"grading": 0.5}),
    Row("laplace_slit", 1, 2.0, 1.0, (16, 32, 64), {"mixed": True, "grading": 0.15}),
    Row("motz", 1, 2.0, 1.0, (8, 16, 32), {"grading": 0.35}),
    Row("elastic_slit", 1, 2.0, 1.0, parameters={"grading": 0.35}),
    Row("elastic_slit", 1, 2.0, 1.0, parameters={"mode": 2, "grading": 0.6}),
    Row("poisson_multiple", 1, 2.0, 1.0, (24, 48, 96),
        {"sharpness": 5.0, "steepness": 2.0, "layer": 1.0, "grading": 0.5}),
    # A grading that is not strong enough: derivatives a/grading.
    Row("kellogg", 1, 1.0, 0.5, (16, 32, 64), {"grading": 0.2}, above=0.1),
    Row("poisson_line_singularity", 1, 2.0, 0.5, (16, 32, 64), {"grading": 0.2}, above=0.05),
]  # fmt: skip


def _slopes(row: Row) -> dict[str, dict[str, float]]:
    problem = pdes.get(row.entry, **row.parameters)
    solved = [pdes.solve(problem, resolution=n, degree=row.degree) for n in row.resolutions]
    errors = [json.loads(data.attrs["errors"]) for data in solved]
    assert all(data.attrs["status"] == "ok" for data in solved)
    sizes = -np.log(np.array(row.resolutions, float))
    found = {}
    for name in errors[0]:
        norms = {kind: np.log([e[name][kind] for e in errors]) for kind in ("l2", "h1")}
        found[name] = {kind: float(np.polyfit(sizes, v, 1)[0]) for kind, v in norms.items()}
    return found


# Long ones of a kind that a shorter row stands for.
LONG = {
    "elastic_slit-degree1-mode=2",
    "helmholtz_disc-degree2-surface=hard",
    "laplace_wedge-degree2",
    "poisson_multiple-degree1-sharpness=5-steepness=2-layer=1-grading=0.5",
}


def test_long_rows_are_rows() -> None:
    assert {str(row) for row in ROWS} >= LONG


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=pytest.mark.slow if str(row) in LONG else ()) for row in ROWS],
    ids=str,
)
def test_orders_are_as_predicted(row: Row) -> None:
    for name, slopes in _slopes(row).items():
        for kind, wanted in (("l2", row.l2), ("h1", row.h1)):
            assert wanted - 0.15 <= slopes[kind] <= wanted + row.above, (name, kind, slopes)


def test_declared_orders_are_the_smooth_ones() -> None:
    smooth = [row for row in ROWS if row.entry == "poisson_polynomial"]
    assert {row.degree: {"l2": row.l2, "h1": row.h1} for row in smooth} == ORDERS


@pytest.mark.parametrize("mesh_kind", ["triangle", "quad"])
@pytest.mark.parametrize("degree", [1, 2])
def test_orders_on_both_kinds_of_cells(mesh_kind: str, degree: int) -> None:
    from pdes.mesh import Rectangle

    problem = pdes.get("poisson_polynomial", power=2, domain=Rectangle(cell_type=mesh_kind))
    errors = []
    for n in (8, 16, 32):
        data = pdes.solve(problem, resolution=n, degree=degree)
        errors.append(json.loads(data.attrs["errors"])["u"]["l2"])
    slopes = -np.diff(np.log2(errors))
    assert np.all(np.abs(slopes - (degree + 1)) < 0.15), slopes


def test_quadratic_solution_is_reproduced_exactly() -> None:
    """At a right angle ``r^2 sin 2 theta = 2 x y`` lies in the space of degree 2."""
    data = pdes.solve(pdes.get("laplace_wedge", angle=PI / 2), resolution=8, degree=2)
    assert json.loads(data.attrs["errors"])["u"]["l2"] < 1e-14


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("name", ["elastic_stretch", "thermoelastic_free"])
def test_uniform_strain_is_reproduced_exactly(name: str, degree: int) -> None:
    data = pdes.solve(pdes.get(name), resolution=4, degree=degree)
    for norms in json.loads(data.attrs["errors"]).values():
        assert norms["l2"] < 1e-14
        assert norms["max"] < 1e-13


def test_taylor_hood_orders() -> None:
    """Velocities of degree 2 and pressure of degree 1 against Kovasznay's flow."""
    problem = pdes.get("steady_kovasznay")
    errors = [json.loads(pdes.solve(problem, resolution=n).attrs["errors"]) for n in (6, 12, 24)]
    for name, declared in (("u", "velocity"), ("v", "velocity"), ("p", "pressure")):
        for kind, wanted in FLOW_ORDERS[declared].items():
            slopes = -np.diff(np.log2([e[name][kind] for e in errors]))
            assert wanted - 0.15 <= slopes[-1] <= wanted + 0.2, (name, kind, slopes)
