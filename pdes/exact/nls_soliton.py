"""The bright soliton of the nonlinear Schroedinger equation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.nls_normalization import check_sign, nls_length
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def nls_soliton(
    equation: Equation, *, amplitude: float = 1.0, velocity: float = 0.0
) -> ExactSolution:
    r"""Envelope soliton with free amplitude and velocity.

    ``h = A sech(A (x - v t)) exp(i (v x + (A^2 - v^2) t/2))`` in the normalization
    ``i h_t + h_xx/2 + |h|^2 h = 0``; with ``d h_xx`` lengths are ``sqrt(2 d)`` times as long.
    On a periodic box it is a solution up to its tail.

    Parameters
    ----------
    equation : Equation
        Focusing nonlinear Schroedinger equation.
    amplitude : float, default 1
        ``A``, positive.
    velocity : float, default 0
        ``v``.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If the equation is defocusing, or the amplitude not positive.

    Examples
    --------
    >>> from pdes.library.nls import nls_equation
    >>> nls_soliton(nls_equation(), amplitude=1.5, velocity=0.5).residual() < 1e-25
    True
    """
    check_sign(equation, "nls_soliton", 1)
    if not amplitude > 0.0:
        raise ValueError(f"amplitude must be positive, got {amplitude}")
    x, a, v = coordinate("x"), parameter("amplitude"), parameter("velocity")
    unit = nls_length(equation)
    phase = v * x / unit**2 + (a**2 - v**2 / unit**2) * TIME / 2
    envelope = a / sympy.cosh(a * (x - v * TIME) / unit)
    return ExactSolution(
        name="nls_soliton",
        equation=equation,
        fields={"h": envelope * sympy.exp(sympy.I * phase)},
        parameters={"amplitude": amplitude, "velocity": velocity},
        source="Zakharov and Shabat, Sov. Phys. JETP 34 (1972) 62",
    )
