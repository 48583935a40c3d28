"""A thick cylinder under inner pressure."""

from __future__ import annotations

from typing import Any

from pdes.exact.kondratiev import polar
from pdes.exact.plane_elasticity import POISSON, YOUNG, equilibrium
from pdes.exact.steady_solution import SteadySolution
from pdes.symbols import coordinate, parameter


def lame_cylinder(
    inner: float, outer: float, pressure: float, young: float, poisson: float
) -> SteadySolution:
    """Thick cylinder under inner pressure, plane strain: ``u_r = A r + B/r`` (G. Lame, 1852).

    Parameters
    ----------
    inner, outer : float
        Radii.
    pressure : float
        At the inner radius.
    young, poisson : float
        Material.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> lame_cylinder(1.0, 2.0, 1.0, 1.0, 0.3).residual(points=4) < 1e-25
    True
    """
    a, b, p = parameter("inner"), parameter("outer"), parameter("pressure")
    radius, _ = polar()
    scale = p * a**2 * (1 + POISSON) / (YOUNG * (b**2 - a**2))
    shift = scale * ((1 - 2 * POISSON) * radius + b**2 / radius)
    return radial_solution(
        "lame_cylinder",
        shift,
        equilibrium(),
        {"inner": inner, "outer": outer, "pressure": pressure, "young": young, "poisson": poisson},
        source="G. Lame, Lecons sur la theorie mathematique de l'elasticite (1852)",
    )


def radial_solution(
    name: str,
    shift: Any,
    residuals: dict[str, Any],
    parameters: dict[str, float],
    source: str,
    extra: dict[str, Any] | None = None,
) -> SteadySolution:
    """Solution with the radial displacement `shift` in a ring; for the cylinders.

    Parameters
    ----------
    name : str
        What it is called.
    shift : sympy.Expr
        Radial displacement.
    residuals : dict
        The equations.
    parameters : dict
        Values of the symbols, with ``inner`` and ``outer`` among them.
    source : str
        Where it is from.
    extra : dict, optional
        Further fields.

    Returns
    -------
    SteadySolution
    """
    x, y = coordinate("x"), coordinate("y")
    radius, _ = polar()
    inner, outer = parameters["inner"], parameters["outer"]
    return SteadySolution(
        name=name,
        residuals=residuals,
        fields={**(extra or {}), "u": shift * x / radius, "v": shift * y / radius},
        parameters=parameters,
        box={"x": (0.3 * inner, 0.7 * outer), "y": (0.3 * inner, 0.7 * outer)},
        source=source,
    )
