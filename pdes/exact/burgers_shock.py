"""The viscous shock of Burgers' equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def burgers_shock(equation: Equation, *, left: float = 1.0, right: float = 0.0) -> ExactSolution:
    r"""A shock of constant shape that moves with the mean of its two states.

    ``u = (left + right)/2 - (left - right)/2 * tanh((left - right)(x - s t)/(4 nu))`` with
    ``s = (left + right)/2``, on the whole line.

    Parameters
    ----------
    equation : Equation
        Burgers' equation with a parameter ``viscosity``.
    left, right : float
        States far to the left and right; ``left > right``.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If `left` is not greater than `right`: such a step spreads instead.

    Examples
    --------
    >>> from pdes.library.burgers import burgers_equation
    >>> burgers_shock(burgers_equation()).residual() < 1e-25
    True
    """
    if not left > right:
        raise ValueError(f"left must be greater than right, got {left} and {right}")
    x, u_left, u_right = coordinate("x"), parameter("left"), parameter("right")
    mean, half = (u_left + u_right) / 2, (u_left - u_right) / 2
    phase = half * (x - mean * TIME) / (2 * parameter("viscosity"))
    return ExactSolution(
        name="burgers_shock",
        equation=equation,
        fields={"u": mean - half * sympy.tanh(phase)},
        parameters={"left": left, "right": right},
        source="Whitham, Linear and Nonlinear Waves (1974), equation 4.23",
    )
