"""Whether a fit leaves more than noise: by its size, or by neighbors that agree."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

ROUNDING = 1e-6
"""Relative residuals below this are not looked at for structure."""
DEVIATIONS = 5.0
"""Standard deviations beyond which chance is no explanation."""
CORRELATION = 0.25
"""Residuals whose neighbors correlate less are not called structured."""
FEWEST_PAIRS = 15


def excess_over_noise(square: float, degrees: int) -> float | None:
    """Ratio of residual to noise where chi^2 excludes that it is noise alone.

    Parameters
    ----------
    square : float
        Sum of squared residuals, each divided by its standard deviation.
    degrees : int
        Degrees of freedom.

    Returns
    -------
    float or None
        None if noise explains the residual.

    Examples
    --------
    >>> excess_over_noise(110.0, 100) is None, excess_over_noise(400.0, 100)
    (True, 2.0)
    """
    degrees = max(degrees, 1)
    if not square > degrees + DEVIATIONS * math.sqrt(2.0 * degrees):
        return None
    return math.sqrt(square / degrees)


def neighbor_pairs(places: NDArray) -> NDArray:
    """Pairs of samples next to each other, each pair once.

    Parameters
    ----------
    places : ndarray, shape (n,) or (n, d)
        In one dimension successive places are neighbors, otherwise the nearest two.

    Returns
    -------
    ndarray of int, shape (pairs, 2)

    Examples
    --------
    >>> neighbor_pairs(np.array([0.0, 2.0, 1.0])).tolist()
    [[0, 2], [2, 1]]
    """
    if places.ndim == 1 or places.shape[1] == 1:
        order = np.argsort(places.reshape(-1), kind="stable")
        return np.column_stack([order[:-1], order[1:]])
    if len(places) < 3:
        return np.empty((0, 2), int)
    nearest = KDTree(places).query(places, k=3)[1]
    first = np.repeat(np.arange(len(places)), 3)
    pairs = np.sort(np.column_stack([first, nearest.ravel()]), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def neighbor_correlation(residual: NDArray, pairs: NDArray) -> float | None:
    """Correlation of neighboring residuals, where it is too large for independent noise.

    The products of neighbors are compared with the deviation that random signs would give them,
    ``sqrt(sum e_i^2 e_j^2)``: noise of any size and distribution passes, if it is independent.

    Parameters
    ----------
    residual : ndarray, shape (n,)
    pairs : ndarray of int, shape (pairs, 2)

    Returns
    -------
    float or None
        None for residuals that look like noise, or too few pairs.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 100)
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> neighbor_correlation(noise, neighbor_pairs(x)) is None
    True
    >>> neighbor_correlation(np.sin(9 * x), neighbor_pairs(x)) > 0.9
    True
    """
    if len(pairs) < FEWEST_PAIRS:
        return None
    one, other = residual[pairs[:, 0]], residual[pairs[:, 1]]
    products = one * other
    size = float(np.sqrt(np.sum(one**2) * np.sum(other**2)))
    chance = float(np.sqrt(np.sum(products**2)))
    total = float(np.sum(products))
    # Few pairs reach sqrt(pairs) at most, when all products are alike.
    limit = min(DEVIATIONS, 0.8 * math.sqrt(len(pairs)))
    if not (size > 0.0 and total > CORRELATION * size and total > limit * chance):
        return None
    return total / size
