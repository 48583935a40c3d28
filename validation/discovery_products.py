"""Terms whose derivatives have to be taken from the data, and recordings in two dimensions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._discovery import Trial, fit, hold_against, noisy, percent, recording

if TYPE_CHECKING:
    import xarray as xr

# --- The front of a flame ------------------------------------------------------------------------


@functools.cache
def _flame(level: float, seed: int) -> Trial:
    import pdes
    import sciml

    name, library = "potential_kuramoto_sivashinsky", sciml.Library(extra=("u_x^2",))
    clean = recording(name)
    # the mean height falls steadily and is no measure of the noise
    fluctuation = float((clean - clean.mean("x")).std())
    data = noisy(clean, level, (seed, 30), scale=fluctuation)
    return hold_against(fit(data, library=library), pdes.get(name).equation, library)


def _product_term(levels: Sequence[float], seeds: range) -> Measurements:
    rows, scores, errors = [], [], []
    for level in levels:
        runs = [_flame(level, seed) for seed in (seeds if level else [0])]
        scores += [run.f1 for run in runs]
        errors += [run.error for run in runs]
        rows.append(
            {
                "noise": percent(level),
                "mean F1": float(np.mean([run.f1 for run in runs])),
                "coefficient error, median": float(f"{np.median([r.error for r in runs]):.2g}"),
                "chi2/n": float(f"{np.mean([run.chi2 for run in runs]):.3g}"),
                "adequate": f"{sum(run.adequate for run in runs)} of {len(runs)}",
            }
        )
    return Measurements(
        values={"lowest F1": min(scores), "largest coefficient error": max(errors)}, table=rows
    )


_FLAME = (
    Prediction(
        name="lowest F1",
        value=1.0,
        kind="at_least",
        source="u_x^2 is in the library, unbiased by the covariance of the smoothed slopes",
    ),
    Prediction(
        name="largest coefficient error",
        value=0.15,
        kind="at_most",
        source="noise in the slopes that smoothing leaves, and what smoothing takes of u_x^2",
    ),
)
_FLAME_DESCRIPTION = (
    "Potential Kuramoto-Sivashinsky equation u_t = -u_x^2/2 - u_xx - u_xxxx with u_x^2 added to "
    "the library; noise relative to the fluctuation about the mean height."
)

QUICK = Case(
    name="flame-quick",
    title="A squared slope is found, one seed",
    description=_FLAME_DESCRIPTION,
    run=lambda: _product_term((0.0, 0.05), range(1)),
    predictions=_FLAME,
)

FLAME = Case(
    name="flame",
    tier="full",
    title="A squared slope is found",
    description=f"{_FLAME_DESCRIPTION} Five seeds.",
    run=lambda: _product_term((0.0, 0.01, 0.05, 0.1, 0.2), range(5)),
    predictions=_FLAME,
)

# --- Systems and two space dimensions ------------------------------------------------------------

_PLANAR = {
    "heat_2d": (),
    "nonlinear_diffusion_2d": (),
    "lambda_omega": (),
    "nls": (),
    "keller_segel": ("(u*v_x)_x",),
}
"""Registered problems with what has to be added to the default library."""


@functools.cache
def _field(problem: str) -> xr.Dataset:
    import pdes

    return pdes.simulate(pdes.get(problem))


@functools.cache
def _system(problem: str, level: float, seed: int) -> Trial:
    import pdes
    import sciml
    from sciml.noise import add_noise

    library = sciml.Library(extra=_PLANAR[problem]) if _PLANAR[problem] else None
    model = fit(add_noise(_field(problem), level, seed), library=library)
    return hold_against(model, _real_parts(pdes.get(problem).equation), library)


def _real_parts(equation: Any) -> Any:
    """The same equation for the real and imaginary parts of a complex field."""
    import pdes

    if not equation.complex_fields:
        return equation
    (name,) = equation.complex_fields
    # nonlinear Schroedinger: h_t = i (h_xx/2 + |h|^2 h)
    re, im = f"{name}_re", f"{name}_im"
    return pdes.Equation.from_text(
        [
            f"{re}_t = -1/2*{im}_xx - {re}^2*{im} - {im}^3",
            f"{im}_t = 1/2*{re}_xx + {re}^3 + {re}*{im}^2",
        ],
        name=equation.name,
    )


def _systems() -> Measurements:
    rows, scores = [], []
    for problem in _PLANAR:
        row: dict[str, Any] = {"problem": problem}
        for level in (0.0, 0.05, 0.2):
            runs = [_system(problem, level, seed) for seed in (range(3) if level else [0])]
            scores += [run.f1 for run in runs]
            row[f"F1 {percent(level)}"] = float(np.mean([run.f1 for run in runs]))
            row[f"error {percent(level)}"] = float(f"{np.median([r.error for r in runs]):.2g}")
            row[f"adequate {percent(level)}"] = f"{sum(r.adequate for r in runs)} of {len(runs)}"
        rows.append(row)
    return Measurements(values={"lowest F1": min(scores)}, table=rows)


SYSTEMS = Case(
    name="systems",
    tier="full",
    title="Systems, complex fields and two space dimensions",
    description=(
        "Heat and a nonlinear diffusion with a mixed derivative in the plane, a lambda-omega "
        "system, the nonlinear Schroedinger equation, Keller-Segel; 0, 5 and 20 % noise, three "
        "seeds."
    ),
    run=_systems,
    predictions=(
        Prediction(
            name="lowest F1",
            value=1.0,
            kind="at_least",
            source="the equation is in the library and every term stands out of the noise",
        ),
    ),
)

CASES = [QUICK, FLAME, SYSTEMS]
