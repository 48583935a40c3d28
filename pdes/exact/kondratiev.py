"""Harmonic functions at a corner (V. A. Kondrat'ev, Trans. Moscow Math. Soc. 16, 227, 1967).

Exponents of other corners, to any number of digits: `pdes.exact.corner_spectrum`.
"""

from __future__ import annotations

import math
from typing import Any

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate


def polar(angle: Any = 2 * sympy.pi) -> tuple[Any, Any]:
    """Radius and angle about the origin in a sector ``0 <= theta <= angle``.

    The cut of the angle runs through the middle of what is outside the sector.

    Parameters
    ----------
    angle : float or sympy number
        Opening of the sector.

    Returns
    -------
    radius, theta : sympy.Expr

    Examples
    --------
    >>> _, theta = polar(3 * sympy.pi / 2)
    >>> float(theta.subs({coordinate("x"): 0, coordinate("y"): -1}) / sympy.pi)
    1.5
    """
    x, y = coordinate("x"), coordinate("y")
    half = angle / 2
    cos, sin = sympy.cos(half), sympy.sin(half)
    return sympy.sqrt(x**2 + y**2), half + sympy.atan2(y * cos - x * sin, x * cos + y * sin)


def corner_function(angle: float, mixed: bool = False) -> SteadySolution:
    """``r^a sin(a theta)``, zero on one side of a corner and zero (or of zero flux) on the other.

    Parameters
    ----------
    angle : float
        Opening ``omega`` of the corner, in (0, 2 pi].
    mixed : bool, default False
        Zero flux at ``theta = omega``: then ``a = pi/(2 omega)`` instead of ``pi/omega``.

    Returns
    -------
    SteadySolution
        Of Laplace's equation.

    Examples
    --------
    >>> solution = corner_function(1.5 * math.pi)
    >>> solution.residual() < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    # A decimal multiple of pi keeps the closed form exact in 40 digits.
    exact = sympy.Rational(repr(round(angle / math.pi, 12))) * sympy.pi
    exponent = sympy.pi / exact / (2 if mixed else 1)
    radius, theta = polar(exact)
    u = unknown("u")
    return SteadySolution(
        name="corner_function",
        residuals={"u": -u.diff(x, 2) - u.diff(y, 2)},
        fields={"u": radius**exponent * sympy.sin(exponent * theta)},
        box={"x": (-0.7, 0.7), "y": (-0.7, 0.7)},
        source="V. A. Kondrat'ev, Trans. Moscow Math. Soc. 16, 227 (1967)",
    )
