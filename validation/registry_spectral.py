"""Fourier entries: a disc that shrinks by its curvature, and runs to a tolerance."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import pdes
from pdes.grid import Grid
from pdes.invariant import drift
from pdes.library.allen_cahn_2d import circle_radius, crossing
from sciml.metrics import observed_order, relative_l2
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

# --- A disc that shrinks by its curvature ---------------------------------------------------------

_WIDTHS = ((0.08, 64), (0.056, 96), (0.04, 128))


def _disc() -> Measurements:
    rows: list[dict[str, Any]] = []
    for width, points in _WIDTHS:
        grid = Grid.periodic(x=(-1.0, 1.0, points), y=(-1.0, 1.0, points))
        problem = pdes.get("allen_cahn_2d", width=width, grid=grid)
        times = np.linspace(0.0, 0.1, 6) / width**2
        data = pdes.simulate(problem, times, strict=False)
        found = np.array([crossing(grid, u) for u in data.u.values])
        wanted = circle_radius(times, 0.6, width)
        (energy,) = problem.invariants
        rows.append(
            {
                "entry": "allen_cahn_2d",
                "solver": problem.solver,
                "width e": width,
                "R at the end": float(found[-1]),
                "predicted R": float(wanted[-1]),
                "error of R^2": (error := float(np.max(np.abs(found**2 - wanted**2)))),
                "error of R^2 over e^2": error / width**2,
                "invariant drift": drift(energy, problem, data),
            }
        )
    errors = [row["error of R^2"] for row in rows]
    return Measurements(
        values={
            "order of R^2 in the width": observed_order([w for w, _ in _WIDTHS], errors),
            "error of R^2 over e^2": max(row["error of R^2 over e^2"] for row in rows),
            "growth of the energy": max(row["invariant drift"] for row in rows),
        },
        table=rows,
    )


DISC = Case(
    name="shrinking-disc",
    title="Allen-Cahn in the plane: R^2 = R0^2 - 2 e^2 t",
    description="A disc of radius 0.6 until t = 0.1/e^2, for three widths e of its interface.",
    run=_disc,
    predictions=(
        Prediction(
            name="order of R^2 in the width",
            value=2.0,
            kind="order",
            source="motion by curvature is the limit of thin interfaces, off by O(e^2)",
        ),
        Prediction(
            name="error of R^2 over e^2",
            value=1.0,
            kind="at_most",
            source="the correction to the speed is of relative size e^2/R^2",
        ),
        Prediction(
            name="growth of the energy",
            value=1e-13,
            kind="at_most",
            source="the equation is the gradient flow of this energy",
        ),
    ),
)


# --- Runs to a tolerance -------------------------------------------------------------------------

_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_RUNS: dict[str, tuple[float, dict[str, Any]]] = {
    "burgers": (1.0, {"viscosity": 0.05}),
    "kdv": (1.0, {}),
    "fisher_kpp": (4.0, {}),
    "allen_cahn": (4.0, {}),
}


def _tolerances() -> Measurements:
    values, rows = {}, []
    for name, (stop, parameters) in _RUNS.items():
        problem = pdes.get(name, **parameters, stored_points=None)
        step = problem.time_step / 2.0
        wanted = pdes.simulate(problem, [stop], time_step=step).u.values[-1]
        errors, steps = [], []
        for rtol in _TOLERANCES:
            data = pdes.simulate(problem, [stop], rtol=rtol)
            record = json.loads(data.attrs["solver"])
            errors.append(float(relative_l2(data.u.values[-1], wanted)))
            steps.append(record["steps"])
            rows.append(
                {
                    "entry": name,
                    "tolerance": rtol,
                    "error (relative L2)": errors[-1],
                    "steps": steps[-1],
                    "rejected": record["rejected"],
                }
            )
        values[f"order in the mean step, {name}"] = observed_order(
            [stop / count for count in steps], errors
        )
        values[f"error over tolerance, {name}"] = max(
            error / rtol for error, rtol in zip(errors, _TOLERANCES, strict=True)
        )
    return Measurements(values=values, table=rows)


TOLERANCES = Case(
    name="tolerances",
    title="ETDRK4 with step doubling: errors follow the tolerance",
    description="Relative tolerances from 1e-4 to 1e-8, against equal steps.",
    run=_tolerances,
    predictions=(
        *(
            Prediction(
                name=f"order in the mean step, {name}",
                value=4.0,
                kind="order",
                source="declared by the method",
            )
            for name in _RUNS
        ),
        *(
            Prediction(
                name=f"error over tolerance, {name}",
                value=1.0,
                kind="at_most",
                source="dissipation, or neutral waves: local errors do not grow",
            )
            for name in _RUNS
        ),
    ),
)

CASES = [DISC, TOLERANCES]
