"""The Gardner equation ``u_t = -6*u*u_x - 6*cubic*u^2*u_x - u_xxx``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.gardner_soliton import gardner_soliton
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def gardner_equation(cubic: float = 0.1) -> Equation:
    """Korteweg-de Vries equation with an additional cubic flux.

    Parameters
    ----------
    cubic : float
        Strength of the cubic flux against the quadratic one, in [-1, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(gardner_equation())
    u_t = -6*u*u_x - 0.6*u^2*u_x - u_xxx
    """
    cubic = check_range("gardner", "cubic", cubic, -1.0, 10.0)
    return Equation.from_text(
        "u_t = -6*u*u_x - 6*cubic*u^2*u_x - u_xxx", name="gardner", parameters={"cubic": cubic}
    )


@register("gardner", tags=["second tier", "1d", "nonlinear", "dispersive"])
def gardner(cubic: float = 0.1) -> Problem:
    """A tall and a low hump on a circle of length 40, with a cubic flux that breaks boosts."""
    equation, x = gardner_equation(cubic), coordinate("x")
    tall, low = sympy.cosh(x - 10), sympy.cosh(sympy.Rational(11, 20) * (x - 22))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 40.0, 512)),
        initial=FromExpression({"u": 2 / tall**2 + sympy.Rational(3, 5) / low**2}),
        invariants=(
            mass(),
            Invariant(name="momentum", density="u^2"),
            Invariant(name="hamiltonian", density="u^3 + cubic*u^4/2 - u_x^2/2"),
        ),
        times=np.linspace(0.0, 8.0, 201),
        time_step=0.04 / 40,
        stored_points=256,
        exact={"soliton": gardner_soliton(equation)} if cubic > -1.0 else {},
    )
