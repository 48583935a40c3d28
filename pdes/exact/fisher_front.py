"""A front of the Fisher-KPP equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def fisher_front(equation: Equation) -> ExactSolution:
    r"""Front that moves right with the speed ``5 sqrt(growth*diffusivity/6)``.

    ``u = (1 + exp(sqrt(r/(6 D)) x - 5 r t/6))^-2``, the only speed with an elementary profile.
    It is faster than the slowest front, ``2 sqrt(r D)``.

    Parameters
    ----------
    equation : Equation
        Fisher-KPP equation with parameters ``diffusivity`` and ``growth``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.fisher_kpp import fisher_kpp_equation
    >>> fisher_front(fisher_kpp_equation()).residual() < 1e-25
    True
    """
    growth = parameter("growth")
    phase = sympy.sqrt(growth / (6 * parameter("diffusivity"))) * coordinate("x")
    return ExactSolution(
        name="fisher_front",
        equation=equation,
        fields={"u": (1 + sympy.exp(phase - 5 * growth * TIME / 6)) ** -2},
        source="Ablowitz and Zeppetella, Bull. Math. Biol. 41 (1979) 835",
    )
