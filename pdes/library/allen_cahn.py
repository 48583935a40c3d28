"""The Allen-Cahn equation ``u_t = diffusivity*u_xx + growth*(u - u^3)``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.allen_cahn_front import allen_cahn_front
from pdes.exact.allen_cahn_kink import allen_cahn_kink
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


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


@register("allen_cahn", tags=["benchmark", "1d", "nonlinear", "reaction"], aliases=["allencahn"])
def allen_cahn(diffusivity: float = 0.05, growth: float = 1.0) -> Problem:
    """A random mixture that separates into two phases on a circle of length ``4 pi``."""
    equation = allen_cahn_equation(diffusivity, growth)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 4.0 * np.pi, 512)),
        initial=RandomFourier(modes=6, amplitude=0.6),
        initial_seed=6,
        invariants=(
            Invariant(
                name="energy",
                density="diffusivity*u_x^2/2 + growth*(1 - u^2)^2/4",
                law="nonincreasing",
            ),
        ),
        times=np.linspace(0.0, 4.0, 201),
        time_step=0.02 / 20,
        stored_points=256,
        exact={"kink": allen_cahn_kink(equation), "front": allen_cahn_front(equation)},
        source="discovery benchmark",
    )
