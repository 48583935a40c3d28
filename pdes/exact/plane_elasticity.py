"""Moduli, stresses and equilibrium of plane elasticity, for the closed forms beside this file."""

from __future__ import annotations

from typing import Any

from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

YOUNG, POISSON = parameter("young"), parameter("poisson")


def moduli(plane: str = "strain") -> tuple[Any, Any]:
    """Lame's moduli from Young's modulus and Poisson's ratio.

    Parameters
    ----------
    plane : {"strain", "stress"}
        Thick or thin body; in plane stress the first modulus is ``2 lambda mu/(lambda + 2 mu)``.

    Returns
    -------
    first, shear : sympy.Expr

    Raises
    ------
    ValueError
        For another word.

    Examples
    --------
    >>> moduli("stress")[0]
    poisson*young/(1 - poisson**2)
    """
    shear = YOUNG / (2 * (1 + POISSON))
    if plane == "strain":
        return YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), shear
    if plane == "stress":
        return YOUNG * POISSON / (1 - POISSON**2), shear
    raise ValueError(f"plane={plane!r}, wanted 'strain' or 'stress'")


def stress(u: Any, v: Any, plane: str = "strain", heating: Any = 0) -> tuple[Any, Any, Any]:
    """Stresses ``xx, xy, yy`` of a displacement.

    Parameters
    ----------
    u, v : sympy.Expr
        Displacement.
    plane : {"strain", "stress"}
        Thick or thin body.
    heating : sympy.Expr
        Expansion coefficient times temperature; plane strain only.

    Returns
    -------
    tuple of three sympy.Expr

    Examples
    --------
    >>> x, y = coordinate("x"), coordinate("y")
    >>> stress(x, -y)[1]
    0
    """
    x, y = coordinate("x"), coordinate("y")
    first, shear = moduli(plane)
    spread = first * (u.diff(x) + v.diff(y)) - (3 * first + 2 * shear) * heating
    return (
        spread + 2 * shear * u.diff(x),
        shear * (u.diff(y) + v.diff(x)),
        spread + 2 * shear * v.diff(y),
    )


def equilibrium(plane: str = "strain", heating: Any = 0) -> dict[str, Any]:
    """Equations of equilibrium without forces: field to minus the divergence of its stress.

    Examples
    --------
    >>> sorted(equilibrium())
    ['u', 'v']
    """
    x, y = coordinate("x"), coordinate("y")
    xx, xy, yy = stress(unknown("u"), unknown("v"), plane, heating)
    return {"u": -xx.diff(x) - xy.diff(y), "v": -xy.diff(x) - yy.diff(y)}
