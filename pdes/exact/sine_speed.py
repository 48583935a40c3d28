"""Advection on a circle at a speed that varies like a sine."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def sine_speed(equation: Equation) -> ExactSolution:
    r"""A field carried at ``c(x) = a + sin x``, back in place after ``2 pi/sqrt(a^2 - 1)``.

    With ``s = x + pi/2`` the speed is ``a - cos s``. The angle ``theta`` with
    ``tan(theta/2) = q tan(s/2)`` and ``q^2 = (a + 1)/(a - 1)`` advances at the uniform rate
    ``w = sqrt(a^2 - 1)``. What is carried is ``exp(cos s)`` of the starting place.

    Parameters
    ----------
    equation : Equation
        ``u_t = -(a + sin x) u_x`` with the parameter ``mean_speed``, above one.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.advection_sine import advection_sine_equation
    >>> sine_speed(advection_sine_equation()).residual() < 1e-25
    True
    """
    a, x = parameter("mean_speed"), coordinate("x")
    rate = sympy.sqrt(a**2 - 1)
    # Of s: cos s = -sin x and sin s = cos x. Tangents of half angles give those of theta.
    cos_s, sin_s = -sympy.sin(x), sympy.cos(x)
    cosine = (a * cos_s - 1) / (a - cos_s)
    sine = rate * sin_s / (a - cos_s)
    turned = cosine * sympy.cos(rate * TIME) + sine * sympy.sin(rate * TIME)
    start = (1 + a * turned) / (a + turned)
    return ExactSolution(
        name="sine_speed",
        equation=equation,
        fields={"u": sympy.exp(start)},
        source="method of characteristics",
    )
