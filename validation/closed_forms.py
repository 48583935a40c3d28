"""Closed forms: they solve their equations, and simulations follow them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import pdes
from pdes.exact.growth_rates import growth_rates
from sciml.metrics import relative_l2
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

# --- Closed forms --------------------------------------------------------------------------------


def _exact_solutions() -> Measurements:
    rows = []
    for name in pdes.available():
        problem = pdes.get(name)
        for label, solution in problem.exact.items():
            residual = solution.residual(points=4)
            rows.append({"problem": name, "solution": label, "largest residual": residual})
    return Measurements(
        values={"largest residual": max(row["largest residual"] for row in rows)},
        table=rows,
        note=f"{len(rows)} closed forms.",
    )


EXACT = Case(
    name="residuals",
    title="Every closed form solves its equation",
    description=(
        "The residual of every exact solution of the registry in its own equation, at random "
        "points in 40-digit arithmetic."
    ),
    run=_exact_solutions,
    predictions=(
        Prediction(
            name="largest residual",
            value=1e-25,
            kind="at_most",
            source="zero, but for rounding in 40 digits",
        ),
    ),
)

# A hump in a periodic box is a solution of the line up to what its tail is at the ends.
_HUMPS = ("kdv_soliton", "nls")


def _simulated_hump(name: str) -> Measurements:
    problem = pdes.get(name)
    (field,) = problem.equation.fields
    found = pdes.simulate(problem)[field].values[-1]
    exact = problem.exact[str(problem.exact_name)].evaluate(problem.grid, problem.times)[field][-1]
    return Measurements(
        values={"relative error at the end": relative_l2(found, exact[:: problem.strides[0]])}
    )


def _tail(name: str) -> float:
    """Height of a closed form at the end of its box, relative to its peak, at time zero."""
    problem = pdes.get(name)
    (field,) = problem.equation.fields
    start = problem.exact[str(problem.exact_name)].initial(problem.grid)[field]
    return float(np.abs(start[0]) / np.max(np.abs(start)))


def _hump_case(name: str) -> Case:
    return Case(
        name=f"simulated-{name.replace('_', '-')}",
        title=f"Simulation against the closed form: {name}",
        description=(
            "The problem of the registry with its own grid and step, against its closed form on "
            "the infinite line. What the box cuts off is the largest error that is left."
        ),
        run=lambda: _simulated_hump(name),
        predictions=(
            Prediction(
                name="relative error at the end",
                value=_tail(name),
                kind="at_most",
                source="the closed form at the end of the box over its peak",
            ),
        ),
    )


# --- Growth of small disturbances ----------------------------------------------------------------

_UNSTABLE = ("kuramoto_sivashinsky", "swift_hohenberg", "allen_cahn", "fisher_kpp")
_SMALL, _GROWN = 1e-8, 1.0


def _growth() -> Measurements:
    rows: list[dict[str, Any]] = []
    for name in _UNSTABLE:
        problem = pdes.get(name)
        grid = pdes.Grid.periodic(x=(0.0, 32.0 * np.pi, 128))
        x = grid.coordinates()["x"]
        modes = np.arange(2, 25, 2)
        start = _SMALL * sum(np.cos(mode * x / 16.0 + mode) for mode in modes)
        problem = dataclasses.replace(
            problem, grid=grid, stored_points=None, discard=0.0, time_step=None
        )
        # Fields so small have no interfaces that the grid would have to resolve.
        problem = dataclasses.replace(problem, largest_spacing=None)
        u = pdes.simulate(problem, times=[0.0, _GROWN], initial={"u": start}).u.values
        spectrum = np.abs(np.fft.rfft(u, axis=-1))[:, modes]
        for mode, rate in zip(modes, np.log(spectrum[1] / spectrum[0]) / _GROWN, strict=True):
            predicted = growth_rates(problem.equation, {"u": 0.0}, mode / 16.0)[0].real
            rows.append(
                {"problem": name, "k": mode / 16.0, "predicted": predicted, "measured": rate}
            )
    deviations = [abs(row["measured"] - row["predicted"]) for row in rows]
    chaos = [row for row in rows if row["problem"] == "kuramoto_sivashinsky"]
    by_hand = [abs(row["measured"] - (row["k"] ** 2 - row["k"] ** 4)) for row in chaos]
    return Measurements(
        values={
            "largest deviation of a rate": max(deviations),
            "deviation from k^2 - k^4": max(by_hand),
        },
        table=rows,
    )


GROWTH = Case(
    name="growth-rates",
    title="Small disturbances grow and decay as the linearized equation says",
    description=(
        "Twelve Fourier modes of size 1e-8 on the state u = 0, for one time unit; Kuramoto-"
        "Sivashinsky also against k^2 - k^4 written out by hand."
    ),
    run=_growth,
    predictions=tuple(
        Prediction(
            name=name,
            value=1e-6,
            kind="at_most",
            source="quadratic terms: twelve modes of 1e-8, and some margin",
        )
        for name in ("largest deviation of a rate", "deviation from k^2 - k^4")
    ),
)

CASES = [EXACT, *(_hump_case(name) for name in _HUMPS), GROWTH]
