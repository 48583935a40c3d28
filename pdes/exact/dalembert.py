"""Waves on a line or a circle: two profiles that run apart."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def dalembert(
    equation: Equation, right_going: sympy.Expr, left_going: sympy.Expr | float = 0.0
) -> ExactSolution:
    r"""``u = f(x - c t) + g(x + c t)`` and ``v = u_t`` for the one-dimensional wave equation.

    Parameters
    ----------
    equation : Equation
        Wave equation as a system, with the parameter ``speed``.
    right_going, left_going : sympy.Expr
        ``f`` and ``g`` in ``x``; periodic if the domain is.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.wave import wave_equation
    >>> x = coordinate("x")
    >>> dalembert(wave_equation(), sympy.exp(sympy.sin(x)), sympy.cos(2 * x)).residual() < 1e-25
    True
    """
    x, shift = coordinate("x"), parameter("speed") * TIME
    right = (sympy.S.Zero + right_going).subs(x, x - shift)
    left = (sympy.S.Zero + left_going).subs(x, x + shift)
    return ExactSolution(
        name="dalembert",
        equation=equation,
        fields={"u": right + left, "v": (right + left).diff(TIME)},
        source="d'Alembert, Hist. Acad. Sci. Berlin 3 (1747) 214",
    )
