"""The tip of an opening crack."""

from __future__ import annotations

import sympy

from pdes.exact.kondratiev import polar
from pdes.exact.plane_elasticity import POISSON, equilibrium, moduli
from pdes.exact.steady_solution import SteadySolution
from pdes.symbols import parameter


def westergaard(intensity: float, young: float, poisson: float) -> SteadySolution:
    """Field at the tip of an opening crack along ``x < 0``, plane strain, upper half plane.

    Parameters
    ----------
    intensity : float
        Stress intensity factor ``K``.
    young, poisson : float
        Material.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> westergaard(1.0, 1.0, 0.3).residual(points=4) < 1e-25
    True
    """
    radius, theta = polar(sympy.pi)
    kappa, shear = 3 - 4 * POISSON, moduli()[1]
    scale = parameter("intensity") / (2 * shear) * sympy.sqrt(radius / (2 * sympy.pi))
    cos, sin = sympy.cos(theta / 2), sympy.sin(theta / 2)
    return SteadySolution(
        name="westergaard",
        residuals=equilibrium(),
        fields={
            "u": scale * cos * (kappa - 1 + 2 * sin**2),
            "v": scale * sin * (kappa + 1 - 2 * cos**2),
        },
        parameters={"intensity": intensity, "young": young, "poisson": poisson},
        box={"x": (-0.9, 0.9), "y": (0.05, 0.9)},
        source="H. M. Westergaard, J. Appl. Mech. 6, A49 (1939)",
    )
