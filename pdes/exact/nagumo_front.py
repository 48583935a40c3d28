"""The front of the Nagumo equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def nagumo_front(equation: Equation) -> ExactSolution:
    r"""Front from 1 on the left to 0 on the right.

    ``u = 1/(1 + exp((x - c t)/w))`` with ``w = sqrt(2 D/r)`` and
    ``c = sqrt(r D/2) (1 - 2 threshold)``.

    Parameters
    ----------
    equation : Equation
        Nagumo equation with parameters ``diffusivity``, ``growth`` and ``threshold``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.nagumo import nagumo_equation
    >>> nagumo_front(nagumo_equation()).residual() < 1e-25
    True
    """
    growth, diffusivity = parameter("growth"), parameter("diffusivity")
    speed = sympy.sqrt(growth * diffusivity / 2) * (1 - 2 * parameter("threshold"))
    moved = coordinate("x") - speed * TIME
    width = sympy.sqrt(2 * diffusivity / growth)
    return ExactSolution(
        name="nagumo_front",
        equation=equation,
        fields={"u": 1 / (1 + sympy.exp(moved / width))},
        source="Nagumo, Arimoto and Yoshizawa, Proc. IRE 50 (1962) 2061",
    )
