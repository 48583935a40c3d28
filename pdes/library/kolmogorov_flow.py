"""Kolmogorov flow: a shear driven by a sinusoidal force, and its instability."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import coordinate
from pdes.exact.kolmogorov_laminar import kolmogorov_laminar
from pdes.grid import Grid
from pdes.incompressible import VorticityEquation
from pdes.initial import RandomFourier
from pdes.library.navier_stokes import vorticity_invariants
from pdes.library.ranges import check_range, check_whole
from pdes.problem import Problem
from pdes.registry import register


def kolmogorov_flow_equation(
    viscosity: float = 1e-2, drag: float = 0.1, forced_mode: int = 4
) -> VorticityEquation:
    """Vorticity form with the force ``(sin(n y), 0)``, whose curl is ``-n cos(n y)``.

    Parameters
    ----------
    viscosity : float
        In [1e-5, 10].
    drag : float, default 0.1
        Rayleigh friction, in [0, 100].
    forced_mode : int, default 4
        ``n``, in [1, 64].

    Returns
    -------
    VorticityEquation

    Examples
    --------
    >>> print(kolmogorov_flow_equation(0.5, 0.0, 1))
    w_t = -cos(y) - w_x*psi_y + w_y*psi_x + 0.5*w_xx + 0.5*w_yy
    0 = w + psi_xx + psi_yy
    """
    n = check_whole("kolmogorov_flow", "forced_mode", forced_mode, 1, 64)
    return VorticityEquation.of(
        name="kolmogorov_flow",
        viscosity=check_range("kolmogorov_flow", "viscosity", viscosity, 1e-5, 10.0),
        drag=check_range("kolmogorov_flow", "drag", drag, 0.0, 100.0),
        forcing=-n * sympy.cos(n * coordinate("y")),
    )


@register("kolmogorov_flow", tags=["2d", "nonlinear", "flow", "chaotic", "random"])
def kolmogorov_flow(viscosity: float = 1e-2, drag: float = 0.1, forced_mode: int = 4) -> Problem:
    """Forced turbulence on a torus of length ``2 pi``, from a random vorticity."""
    equation = kolmogorov_flow_equation(viscosity, drag, forced_mode)
    curl = -int(forced_mode) * sympy.cos(int(forced_mode) * coordinate("y"))
    return Problem(
        equation=equation,
        invariants=vorticity_invariants(equation, curl),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 128), y=(0.0, 2.0 * np.pi, 128)),
        initial=RandomFourier(modes=4, fields=("w",)),
        initial_seed=7,
        times=np.linspace(0.0, 5.0, 11),
        time_step=0.01,
        exact={"laminar": kolmogorov_laminar(equation, forced_mode=int(forced_mode))},
        notes="The laminar flow is unstable to long waves below a critical viscosity.",
        source="Meshalkin and Sinai (1961); Chandler and Kerswell, J. Fluid Mech. 722 (2013) 554",
    )
