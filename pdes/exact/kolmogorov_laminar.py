"""The laminar flow under sinusoidal forcing."""

from __future__ import annotations

import sympy

from pdes.equation import coordinate, parameter
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VorticityEquation


def kolmogorov_laminar(equation: VorticityEquation, *, forced_mode: int = 4) -> FlowSolution:
    """Shear flow in which friction balances the force ``(sin(n y), 0)``.

    ``u = sin(n y)/(nu n^2 + mu)``, ``w = -n cos(n y)/(nu n^2 + mu)``. It is unstable to long waves
    once the viscosity falls below a critical value.

    Parameters
    ----------
    equation : VorticityEquation
        Forced by the curl ``-n cos(n y)``.
    forced_mode : int, default 4
        ``n``.

    Returns
    -------
    FlowSolution

    Examples
    --------
    >>> from pdes.library.kolmogorov_flow import kolmogorov_flow_equation
    >>> kolmogorov_laminar(kolmogorov_flow_equation(viscosity=0.1)).residual() < 1e-25
    True
    """
    y, n = coordinate("y"), parameter("n")
    friction = parameter("viscosity") * n**2
    if "drag" in equation.parameters:
        friction += parameter("drag")
    return FlowSolution(
        name="kolmogorov_laminar",
        equation=equation,
        fields={"w": -n * sympy.cos(n * y) / friction, "psi": -sympy.cos(n * y) / (n * friction)},
        parameters={"n": float(forced_mode)},
        source="Meshalkin and Sinai, J. Appl. Math. Mech. 25 (1961) 1700",
    )
