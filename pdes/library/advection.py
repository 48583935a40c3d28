"""The advection equation ``u_t = -speed * u_x``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.traveling_profile import traveling_profile
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def advection_equation(speed: float = 1.0) -> Equation:
    """Advection at a constant speed.

    Parameters
    ----------
    speed : float
        Length per time, in [-10, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(advection_equation(0.5))
    u_t = -0.5*u_x
    """
    speed = check_range("advection", "speed", speed, -10.0, 10.0)
    return Equation.from_text("u_t = -speed*u_x", name="advection", parameters={"speed": speed})


@register("advection", tags=["second tier", "1d", "linear"])
def advection(speed: float = 1.0) -> Problem:
    """Six random modes carried around a circle of length ``2 pi``."""
    equation = advection_equation(speed)
    profile = sympy.exp(sympy.sin(coordinate("x")))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=RandomFourier(modes=6),
        initial_seed=4,
        invariants=(mass(), Invariant(name="square", density="u^2")),
        times=np.linspace(0.0, 2.0, 201),
        exact={"profile": traveling_profile(equation, profile)},
    )
