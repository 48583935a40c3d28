"""A profile carried along unchanged."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def traveling_profile(equation: Equation, profile: sympy.Expr) -> ExactSolution:
    """Solution ``profile(x - speed*t)`` of the advection equation.

    Parameters
    ----------
    equation : Equation
        Advection with a parameter ``speed``.
    profile : sympy.Expr
        Expression in the coordinate ``x``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> import sympy
    >>> from pdes.library.advection import advection_equation
    >>> traveling_profile(advection_equation(2.0), sympy.sin(coordinate("x"))).fields["u"]
    -sin(speed*t - x)
    """
    x = coordinate("x")
    moved = profile.subs(x, x - parameter("speed") * TIME)
    return ExactSolution(
        name="traveling_profile",
        equation=equation,
        fields={"u": moved},
        source="method of characteristics",
    )
