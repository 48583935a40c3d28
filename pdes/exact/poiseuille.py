"""Plane Poiseuille flow."""

from __future__ import annotations

from pdes.equation import coordinate, parameter
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VelocityEquation


def poiseuille(
    equation: VelocityEquation, *, speed: float = 1.0, height: float = 1.0, length: float = 1.0
) -> FlowSolution:
    """Parabolic flow between walls at ``y = 0`` and ``y = height``.

    ``u = 4 U y (h - y)/h^2``, ``v = 0``, ``p = 8 nu U (L - x)/h^2``: zero at the outlet ``x = L``.

    Parameters
    ----------
    equation : VelocityEquation
        Without force.
    speed : float, default 1
        ``U``, on the center line.
    height, length : float, default 1
        ``h`` and ``L``.

    Returns
    -------
    FlowSolution

    Examples
    --------
    >>> from pdes.incompressible import VelocityEquation
    >>> poiseuille(VelocityEquation.of(viscosity=0.1)).residual() < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    top, h = parameter("speed"), parameter("height")
    pressure = 8 * parameter("viscosity") * top * (parameter("length") - x) / h**2
    return FlowSolution(
        name="poiseuille",
        equation=equation,
        fields={"u": 4 * top * y * (h - y) / h**2, "v": 0 * x, "p": pressure},
        parameters={"speed": speed, "height": height, "length": length},
        source="Batchelor, An Introduction to Fluid Dynamics (1967), section 4.2",
    )
