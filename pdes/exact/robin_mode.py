"""The slowest decaying mode between two sides that lose heat."""

from __future__ import annotations

import math
from typing import Any

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def robin_mode(equation: Equation, *, loss: float, length: float = 1.0) -> ExactSolution:
    r"""``u = exp(-D k^2 t) cos(k (x - L/2))`` with ``D k tan(k L/2) = loss``.

    At both ends ``D du/dn + loss u = 0``.

    Parameters
    ----------
    equation : Equation
        Heat equation with the parameter ``diffusivity`` (``D``).
    loss : float
        Heat lost through a side per excess of temperature, positive.
    length : float
        ``L``; the interval begins at 0.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.heat import heat_equation
    >>> mode = robin_mode(heat_equation(0.1), loss=0.2)
    >>> k = mode.parameters["k"]
    >>> bool(abs(0.1 * k * math.tan(k / 2) - 0.2) < 1e-14), mode.residual() < 1e-25
    (True, True)
    """
    if not 0.0 < loss < math.inf or not length > 0.0:
        raise ValueError(f"loss={loss} and length={length} must be positive and finite")
    from scipy.optimize import brentq

    ratio = 0.5 * loss * length / equation.parameters["diffusivity"]
    # With z = k L/2 the condition is z sin z = ratio cos z, with one root below pi/2.
    root: Any = brentq(
        lambda z: z * math.sin(z) - ratio * math.cos(z), 0.0, 0.5 * math.pi, xtol=1e-15
    )
    k = parameter("k")
    shape = sympy.cos(k * (coordinate("x") - sympy.Rational(str(length)) / 2))
    return ExactSolution(
        name="robin_mode",
        equation=equation,
        fields={"u": sympy.exp(-parameter("diffusivity") * k**2 * TIME) * shape},
        parameters={"k": 2.0 * float(root) / length},
        source="Carslaw and Jaeger, Conduction of Heat in Solids (1959), section 3.9",
    )
