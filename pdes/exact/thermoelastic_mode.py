"""Warming of a square by a source like one mode, with the stretching that slows it down."""

from __future__ import annotations

import math

import sympy

from pdes.exact.plane_elasticity import equilibrium, moduli
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter


def thermoelastic_mode(
    temperature: float, expansion: float, young: float, poisson: float
) -> SteadySolution:
    """Unit square with a source of heat like ``sin(pi x) sin(pi y)``, cold at its sides.

    The displacement is the gradient of a potential ``p`` with
    ``(lambda + 2 mu) lap p = (3 lambda + 2 mu) al T``. Sides do not slide and push nowhere.

    Parameters
    ----------
    temperature : float
        At the center.
    expansion : float
        Coefficient of thermal expansion.
    young, poisson : float
        Material.

    Returns
    -------
    SteadySolution
        With the fields ``T``, ``u`` and ``v``.

    Examples
    --------
    >>> thermoelastic_mode(1.0, 0.1, 1.0, 0.3).residual(points=4) < 1e-25
    True
    """
    x, y, heat = coordinate("x"), coordinate("y"), unknown("T")
    hot, expand = parameter("temperature"), parameter("expansion")
    first, shear = moduli()
    shape = hot * sympy.sin(sympy.pi * x) * sympy.sin(sympy.pi * y)
    potential = -(3 * first + 2 * shear) * expand / (first + 2 * shear) * shape / (2 * sympy.pi**2)
    return SteadySolution(
        name="mode",
        residuals={
            "T": -heat.diff(x, 2) - heat.diff(y, 2) - 2 * sympy.pi**2 * shape,
            **equilibrium(heating=expand * heat),
        },
        fields={"T": shape, "u": potential.diff(x), "v": potential.diff(y)},
        parameters={
            "temperature": temperature,
            "expansion": expansion,
            "young": young,
            "poisson": poisson,
        },
        box={"x": (0.0, 1.0), "y": (0.0, 1.0)},
        source="B. A. Boley, J. H. Weiner, Theory of Thermal Stresses (1960), section 2.2",
    )


def warming_rate(
    expansion: float,
    young: float,
    poisson: float,
    heat_capacity: float = 1.0,
    reference_temperature: float = 1.0,
) -> float:
    """Rate at which the mode tends to its steady state, conductivity one.

    ``2 pi^2/(c + T0 m^2/(lambda + 2 mu))`` with ``m = (3 lambda + 2 mu) al``: stretching takes up
    heat, so that the body behaves as if its capacity were larger.

    Parameters
    ----------
    expansion, young, poisson : float
        Material.
    heat_capacity : float
        Of a volume.
    reference_temperature : float
        Absolute temperature of the unstressed body.

    Returns
    -------
    float

    Examples
    --------
    >>> round(warming_rate(0.0, 1.0, 0.3), 6)
    19.739209
    """
    shear = young / (2.0 * (1.0 + poisson))
    first = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    coupling = (3.0 * first + 2.0 * shear) * expansion
    return (
        2.0
        * math.pi**2
        / (heat_capacity + reference_temperature * coupling**2 / (first + 2.0 * shear))
    )
