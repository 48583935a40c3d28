"""Advection in the plane at a constant velocity, ``u_t = -x_speed*u_x - y_speed*u_y``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.traveling_profile import traveling_profile
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def advection_translation_equation(x_speed: float = 1.0, y_speed: float = 0.5) -> Equation:
    """Advection in two dimensions by a uniform wind.

    Parameters
    ----------
    x_speed, y_speed : float
        Length per time, in [-10, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(advection_translation_equation())
    u_t = -u_x - 0.5*u_y
    """
    name = "advection_translation"
    parameters = {
        "x_speed": check_range(name, "x_speed", x_speed, -10.0, 10.0),
        "y_speed": check_range(name, "y_speed", y_speed, -10.0, 10.0),
    }
    return Equation.from_text("u_t = -x_speed*u_x - y_speed*u_y", name=name, parameters=parameters)


@register("advection_translation", tags=["2d", "linear", "hyperbolic"])
def advection_translation(x_speed: float = 1.0, y_speed: float = 0.5) -> Problem:
    """A smooth hump carried across a torus without change."""
    equation = advection_translation_equation(x_speed, y_speed)
    profile = sympy.exp(sympy.sin(coordinate("x")) + sympy.cos(coordinate("y")) / 2)
    solution = traveling_profile(equation, profile)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 64), y=(0.0, 2.0 * np.pi, 64)),
        initial=solution.initial,
        invariants=(mass(), Invariant(name="square", density="u^2")),
        times=np.linspace(0.0, 2.0, 51),
        exact={"profile": solution},
        exact_name="profile",
    )
