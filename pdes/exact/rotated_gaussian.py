"""A hump carried around by rigid rotation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME, number


def rotated_gaussian(
    equation: Equation, *, center: tuple[float, float] = (0.5, 0.7), width: float = 0.05
) -> ExactSolution:
    r"""Gaussian whose center turns around (1/2, 1/2) once in a time unit, counter-clockwise.

    Parameters
    ----------
    equation : Equation
        Advection with the velocity ``2 pi (1/2 - y, x - 1/2)``.
    center : tuple of float
        Where the hump starts.
    width : float
        Its standard deviation.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.advection_2d import advection_rotation_equation
    >>> rotated_gaussian(advection_rotation_equation()).residual() < 1e-25
    True
    """
    x, y = coordinate("x") - sympy.S.Half, coordinate("y") - sympy.S.Half
    angle, half = 2 * number(3.141592653589793) * TIME, 0.5
    a, b = number(center[0] - half), number(center[1] - half)
    across = x - (a * sympy.cos(angle) - b * sympy.sin(angle))
    along = y - (a * sympy.sin(angle) + b * sympy.cos(angle))
    square = (across**2 + along**2) / (2 * number(width) ** 2)
    return ExactSolution(
        name="rotated_gaussian", equation=equation, fields={"u": sympy.exp(-square)}, box=1.0
    )
