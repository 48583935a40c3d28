"""The Korteweg-de Vries-Burgers equation ``u_t = -u*u_x + viscosity*u_xx - dispersion*u_xxx``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def kdv_burgers_equation(viscosity: float = 0.1, dispersion: float = 0.05) -> Equation:
    """Burgers' equation with dispersion.

    Parameters
    ----------
    viscosity : float
        Length squared per time, in [1e-3, 10].
    dispersion : float
        Length cubed per time, in [-10, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(kdv_burgers_equation())
    u_t = -u*u_x + 0.1*u_xx - 0.05*u_xxx
    """
    parameters = {
        "viscosity": check_range("kdv_burgers", "viscosity", viscosity, 1e-3, 10.0),
        "dispersion": check_range("kdv_burgers", "dispersion", dispersion, -10.0, 10.0),
    }
    return Equation.from_text(
        "u_t = -u*u_x + viscosity*u_xx - dispersion*u_xxx",
        name="kdv_burgers",
        parameters=parameters,
    )


@register("kdv_burgers", tags=["benchmark", "1d", "nonlinear"], aliases=["kdvburgers"])
def kdv_burgers(viscosity: float = 0.1, dispersion: float = 0.05) -> Problem:
    """Three random modes that steepen, disperse and decay on a circle of length ``2 pi``."""
    return Problem(
        equation=kdv_burgers_equation(viscosity, dispersion),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 512)),
        initial=RandomFourier(modes=3),
        initial_seed=7,
        invariants=(
            mass(),
            Invariant(name="energy", density="u^2/2", law="balance", rate="-viscosity*u_x^2"),
        ),
        times=np.linspace(0.0, 2.0, 201),
        time_step=0.01 / 100,
        stored_points=256,
        source="discovery benchmark",
    )
