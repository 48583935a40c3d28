"""A profile carried along unchanged."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def traveling_profile(equation: Equation, profile: sympy.Expr) -> ExactSolution:
    """Solution ``profile(x - speed*t)`` of the advection equation, in any dimension.

    Parameters
    ----------
    equation : Equation
        Advection with a parameter ``speed``, or one for each axis: ``x_speed`` and so on.
    profile : sympy.Expr
        Expression in the coordinates.

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
    alone = "speed" in equation.parameters
    back: dict[Any, Any] = {
        coordinate(axis): coordinate(axis) - parameter("speed" if alone else f"{axis}_speed") * TIME
        for axis in equation.coordinates
    }
    moved = profile.subs(back, simultaneous=True)
    return ExactSolution(
        name="traveling_profile",
        equation=equation,
        fields={"u": moved},
        source="method of characteristics",
    )
