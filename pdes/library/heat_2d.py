"""The heat equation in two dimensions."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.linear_modes import linear_modes
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def heat_2d_equation(diffusivity: float = 0.1) -> Equation:
    """Heat equation ``u_t = diffusivity*(u_xx + u_yy)``.

    Parameters
    ----------
    diffusivity : float
        ``k`` in length squared per time, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(heat_2d_equation())
    u_t = 0.1*u_xx + 0.1*u_yy
    """
    value = check_range("heat_2d", "diffusivity", diffusivity, 0.0, 100.0, open_low=True)
    return Equation.from_text(
        "u_t = diffusivity*(u_xx + u_yy)", name="heat_2d", parameters={"diffusivity": value}
    )


@register("heat_2d", tags=["2d", "linear"])
def heat_2d(diffusivity: float = 0.1) -> Problem:
    """Random modes with wave numbers up to 3 along each axis, decaying on a torus."""
    equation = heat_2d_equation(diffusivity)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 64), y=(0.0, 2.0 * np.pi, 64)),
        initial=RandomFourier(modes=3),
        initial_seed=11,
        invariants=(
            mass(),
            Invariant(
                name="square", density="u^2/2", law="balance", rate="-diffusivity*(u_x^2 + u_y^2)"
            ),
        ),
        times=np.linspace(0.0, 2.0, 51),
        exact={"modes": linear_modes(equation, {(1.0, 2.0): 1.0, (3.0, -1.0): 0.5})},
    )
