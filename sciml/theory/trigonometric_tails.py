"""Tails of trigonometric sums and integrals: what is left of them beyond a frequency."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

__all__ = ["cosine_tail", "oscillatory_tail", "trigonometric_tail"]

_FIRST = 200
"""Where the Euler-Maclaurin formula starts: its terms then fall by a half each."""

_CORRECTIONS = 24
_FRACTIONS = 400


def trigonometric_tail(angle: ArrayLike, n_modes: int, power: int, *, sine: bool = False) -> Any:
    """Sum over ``k > K`` of ``cos(k angle)/k^n``, or of the sine.

    Parameters
    ----------
    angle : array_like
        In radians.
    n_modes : int
        ``K``, at least 0.
    power : int
        ``n``, at least 2.
    sine : bool
        Whether to sum sines.

    Returns
    -------
    ndarray or float, shape of `angle`

    Notes
    -----
    The first terms are added up and the rest is an oscillatory integral with Euler-Maclaurin
    corrections, which keeps the relative accuracy for large ``K``, where the difference between the
    whole sum and its first terms would be rounding error. At the angle 0 it is Hurwitz' zeta
    function, trigamma for ``n = 2``.

    Examples
    --------
    >>> whole = sum(math.cos(k) / k**2 for k in range(11, 200_000))
    >>> bool(abs(trigonometric_tail(1.0, 10, 2) - whole) < 1e-9)
    True
    """
    K = int(n_modes)
    if n_modes != K or K < 0:
        raise ValueError(f"n_modes is {n_modes}: wanted a whole number, not negative")
    if int(power) != power or power < 2:
        raise ValueError(f"power is {power}: wanted a whole number of at least 2")
    angle = np.asarray(angle, dtype=float)
    angle = angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi))
    first = max(K + 1, _FIRST)
    k = np.arange(K + 1, first, dtype=float)
    total = np.exp(1j * angle[..., None] * k) @ k**-power + _euler_maclaurin(angle, first, power)
    part = total.imag if sine else total.real
    return np.where(angle == 0.0, 0.0 if sine else special.zeta(power, K + 1), part)[()]


def cosine_tail(angle: ArrayLike, n_modes: int) -> Any:
    """Sum over ``k > K`` of ``cos(k angle)/k^2``; trigamma of ``K + 1`` at the angle 0.

    Examples
    --------
    >>> bool(np.isclose(cosine_tail(0.0, 4), special.polygamma(1, 5)))
    True
    """
    return trigonometric_tail(angle, n_modes, 2)


def oscillatory_tail(distance: ArrayLike, cutoff: float, power: int) -> Any:
    """Integral of ``exp(i d xi)/xi^n`` from the cutoff to infinity.

    Parameters
    ----------
    distance : array_like
        ``d``.
    cutoff : float
        Positive.
    power : int
        ``n``, at least 2.

    Returns
    -------
    ndarray, complex, shape of `distance`

    Notes
    -----
    This is the exponential integral ``cutoff^(1-n) E_n(-i d cutoff)``: by its recurrence from the
    sine and cosine integrals for small arguments, else by its continued fraction.

    Examples
    --------
    >>> complex(oscillatory_tail(0.0, 4.0, 2))
    (0.25+0j)
    """
    z = np.asarray(distance, dtype=float) * cutoff
    size = np.abs(z)
    value = np.where(size < 4.0, _recurrence(z, power), _continued_fraction(z, power))
    return cutoff ** (1.0 - power) * value


def _recurrence(z: np.ndarray, power: int) -> np.ndarray:
    """``E_n(-i z)`` from ``E_1 = -Ci + i(pi/2 - Si)`` of the size, conjugated for negative z."""
    size = np.abs(z)
    si, ci = special.sici(np.where(size > 0.0, size, 1.0))
    found = np.where(size > 0.0, -ci + 1j * np.sign(z) * (0.5 * math.pi - si), 0.0)
    for n in range(1, power):
        found = (np.exp(1j * z) + 1j * z * found) / n
    return found


def _continued_fraction(z: np.ndarray, power: int) -> np.ndarray:
    argument = -1j * np.where(np.abs(z) < 4.0, 4.0, z)
    found = np.zeros_like(argument)
    for k in range(_FRACTIONS, 0, -1):
        found = k * (power + k - 1) / (argument + power + 2 * k - found)
    return np.exp(-argument) / (argument + power - found)


def _euler_maclaurin(angle: np.ndarray, first: int, power: int) -> np.ndarray:
    """Sum over ``k >= first`` of ``exp(i k angle)/k^n`` for angles in [-pi, pi]."""
    start = np.exp(1j * angle * first)
    total = oscillatory_tail(angle, float(first), power) + 0.5 * start * float(first) ** -power
    for j in range(1, _CORRECTIONS + 1):
        # B_2j/(2j)! = 2 (-1)^(j+1) zeta(2j)/(2 pi)^(2j)
        weight = 2.0 * (-1.0) ** (j + 1) * special.zeta(2 * j) / (2.0 * math.pi) ** (2 * j)
        total = total - weight * start * _derivative(angle, first, power, 2 * j - 1)
    return total


def _derivative(angle: np.ndarray, first: int, power: int, order: int) -> np.ndarray:
    """Derivative of ``exp(i angle x) x^-n`` at the first term, without its exponential."""
    return sum(
        special.comb(order, p)
        * (1j * angle) ** (order - p)
        * (-1.0) ** p
        * special.poch(power, p)
        * float(first) ** (-power - p)
        for p in range(order + 1)
    )  # pyright: ignore[reportReturnType]
