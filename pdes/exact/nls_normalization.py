"""The coefficients of a nonlinear Schroedinger equation, and where closed forms hold."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.equation import Equation, parameter

__all__ = ["check_sign", "nls_length"]


def nls_length(equation: Equation) -> Any:
    """Unit of length ``sqrt(2 d)`` of ``i h_t + d h_xx + s |h|^2 h = 0``; 1 where ``d = 1/2``.

    Parameters
    ----------
    equation : Equation
        With the parameter ``dispersion``; without, it is 1/2.

    Returns
    -------
    sympy.Expr
    """
    if "dispersion" not in equation.parameters:
        return sympy.S.One
    return sympy.sqrt(2 * parameter("dispersion"))


def check_sign(equation: Equation, name: str, sign: int) -> None:
    """Refuse a closed form that does not hold with the sign of the equation.

    Parameters
    ----------
    equation : Equation
        With the parameter ``nonlinearity``; without, it is 1.
    name : str
        Of the closed form.
    sign : int
        Of the equations that it solves: 1 focusing, -1 defocusing.

    Raises
    ------
    ValueError
        If the signs differ.
    """
    found = equation.parameters.get("nonlinearity", 1.0)
    if found != sign:
        kinds = {1: "focusing", -1: "defocusing"}
        raise ValueError(
            f"{name} solves the {kinds[sign]} equation, sign={sign}, got sign={found:g}; take "
            f"{'nls_soliton' if sign == -1 else 'nls_dark_soliton'} or nls_plane_wave"
        )
