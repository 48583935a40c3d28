"""The layer that a flow toward a wall keeps against diffusion."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter


def layer(peclet: Any, x: Any) -> Any:
    """``(exp(Pe x) - 1)/(exp(Pe) - 1)``, written so that nothing overflows.

    Parameters
    ----------
    peclet, x : sympy.Expr
        Speed times length over diffusivity; place in units of the length.

    Returns
    -------
    sympy.Expr

    Examples
    --------
    >>> float(layer(sympy.Integer(1000), sympy.Integer(1)))
    1.0
    """
    return (sympy.exp(peclet * (x - 1)) - sympy.exp(-peclet)) / (1 - sympy.exp(-peclet))


def steady_layer(peclet: float) -> SteadySolution:
    """Solution of ``Pe u' = u''`` with ``u = 0`` at 0 and ``u = 1`` at 1.

    Parameters
    ----------
    peclet : float
        Positive.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> steady_layer(10.0).residual() < 1e-25
    True
    """
    x, u = coordinate("x"), unknown("u", ("x",))
    number = parameter("peclet")
    return SteadySolution(
        name="steady_layer",
        residuals={"u": number * u.diff(x) - u.diff(x, 2)},
        fields={"u": layer(number, x)},
        parameters={"peclet": peclet},
        box={"x": (0.0, 1.0)},
        source="P. J. Roache, Computational Fluid Dynamics (1972)",
    )
