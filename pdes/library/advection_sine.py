"""Advection whose speed varies like a sine, ``c(x) = mean_speed + sin(x)``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.sine_speed import sine_speed
from pdes.grid import Grid
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def advection_sine_equation(mean_speed: float = 1.5) -> Equation:
    """Advection at a speed that varies around a circle like a sine.

    Parameters
    ----------
    mean_speed : float
        ``a`` in length per time, in [1.2, 10]: above one, so that nothing stands still, and by so
        much that the grid resolves a field that is squeezed where it is slow.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(advection_sine_equation())
    u_t = -1.5*u_x - u_x*sin(x)
    """
    mean_speed = check_range("advection_sine", "mean_speed", mean_speed, 1.2, 10.0)
    return Equation.from_text(
        "u_t = -(mean_speed + sin(x))*u_x",
        name="advection_sine",
        parameters={"mean_speed": mean_speed},
    )


@register("advection_sine", tags=["1d", "linear", "hyperbolic"])
def advection_sine(mean_speed: float = 1.5) -> Problem:
    """A field squeezed where the wind is slow, back in place after ``2 pi/sqrt(a^2 - 1)``."""
    equation = advection_sine_equation(mean_speed)
    solution = sine_speed(equation)
    lap = 2.0 * np.pi / np.sqrt(mean_speed**2 - 1.0)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=solution.initial,
        times=np.linspace(0.0, lap, 65),
        time_step=lap / 2048,
        exact={solution.name: solution},
        exact_name=solution.name,
        invariants=(Invariant(name="weighted mass", density="u/(mean_speed + sin(x))"),),
        solver="rk4",
        notes=f"Everything is back in place after {lap:.15g}.",
    )
