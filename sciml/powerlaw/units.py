"""Units of their own for values and places, where no square overflows and tolerances hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.separable_fit import SeparableFit

LENGTHS = (1e-90, 1e90)
"""Half sizes of a box between which third powers of all distances in it are numbers."""


def unit_of(values: NDArray) -> float:
    """Unit for values beyond 1e-100 to 1e100, a power of two, which costs no digits; else 1.

    Examples
    --------
    >>> unit_of(np.array([3.0, 1e9])), unit_of(np.array([2.0**900, 1.0])) == 2.0**900
    (1.0, True)
    """
    most = float(np.abs(values).max())
    if most == 0.0 or 1e-100 < most < 1e100:
        return 1.0
    return float(2.0 ** np.floor(np.log2(most)))


def length_unit(points: NDArray) -> float:
    """Power of two nearest to half the size of the box of some points.

    Parameters
    ----------
    points : ndarray, shape (rows, d)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Where third powers of distances would overflow or vanish.

    Examples
    --------
    >>> length_unit(np.array([[-1.0, 0.0], [1.0, 0.5]])), length_unit(np.array([[0.0], [1e3]]))
    (1.0, 512.0)
    """
    half = 0.5 * float(np.max(np.ptp(points, axis=0)))
    low, high = LENGTHS
    if not low < half < high:
        raise ValueError(
            f"x: the points span {2.0 * half:g}, wanted {2.0 * low:g} to {2.0 * high:g}, so that "
            "powers of distances can be told: give them in another unit"
        )
    return float(2.0 ** np.round(np.log2(half)))


def in_unit(
    fit: SeparableFit, terms: Sequence[RadialTerm], unit: float
) -> tuple[SeparableFit, tuple[RadialTerm, ...]]:
    """A fit of values divided by `unit`, and its terms, as of the values themselves."""
    scale = np.ones(fit.full_jacobian.shape[1])
    scale[len(fit.coefficients) :] = unit
    whole = replace(
        fit,
        coefficients=fit.coefficients * unit,
        residual=fit.residual * unit,
        jacobian=fit.jacobian * unit,
        full_jacobian=fit.full_jacobian * scale,
    )
    return whole, tuple(
        replace(
            term,
            coefficient=term.coefficient * unit,
            coefficient_error=term.coefficient_error * unit,
        )
        for term in terms
    )
