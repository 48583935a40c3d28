"""Entries without a closed form of their own that tests them, against manufactured solutions."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.library.battery import X_LINES, Y_LINES, by_material
from pdes.pointwise import pointwise
from pdes.solvers.finite_element_space import make_space
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, number
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._block_flow import block_error
from ._ladder import Ladder, ladder_case
from ._manufactured import with_solution

_KINDS = {"l2": "values", "h1": "derivatives"}
X, Y, PI = coordinate("x"), coordinate("y"), sympy.pi


# --- The entries ---------------------------------------------------------------------------------

_UNIT = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
_U = sympy.sin(2 * X + Y / 2) / 5
_V = sympy.cos(X - 2 * Y) / 7 + X * Y / 10


def _stretch(**parameters: Any) -> SteadyProblem:
    return with_solution(pdes.get("elastic_stretch", **parameters), {"u": _U, "v": _V}, _UNIT)


def _free() -> SteadyProblem:
    heat = 1 + sympy.sin(3 * X) * sympy.exp(-Y)
    return with_solution(pdes.get("thermoelastic_free"), {"T": heat, "u": _U, "v": _V}, _UNIT)


def _waves(lines: Sequence[float], s: Any, *, open_start: bool) -> Any:
    """Cosine arcs from line to line: one after the other, level at every line between materials.

    No flux crosses a line where materials meet, so that it is continuous whatever they are. At the
    outer ends, but for a start that is insulated, the slope does not vanish.
    """
    pieces = []
    for place, (low, high) in enumerate(itertools.pairwise(lines)):
        part = (s - number(low)) / number(high - low)
        first, last = place == 0 and open_start, place == len(lines) - 2
        arc = sympy.cos(PI * part)
        if first:
            arc = -sympy.cos(3 * PI / 4 * (1 - part))
        elif last:
            arc = sympy.cos(3 * PI / 4 * part)
        pieces.append(((-1) ** place * arc, s < number(high)))
    return sympy.Piecewise(*pieces[:-1], (pieces[-1][0], True))


def _battery() -> SteadyProblem:
    """Materials, mesh and sides of the battery, with heat that is known."""
    problem, u = pdes.get("battery"), unknown("u")
    heat = 2 + _waves(X_LINES, X, open_start=False) * _waves(Y_LINES, Y, open_start=True)
    materials = {name: by_material(place) for place, name in enumerate("pqf")}
    flux = {"u": (unknown("p") * u.diff(X), unknown("q") * u.diff(Y))}
    box = {"x": (0.0, X_LINES[-1]), "y": (0.0, Y_LINES[-1])}
    return with_solution(problem, {"u": heat}, box, coefficients=materials, flux=flux)


def _darcy() -> SteadyProblem:
    """Permeability of the covariance of the entry, cut to sixteen waves so that it is smooth."""
    draws = np.random.default_rng(0).normal(size=(4, 4))
    field = sympy.S.Zero
    for (i, j), draw in np.ndenumerate(draws):
        scale = (2.0 if i and j else math.sqrt(2.0)) if i or j else 1.0
        size = scale * draw / (math.pi**2 * (i**2 + j**2) + 9.0)
        field += number(float(size)) * sympy.cos(i * PI * X) * sympy.cos(j * PI * Y)
    problem = pdes.get("darcy", permeability="lognormal")
    head = sympy.sin(PI * X) * sympy.sin(PI * Y) * sympy.exp(X * Y)
    return with_solution(problem, {"u": head}, _UNIT, coefficients={"a": sympy.exp(field)})


@dataclass(frozen=True)
class Row:
    """A manufactured problem and the orders that its solver should have on it."""

    label: str
    make: Callable[[], SteadyProblem]
    degree: int
    resolutions: tuple[int, ...]


MESHES = tuple(
    Row(label, make, degree, tuple(n // degree for n in sizes))
    for label, make, sizes in (
        ("elastic_stretch", _stretch, (8, 16, 32)),
        ("elastic_stretch (plane stress)", lambda: _stretch(plane="stress"), (8, 16, 32)),
        ("thermoelastic_free", _free, (8, 16, 32)),
    )
    for degree in (1, 2)
)


def _on_meshes() -> Measurements:
    values, table = {}, []
    for row in MESHES:
        problem = row.make()
        solved = [pdes.solve(problem, resolution=n, degree=row.degree) for n in row.resolutions]
        errors = [json.loads(data.attrs["errors"]) for data in solved]
        steps = [1.0 / n for n in row.resolutions]
        for kind, word in _KINDS.items():
            orders = {f: observed_order(steps, [e[f][kind] for e in errors]) for f in errors[0]}
            worst = min(orders, key=lambda name: orders[name])
            values[_mesh_label(row, word)] = orders[worst]
            last = errors[-1][worst]
            table.append(
                {
                    "entry": f"{row.label}, degree {row.degree}",
                    "solver": "finite_element",
                    "norm": f"{word} of {worst}",
                    "predicted order": row.degree + (kind == "l2"),
                    "measured order": orders[worst],
                    "error": last[kind] / last[f"{kind}_exact"],
                    "invariant drift": "-",
                    "cells": "/".join(map(str, row.resolutions)),
                }
            )
    return Measurements(values=values, table=table)


def _mesh_label(row: Row, word: str) -> str:
    return f"{row.label}, degree {row.degree}: {word}"


ON_MESHES = Case(
    name="meshes",
    title="Elastic bodies, against manufactured solutions",
    description=(
        "Loads and data of the sides make known fields solve the equations of the entries on their "
        "own domains."
    ),
    run=_on_meshes,
    predictions=tuple(
        Prediction(
            name=_mesh_label(row, word),
            value=row.degree + (kind == "l2"),
            kind="equals",
            atol=0.15,
            source="smooth solutions: Ciarlet 1978, theorem 3.2.5",
        )
        for row in MESHES
        for kind, word in _KINDS.items()
    ),
)

# --- The battery ---------------------------------------------------------------------------------


def _energy_error(problem: SteadyProblem, resolution: int, degree: int) -> float:
    """Error in the norm of the energy, ``p u_x^2 + q u_y^2``, relative to that of the solution."""
    data = pdes.solve(problem, resolution=resolution, degree=degree)
    basis = make_space(problem, resolution, degree).basis
    places = dict(zip("xy", np.asarray(basis.global_coordinates()), strict=True))
    wanted = problem.exact["manufactured"].gradient(**places)["u"]
    found: Any = basis.interpolate(data.u.values)
    weights = [pointwise(by_material(place), places) for place in (0, 1)]
    parts = zip(weights, found.grad, wanted, strict=True)
    off, size = np.sum([(w * (f - g) ** 2, w * g**2) for w, f, g in parts], axis=0)
    return float(np.sqrt(np.sum(off * basis.dx) / np.sum(size * basis.dx)))


_CELLS = (4, 8, 16)


def _battery_orders() -> Measurements:
    problem, values, table = _battery(), {}, []
    for degree in (1, 2):
        errors = [_energy_error(problem, n, degree) for n in _CELLS]
        values[f"energy, degree {degree}"] = observed_order([1.0 / n for n in _CELLS], errors)
        table.append(
            {
                "entry": f"battery, degree {degree}",
                "solver": "finite_element",
                "norm": "energy",
                "predicted order": degree,
                "measured order": values[f"energy, degree {degree}"],
                "error": errors[-1],
                "invariant drift": "-",
                "cells": "/".join(map(str, _CELLS)),
            }
        )
    return Measurements(values=values, table=table, note="Cells across each of the 28 blocks.")


BATTERY = Case(
    name="battery",
    title="Five materials, against a manufactured solution",
    description=(
        "The materials, mesh and sides of the battery with heat that is level at every line "
        "between materials, so that its flux is continuous. In the norm of the energy, where the "
        "contrast of 50,000 does not enter."
    ),
    run=_battery_orders,
    predictions=tuple(
        Prediction(
            name=f"energy, degree {degree}",
            value=degree,
            kind="equals",
            atol=0.15,
            source="best approximation (Cea 1964); smooth in every cell",
        )
        for degree in (1, 2)
    ),
)

# --- Grids ---------------------------------------------------------------------------------------


def steady_slope(
    label: str, order: float, problems: Sequence[SteadyProblem], **options: Any
) -> dict:
    """Row of the table: mean square error of steady problems on finer and finer grids."""
    errors, record, size = [], {}, 1.0
    for problem in problems:
        data = pdes.solve(problem, **options)
        (norms,) = json.loads(data.attrs["errors"]).values()
        record, size = json.loads(data.attrs["solver"]), norms["l2_exact"]
        errors.append(norms["l2"])
    steps = [problem.domain.spacings[0] for problem in problems]  # type: ignore[union-attr]
    return {
        "entry": label,
        "solver": record["name"],
        "predicted order": order,
        "measured order": observed_order(steps, errors),
        "error": errors[-1] / size,
        "invariant drift": record.get("flux_balance", math.nan),
    }


def _on_grids() -> Measurements:
    interval = [pdes.get("helmholtz_interval", points=n) for n in (129, 257, 513)]
    porous, domains = _darcy(), [pdes.get("darcy", cells=n).domain for n in (16, 32, 64)]
    squares = [dataclasses.replace(porous, domain=domain) for domain in domains]
    table = [
        steady_slope("darcy (permeability lognormal, 16 waves)", 2, squares),
        steady_slope("helmholtz_interval", 2, interval, tolerance=0.5),
    ]
    names = ("darcy", "helmholtz_interval")
    return Measurements(
        values={n: row["measured order"] for n, row in zip(names, table, strict=True)}, table=table
    )


ON_GRIDS = Case(
    name="grids",
    title="Darcy flow through a smooth random field; a wave on an interval",
    description=(
        "Sixteen random waves with the covariance of the entry, and a source that makes a known "
        "head the solution; exp(i k x) at k = 20 from a given value to an impedance."
    ),
    run=_on_grids,
    predictions=tuple(
        Prediction(name=name, value=2, kind="equals", atol=0.15, source=source)
        for name, source in (
            ("darcy", "harmonic means of a smooth permeability"),
            ("helmholtz_interval", "three-point stencil, impedance centered on the last node"),
        )
    ),
)

# --- Collocation ---------------------------------------------------------------------------------

_DEGREES = {"poisson_interval": (4, 8, 16), "advection_diffusion_interval": (6, 12, 24)}


def _collocation() -> Measurements:
    values, table = {}, []
    for name, degrees in _DEGREES.items():
        errors = []
        for degree in degrees:
            data = pdes.solve(pdes.get(name, points=degree + 1))
            (norms,) = json.loads(data.attrs["errors"]).values()
            errors.append(norms["max"])
        # Only doublings that start above rounding say how fast the error falls.
        falls = [a / b for a, b in itertools.pairwise(errors) if a > 1e-10]
        values[f"least fall in a doubling, {name}"] = min(falls)
        values[f"error, {name}"] = errors[-1]
        table.append(
            {
                "entry": name,
                "solver": "chebyshev",
                "predicted order": "spectral",
                "measured order": f"error / {min(falls):.2g} in a doubling",
                "error": errors[-1],
                "invariant drift": "-",
                "degrees": "/".join(map(str, degrees)),
            }
        )
    return Measurements(values=values, table=table)


COLLOCATION = Case(
    name="collocation",
    title="Collocation falls by more than ten in every doubling, down to rounding",
    description="u'' = exp(4 x), and the layer of Pe u' = u'' at Pe = 10; largest error.",
    run=_collocation,
    predictions=tuple(
        prediction
        for name in _DEGREES
        for prediction in (
            Prediction(
                name=f"least fall in a doubling, {name}",
                value=10.0,
                kind="at_least",
                source="entire functions: faster than exponential",
            ),
            Prediction(name=f"error, {name}", value=1e-10, kind="at_most", source="rounding"),
        )
    ),
)

# --- The block -----------------------------------------------------------------------------------

_ACROSS = (16, 24, 32, 48)


def _block() -> Measurements:
    found = [block_error(n) for n in _ACROSS]
    steps, divergence = [1.0 / n for n in _ACROSS], max(left for _, _, left in found)
    orders = [observed_order(steps, [one[i] for one in found]) for i in (0, 1)]
    table = [
        {
            "entry": f"channel_block, manufactured, {norm}",
            "solver": "mac_rk3",
            "predicted order": 2 - i,
            "measured order": orders[i],
            "error": found[-1][i],
            "invariant drift": f"divergence {divergence:.1e}",
        }
        for i, norm in enumerate(("mean square", "largest"))
    ]
    values = {"mean square": orders[0], "largest": orders[1], "divergence": divergence}
    return Measurements(values=values, table=table)


BLOCK = Case(
    name="block",
    title="Flow past a block, against a manufactured one",
    description=(
        "The box, block and equation of the entry with a force; velocities given on the outer "
        "sides, rest on the block, a shear along its faces; to t = 1/4 on 16 to 48 cells across."
    ),
    run=_block,
    predictions=(
        Prediction(
            name="mean square",
            value=2.0,
            kind="order",
            source="central differences; the faces of the block run along faces of cells",
        ),
        Prediction(
            name="largest",
            value=1.0,
            kind="order",
            source="at a corner the gradient of the velocity jumps with the angle",
        ),
        Prediction(
            name="divergence", value=1e-11, kind="at_most", source="rounding of a direct solution"
        ),
    ),
    tier="full",
)

# --- In time -------------------------------------------------------------------------------------


def _pattern(equation: Any) -> Any:
    """Fields with no slope at the sides of (-1, 1)^2."""
    x, y = (PI * (coordinate(name) + 1) / 2 for name in "xy")
    t = coordinate("t")
    fields = {
        "u": sympy.cos(2 * t) * sympy.cos(x) * sympy.cos(2 * y),
        "v": sympy.sin(t) * sympy.cos(2 * x) * sympy.cos(y) / 2,
    }
    return pdes.exact.manufactured(equation, fields)


IN_TIME = ladder_case(
    "in-time",
    "A reaction between insulated sides, manufactured; a swirl that turns back",
    (
        "FitzHugh-Nagumo with the damped start of its entry and a source, in the largest error; "
        "the hump of the swirl after one period, in the mean of the error."
    ),
    (
        Ladder(
            entry="fitzhugh_nagumo",
            solution=_pattern,
            sizes=(16, 32, 64),
            stop=0.5,
            step=lambda size: 1.6 / size,
            order=2.0,
            source="central differences and Crank-Nicolson with Adams-Bashforth, step like spacing",
        ),
        Ladder(
            entry="advection_swirl",
            parameters={"period": 0.5},
            sizes=(32, 48, 64),
            stop=0.5,
            order=3.0,
            norm="mean",
            source="SSPRK3 at a fixed Courant number",
        ),
    ),
)

CASES = [ON_MESHES, BATTERY, ON_GRIDS, COLLOCATION, BLOCK, IN_TIME]
