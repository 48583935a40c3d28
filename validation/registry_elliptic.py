"""Steady entries on grids: orders of convergence, pollution of waves, balances, recordings."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pdes
from pdes.solvers import chebyshev
from pdes.solvers.helmholtz import phase_error
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements


@dataclass(frozen=True)
class Row:
    """An entry with its solver's predicted order, on several grids."""

    entry: str
    order: float
    sizes: tuple[int, ...]
    norm: str = "l2"
    resolution: str = "points"
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    source: str = "Taylor expansion of the stencil"
    # Equality up to this, where theory gives an upper bound as well.
    within: float | None = None

    @property
    def label(self) -> str:
        """Entry with its parameters and options in words."""
        words = {**self.parameters, **{k: v for k, v in self.options.items() if k != "tolerance"}}
        inside = ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}"
                           for k, v in words.items())  # fmt: skip
        return f"{self.entry} ({inside})" if inside else self.entry


def _errors(data: Any) -> dict[str, float]:
    (norms,) = json.loads(data.attrs["errors"]).values()
    return norms


def _measure(rows: Sequence[Row]) -> Measurements:
    values, table = {}, []
    for row in rows:
        steps, errors, record, norms = [], [], {}, {}
        for n in row.sizes:
            problem = pdes.get(row.entry, **{row.resolution: n}, **row.parameters)
            data = pdes.solve(problem, **row.options)
            record, norms = json.loads(data.attrs["solver"]), _errors(data)
            steps.append(problem.domain.spacings[0])
            errors.append(norms[row.norm])
        values[row.label] = observed_order(steps, errors)
        table.append(
            {
                "entry": row.label,
                "solver": record["name"],
                "norm": row.norm,
                "predicted order": row.order,
                "measured order": values[row.label],
                "error": errors[-1] / norms.get(f"{row.norm}_exact", 1.0),
                "invariant drift": record.get("flux_balance", math.nan),
                "points": "/".join(str(n) for n in row.sizes),
            }
        )
    return Measurements(
        values=values,
        table=table,
        note="Errors on the finest grid, relative but for the norm max; the drift is the largest "
        "imbalance of fluxes of a cell.",
    )


def _orders(name: str, title: str, description: str, rows: Sequence[Row], **options: Any) -> Case:
    return Case(
        name=name,
        title=title,
        description=description,
        run=lambda: _measure(rows),
        predictions=tuple(
            Prediction(
                name=row.label,
                value=row.order,
                kind="order" if row.within is None else "equals",
                atol=row.within,
                source=row.source,
            )
            for row in rows
        ),
        **options,
    )


# --- Orders --------------------------------------------------------------------------------------

_MEHRSTELLEN = "L. Collatz, The Numerical Treatment of Differential Equations (1960)"
_BOXES = ("dirichlet", "neumann", "periodic", "mixed", "channel")

BOXES = _orders(
    "boxes",
    "Poisson's equation by fast transforms: order 2 and 4 with every kind of side",
    "Largest error against smooth solutions on three grids.",
    [
        Row("poisson_box", order, (33, 65, 129), "max", parameters={"kind": kind},
            options={"order": order},
            source="5-point stencil" if order == 2 else _MEHRSTELLEN, within=0.15)
        for kind in _BOXES for order in (2, 4)
    ],
)  # fmt: skip

BLOCKS = _orders(
    "blocks",
    "The same in three dimensions",
    "Largest error on three grids.",
    [
        Row("poisson_box", order, (25, 49, 97), "max",
            parameters={"kind": kind, "dimension": 3}, options={"order": order},
            source=_MEHRSTELLEN if order == 4 else "7-point stencil")
        for kind in ("dirichlet", "mixed", "neumann") for order in (2, 4)
    ],
    tier="full",
)  # fmt: skip

_FACES = "harmonic means are exact for a jump on a face"
POROUS = _orders(
    "porous",
    "Finite volumes for porous media: order 2, and one less when a jump cuts cells",
    "Mean square error at the centers of cells.",
    [
        Row("darcy_manufactured", 2, (16, 32, 64), resolution="cells", within=0.15),
        Row("darcy_manufactured", 2, (16, 32, 64), resolution="cells",
            parameters={"kind": "neumann"}, within=0.15),
        Row("darcy_layered", 2, (16, 32, 64), resolution="cells", source=_FACES, within=0.15),
        Row("darcy_layered", 1, tuple(range(20, 400, 13)), resolution="cells",
            parameters={"interface": 0.3719}, source="a cell with the wrong mean", within=0.2),
    ],
)  # fmt: skip

WAVES = _orders(
    "waves",
    "Helmholtz' equation in closed boxes and with sides that absorb",
    "Mean square error of plane waves, a point source and a driven mode.",
    [
        Row("helmholtz_plane_wave", 2, (25, 49, 73), options={"tolerance": 0.5}, within=0.15),
        Row("helmholtz_point_source", 2, (25, 49, 73), options={"tolerance": 0.5}, within=0.15),
        Row("helmholtz_box", 2, (17, 33, 65), options={"order": 2, "tolerance": 0.5}, within=0.15),
        Row("helmholtz_box", 4, (17, 33, 65), options={"order": 4}, source=_MEHRSTELLEN,
            within=0.15),
    ],
)  # fmt: skip

_BALL = "first-order upwind scheme with the singular point cut out (Zhao 2005)"
_BARE = "h log h at a bare point (Zhao 2005): 0.7 to 0.8 on these grids"
_GRIDS = (33, 65, 129, 257)
FRONTS = _orders(
    "fronts",
    "First arrivals by fast sweeping: order 1 with a ball around the source or factored",
    "Mean absolute error of travel times.",
    [
        Row("eikonal_distance", 1, _GRIDS, "l1", source=_BALL, within=0.15),
        Row("eikonal_linear_speed", 1, _GRIDS, "l1", source=_BALL, within=0.15),
        Row("eikonal_two_sources", 1, _GRIDS, "l1", source=_BALL, within=0.15),
        Row("eikonal_linear_speed", 1, _GRIDS, "l1", options={"ball": 0.0, "factored": True},
            source="S. Fomel, S. Luo and H. Zhao, J. Comput. Phys. 228, 6440 (2009)", within=0.15),
        Row("eikonal_distance", 0.75, _GRIDS, "l1", options={"ball": 0.0}, source=_BARE,
            within=0.05),
        Row("eikonal_linear_speed", 0.75, _GRIDS, "l1", options={"ball": 0.0}, source=_BARE,
            within=0.05),
    ],
)  # fmt: skip

# --- Collocation ---------------------------------------------------------------------------------

_KNOWN = {8: 2e-4, 12: 1e-7, 16: 2e-11, 20: 4e-15}


def _collocation() -> Measurements:
    values, table = {}, []
    for degree, known in _KNOWN.items():
        error = _errors(pdes.solve(pdes.get("poisson_interval", points=degree + 1)))["max"]
        values[f"error at degree {degree}"] = error
        table.append(
            {
                "entry": "poisson_interval",
                "solver": "chebyshev",
                "degree": degree,
                "predicted error": known,
                "error": error,
            }
        )
    matrix = chebyshev.differentiation_matrix(chebyshev.chebyshev_points(64))
    radius = float(np.max(np.abs(np.linalg.eigvals((matrix @ matrix)[1:-1, 1:-1]))))
    values["spectral radius over the fourth power"] = radius / 64**4
    return Measurements(values=values, table=table)


COLLOCATION = Case(
    name="collocation",
    title="Collocation at Chebyshev points converges exponentially",
    description="Largest error for u'' = exp(4 x), and the spectral radius of second derivatives.",
    run=_collocation,
    predictions=(
        *(
            Prediction(
                name=f"error at degree {degree}",
                value=known,
                kind="equals" if degree < 20 else "at_most",
                rtol=0.25 if degree < 20 else 10.0,
                source="interpolation of an entire function; rounding at degree 20",
            )
            for degree, known in _KNOWN.items()
        ),
        Prediction(
            name="spectral radius over the fourth power",
            value=chebyshev.SPECTRAL_RADIUS,
            kind="equals",
            rtol=0.01,
            source="J. A. C. Weideman and L. N. Trefethen, SIAM J. Numer. Anal. 25, 1279 (1988)",
        ),
    ),
)

# --- Pollution -----------------------------------------------------------------------------------


def _pollution() -> Measurements:
    values, table = {}, []
    for k in (20.0, 40.0, 80.0):
        points = round(2 * k) + 1
        problem = pdes.get("helmholtz_interval", wavenumber=k, points=points)
        error = _errors(pdes.solve(problem, tolerance=1.0))["max"]
        values[f"error at k = {k:g}"] = error
        table.append(
            {
                "entry": "helmholtz_interval",
                "solver": "helmholtz",
                "wave number": k,
                "points in a wave": 4 * math.pi,
                "predicted error": phase_error(k, 0.5 / k),
                "error": error,
            }
        )
    return Measurements(
        values=values, table=table, note="As many points in a wave each time: it does not help."
    )


POLLUTION = Case(
    name="pollution",
    title="The phase of a discrete wave drifts by k (k h)^2/24 per unit length",
    description="Largest error of exp(i k x) at k h = 1/2, against the prediction.",
    run=_pollution,
    predictions=tuple(
        Prediction(
            name=f"error at k = {k:g}",
            value=phase_error(k, 0.5 / k),
            kind="equals",
            rtol=0.06,
            source="discrete dispersion relation (Ihlenburg and Babuska 1995)",
        )
        for k in (20.0, 40.0, 80.0)
    ),
)

# --- Balances and sweeps -------------------------------------------------------------------------


def _balances() -> Measurements:
    values, table = {}, []
    for permeability in ("two_phase", "lognormal"):
        for method, cells in (("direct", 64), ("multigrid", 160)):
            problem = pdes.get("darcy", permeability=permeability, cells=cells)
            data = pdes.solve(problem, linear_solver=method)
            record = json.loads(data.attrs["solver"])
            label = f"imbalance, {permeability}, {method}"
            values[label] = record["flux_balance"]
            table.append(
                {
                    "entry": f"darcy ({permeability})",
                    "solver": f"cell_centered, {method}",
                    "cells": cells**2,
                    "iterations": data.attrs["iterations"],
                    "invariant drift": record["flux_balance"],
                }
            )
    for entry in ("eikonal_distance", "eikonal_linear_speed"):
        values[f"sweeps, {entry}"] = float(pdes.solve(pdes.get(entry)).attrs["iterations"])
    return Measurements(values=values, table=table)


BALANCES = Case(
    name="balances",
    title="Fluxes of every cell add up to its source; sweeps come to rest",
    description="Largest imbalance relative to the largest flux, and sweeps that change something.",
    run=_balances,
    predictions=(
        *(
            Prediction(
                name=f"imbalance, {permeability}, {method}",
                value=1e-10,
                kind="at_most",
                source="conservation, cell by cell",
            )
            for permeability in ("two_phase", "lognormal")
            for method in ("direct", "multigrid")
        ),
        Prediction(
            name="sweeps, eikonal_distance",
            value=4.0,
            kind="at_most",
            source="straight rays: one sweep for each quadrant (Zhao 2005)",
        ),
        Prediction(
            name="sweeps, eikonal_linear_speed",
            value=12.0,
            kind="at_most",
            source="rays turn by less than three quadrants",
        ),
    ),
)

# --- Fast solvers of any namespace ---------------------------------------------------------------

_PAIRS: tuple[Any, ...] = (
    "periodic",
    "neumann",
    "dirichlet",
    ("neumann", "dirichlet"),
    ("dirichlet", "neumann"),
)
_HALF_WAVES = {"periodic": 2.0, "neumann": 1.0, "dirichlet": 1.0}


def _slope_of(kind: Any, at: Any, dimension: int) -> float:
    """Order of the fast solver on a field that varies alike along every axis."""
    from pdes.solvers.fast_poisson import fast_poisson

    ends = (kind, kind) if isinstance(kind, str) else kind
    k = math.pi * _HALF_WAVES.get(kind if isinstance(kind, str) else "", 0.5)
    wave = np.sin if ends[0] == "dirichlet" else np.cos
    steps, errors = [1.0 / n for n in (12, 24, 48)], []
    for h in steps:
        count = round(1.0 / h)
        first = 0.5 if at == "centers" else float(ends[0] == "dirichlet")
        last = count if at == "centers" or ends[1] != "neumann" else count + 1
        line = wave(k * np.arange(first, last) * h)
        field_of = line
        for _ in range(dimension - 1):
            field_of = np.multiply.outer(field_of, line)
        source = -dimension * k**2 * field_of
        found = fast_poisson(source, (h,) * dimension, (kind,) * dimension, at=at)
        errors.append(float(np.abs(found - field_of).max()))
    return observed_order(steps, errors)


def _fast_orders() -> Measurements:
    table = [
        {
            "solver": "fast_poisson",
            "sides": kind if isinstance(kind, str) else " to ".join(kind),
            "unknowns at": at,
            "dimension": dimension,
            "predicted order": 2,
            "measured order": _slope_of(kind, at, dimension),
        }
        for kind in _PAIRS
        for at in ("centers", "nodes")
        for dimension in (1, 2, 3)
    ]
    slopes = [row["measured order"] for row in table]
    return Measurements(
        values={"least order": min(slopes), "largest order": max(slopes)}, table=table
    )


FAST = Case(
    name="fast-poisson",
    title="Fast Poisson solver for every kind of side, at centers and at nodes",
    description="Largest error of a wave that fits the box, 12, 24 and 48 cells along each axis.",
    run=_fast_orders,
    predictions=tuple(
        Prediction(
            name=name, value=2.0, kind="equals", atol=0.15, source="Taylor expansion of the stencil"
        )
        for name in ("least order", "largest order")
    ),
)


def _projections() -> Measurements:
    """Random velocities on faces: what is left of their divergence, in numpy and in torch."""
    import torch

    from pdes.solvers.staggered import face_divergence, project_faces

    rng, worst, again, apart = np.random.default_rng(0), 0.0, 0.0, 0.0
    table = []
    for cells in ((64, 48), (24, 20, 16)):
        kinds = ("neumann", ("neumann", "dirichlet"), "periodic")[: len(cells)]
        spacings = tuple(1.0 / n for n in cells)
        shapes = [[n + (i == place) for i, n in enumerate(cells)] for place in range(len(cells))]
        faces = [rng.normal(size=(2, *shape)) for shape in shapes]
        if len(cells) == 3:
            faces[2][..., -1] = faces[2][..., 0]
        free = project_faces(faces, spacings, kinds)
        twice = project_faces(free, spacings, kinds)
        tensors = project_faces([torch.from_numpy(f) for f in faces], spacings, kinds)
        left = float(np.abs(face_divergence(free, spacings)).max())
        left /= float(np.abs(face_divergence(faces, spacings)).max())
        moved = max(float(np.abs(a - b).max()) for a, b in zip(free, twice, strict=True))
        other = max(float(np.abs(a - b.numpy()).max()) for a, b in zip(free, tensors, strict=True))
        worst, again, apart = max(worst, left), max(again, moved), max(apart, other)
        table.append(
            {
                "cells": " x ".join(map(str, cells)),
                "divergence left": left,
                "moved by a second projection": moved,
                "torch against numpy": other,
            }
        )
    return Measurements(
        values={"divergence left": worst, "second projection": again, "torch": apart}, table=table
    )


PROJECTIONS = Case(
    name="projections",
    title="Projections of face velocities are exact, in the plane and in blocks",
    description="Random velocities; walls, open ends and periodic axes; relative divergence left.",
    run=_projections,
    predictions=tuple(
        Prediction(name=name, value=1e-12, kind="at_most", source="rounding of a direct solution")
        for name in ("divergence left", "second projection", "torch")
    ),
)

CASES = [BOXES, BLOCKS, POROUS, WAVES, FRONTS, COLLOCATION, POLLUTION, BALANCES, FAST, PROJECTIONS]
