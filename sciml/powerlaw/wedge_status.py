"""What a fit about a corner says of itself, and what to do about it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.separable_fit import SeparableFit

SIGMAS = 3.0
"""Standard errors within which an admissible exponent counts as the learned one."""
RANK = 1e-12
"""Share of the largest singular value of the Jacobian below which data determine nothing."""
NOTHING = 1e-13
"""Coefficients below this share of the largest are rounding."""

ADVICE = {
    "ok": "",
    "zero": "the data are zero: there is no term",
    "constant": "a constant explains the data: there is no exponent to find",
    "unidentifiable": (
        "the rows do not determine the exponents; give edge rows, samples at other radii, or ask "
        "for fewer terms"
    ),
    "at_bound": "an exponent rests on its bound; widen bounds=(low, high), or ask for fewer terms",
    "unresolved": (
        "two exponents are closer than four standard errors; ask for fewer terms, or take more or "
        "better data"
    ),
    "superfluous": (
        "the coefficients of a term are within three standard errors of zero; ask for fewer terms"
    ),
    "not_converged": "the iteration did not come to rest; ask for fewer terms or raise W",
    "quantized": "",
    "unquantized": (
        "a learned exponent is near no admissible one; check the angle and the edge conditions, "
        "or raise W"
    ),
}


def judge(
    fit: SeparableFit,
    exponents: NDArray,
    errors: NDArray,
    superfluous: bool,
    bounds: tuple[float, float],
) -> str:
    """Word for how far learned exponents can be relied on; a key of `ADVICE`.

    Parameters
    ----------
    fit : SeparableFit
    exponents, errors : ndarray, shape (terms,)
        Rising, and their standard errors.
    superfluous : bool
        Whether the coefficients of a term are nothing.
    bounds : tuple of float
        Range of the exponents.

    Returns
    -------
    str
    """
    scale = np.linalg.norm(fit.full_jacobian, axis=0)
    values = np.linalg.svd(fit.full_jacobian / np.where(scale > 0, scale, 1.0))[1]
    if values[-1] <= RANK * values[0] or not np.all(scale > 0.0):
        return "unidentifiable"
    low, high = bounds
    edge = 1e-9 * (high - low)
    if np.any((exponents < low + edge) | (exponents > high - edge)):
        return "at_bound"
    gaps = np.diff(exponents)
    pairs = np.maximum(errors[1:], errors[:-1])
    if np.any(pairs > 0.25 * gaps):
        return "unresolved"
    if superfluous:
        return "superfluous"
    return "ok" if bool(fit.converged) else "not_converged"


def is_superfluous(terms: NDArray, spread: NDArray) -> bool:
    """Whether all coefficients of some term are within their errors of zero, or rounding.

    Parameters
    ----------
    terms, spread : ndarray, shape (terms, coefficients)
        Coefficients and their standard errors.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_superfluous(np.array([[1.0], [0.2]]), np.array([[0.1], [0.1]]))
    True
    """
    size = np.abs(terms)
    drowned = np.all(size <= SIGMAS * spread, axis=1)
    return bool(np.any(drowned | (size.max(1) <= NOTHING * size.max())))
