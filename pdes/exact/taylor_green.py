"""Taylor and Green's decaying array of vortices."""

from __future__ import annotations

import sympy

from pdes.equation import coordinate, parameter
from pdes.exact.flow_solution import FlowSolution
from pdes.incompressible import VelocityEquation, VorticityEquation
from pdes.symbols import TIME


def taylor_green(
    equation: VorticityEquation | VelocityEquation, *, wavenumber: float = 1.0
) -> FlowSolution:
    r"""Counter-rotating vortices that decay without changing shape.

    ``w = 2 k sin(k x) sin(k y) E`` with ``E = exp(-2 nu k^2 t)``, and
    ``u = sin(k x) cos(k y) E``, ``v = -cos(k x) sin(k y) E``,
    ``p = (cos(2 k x) + cos(2 k y)) E^2/4``. The vorticity is a function of the streamfunction, so
    that advection vanishes; the pressure balances the centrifugal force.

    Parameters
    ----------
    equation : VorticityEquation or VelocityEquation
        Without forcing or drag.
    wavenumber : float, default 1
        ``k``.

    Returns
    -------
    FlowSolution

    Raises
    ------
    ValueError
        If the wave number is not positive.

    Examples
    --------
    >>> from pdes.incompressible import VelocityEquation
    >>> taylor_green(VelocityEquation.of(viscosity=0.05), wavenumber=2.0).residual() < 1e-25
    True
    """
    if not wavenumber > 0:
        raise ValueError(f"wavenumber must be positive, got {wavenumber}")
    x, y, k = coordinate("x"), coordinate("y"), parameter("k")
    decay = sympy.exp(-2 * parameter("viscosity") * k**2 * TIME)
    if isinstance(equation, VorticityEquation):
        psi = sympy.sin(k * x) * sympy.sin(k * y) / k * decay
        fields = {"w": 2 * k**2 * psi, "psi": psi}
    else:
        fields = {
            "u": sympy.sin(k * x) * sympy.cos(k * y) * decay,
            "v": -sympy.cos(k * x) * sympy.sin(k * y) * decay,
            "p": (sympy.cos(2 * k * x) + sympy.cos(2 * k * y)) / 4 * decay**2,
        }
    return FlowSolution(
        name="taylor_green",
        equation=equation,
        fields=fields,
        parameters={"k": wavenumber},
        source="Taylor and Green, Proc. R. Soc. London A 158 (1937) 499",
    )
