"""Start values for boundary data: scan one exponent, add terms one at a time, refit all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.varpro import variable_projection
from sciml.powerlaw.wedge_model import WedgeModel

GRID = 120
"""Exponents of a scan."""
STARTS = 3
"""How many minima of a scan are refitted."""
COARSE = 1e-6
"""Steps below which the race of the starts ends."""
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


def add_term(
    model: WedgeModel, exponents: NDArray, bounds: tuple[float, float], rtol: float
) -> SeparableFit:
    """Refit with one term more, from the best minima of a scan.

    Parameters
    ----------
    model : WedgeModel
    exponents : ndarray, shape (terms,)
        Of the present fit.
    bounds : tuple of float
        Range of the scan and of every exponent.
    rtol : float
        Of the exponents.

    Returns
    -------
    SeparableFit
    """
    low, high = bounds
    grid = np.linspace(low, high, GRID)
    residual = scan(model, exponents, grid)
    padded = np.concatenate([[math.inf], residual, [math.inf]])
    minima = np.flatnonzero((residual <= padded[:-2]) & (residual <= padded[2:]))
    chosen = grid[minima[np.argsort(residual[minima], kind="stable")][:STARTS]]
    start = np.column_stack([np.tile(exponents, (len(chosen), 1)), chosen])
    system = model.system
    options: dict[str, Any] = {"lower": bounds[0], "upper": bounds[1], "weights": system.weights}
    # The race needs no more digits than tell its winner; only that one is polished.
    race = variable_projection(
        model, system.values, start, rtol=max(COARSE, rtol), max_trials=20, **options
    )
    return variable_projection(model, system.values, race.best().parameters, rtol=rtol, **options)


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
