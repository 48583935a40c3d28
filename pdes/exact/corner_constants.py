"""Constants of corner problems of the literature, to more digits than are printed there.

Sources: W. F. Mitchell, NISTIR 7668 (2010) and Appl. Math. Comput. 220, 350 (2013), problems 2, 3
and 11; Z.-C. Li, T.-T. Lu, H.-Y. Hu and A. H.-D. Cheng, Trefftz and Collocation Methods, WIT Press
2008, for Motz's problem. `motz_digits` computes the coefficients below anew.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import mpmath

MOTZ_COEFFICIENTS = (
    "401.16245374523442044313784",
    "87.655920195087916964784121",
    "17.237915079446809287386036",
    "-8.0712152596981344498223062",
    "1.4402727170228569808634",
    ".33105488592073605753936",
    ".27543734450918080009150",
    "-.086932994525536688642225",
    ".033604878426536951128",
    ".015384374482569402024",
)
"""Coefficients ``d_i`` of ``r^(i + 1/2) cos((i + 1/2) theta)``: 120 and 100 terms agree in them.

The double-precision list in print is off by 4e-15, 1e-14, 2e-14, 6e-13, 5e-13, 7e-13, 1e-12 and
2e-11 in the first eight.
"""


def kellogg_contrast(exponent: Any, digits: int = 16) -> Any:
    """Ratio of diffusivities ``R = cot^2(pi gamma/4)`` in opposite quadrants that gives ``gamma``.

    Parameters
    ----------
    exponent : float or str
        ``gamma`` in (0, 2); text for more digits than a float has.
    digits : int, default 16
        Decimal digits.

    Returns
    -------
    mpmath.mpf

    Examples
    --------
    >>> print(mpmath.nstr(kellogg_contrast("0.1", 23), 23))
    161.44763879758849569739
    """
    gamma = _exponent(exponent)
    with mpmath.workdps(digits + 10):
        value = mpmath.cot(mpmath.pi * mpmath.mpf(gamma) / 4) ** 2
    return _to(value, digits)


def kellogg_phase(exponent: Any, digits: int = 16) -> Any:
    """Phase ``sigma = pi/4 - pi/(2 gamma)`` that goes with ``rho = pi/4``.

    Parameters
    ----------
    exponent, digits
        As in `kellogg_contrast`.

    Returns
    -------
    mpmath.mpf

    Examples
    --------
    >>> print(mpmath.nstr(kellogg_phase("0.1", 20), 20))
    -14.922565104551517883
    """
    gamma = _exponent(exponent)
    with mpmath.workdps(digits + 10):
        value = mpmath.pi / 4 - mpmath.pi / (2 * mpmath.mpf(gamma))
    return _to(value, digits)


def checkerboard_exponent(contrast: Any, digits: int = 16) -> Any:
    """Lowest positive exponent ``(4/pi) atan(1/sqrt R)`` where quadrants of R and 1 alternate.

    Parameters
    ----------
    contrast : float or str
        ``R``, positive.
    digits : int, default 16
        Decimal digits.

    Returns
    -------
    mpmath.mpf

    Examples
    --------
    >>> round(float(checkerboard_exponent(161.4476387975885)), 14)
    0.1
    """
    if not (math.isfinite(float(contrast)) and float(contrast) > 0.0):
        raise ValueError(f"contrast={contrast!r}, wanted a positive number")
    with mpmath.workdps(digits + 10):
        ratio = mpmath.mpf(contrast)
        # Exchanging the materials turns the board by a right angle.
        value = 4 / mpmath.pi * mpmath.atan(1 / mpmath.sqrt(max(ratio, 1 / ratio)))
    return _to(value, digits)


@cache
def motz_digits(terms: int = 100, digits: int = 50, first: int = 10) -> tuple[Any, ...]:
    """Coefficients of Motz's problem by collocation in extended precision.

    Every term satisfies the conditions at ``y = 0``; value 500 at ``x = 1`` and zero flux at
    ``y = 1`` and ``x = -1`` are imposed at Chebyshev points, as many as terms. 100 terms give
    about 26 digits of the first coefficients in some seconds.

    Parameters
    ----------
    terms : int, default 100
        A multiple of 4, at least 8.
    digits : int, default 50
        Of the arithmetic.
    first : int, default 10
        How many coefficients to return.

    Returns
    -------
    tuple of mpmath.mpf

    Examples
    --------
    >>> print(mpmath.nstr(motz_digits(terms=32)[0], 9))
    401.162454
    """
    if terms < 8 or terms % 4:
        raise ValueError(f"terms={terms}, wanted a multiple of 4, at least 8")
    quarter = terms // 4
    with mpmath.workdps(digits):
        root, half = mpmath.sqrt(2), mpmath.mpf(1) / 2
        points = [
            *((mpmath.mpc(1, y), "value") for y in _nodes(quarter, 0, 1)),
            *((mpmath.mpc(x, 1), "flux up") for x in _nodes(2 * quarter, -1, 1)),
            *((mpmath.mpc(-1, y), "flux left") for y in _nodes(quarter, 0, 1)),
        ]
        rows, wanted = mpmath.matrix(terms, terms), mpmath.matrix(terms, 1)
        for row, (place, kind) in enumerate(points):
            # Radii over sqrt(2) are at most 1: powers stay of like size.
            z = place / root
            power = mpmath.sqrt(z) if kind == "value" else 1 / mpmath.sqrt(z)
            wanted[row] = 500 if kind == "value" else 0
            for i in range(terms):
                scaled = power if kind == "value" else (i + half) * power
                rows[row, i] = -scaled.imag if kind == "flux up" else scaled.real
                power = power * z
        found = mpmath.lu_solve(rows, wanted)
        return tuple(found[i] / root ** (i + half) for i in range(min(first, terms)))


def _nodes(count: int, start: int, stop: int) -> list[Any]:
    middle, reach = mpmath.mpf(start + stop) / 2, mpmath.mpf(stop - start) / 2
    return [
        middle + reach * mpmath.cos((2 * i + 1) * mpmath.pi / (2 * count)) for i in range(count)
    ]


def _exponent(exponent: Any) -> Any:
    if not 0.0 < float(exponent) < 2.0:
        raise ValueError(f"exponent={exponent!r}, wanted a number in (0, 2)")
    return exponent


def _to(value: Any, digits: int) -> Any:
    with mpmath.workdps(digits):
        return +value
