"""The heat equation ``u_t = diffusivity * u_xx``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def heat_equation(diffusivity: float = 0.1) -> Equation:
    """Heat equation in one dimension.

    Parameters
    ----------
    diffusivity : float
        ``k`` in length squared per time, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(heat_equation())
    u_t = 0.1*u_xx
    """
    diffusivity = check_range("heat", "diffusivity", diffusivity, 0.0, 100.0, open_low=True)
    return Equation.from_text(
        "u_t = diffusivity*u_xx", name="heat", parameters={"diffusivity": diffusivity}
    )


@register("heat", tags=["benchmark", "1d", "linear"])
def heat(diffusivity: float = 0.1) -> Problem:
    """Six random modes that decay on a circle of length ``2 pi``."""
    return Problem(
        equation=heat_equation(diffusivity),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 512)),
        initial=RandomFourier(modes=6),
        initial_seed=1,
        times=np.linspace(0.0, 2.0, 201),
        time_step=0.01 / 20,
        stored_points=256,
        source="discovery benchmark",
    )
