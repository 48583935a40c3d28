"""Fluid that turns around a disc at rest."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.equation import coordinate, parameter
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VelocityEquation


def circular_couette(
    equation: VelocityEquation, rate: float = 1.0, radius: float = 0.4
) -> FlowSolution:
    r"""Circular Couette flow about the origin, at rest on and within a circle.

    The azimuthal velocity is ``W (r - a^2/r)`` outside the disc, and the pressure balances the
    centrifugal force: ``p = W^2 (r^2/2 - 2 a^2 log r - a^4/(2 r^2))`` up to a constant. A viscous
    fluid moves like that whatever its viscosity.

    Parameters
    ----------
    equation : VelocityEquation
        Without force.
    rate : float, default 1
        ``W``, angular velocity far away.
    radius : float, default 0.4
        ``a``, of the disc.

    Returns
    -------
    FlowSolution

    Examples
    --------
    >>> from pdes.incompressible import VelocityEquation
    >>> circular_couette(VelocityEquation.of(viscosity=0.1)).residual() < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    turn, a = parameter("rate"), parameter("radius")
    square: Any = x**2 + y**2
    # The larger of r^2 and a^2: all is at rest within the disc.
    outer = (square + a**2 + sympy.Abs(square - a**2)) / 2
    swirl = turn * (1 - a**2 / outer)
    pressure = turn**2 * (outer / 2 - a**2 * sympy.log(outer) - a**4 / (2 * outer))
    return FlowSolution(
        name="circular_couette",
        equation=equation,
        fields={"u": -swirl * y, "v": swirl * x, "p": pressure},
        parameters={"rate": rate, "radius": radius},
        box=1.0,
        source="Batchelor, An Introduction to Fluid Dynamics (1967), section 4.5",
    )
