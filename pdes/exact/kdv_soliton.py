"""The soliton of the Korteweg-de Vries equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def kdv_soliton(equation: Equation, *, speed: float = 1.0, center: float = 0.0) -> ExactSolution:
    r"""A hump whose height, width and speed go together.

    ``u = 3 c/alpha * sech(sqrt(c/delta)/2 (x - c t - center))^2`` for steepening ``alpha`` and
    dispersion ``delta``. On a periodic box it is a solution up to its tail at the ends.

    Parameters
    ----------
    equation : Equation
        Korteweg-de Vries equation with parameters ``steepening`` (not zero) and ``dispersion``.
    speed : float, default 1
        ``c``, positive.
    center : float, default 0
        Position at time zero.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.kdv import kdv_equation
    >>> kdv_soliton(kdv_equation(), speed=2.0).residual() < 1e-25
    True
    """
    if not speed > 0.0:
        raise ValueError(f"speed must be positive, got {speed}")
    c, x0 = parameter("speed"), parameter("center")
    moved = coordinate("x") - c * TIME - x0
    phase = sympy.sqrt(c / parameter("dispersion")) / 2 * moved
    return ExactSolution(
        name="kdv_soliton",
        equation=equation,
        fields={"u": 3 * c / parameter("steepening") / sympy.cosh(phase) ** 2},
        parameters={"speed": speed, "center": center},
        source="Korteweg and de Vries (1895)",
    )
