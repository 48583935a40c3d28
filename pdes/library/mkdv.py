"""The modified Korteweg-de Vries equation ``u_t = -6*u^2*u_x - u_xxx``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.mkdv_soliton import mkdv_soliton
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def mkdv_equation(dispersion: float = 1.0, steepening: float = 6.0) -> Equation:
    """Modified equation ``u_t = -steepening*u^2*u_x - dispersion*u_xxx``.

    Parameters
    ----------
    dispersion : float
        Coefficient of ``u_xxx``, in [1e-4, 10].
    steepening : float
        Coefficient of ``u^2*u_x``, in [-100, 100]; positive for bright solitons.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(mkdv_equation())
    u_t = -6*u^2*u_x - u_xxx
    """
    parameters = {
        "dispersion": check_range("mkdv", "dispersion", dispersion, 1e-4, 10.0),
        "steepening": check_range("mkdv", "steepening", steepening, -100.0, 100.0),
    }
    return Equation.from_text(
        "u_t = -steepening*u^2*u_x - dispersion*u_xxx", name="mkdv", parameters=parameters
    )


@register("mkdv", tags=["second tier", "1d", "nonlinear", "dispersive"])
def mkdv(dispersion: float = 1.0, steepening: float = 6.0) -> Problem:
    """Two humps of different height on a circle of length 40."""
    equation, x = mkdv_equation(dispersion, steepening), coordinate("x")
    tall, low = sympy.Rational(6, 5), sympy.Rational(7, 10)
    humps = tall / sympy.cosh(tall * (x - 10)) + low / sympy.cosh(low * (x - 20))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 40.0, 512)),
        initial=FromExpression({"u": humps}),
        invariants=(
            mass(),
            Invariant(name="momentum", density="u^2"),
            Invariant(name="hamiltonian", density="steepening*u^4/12 - dispersion*u_x^2/2"),
        ),
        times=np.linspace(0.0, 8.0, 201),
        time_step=0.04 / 20,
        stored_points=256,
        exact={"soliton": mkdv_soliton(equation)} if steepening > 0.0 else {},
    )
