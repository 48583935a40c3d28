"""Kovasznay's steady flow behind a grid of cylinders."""

from __future__ import annotations

import sympy

from pdes.equation import coordinate, parameter
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VelocityEquation


def kovasznay(equation: VelocityEquation) -> FlowSolution:
    r"""A row of vortices in a stream of speed one, with period one across it.

    ``u = 1 - exp(l x) cos(2 pi y)``, ``v = l exp(l x) sin(2 pi y)/(2 pi)``,
    ``p = (1 - exp(2 l x))/2`` with ``l = Re/2 - sqrt(Re^2/4 + 4 pi^2)``, ``Re = 1/nu``.

    Parameters
    ----------
    equation : VelocityEquation
        Without force.

    Returns
    -------
    FlowSolution

    Examples
    --------
    >>> from pdes.incompressible import VelocityEquation
    >>> kovasznay(VelocityEquation.of(viscosity=0.025)).residual() < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    reynolds = 1 / parameter("viscosity")
    rate = reynolds / 2 - sympy.sqrt(reynolds**2 / 4 + 4 * sympy.pi**2)
    growth, phase = sympy.exp(rate * x), 2 * sympy.pi * y
    return FlowSolution(
        name="kovasznay",
        equation=equation,
        fields={
            "u": 1 - growth * sympy.cos(phase),
            "v": rate * growth * sympy.sin(phase) / (2 * sympy.pi),
            "p": (1 - growth**2) / 2,
        },
        box=1.0,
        source="Kovasznay, Proc. Cambridge Phil. Soc. 44 (1948) 58",
    )
