"""Advection in the plane by winds without divergence: rotation, and a swirl that turns back."""

from __future__ import annotations

import math

import numpy as np
import sympy

from pdes.boundary import Dirichlet
from pdes.equation import Equation, coordinate, field, parameter
from pdes.exact.rotated_gaussian import rotated_gaussian
from pdes.exact.swirled_hump import SwirledHump
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.solvers.cell_sides import cell_grid
from pdes.symbols import TIME, number

_PI = number(math.pi)
_SQUARE = Invariant(
    name="square",
    density="u^2",
    note="the wind has no divergence; a scheme keeps it up to its error, of either sign",
)


def advection_rotation_equation() -> Equation:
    """Rigid rotation around (1/2, 1/2), one turn a time unit.

    Returns
    -------
    Equation

    Examples
    --------
    >>> advection_rotation_equation().jets
    ('u_x', 'u_y')
    """
    x, y, u = coordinate("x"), coordinate("y"), field("u", ("x", "y"))
    half = sympy.S.Half
    rate = -2 * _PI * ((half - y) * u.diff(x) + (x - half) * u.diff(y))
    return Equation(name="advection_rotation", rhs={"u": rate}, coordinates=("x", "y"))


def advection_swirl_equation(period: float = 1.0) -> Equation:
    """The wind of ``psi = sin^2(pi x) sin^2(pi y) cos(pi t/period)/pi``, zero on the unit square.

    Parameters
    ----------
    period : float
        Time after which everything is back where it was, in [0.1, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> advection_swirl_equation().parameters["period"]
    1.0
    """
    period = check_range("advection_swirl", "period", period, 0.1, 10.0)
    x, y, u = coordinate("x"), coordinate("y"), field("u", ("x", "y"))
    psi = sympy.sin(_PI * x) ** 2 * sympy.sin(_PI * y) ** 2 / _PI
    psi = psi * sympy.cos(_PI * TIME / parameter("period"))
    rate = psi.diff(x) * u.diff(y) - psi.diff(y) * u.diff(x)
    return Equation(
        name="advection_swirl",
        rhs={"u": rate},
        parameters={"period": period},
        coordinates=("x", "y"),
    )


@register("advection_rotation", tags=["2d", "linear", "hyperbolic", "not periodic"])
def advection_rotation() -> Problem:
    """A hump that is carried once around the middle of a square."""
    equation = advection_rotation_equation()
    solution = rotated_gaussian(equation)
    return Problem(
        equation=equation,
        grid=cell_grid(x=(0.0, 1.0, 96), y=(0.0, 1.0, 96)),
        boundary=dict.fromkeys(("x-", "x+", "y-", "y+"), Dirichlet(0.0)),
        initial=solution.initial,
        times=np.linspace(0.0, 1.0, 21),
        exact={"rotated_gaussian": solution},
        exact_name="rotated_gaussian",
        invariants=(mass(), _SQUARE),
        solver="weno5",
    )


@register("advection_swirl", tags=["2d", "linear", "hyperbolic"])
def advection_swirl(period: float = 1.0) -> Problem:
    """A hump that is drawn out into a thread and comes back."""
    equation = advection_swirl_equation(period)
    # Near (1/2, 3/4) a Gaussian of variance 0.0064; smooth where the square closes on itself.
    away = [
        1 - sympy.cos(2 * sympy.pi * (coordinate(name) - number(place)))
        for name, place in (("x", 0.5), ("y", 0.75))
    ]
    solution = SwirledHump(equation=equation, profile=sympy.exp(-4 * sympy.Add(*away)))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 1.0, 64), y=(0.0, 1.0, 64)),
        initial=solution.initial,
        times=np.linspace(0.0, period, 21),
        exact={solution.name: solution},
        exact_name=solution.name,
        invariants=(mass(), _SQUARE),
        solver="weno5",
        notes="At the end of the period the field is the initial one.",
    )
