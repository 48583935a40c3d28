"""Singular displacements at a notch, used about a slit."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.kondratiev import polar
from pdes.exact.plane_elasticity import POISSON, equilibrium, moduli
from pdes.exact.steady_solution import SteadySolution
from pdes.symbols import number

# Exponent and weight of the two singular modes (W. F. Mitchell, NISTIR 7668, problem 3).
NOTCH_MODES = {
    1: (0.5444837367825, 0.5430755788367),
    2: (0.9085291898461, -0.2189232362488),
}


def notch(mode: int, young: float, poisson: float) -> SteadySolution:
    """Singular displacement ``r^lambda`` about a slit, plane strain (problem 3 of the NIST suite).

    The exponents are those of a notch of 90 degrees whose faces are free. On other domains the
    same functions solve the equations with displacements given all around.

    Parameters
    ----------
    mode : {1, 2}
        Opening or sliding.
    young, poisson : float
        Material.

    Returns
    -------
    SteadySolution
        With the angle counted from 0 to 2 pi.

    Examples
    --------
    >>> notch(1, 1.0, 0.3).residual(points=4) < 1e-25
    True
    """
    if mode not in NOTCH_MODES:
        raise ValueError(f"mode={mode!r}, wanted 1 or 2")
    u, v = notch_fields(mode, *polar())
    return SteadySolution(
        name="notch",
        residuals=equilibrium(),
        fields={"u": u, "v": v},
        parameters={"young": young, "poisson": poisson},
        box={"x": (-0.9, 0.9), "y": (-0.9, 0.9)},
        source="W. F. Mitchell, NISTIR 7668, problem 3",
    )


def notch_fields(mode: int, radius: Any, theta: Any) -> tuple[Any, Any]:
    """Displacements of `notch` in polar coordinates."""
    power, weight = (number(value) for value in NOTCH_MODES[mode])
    kappa, shear = 3 - 4 * POISSON, moduli()[1]
    scale = radius**power / (2 * shear)
    cos, sin = sympy.cos, sympy.sin
    if mode == 1:
        return (
            scale * ((kappa - weight * (power + 1)) * cos(power * theta)
                     - power * cos((power - 2) * theta)),
            scale * ((kappa + weight * (power + 1)) * sin(power * theta)
                     + power * sin((power - 2) * theta)),
        )  # fmt: skip
    return (
        scale * ((kappa - weight * (power + 1)) * sin(power * theta)
                 - power * sin((power - 2) * theta)),
        -scale * ((kappa + weight * (power + 1)) * cos(power * theta)
                  + power * cos((power - 2) * theta)),
    )  # fmt: skip
