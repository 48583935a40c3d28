"""Advection whose speed varies in space, ``c(x) = base + sin^2(x - 1)``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.varying_speed import varying_speed
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def advection_varying_equation(base: float = 0.2, *, conservative: bool = False) -> Equation:
    """Advection at a speed that varies around a circle.

    Parameters
    ----------
    base : float
        Lowest speed, in [0.05, 10].
    conservative : bool
        ``u_t = -(c u)_x`` instead of ``u_t = -c u_x``.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(advection_varying_equation())
    u_t = -0.2*u_x - u_x*sin(x - 1)^2
    """
    base = check_range("advection_varying", "base", base, 0.05, 10.0)
    speed = "(base + sin(x - 1)^2)"
    text = f"u_t = -({speed}*u)_x" if conservative else f"u_t = -{speed}*u_x"
    name = "advection_conservative" if conservative else "advection_varying"
    return Equation.from_text(text, name=name, parameters={"base": base})


@register("advection_varying", tags=["1d", "linear", "hyperbolic"])
def advection_varying(base: float = 0.2) -> Problem:
    """A field that is squeezed where the wind is slow, and back as it was after a lap."""
    return _problem(base, conservative=False)


@register("advection_conservative", tags=["1d", "linear", "hyperbolic"])
def advection_conservative(base: float = 0.2) -> Problem:
    """A density that piles up where the wind is slow; its mass does not change."""
    return _problem(base, conservative=True)


def _problem(base: float, *, conservative: bool) -> Problem:
    equation = advection_varying_equation(base, conservative=conservative)
    solution = varying_speed(equation, conservative=conservative)
    lap = 2.0 * np.pi / np.sqrt(base * (base + 1.0))
    weighted = Invariant(name="weighted mass", density="u/(base + sin(x - 1)^2)")
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=solution.initial,
        times=np.linspace(0.0, lap, 65),
        time_step=lap / 2048,
        exact={"varying_speed": solution},
        exact_name="varying_speed",
        invariants=(mass() if conservative else weighted,),
        solver="rk4",
        notes=f"Everything is back in place after {lap:.15g}.",
    )
