"""How strong the noise is, and powers of noisy fields without its bias."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from math import comb
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Atom = TypeVar("Atom", bound=Hashable)

DIFFERENCE_ORDER = 10
"""Order of the differences that remove the smooth field; 6 on axes of fewer than 40 points."""


def noise_level(field: NDArray, axes: tuple[int, ...] | None = None) -> float:
    """Standard deviation of white noise on a smooth field.

    Differences of high order remove what is smooth; their weights have unit norm, so white noise
    keeps its standard deviation. The smallest value over the axes counts, since a field may be
    rough along one of them.

    Parameters
    ----------
    field : ndarray
        Samples on a uniform grid; missing values are NaN.
    axes : tuple of int, optional
        Axes along which to difference; all by default. Axes of fewer than 14 points are skipped.

    Returns
    -------
    float
        Estimated standard deviation; 0 if no axis is long enough.

    Examples
    --------
    >>> x = np.linspace(0, 6, 200)
    >>> clean = np.sin(x)[:, None] * np.cos(x)
    >>> noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    >>> round(noise_level(noisy), 3)
    0.1
    """
    levels = []
    for axis in axes if axes is not None else range(field.ndim):
        order = DIFFERENCE_ORDER if field.shape[axis] >= 4 * DIFFERENCE_ORDER else 6
        length = field.shape[axis] - order
        if length < 8:
            continue
        weights = np.array([(-1.0) ** k * comb(order, k) for k in range(order + 1)])
        weights /= np.linalg.norm(weights)
        moved = np.moveaxis(field, axis, 0)
        difference = weights[0] * moved[:length]
        for k in range(1, order + 1):
            difference = difference + weights[k] * moved[k : k + length]
        square = float(np.nanmean(difference**2)) if np.isfinite(difference).any() else np.nan
        if np.isfinite(square):
            levels.append(square**0.5)
    return min(levels, default=0.0)


def wick_power(
    exponents: tuple[tuple[Atom, int], ...],
    values: Mapping[Atom, Any],
    covariance: Callable[[Atom, Atom], float],
) -> Any:
    """Product of powers of noisy quantities whose mean is the product of the true powers.

    For one quantity this is the scaled Hermite polynomial ``He_j(U; s)``: ``U^2 - s^2``,
    ``U^3 - 3 s^2 U`` and so on; for several it is the Wick product of Gaussian variables.

    Parameters
    ----------
    exponents : tuple of (atom, int)
        The quantities and their powers.
    values : mapping
        Measured values of each quantity.
    covariance : callable
        Covariance of the errors of two quantities at one point.

    Returns
    -------
    ndarray
        Unbiased estimate of the product, exactly so for Gaussian errors.

    Examples
    --------
    >>> wick_power((("u", 2),), {"u": np.array([3.0])}, lambda a, b: 0.5)
    array([8.5])
    """

    @cache
    def product(powers: tuple[tuple[Atom, int], ...]) -> Any:
        if not powers:
            return 1.0
        (atom, power), rest = powers[0], powers[1:]
        lowered = ((atom, power - 1), *rest) if power > 1 else rest
        total = values[atom] * product(lowered)
        for position, (other, count) in enumerate(lowered):
            shared = covariance(atom, other)
            if shared == 0.0:
                continue
            kept = ((other, count - 1),) if count > 1 else ()
            total = total - shared * count * product(
                (*lowered[:position], *kept, *lowered[position + 1 :])
            )
        return total

    return product(exponents)
