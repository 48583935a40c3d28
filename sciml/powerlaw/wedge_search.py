"""Start values for boundary data: scan one exponent, add terms one at a time, refit all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.varpro import variable_projection
from sciml.powerlaw.wedge_model import WedgeModel
from sciml.powerlaw.wedge_stack import WedgeStack
from sciml.powerlaw.wedge_status import is_determined

GRID = 120
"""Exponents of a scan."""
STARTS = 3
"""How many minima of a scan are refitted."""
COARSE = 1e-6
"""Steps below which the race of the starts ends."""
MOST_TERMS = 12
"""Terms at which ``order="auto"`` stops."""
EXACT = 1e-13
"""Relative residual at which further terms would fit rounding errors."""


def scan(model: WedgeModel, exponents: NDArray, grid: NDArray) -> NDArray:
    """Residual of the rows for the present exponents and one more, for each of a grid.

    Parameters
    ----------
    model : WedgeModel
    exponents : ndarray, shape (terms,)
    grid : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n,)
        Norms.
    """
    weights = model.system.weights
    rest = weights * model.system.values
    fixed, _ = model(exponents[None])
    basis = _range(fixed[0] * weights[:, None])
    rest = rest - basis @ (basis.T @ rest)
    size = model.per_term
    candidates = model(grid[:, None])[0][..., :size] * weights[:, None]
    candidates = candidates - basis @ (basis.T @ candidates)
    left, values, _ = np.linalg.svd(candidates, full_matrices=False)
    # What the present terms already span must not come back as rounding noise.
    kept = values > 1e-10 * np.maximum(values[:, :1], 1e-300)
    share = np.einsum("bri,r->bi", left, rest) * kept
    return np.sqrt(np.maximum(rest @ rest - np.sum(share**2, axis=-1), 0.0))


def add_terms(
    models: Sequence[WedgeModel],
    exponents: Sequence[NDArray],
    bounds: tuple[float, float],
    rtol: float,
) -> SeparableFit:
    """Refit with one term more, from the best minima of a scan: all members as one batch.

    Parameters
    ----------
    models : sequence of WedgeModel
        Of each member.
    exponents : sequence of ndarray, shape (terms,)
        Of the present fits, as many for all.
    bounds : tuple of float
        Range of the scan and of every exponent.
    rtol : float
        Of the exponents.

    Returns
    -------
    SeparableFit
        With a batch axis of members.
    """
    grid = np.linspace(*bounds, GRID)
    starts, owners = [], []
    for member, (model, known) in enumerate(zip(models, exponents, strict=True)):
        residual = scan(model, known, grid)
        padded = np.concatenate([[math.inf], residual, [math.inf]])
        minima = np.flatnonzero((residual <= padded[:-2]) & (residual <= padded[2:]))
        chosen = grid[minima[np.argsort(residual[minima], kind="stable")][:STARTS]]
        starts.append(np.column_stack([np.tile(known, (len(chosen), 1)), chosen]))
        owners += [member] * len(chosen)
    values = np.stack([model.system.values for model in models])
    weights = np.stack([model.system.weights for model in models])
    options: dict[str, Any] = {"lower": bounds[0], "upper": bounds[1]}
    # The race needs no more digits than tell its winner; only that one is polished.
    race = variable_projection(
        WedgeStack([models[member] for member in owners]),
        values[owners],
        np.concatenate(starts),
        weights=weights[owners],
        rtol=max(COARSE, rtol),
        max_trials=20,
        **options,
    )
    left = np.where(np.isfinite(race.relative_residual), race.relative_residual, math.inf)
    first = np.searchsorted(owners, np.arange(len(models)))
    last = np.append(first[1:], len(owners))
    winners = [a + int(np.argmin(left[a:b])) for a, b in zip(first, last, strict=True)]
    return variable_projection(
        WedgeStack(models), values, race.parameters[winners], weights=weights, rtol=rtol, **options
    )


def find_terms(
    models: Sequence[WedgeModel],
    order: int | str,
    bounds: tuple[float, float],
    rtol: float,
) -> list[tuple[SeparableFit, str]]:
    """Add terms until the order is reached, or as long as they are worth it.

    Parameters
    ----------
    models : sequence of WedgeModel
        Of independent fits with as many rows and columns; they share one batch.
    order : int or "auto"
        ``"auto"`` ends at rounding, where the Bayesian criterion rises, or where the rows do not
        determine more.
    bounds, rtol
        As in `add_terms`.

    Returns
    -------
    list of (SeparableFit, str)
        Each with the reason why no further term was tried, if the rows were it.
    """
    rows, first = len(models[0].system.values), models[0]
    most = MOST_TERMS if order == "auto" else int(order)
    best: list[SeparableFit | None] = [None] * len(models)
    stopped, active = [""] * len(models), list(range(len(models)))
    for count in range(1, most + 1):
        if not active or rows < count * (first.per_term + 1) + first.constant:
            break
        known = [fit.parameters if (fit := best[i]) is not None else np.empty(0) for i in active]
        found = add_terms([models[i] for i in active], known, bounds, rtol)
        going = []
        for place, i in enumerate(active):
            one, before = found[place], best[i]
            if order == "auto" and before is not None:
                if not information(one, rows) < information(before, rows):
                    continue
                if not is_determined(one):
                    stopped[i] = f"the rows do not determine more than {count - 1} terms"
                    continue
            best[i] = one
            if order != "auto" or float(one.relative_residual) > EXACT:
                going.append(i)
        active = going
    assert all(fit is not None for fit in best)  # one term always fits: `check_wedge_rows`
    return [(fit, why) for fit, why in zip(best, stopped, strict=True) if fit is not None]


def information(fit: SeparableFit, rows: int) -> float:
    """Bayesian information criterion ``N log RSS + 2 K log N`` with K exponents."""
    square = float(np.sum(fit.residual**2))
    return rows * math.log(max(square, 1e-300)) + 2 * fit.parameters.size * math.log(rows)


def _range(columns: NDArray) -> NDArray:
    if columns.shape[1] == 0:
        return columns
    scale = np.linalg.norm(columns, axis=0)
    left, values, _ = np.linalg.svd(columns / np.where(scale > 0, scale, 1.0), full_matrices=False)
    return left[:, values > 1e-13 * values[0]]
