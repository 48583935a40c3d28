"""The heat equation in three dimensions."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.linear_modes import linear_modes
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register

_SQUARE = Invariant(
    name="square",
    density="u^2/2",
    law="balance",
    rate="-diffusivity*(u_x^2 + u_y^2 + u_z^2)",
)


def heat_3d_equation(diffusivity: float = 0.1) -> Equation:
    """Heat equation ``u_t = diffusivity*(u_xx + u_yy + u_zz)``.

    Parameters
    ----------
    diffusivity : float
        ``k`` in length squared per time, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(heat_3d_equation())
    u_t = 0.1*u_xx + 0.1*u_yy + 0.1*u_zz
    """
    value = check_range("heat_3d", "diffusivity", diffusivity, 0.0, 100.0, open_low=True)
    return Equation.from_text(
        "u_t = diffusivity*(u_xx + u_yy + u_zz)", name="heat_3d", parameters={"diffusivity": value}
    )


@register("heat_3d", tags=["3d", "linear"])
def heat_3d(diffusivity: float = 0.1) -> Problem:
    """Two modes that decay on a torus of three dimensions, each at its own rate."""
    equation = heat_3d_equation(diffusivity)
    modes = linear_modes(equation, {(1.0, 2.0, -1.0): 1.0, (3.0, -1.0, 2.0): 0.5})
    return Problem(
        equation=equation,
        grid=Grid.periodic(**dict.fromkeys(("x", "y", "z"), (0.0, 2.0 * np.pi, 24))),
        initial=modes.initial,
        invariants=(mass(), _SQUARE),
        times=np.linspace(0.0, 1.0, 51),
        exact={modes.name: modes},
        exact_name=modes.name,
    )
