"""Entire functions that stay accurate where their closed forms cancel.

``phi1(z) = (e^z - 1)/z``, ``C(z) = cosh sqrt(z)`` and ``S(z) = sinh(sqrt z)/sqrt z`` (cosine and
sine of ``sqrt(-z)`` for negative ``z``), with their derivatives. Below ``|z| = 1`` the power series
is summed: both branches are accurate to a few units in the last place there, and differentiable,
so that no blending is needed. (At ``|z| = 1e-2`` the closed form of ``phi1'`` has lost two digits.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sciml.powerlaw.arrays import namespace

SWITCH = 1.0
"""Size of ``z`` from which closed forms are used."""

_PHI1_SLOPE = [(k + 1) / math.factorial(k + 2) for k in range(19)]
_COSH = [1 / math.factorial(2 * k) for k in range(11)]
_SINH = [1 / math.factorial(2 * k + 1) for k in range(11)]
# S'(z) = sum (k+1) z^k / (2k+3)!
_SINH_SLOPE = [(k + 1) / math.factorial(2 * k + 3) for k in range(11)]


def phi1_slope(z: Any) -> Any:
    """Derivative of ``phi1(z) = (e^z - 1)/z``.

    Parameters
    ----------
    z : array of float64

    Returns
    -------
    array

    Examples
    --------
    >>> import numpy as np
    >>> phi1_slope(np.array([0.0, 2.0]))
    array([0.5    , 2.09726402])
    """
    xp = namespace(z)
    small, inner, outer = _branches(xp, z)
    closed = (xp.exp(outer) - xp.expm1(outer) / outer) / outer
    return xp.where(small, _horner(_PHI1_SLOPE, inner), closed)


def pair_functions(z: Any) -> tuple[Any, Any, Any]:
    """``C(z)``, ``S(z)`` and ``S'(z)``; the derivative of ``C`` is ``S/2``.

    Parameters
    ----------
    z : array of float64 or complex128

    Returns
    -------
    tuple of three arrays

    Examples
    --------
    >>> import numpy as np
    >>> [float(part[0]) for part in pair_functions(np.array([-np.pi**2]))]
    [-1.0, 3.9e-17, 0.0507]
    """
    xp = namespace(z)
    small, inner, outer = _branches(xp, z)
    if xp.isdtype(z.dtype, "complex floating"):
        root = xp.sqrt(outer)
        cosine, sine = xp.cosh(root), xp.sinh(root) / root
    else:
        root = xp.sqrt(xp.abs(outer))
        grows = outer > 0
        # each branch gets an argument at which it is finite
        up = xp.where(grows, root, xp.ones_like(root))
        cosine = xp.where(grows, xp.cosh(up), xp.cos(root))
        sine = xp.where(grows, xp.sinh(up), xp.sin(root)) / root
    slope = (cosine - sine) / (2.0 * outer)
    return (
        xp.where(small, _horner(_COSH, inner), cosine),
        xp.where(small, _horner(_SINH, inner), sine),
        xp.where(small, _horner(_SINH_SLOPE, inner), slope),
    )


def _branches(xp: Any, z: Any) -> tuple[Any, Any, Any]:
    """Where the series holds, and an argument for either branch that is safe everywhere."""
    small = xp.abs(z) < SWITCH
    one = xp.ones_like(z)
    return small, xp.where(small, z, 0.0 * one), xp.where(small, one, z)


def _horner(coefficients: Sequence[float], z: Any) -> Any:
    total = coefficients[-1] + 0.0 * z
    for coefficient in reversed(coefficients[:-1]):
        total = total * z + coefficient
    return total
