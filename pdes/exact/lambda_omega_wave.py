"""Plane wave trains of the lambda-omega system."""

from __future__ import annotations

import math

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def lambda_omega_wave(
    equation: Equation, *, wavevector: tuple[float, float] = (1.0, 0.0)
) -> ExactSolution:
    r"""Wave train ``(u, v) = R (cos, sin)(k.x - b R^2 t)`` with ``R^2 = 1 - d |k|^2``.

    Parameters
    ----------
    equation : Equation
        Lambda-omega system with parameters ``diffusivity`` (``d``) and ``rotation`` (``b``).
    wavevector : tuple of float
        ``k`` in radians per length, with ``d |k|^2 < 1``.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If the wave is too short to exist.

    Examples
    --------
    >>> from pdes.library.lambda_omega import lambda_omega_equation
    >>> lambda_omega_wave(lambda_omega_equation()).residual() < 1e-25
    True
    """
    if equation.parameters["diffusivity"] * math.hypot(*wavevector) ** 2 >= 1.0:
        raise ValueError(f"wavevector={wavevector} is too short a wave: diffusivity*|k|^2 >= 1")
    k, m = parameter("k"), parameter("m")
    square = 1 - parameter("diffusivity") * (k**2 + m**2)
    phase = k * coordinate("x") + m * coordinate("y") - parameter("rotation") * square * TIME
    return ExactSolution(
        name="lambda_omega_wave",
        equation=equation,
        fields={
            "u": sympy.sqrt(square) * sympy.cos(phase),
            "v": sympy.sqrt(square) * sympy.sin(phase),
        },
        parameters={"k": wavevector[0], "m": wavevector[1]},
        source="Kopell and Howard, Stud. Appl. Math. 52 (1973) 291",
    )
