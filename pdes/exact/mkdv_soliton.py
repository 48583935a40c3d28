"""The soliton of the modified Korteweg-de Vries equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def mkdv_soliton(
    equation: Equation, *, amplitude: float = 1.0, center: float = 0.0
) -> ExactSolution:
    r"""A hump ``u = a sech(kappa (x - c t - center))``.

    ``c = alpha a^2/6`` and ``kappa^2 = c/delta`` for steepening ``alpha`` and dispersion
    ``delta``. On a periodic box it is a solution up to its tail at the ends.

    Parameters
    ----------
    equation : Equation
        Modified Korteweg-de Vries equation with positive ``steepening`` and ``dispersion``.
    amplitude : float, default 1
        ``a``, of either sign.
    center : float, default 0
        Position at time zero.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.mkdv import mkdv_equation
    >>> mkdv_soliton(mkdv_equation(), amplitude=1.2).residual() < 1e-25
    True
    """
    if not equation.parameters["steepening"] > 0.0:
        raise ValueError("the bright soliton needs a positive steepening")
    a = parameter("amplitude")
    speed = parameter("steepening") * a**2 / 6
    kappa = sympy.sqrt(speed / parameter("dispersion"))
    moved = coordinate("x") - speed * TIME - parameter("center")
    return ExactSolution(
        name="mkdv_soliton",
        equation=equation,
        fields={"u": a / sympy.cosh(kappa * moved)},
        parameters={"amplitude": amplitude, "center": center},
        source="Wadati, J. Phys. Soc. Japan 32 (1972) 1681",
    )
