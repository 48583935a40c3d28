"""Advection on a circle whose speed varies from place to place."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def varying_speed(equation: Equation, *, conservative: bool = False) -> ExactSolution:
    r"""A field carried at ``c(x) = base + sin^2(x - 1)``, which returns after every lap.

    The angle ``theta`` with ``tan theta = q tan(x - 1)`` and ``q^2 = 1 + 1/base`` advances at the
    uniform rate ``w = sqrt(base (base + 1))``, so that a lap takes ``2 pi/w``. What is carried is
    ``exp(cos 2 y)`` with ``y`` the starting place; in conservative form ``c u`` is carried.

    Parameters
    ----------
    equation : Equation
        Advection with the parameter ``base``.
    conservative : bool
        Whether the equation is ``u_t = -(c u)_x``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.advection_varying import advection_varying_equation
    >>> varying_speed(advection_varying_equation()).residual() < 1e-25
    True
    """
    base, y = parameter("base"), coordinate("x") - 1
    speed = base + sympy.sin(y) ** 2
    q, lap = sympy.sqrt(1 + 1 / base), sympy.sqrt(base * (base + 1))
    size = sympy.cos(y) ** 2 + q**2 * sympy.sin(y) ** 2
    cosine = (sympy.cos(y) ** 2 - q**2 * sympy.sin(y) ** 2) / size
    sine = 2 * q * sympy.sin(y) * sympy.cos(y) / size
    # Cosine of twice the angle at the starting place, and back from the angle to the place.
    turned = cosine * sympy.cos(2 * lap * TIME) + sine * sympy.sin(2 * lap * TIME)
    above, below = q**2 * (1 + turned), 1 - turned
    start = (above - below) / (above + below)
    field = sympy.exp(start)
    if conservative:
        field = field * (base + (1 - start) / 2) / speed
    return ExactSolution(name="varying_speed", equation=equation, fields={"u": field})
