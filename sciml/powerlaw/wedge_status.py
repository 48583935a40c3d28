"""What a fit about a corner says of itself, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.lack_of_fit import (
    ROUNDING,
    excess_over_noise,
    neighbor_correlation,
    neighbor_pairs,
)
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.wedge_samples import RowSystem, WedgeSamples

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
    "poor_fit": (
        "check the angle, the edge conditions and where the corner is, or ask for more terms "
        "(quantize() and extend() take those that the corner admits)"
    ),
    "saturated": (
        "there are no more samples than unknowns, so that nothing is left to judge the fit by "
        "(homogeneous edge conditions hold for every such field): give more samples"
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
    measured: int,
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
    measured : int
        Rows that are no homogeneous condition.

    Returns
    -------
    str
    """
    if not is_determined(fit):
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
    if is_starved(fit, measured):
        return "saturated"
    return "ok" if bool(fit.converged) else "not_converged"


def is_starved(fit: SeparableFit, measured: int) -> bool:
    """Whether samples are no more than unknowns: edge conditions say nothing of this field."""
    return measured <= fit.full_jacobian.shape[1]


def is_determined(fit: SeparableFit) -> bool:
    """Whether the rows determine all exponents and coefficients."""
    scale = np.linalg.norm(fit.full_jacobian, axis=0)
    if not (np.all(np.isfinite(scale)) and np.all(scale > 0.0)):
        return False
    values = np.linalg.svd(fit.full_jacobian / scale, compute_uv=False)
    return bool(values[-1] > RANK * values[0])


def lack_of_fit(
    residual: NDArray,
    relative: float,
    samples: Sequence[WedgeSamples],
    system: RowSystem,
    noise: float | None,
) -> str:
    """What speaks against noise as the cause of the residual; empty if nothing does.

    With known noise a chi^2 test of all rows against the number of measured ones: the true field
    leaves nothing on the edges, and the best fit leaves no more than it. Otherwise neighbors in
    ``(log r, theta)`` must not agree.

    Parameters
    ----------
    residual : ndarray, shape (rows,)
        Weighted.
    relative : float
        Its norm relative to that of the data.
    samples : sequence of WedgeSamples
    system : RowSystem
        Their rows first.
    noise : float or None

    Returns
    -------
    str
    """
    if relative <= RANK:
        return ""
    if noise is not None:
        excess = excess_over_noise(float(np.sum((residual / noise) ** 2)), system.measured)
        return "" if excess is None else f"what is left over is {excess:.3g} times the noise"
    if relative <= ROUNDING:
        return ""
    at = 0
    for group in samples:
        rest, at = residual[at : at + len(group)], at + len(group)
        pairs = neighbor_pairs(np.column_stack([np.log(group.radius), group.angle]))
        correlation = neighbor_correlation(rest, pairs)
        if correlation is not None:
            return (
                f"what is left over (relative residual {relative:.2g}) is no "
                f"noise: neighboring samples correlate by {correlation:.2f}"
            )
    return ""


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
