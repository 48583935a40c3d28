"""The dark soliton: a dip in a wave of constant size."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.nls_normalization import check_sign, nls_length
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def nls_dark_soliton(equation: Equation, *, amplitude: float = 1.0) -> ExactSolution:
    r"""Black soliton ``h = A tanh(A x/sqrt(2 d)) exp(-i A^2 t)``, at rest, on the whole line.

    In the normalization ``i h_t + d h_xx - |h|^2 h = 0``. Its two sides have opposite phase: no
    periodic box holds one alone.

    Parameters
    ----------
    equation : Equation
        Defocusing nonlinear Schroedinger equation.
    amplitude : float, default 1
        ``A``, far from the dip, positive.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If the equation is focusing, or the amplitude not positive.

    Examples
    --------
    >>> from pdes.library.nls import nls_equation
    >>> nls_dark_soliton(nls_equation(sign=-1), amplitude=1.5).residual() < 1e-25
    True
    """
    check_sign(equation, "nls_dark_soliton", -1)
    if not amplitude > 0.0:
        raise ValueError(f"amplitude must be positive, got {amplitude}")
    a = parameter("amplitude")
    dip = a * sympy.tanh(a * coordinate("x") / nls_length(equation))
    return ExactSolution(
        name="nls_dark_soliton",
        equation=equation,
        fields={"h": dip * sympy.exp(-sympy.I * a**2 * TIME)},
        parameters={"amplitude": amplitude},
        source="Zakharov and Shabat, Sov. Phys. JETP 37 (1973) 823",
    )
