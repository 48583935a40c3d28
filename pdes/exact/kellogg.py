"""Where two interfaces cross (R. B. Kellogg, Appl. Anal. 4, 101, 1974)."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.kondratiev import polar
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, number, parameter

# Exponent, contrast and phase (the other phase is pi/4) that fit together.
EXPONENT = 0.1
CONTRAST = 161.4476387975881
SIGMA = -14.92256510455152


def quadrants(first: Any, second: Any, third: Any, fourth: Any) -> sympy.Expr:
    """Expression that is another one in each quadrant.

    Examples
    --------
    >>> quadrants(1, 2, 3, 4).subs({coordinate("x"): -1, coordinate("y"): -1})
    3
    """
    x, y = coordinate("x"), coordinate("y")
    return sympy.Piecewise(
        (first, (x >= 0) & (y >= 0)),
        (second, (x < 0) & (y >= 0)),
        (third, (x < 0) & (y < 0)),
        (fourth, True),
    )


def kellogg() -> SteadySolution:
    """``r^0.1 mu(theta)`` for a diffusivity of 161.4476 in two opposite quadrants and 1 elsewhere.

    Value and flux are continuous across the axes; the gradient is nearly as singular as a solution
    can be.

    Returns
    -------
    SteadySolution
        Its box leaves the axes out, where the equation holds in the weak sense only.

    Examples
    --------
    >>> kellogg().residual(points=4) < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    u = unknown("u")
    diffusivity = quadrants(parameter("contrast"), 1, parameter("contrast"), 1)
    radius, _ = polar()
    return SteadySolution(
        name="kellogg",
        residuals={"u": -(diffusivity * u.diff(x)).diff(x) - (diffusivity * u.diff(y)).diff(y)},
        fields={"u": radius ** number(EXPONENT) * quadrants(*angular_parts())},
        parameters={"contrast": CONTRAST},
        box={"x": (-1.0, 1.0), "y": (-1.0, 1.0)},
        source="R. B. Kellogg, Appl. Anal. 4, 101 (1974); W. F. Mitchell, NISTIR 7668, problem 11",
    )


def angular_parts(theta: Any = None) -> tuple[Any, Any, Any, Any]:
    """The factor ``mu(theta)`` in each of the four quadrants.

    Parameters
    ----------
    theta : sympy.Expr, optional
        Angle; by default that of the point ``(x, y)``.

    Returns
    -------
    tuple of four sympy.Expr
    """
    theta = polar()[1] if theta is None else theta
    g, sigma = number(EXPONENT), number(SIGMA)
    pi, rho, cos = sympy.pi, sympy.pi / 4, sympy.cos
    return (
        cos((pi / 2 - sigma) * g) * cos((theta - pi / 2 + rho) * g),
        cos(rho * g) * cos((theta - pi + sigma) * g),
        cos(sigma * g) * cos((theta - pi - rho) * g),
        cos((pi / 2 - rho) * g) * cos((theta - 3 * pi / 2 - sigma) * g),
    )
