"""The interface between the two phases of the Cahn-Hilliard equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution


def cahn_hilliard_kink(equation: Equation) -> ExactSolution:
    r"""Steady interface ``u = tanh(x/sqrt(2*gradient_energy))``.

    Parameters
    ----------
    equation : Equation
        Cahn-Hilliard equation with a parameter ``gradient_energy``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.cahn_hilliard import cahn_hilliard_equation
    >>> cahn_hilliard_kink(cahn_hilliard_equation()).residual() < 1e-25
    True
    """
    phase = coordinate("x") / sympy.sqrt(2 * parameter("gradient_energy"))
    return ExactSolution(
        name="cahn_hilliard_kink",
        equation=equation,
        fields={"u": sympy.tanh(phase)},
        box=1.0,
        source="Cahn and Hilliard, J. Chem. Phys. 28 (1958) 258",
    )
