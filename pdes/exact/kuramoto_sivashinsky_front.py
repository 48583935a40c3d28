"""Fronts of the Kuramoto-Sivashinsky equation and of its potential form."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME

_STEEPNESS = sympy.sqrt(sympy.Rational(11, 19)) / 2
_AMPLITUDE = sympy.Rational(15, 19) * sympy.sqrt(sympy.Rational(11, 19))


def kuramoto_sivashinsky_front(equation: Equation, *, speed: float = 0.0) -> ExactSolution:
    r"""Front ``u = b + A (11 z^3 - 9 z)`` with ``z = tanh(kappa (x - b t))``, not periodic.

    ``A = 15/19 sqrt(11/19)`` and ``kappa = sqrt(11/19)/2`` for unit hyperviscosity ``g``; otherwise
    lengths scale with ``sqrt(g)``, times with ``g`` and the fluctuation with ``1/sqrt(g)``.

    Parameters
    ----------
    equation : Equation
        Kuramoto-Sivashinsky equation with a parameter ``hyperviscosity``.
    speed : float, default 0
        ``b``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.kuramoto_sivashinsky import kuramoto_sivashinsky_equation
    >>> front = kuramoto_sivashinsky_front(kuramoto_sivashinsky_equation(), speed=0.5)
    >>> front.residual() < 1e-25
    True
    """
    root, b = sympy.sqrt(parameter("hyperviscosity")), parameter("speed")
    z = sympy.tanh(_STEEPNESS * (coordinate("x") - b * TIME) / root)
    return ExactSolution(
        name="kuramoto_sivashinsky_front",
        equation=equation,
        fields={"u": b + _AMPLITUDE * (11 * z**3 - 9 * z) / root},
        parameters={"speed": speed},
        source="Kuramoto and Tsuzuki, Prog. Theor. Phys. 55 (1976) 356",
    )


def potential_kuramoto_sivashinsky_front(
    equation: Equation, *, speed: float = 0.0
) -> ExactSolution:
    r"""Potential of the front: its slope is `kuramoto_sivashinsky_front`.

    ``u = b x + A/kappa (2 log cosh(y) - 11/2 tanh(y)^2) - (b^2/2 + 2 A^2) t`` with
    ``y = kappa (x - b t)``.

    Parameters
    ----------
    equation : Equation
        ``u_t = -u_x^2/2 - u_xx - u_xxxx``.
    speed : float, default 0
        ``b``.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> import pdes
    >>> equation = pdes.get("potential_ks").equation
    >>> potential_kuramoto_sivashinsky_front(equation, speed=0.5).residual() < 1e-25
    True
    """
    x, b = coordinate("x"), parameter("speed")
    y = _STEEPNESS * (x - b * TIME)
    shape = 2 * sympy.log(sympy.cosh(y)) - sympy.Rational(11, 2) * sympy.tanh(y) ** 2
    drift = b**2 / 2 + 2 * _AMPLITUDE**2
    return ExactSolution(
        name="potential_kuramoto_sivashinsky_front",
        equation=equation,
        fields={"u": b * x + _AMPLITUDE / _STEEPNESS * shape - drift * TIME},
        parameters={"speed": speed},
        source="integral of the front of Kuramoto and Tsuzuki (1976)",
    )
