"""Two velocities of Burgers' equation in the plane that depend on one oblique coordinate."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def fletcher(equation: Equation) -> ExactSolution:
    r"""``u = 3/4 - s``, ``v = 3/4 + s`` with ``1/s = 4 (1 + exp((4y - 4x - t)/(32 nu)))``.

    Parameters
    ----------
    equation : Equation
        Burgers' equations in two dimensions with the parameter ``viscosity``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.burgers_2d import burgers_2d_equation
    >>> fletcher(burgers_2d_equation()).residual() < 1e-25
    True
    """
    x, y = coordinate("x"), coordinate("y")
    share = 1 / (4 * (1 + sympy.exp((4 * y - 4 * x - TIME) / (32 * parameter("viscosity")))))
    three = sympy.Rational(3, 4)
    return ExactSolution(
        name="fletcher",
        equation=equation,
        fields={"u": three - share, "v": three + share},
        box=1.0,
        source="Fletcher, Int. J. Numer. Meth. Fluids 3 (1983) 213",
    )
