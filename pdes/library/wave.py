"""The wave equation ``u_tt = speed^2 * lap(u)`` as a system for ``u`` and its velocity ``v``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import Dirichlet
from pdes.equation import Equation, coordinate
from pdes.exact.dalembert import dalembert
from pdes.exact.standing_wave import standing_wave
from pdes.grid import Axis, Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register

_ENERGY = Invariant(name="energy", density="v^2/2 + speed^2*u_x^2/2")
_ENERGY_2D = Invariant(name="energy", density="v^2/2 + speed^2*(u_x^2 + u_y^2)/2")


def wave_equation(speed: float = 1.0, dimension: int = 1) -> Equation:
    """Wave equation, of first order in time.

    Parameters
    ----------
    speed : float
        Length per time, in (0, 100].
    dimension : int
        1 or 2.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(wave_equation(2.0))
    u_t = v
    v_t = 4*u_xx
    """
    speed = check_range("wave", "speed", speed, 0.0, 100.0, open_low=True)
    axes = ("x", "y")[:dimension]
    second = " + ".join(f"u_{name}{name}" for name in axes)
    return Equation.from_text(
        f"u_t = v; v_t = speed^2*({second})",
        name="wave",
        parameters={"speed": speed},
        coordinates=axes,
    )


@register("wave", tags=["1d", "linear", "hyperbolic"])
def wave(speed: float = 1.0) -> Problem:
    """Two pulses of different shape that run around a circle in opposite directions."""
    equation, x = wave_equation(speed), coordinate("x")
    solution = dalembert(
        equation, sympy.exp(2 * sympy.cos(x) - 2), sympy.exp(3 * sympy.cos(x - 2) - 3) / 2
    )
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=solution.initial,
        times=np.linspace(0.0, 2.0 * np.pi / speed, 65),
        exact={"dalembert": solution},
        exact_name="dalembert",
        invariants=(mass("v", "momentum"), _ENERGY),
        solver="leapfrog",
    )


@register("wave_string", tags=["1d", "linear", "hyperbolic", "not periodic"])
def wave_string(speed: float = 1.0) -> Problem:
    """The third mode of a string of length one whose ends are held."""
    equation = wave_equation(speed)
    solution = standing_wave(equation, (3.0 * np.pi,))
    return Problem(
        equation=equation,
        grid=Grid((Axis("x", 0.0, 1.0, 129, periodic=False),)),
        boundary={"x-": Dirichlet(0.0), "x+": Dirichlet(0.0)},
        initial=solution.initial,
        times=np.linspace(0.0, 1.0 / speed, 41),
        exact={"standing_wave": solution},
        exact_name="standing_wave",
        invariants=(_ENERGY,),
        solver="leapfrog",
    )


@register("wave_2d", tags=["2d", "linear", "hyperbolic"])
def wave_2d(speed: float = 1.0) -> Problem:
    """A standing wave on a torus."""
    equation = wave_equation(speed, dimension=2)
    solution = standing_wave(equation, (1.0, 2.0))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 64), y=(0.0, 2.0 * np.pi, 64)),
        initial=solution.initial,
        times=np.linspace(0.0, 2.0 / speed, 21),
        exact={"standing_wave": solution},
        exact_name="standing_wave",
        invariants=(mass("v", "momentum"), _ENERGY_2D),
        solver="leapfrog",
    )
