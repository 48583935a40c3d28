"""The porous medium equation ``u_t = lap(u^m)``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation
from pdes.exact.barenblatt import barenblatt
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import coordinate, field, number

_INVARIANTS = (
    mass(),
    Invariant(name="square", density="u^2", law="nonincreasing"),
)


def porous_medium_equation(exponent: float = 2.0, dimension: int = 1) -> Equation:
    """Porous medium equation.

    Parameters
    ----------
    exponent : float
        ``m``, in (1, 4]: density to a power drives the flow, so that empty regions stay empty until
        a front arrives.
    dimension : int
        1 or 2.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(porous_medium_equation(2.0))
    u_t = 2*u_x^2 + 2*u*u_xx
    """
    m = number(check_range("porous_medium", "exponent", exponent, 1.0, 4.0, open_low=True))
    axes = ("x", "y")[:dimension]
    power = field("u", axes) ** m
    rate = sympy.Add(*[power.diff(coordinate(name), 2) for name in axes])
    return Equation(name="porous_medium", rhs={"u": rate}, coordinates=axes)


@register("porous_medium", tags=["1d", "nonlinear", "degenerate"])
def porous_medium(exponent: float = 2.0) -> Problem:
    """A drop that spreads with a sharp edge, from its self-similar form at time 1."""
    equation = porous_medium_equation(exponent)
    solution = barenblatt(equation, exponent=exponent)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-8.0, 8.0, 160)),
        initial=lambda grid, rng: {"u": solution.evaluate(grid, [1.0])["u"][0]},
        initial_time=1.0,
        times=np.linspace(1.0, 2.0, 21),
        exact={"barenblatt": solution},
        exact_name="barenblatt",
        invariants=_INVARIANTS,
        solver="weno5",
        notes="The edge limits the rate of convergence: fit it over several grids, in L1.",
    )


@register("porous_medium_2d", tags=["2d", "nonlinear", "degenerate"])
def porous_medium_2d(exponent: float = 2.0) -> Problem:
    """A round drop that spreads in the plane."""
    equation = porous_medium_equation(exponent, dimension=2)
    solution = barenblatt(equation, exponent=exponent)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-8.0, 8.0, 64), y=(-8.0, 8.0, 64)),
        initial=lambda grid, rng: {"u": solution.evaluate(grid, [1.0])["u"][0]},
        initial_time=1.0,
        times=np.linspace(1.0, 2.0, 11),
        exact={"barenblatt": solution},
        exact_name="barenblatt",
        invariants=_INVARIANTS,
        solver="weno5",
    )
