"""The kink between the two phases of the Allen-Cahn equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution


def allen_cahn_kink(equation: Equation) -> ExactSolution:
    r"""Steady kink ``u = tanh(x sqrt(growth/(2*diffusivity)))``.

    Parameters
    ----------
    equation : Equation
        Allen-Cahn equation with parameters ``diffusivity`` and ``growth``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.allen_cahn import allen_cahn_equation
    >>> allen_cahn_kink(allen_cahn_equation()).residual() < 1e-25
    True
    """
    phase = sympy.sqrt(parameter("growth") / (2 * parameter("diffusivity"))) * coordinate("x")
    return ExactSolution(
        name="allen_cahn_kink",
        equation=equation,
        fields={"u": sympy.tanh(phase)},
        source="Allen and Cahn, Acta Metall. 27 (1979) 1085",
    )
