"""The Allen-Cahn equation ``u_t = diffusivity*u_xx + growth*(u - u^3)``."""

from __future__ import annotations

import math

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.allen_cahn_front import allen_cahn_front
from pdes.exact.allen_cahn_kink import allen_cahn_kink
from pdes.grid import Grid
from pdes.initial import FromExpression, RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register

_ENERGY = Invariant(
    name="energy",
    density="diffusivity*u_x^2/2 + growth*(1 - u^2)^2/4",
    law="nonincreasing",
)


def allen_cahn_equation(diffusivity: float = 0.05, growth: float = 1.0) -> Equation:
    """Allen-Cahn equation.

    Parameters
    ----------
    diffusivity : float
        Length squared per time, in (0, 100]; interfaces are ``sqrt(2*diffusivity/growth)`` thick.
    growth : float
        Rate at which the mixed state decays into the phases, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(allen_cahn_equation())
    u_t = u - u^3 + 0.05*u_xx
    """
    name = "allen_cahn"
    parameters = {
        "diffusivity": check_range(name, "diffusivity", diffusivity, 0.0, 100.0, open_low=True),
        "growth": check_range(name, "growth", growth, 0.0, 100.0, open_low=True),
    }
    return Equation.from_text(
        "u_t = diffusivity*u_xx + growth*(u - u^3)", name=name, parameters=parameters
    )


def interface_width(equation: Equation) -> float:
    """Width ``e = sqrt(diffusivity/growth)`` of an interface ``tanh(x/(sqrt(2) e))``.

    Parameters
    ----------
    equation : Equation
        Allen-Cahn equation with parameters ``diffusivity`` and ``growth``.

    Returns
    -------
    float

    Examples
    --------
    >>> round(interface_width(allen_cahn_equation(diffusivity=0.04)), 12)
    0.2
    """
    values = equation.parameters
    return math.sqrt(values["diffusivity"] / values["growth"])


@register("allen_cahn", tags=["benchmark", "1d", "nonlinear", "reaction"], aliases=["allencahn"])
def allen_cahn(diffusivity: float = 0.05, growth: float = 1.0) -> Problem:
    """A random mixture that separates into two phases on a circle of length ``4 pi``."""
    equation = allen_cahn_equation(diffusivity, growth)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 4.0 * np.pi, 512)),
        initial=RandomFourier(modes=6, amplitude=0.6),
        initial_seed=6,
        invariants=(_ENERGY,),
        times=np.linspace(0.0, 4.0, 201),
        time_step=0.02 / 20,
        stored_points=256,
        largest_spacing=interface_width(equation),
        exact={"kink": allen_cahn_kink(equation), "front": allen_cahn_front(equation)},
        source="discovery benchmark",
    )


@register("allen_cahn_cosine", tags=["1d", "nonlinear", "reaction", "training"])
def allen_cahn_cosine(diffusivity: float = 1e-4, growth: float = 5.0) -> Problem:
    """Thin interfaces from ``x^2 cos(pi x)`` on [-1, 1], a standard case for trained networks."""
    equation = allen_cahn_equation(diffusivity, growth)
    x = coordinate("x")
    return Problem(
        equation=equation,
        # The initial slope jumps where the period closes: so many modes bring its tail below 1e-6.
        grid=Grid.periodic(x=(-1.0, 1.0, 6144)),
        initial=FromExpression({"u": x**2 * sympy.cos(sympy.pi * x)}),
        invariants=(_ENERGY,),
        times=np.linspace(0.0, 1.0, 201),
        time_step=2.5e-3,
        stored_points=512,
        largest_spacing=interface_width(equation),
        exact={"kink": allen_cahn_kink(equation), "front": allen_cahn_front(equation)},
        notes="The initial field has no closed-form solution: references are numerical.",
        source="Raissi, Perdikaris and Karniadakis, J. Comput. Phys. 378 (2019) 686",
    )
