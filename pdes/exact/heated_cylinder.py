"""A hollow cylinder that is hot inside."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.kondratiev import polar
from pdes.exact.lame_cylinder import radial_solution
from pdes.exact.plane_elasticity import POISSON, equilibrium
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter


def heated_cylinder(
    inner: float, outer: float, temperature: float, expansion: float, young: float, poisson: float
) -> SteadySolution:
    """Hollow cylinder, hot inside and at zero outside, free of traction, plane strain.

    ``T = T_a log(b/r)/log(b/a)`` and, with ``I(r)`` the integral of ``T s`` from ``a`` to ``r``,
    ``u_r = al (1 + nu)/((1 - nu) r) (I(r) + ((1 - 2 nu) r^2 + a^2)/(b^2 - a^2) I(b))``.

    Parameters
    ----------
    inner, outer : float
        Radii.
    temperature : float
        At the inner radius.
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
    >>> heated_cylinder(1.0, 2.0, 1.0, 0.1, 1.0, 0.3).residual(points=4) < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    a, b, hot = parameter("inner"), parameter("outer"), parameter("temperature")
    expand = parameter("expansion")
    radius, _ = polar()
    slope = hot / sympy.log(b / a)

    def integral(r: Any) -> Any:
        def part(s: Any) -> Any:
            return s**2 / 2 * sympy.log(b / s) + s**2 / 4

        return slope * (part(r) - part(a))

    shift = (
        expand * (1 + POISSON) / ((1 - POISSON) * radius)
        * (integral(radius)
           + ((1 - 2 * POISSON) * radius**2 + a**2) / (b**2 - a**2) * integral(b))
    )  # fmt: skip
    heat = unknown("T")
    return radial_solution(
        "heated_cylinder",
        shift,
        {"T": -heat.diff(x, 2) - heat.diff(y, 2), **equilibrium(heating=expand * heat)},
        {
            "inner": inner,
            "outer": outer,
            "temperature": temperature,
            "expansion": expansion,
            "young": young,
            "poisson": poisson,
        },
        extra={"T": slope * sympy.log(b / radius)},
        source="S. Timoshenko, J. N. Goodier, Theory of Elasticity, 3rd ed., section 151",
    )
