"""A wave of constant size, solution of the nonlinear Schroedinger equation with either sign."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.nls_normalization import nls_length
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def nls_plane_wave(
    equation: Equation, *, amplitude: float = 1.0, wavenumber: float = 0.0
) -> ExactSolution:
    r"""``h = A exp(i (k x + (s A^2 - d k^2) t))`` for ``i h_t + d h_xx + s |h|^2 h = 0``.

    On a periodic box it is a solution if whole waves fit. With ``s = 1`` it is unstable to long
    waves, with ``s = -1`` it is stable.

    Parameters
    ----------
    equation : Equation
        Nonlinear Schroedinger equation.
    amplitude : float, default 1
        ``A``.
    wavenumber : float, default 0
        ``k`` in radians per length.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.nls import nls_equation
    >>> nls_plane_wave(nls_equation(sign=-1), wavenumber=2.0).residual() < 1e-25
    True
    """
    x, a, k = coordinate("x"), parameter("amplitude"), parameter("wavenumber")
    sign = parameter("nonlinearity") if "nonlinearity" in equation.parameters else sympy.S.One
    phase = k * x + (sign * a**2 - nls_length(equation) ** 2 * k**2 / 2) * TIME
    return ExactSolution(
        name="nls_plane_wave",
        equation=equation,
        fields={"h": a * sympy.exp(sympy.I * phase)},
        parameters={"amplitude": amplitude, "wavenumber": wavenumber},
        source="Whitham, Linear and Nonlinear Waves (1974), section 17.7",
    )
