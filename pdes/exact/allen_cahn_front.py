"""The front by which a phase of the Allen-Cahn equation invades the unstable state."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def allen_cahn_front(equation: Equation) -> ExactSolution:
    r"""Front ``u = (1 + tanh(kappa x/2 + 3 growth t/4))/2``, moving left.

    ``kappa = sqrt(growth/(2*diffusivity))``; the speed is ``3 sqrt(growth*diffusivity/2)``.

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
    >>> allen_cahn_front(allen_cahn_equation()).residual() < 1e-25
    True
    """
    growth = parameter("growth")
    kappa = sympy.sqrt(growth / (2 * parameter("diffusivity")))
    phase = kappa * coordinate("x") / 2 + 3 * growth * TIME / 4
    return ExactSolution(
        name="allen_cahn_front",
        equation=equation,
        fields={"u": (1 + sympy.tanh(phase)) / 2},
        source="Ablowitz and Zeppetella, Bull. Math. Biol. 41 (1979) 835",
    )
