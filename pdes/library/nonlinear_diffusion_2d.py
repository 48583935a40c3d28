"""Anisotropic nonlinear diffusion in two dimensions, with a mixed derivative."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def nonlinear_diffusion_2d_equation(
    along_x: float = 0.04, along_y: float = 0.06, mixed: float = 0.03
) -> Equation:
    """Nonlinear diffusion ``u_t = along_x*(u^2)_xx + along_y*(u^2)_yy + mixed*u_xy``.

    It smooths a field ``u`` as long as ``mixed^2 < 16*along_x*along_y*min(u)^2``.

    Parameters
    ----------
    along_x, along_y : float
        Strength of the diffusion along the axes, in (0, 10].
    mixed : float
        Coefficient of the mixed derivative, in [-10, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> equation = nonlinear_diffusion_2d_equation()
    >>> equation.terms()["u"]["u_xy"], equation.terms()["u"]["u*u_xx"]
    (0.03, 0.08)
    """
    name = "nonlinear_diffusion_2d"
    parameters = {
        "along_x": check_range(name, "along_x", along_x, 0.0, 10.0, open_low=True),
        "along_y": check_range(name, "along_y", along_y, 0.0, 10.0, open_low=True),
        "mixed": check_range(name, "mixed", mixed, -10.0, 10.0),
    }
    return Equation.from_text(
        "u_t = along_x*(u^2)_xx + along_y*(u^2)_yy + mixed*u_xy", name=name, parameters=parameters
    )


@register("nonlinear_diffusion_2d", tags=["second tier", "2d", "nonlinear"])
def nonlinear_diffusion_2d(
    along_x: float = 0.04, along_y: float = 0.06, mixed: float = 0.03
) -> Problem:
    """A random positive field around 1 that levels out on a torus."""
    return Problem(
        equation=nonlinear_diffusion_2d_equation(along_x, along_y, mixed),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 64), y=(0.0, 2.0 * np.pi, 64)),
        initial=RandomFourier(modes=3, amplitude=0.15, mean=1.0),
        initial_seed=14,
        invariants=(mass(),),
        times=np.linspace(0.0, 2.0, 101),
    )
