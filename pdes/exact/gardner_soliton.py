"""The soliton of the Gardner equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def gardner_soliton(
    equation: Equation, *, speed: float = 1.0, center: float = 0.0
) -> ExactSolution:
    r"""A hump between those of Korteweg-de Vries and its modified form.

    ``u = c/(1 + sqrt(1 + eps c) cosh(sqrt(c) (x - c t - center)))`` for
    ``u_t = -6 u u_x - 6 eps u^2 u_x - u_xxx``.

    Parameters
    ----------
    equation : Equation
        Gardner equation with a parameter ``cubic``, the ``eps`` above.
    speed : float, default 1
        ``c``, positive, with ``1 + eps c > 0``.
    center : float, default 0
        Position at time zero.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.gardner import gardner_equation
    >>> gardner_soliton(gardner_equation(), speed=2.0).residual() < 1e-25
    True
    """
    if not (speed > 0.0 and 1.0 + equation.parameters["cubic"] * speed > 0.0):
        raise ValueError(f"speed must be positive with 1 + cubic*speed > 0, got {speed}")
    c = parameter("speed")
    moved = coordinate("x") - c * TIME - parameter("center")
    root = sympy.sqrt(1 + parameter("cubic") * c)
    return ExactSolution(
        name="gardner_soliton",
        equation=equation,
        fields={"u": c / (1 + root * sympy.cosh(sympy.sqrt(c) * moved))},
        parameters={"speed": speed, "center": center},
        source="Grimshaw, Solitary Waves in Fluids (2007), chapter 1",
    )
