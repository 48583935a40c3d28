"""The Korteweg-de Vries equation ``u_t = -6*u*u_x - u_xxx``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.kdv_soliton import kdv_soliton as soliton_solution
from pdes.exact.kdv_two_soliton import kdv_two_soliton
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register

_INVARIANTS = (
    mass(),
    Invariant(name="momentum", density="u^2"),
    Invariant(name="hamiltonian", density="steepening*u^3/6 - dispersion*u_x^2/2"),
)


def kdv_equation(dispersion: float = 1.0, steepening: float = 6.0) -> Equation:
    """Korteweg-de Vries equation ``u_t = -steepening*u*u_x - dispersion*u_xxx``.

    Parameters
    ----------
    dispersion : float
        Coefficient of ``u_xxx``, in [1e-4, 10].
    steepening : float
        Coefficient of ``u*u_x``, in [-100, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(kdv_equation())
    u_t = -6*u*u_x - u_xxx
    """
    parameters = {
        "dispersion": check_range("kdv", "dispersion", dispersion, 1e-4, 10.0),
        "steepening": check_range("kdv", "steepening", steepening, -100.0, 100.0),
    }
    return Equation.from_text(
        "u_t = -steepening*u*u_x - dispersion*u_xxx", name="kdv", parameters=parameters
    )


@register("kdv", tags=["benchmark", "1d", "nonlinear", "dispersive"])
def kdv(dispersion: float = 1.0, steepening: float = 6.0) -> Problem:
    """A tall and a low hump that pass through each other on a circle of length 40."""
    equation, x = kdv_equation(dispersion, steepening), coordinate("x")
    tall, low = sympy.cosh(x - 10), sympy.cosh(sympy.Rational(11, 20) * (x - 22))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 40.0, 512)),
        initial=FromExpression({"u": 2 / tall**2 + sympy.Rational(3, 5) / low**2}),
        invariants=_INVARIANTS,
        times=np.linspace(0.0, 8.0, 201),
        time_step=0.04 / 200,
        stored_points=256,
        exact=(
            {"soliton": soliton_solution(equation), "two_soliton": kdv_two_soliton(equation)}
            if steepening
            else {}
        ),
        source="discovery benchmark",
    )


@register("kdv_soliton", tags=["second tier", "1d", "nonlinear", "unidentifiable"])
def kdv_soliton(speed: float = 1.0) -> Problem:
    """One soliton: it moves without changing, as if it were simply advected."""
    equation = kdv_equation()
    speed = check_range("kdv_soliton", "speed", speed, 0.25, 4.0)
    soliton = soliton_solution(equation, speed=speed, center=-8.0)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-30.0, 30.0, 256)),
        initial=soliton.initial,
        invariants=_INVARIANTS,
        times=np.linspace(0.0, 8.0, 201),
        time_step=0.04 / 20,
        exact={"soliton": soliton},
        exact_name="soliton",
        notes=(
            "A traveling wave obeys u_t = -speed*u_x as well: the equation cannot be identified. "
            "The periodic box cuts the soliton's tail, so simulation and closed form differ by "
            "about 2*speed*exp(-22*sqrt(speed)), 1e-9 at unit speed."
        ),
    )
