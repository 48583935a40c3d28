"""Entries of the spectral solvers against manufactured solutions: order in time, entry by entry."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.equation import coordinate
from pdes.grid import Grid
from pdes.time import INTEGRATORS
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._ladder import Ladder, ladder_case

# Stiff entries and those of high speed need smaller steps to be in the asymptotic range; those that
# are linear but for the source need larger ones to stay above rounding.
_STEPS = (0.02, 0.01, 0.005)
_SCALES = {
    **{"kdv": 0.5, "mkdv": 0.25, "gardner": 0.25, "nonlinear_diffusion_2d": 2.0},
    **dict.fromkeys(("advection_diffusion", "heat", "heat_2d"), 4.0),
}

ENTRIES = (
    *("advection_conservative", "advection_diffusion", "advection_varying", "allen_cahn_2d"),
    *("allen_cahn_cosine", "cahn_hilliard", "fisher_kpp", "gardner", "heat", "heat_2d", "kdv"),
    *("kdv_burgers", "keller_segel", "kuramoto_sivashinsky", "lambda_omega", "mkdv", "nagumo"),
    *("nonlinear_diffusion_2d", "potential_kuramoto_sivashinsky", "swift_hohenberg"),
    "gray_scott_manufactured",
)
FLOWS = ("navier_stokes", "navier_stokes_velocity", "kolmogorov_flow")
"""Flows of the plane: two waves of different length, so that they carry each other along."""


def _manufactured(name: str) -> pdes.Problem:
    """The equation of an entry on a box of length 2 pi, with the source of a traveling wave."""
    entry = pdes.get(name)
    if name in FLOWS:
        return _with(entry, _two_waves(entry.equation), 32)
    axes = entry.equation.coordinates
    phase: Any = sum(coordinate(axis) for axis in axes)
    clock = coordinate("t")
    fields = {
        field: sympy.Rational(1, 2) + sympy.cos(phase - clock + place) / 5
        for place, field in enumerate(entry.equation.fields)
    }
    return _with(entry, fields, 32 if len(axes) == 1 else 24)


def _two_waves(equation: Any) -> dict[str, sympy.Expr]:
    """Flow whose vorticity is no function of its stream function: advection does not vanish."""
    x, y, t = (coordinate(axis) for axis in "xyt")
    stream = sympy.cos(x + y - t) / 2 + 2 * sympy.sin(2 * x - y + t / 2) / 5
    if "w" in equation.fields:
        return {"w": -stream.diff(x, 2) - stream.diff(y, 2), "psi": stream}
    pressure = sympy.cos(x + 2 * y - t) / 3
    return {"u": stream.diff(y), "v": -stream.diff(x), "p": pressure}


def _with(entry: pdes.Problem, fields: dict[str, sympy.Expr], points: int) -> pdes.Problem:
    solution = pdes.exact.manufactured(entry.equation, fields)
    axes = entry.equation.coordinates
    grid = Grid.periodic(**dict.fromkeys(axes, (0.0, 2.0 * np.pi, points)))
    return dataclasses.replace(
        entry,
        equation=solution.equation,
        grid=grid,
        initial=solution.initial,
        exact={"manufactured": solution},
        exact_name="manufactured",
        invariants=(),
        largest_spacing=None,
        stored_points=None,
        discard=0.0,
        time_step=None,
        times=np.array([0.0, 0.4]),
    )


_FLOOR = 3e-14
"""Errors of rounding: steps that reach them say nothing of the order."""


def _order(problem: pdes.Problem, scale: float = 1.0) -> tuple[float, float]:
    """Slope of the largest error against the step, and the error at the smallest step."""
    wanted = problem.exact["manufactured"].evaluate(problem.grid, [0.4])
    errors = []
    for step in _STEPS:
        data = pdes.simulate(problem, [0.4], time_step=scale * step)
        fields = problem.equation.fields
        errors.append(max(float(np.abs(data[f].values - wanted[f]).max()) for f in fields))
    if min(errors) < _FLOOR:
        raise ValueError(f"errors {errors} reach rounding, {_FLOOR:g}: take larger steps")
    return observed_order(_STEPS, errors), errors[-1]


def _label(name: str) -> str:
    return f"order in time, {name}"


def _measure() -> Measurements:
    values, table = {}, []
    for name in (*ENTRIES, *FLOWS):
        solver = pdes.get(name).solver
        values[_label(name)], error = _order(_manufactured(name), _SCALES.get(name, 1.0))
        table.append(
            {
                "entry": name,
                "solver": solver,
                "predicted order": INTEGRATORS[solver].order,
                "measured order": values[_label(name)],
                "error": error,
                "invariant drift": "-",
            }
        )
    return Measurements(values=values, table=table)


MANUFACTURED = Case(
    name="manufactured",
    title="Order in time of the spectral entries, against manufactured solutions",
    description=(
        "A source makes a traveling wave solve each equation on a box of length 2 pi; the largest "
        "error at t = 0.4 for three steps. The wave is resolved to rounding: the error is that in "
        "time."
    ),
    tier="full",
    run=_measure,
    predictions=tuple(
        Prediction(name=_label(name), value=4.0, kind="order", source="declared by ETDRK4 and RK4")
        for name in (*ENTRIES, *FLOWS)
    ),
)

FRONTS = ladder_case(
    "fronts",
    "Degenerate diffusion in the plane",
    "Barenblatt's solution, in the mean of the error.",
    (
        Ladder(
            entry="porous_medium_2d",
            sizes=(24, 32, 48, 64, 96),
            stop=0.25,
            order=1.5,
            norm="mean",
            source="L1 error of a front u ~ d^(1/(m-1)), m = 2: at least 1.5",
        ),
    ),
    tier="full",
)

CASES = [MANUFACTURED, FRONTS]
