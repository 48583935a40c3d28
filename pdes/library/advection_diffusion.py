"""Advection and diffusion ``u_t = -speed*u_x + diffusivity*u_xx``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.linear_modes import linear_modes
from pdes.exact.spreading_gaussian import spreading_gaussian
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def advection_diffusion_equation(speed: float = 1.0, diffusivity: float = 0.05) -> Equation:
    """Advection-diffusion equation.

    Parameters
    ----------
    speed : float
        Length per time, in [-10, 10].
    diffusivity : float
        Length squared per time, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(advection_diffusion_equation())
    u_t = -u_x + 0.05*u_xx
    """
    name = "advection_diffusion"
    parameters = {
        "speed": check_range(name, "speed", speed, -10.0, 10.0),
        "diffusivity": check_range(name, "diffusivity", diffusivity, 0.0, 100.0, open_low=True),
    }
    return Equation.from_text(
        "u_t = -speed*u_x + diffusivity*u_xx", name=name, parameters=parameters
    )


@register("advection_diffusion", tags=["benchmark", "1d", "linear"], aliases=["advdiff"])
def advection_diffusion(speed: float = 1.0, diffusivity: float = 0.05) -> Problem:
    """Six random modes that drift and decay on a circle of length ``2 pi``."""
    equation = advection_diffusion_equation(speed, diffusivity)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 512)),
        initial=RandomFourier(modes=6),
        initial_seed=2,
        invariants=(
            mass(),
            Invariant(name="square", density="u^2/2", law="balance", rate="-diffusivity*u_x^2"),
        ),
        times=np.linspace(0.0, 3.0, 201),
        time_step=0.015 / 20,
        stored_points=256,
        exact={
            "modes": linear_modes(equation, {1.0: 1.0, 3.0: 0.5}),
            "gaussian": spreading_gaussian(equation),
        },
        source="discovery benchmark",
    )
