"""The breather of the nonlinear Schroedinger equation that starts from ``2 sech(x)``."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.nls_normalization import check_sign, nls_length
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def nls_breather(equation: Equation) -> ExactSolution:
    r"""Two bound solitons, periodic in time with period ``pi/2``.

    ``h = 4 e^{i t/2} (cosh 3x + 3 e^{4 i t} cosh x)/(cosh 4x + 4 cosh 2x + 3 cos 4t)`` in the
    normalization ``i h_t + h_xx/2 + |h|^2 h = 0``. It lives on the whole line: on a periodic box
    of half width 5 the tail of 0.027 makes it no solution at all; half width 16 leaves 5e-7.

    Parameters
    ----------
    equation : Equation
        Focusing nonlinear Schroedinger equation; with ``d h_xx`` lengths are ``sqrt(2 d)`` times
        as long.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If the equation is defocusing.

    Examples
    --------
    >>> from pdes.library.nls import nls_equation
    >>> nls_breather(nls_equation()).residual() < 1e-25
    True
    """
    check_sign(equation, "nls_breather", 1)
    x, i = coordinate("x") / nls_length(equation), sympy.I
    above = sympy.cosh(3 * x) + 3 * sympy.exp(4 * i * TIME) * sympy.cosh(x)
    below = sympy.cosh(4 * x) + 4 * sympy.cosh(2 * x) + 3 * sympy.cos(4 * TIME)
    return ExactSolution(
        name="nls_breather",
        equation=equation,
        fields={"h": 4 * sympy.exp(i * TIME / 2) * above / below},
        source="Satsuma and Yajima, Prog. Theor. Phys. Suppl. 55 (1974) 284",
    )
