"""Peregrine's soliton: a wave that appears from nowhere and disappears without trace."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.nls_normalization import check_sign, nls_length
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def peregrine(equation: Equation) -> ExactSolution:
    r"""Rational solution on a unit background, three times as high at the origin.

    ``h = e^{i t} (1 - 4 (1 + 2 i t)/(1 + 4 t^2 + 4 x^2))`` in the normalization
    ``i h_t + h_xx/2 + |h|^2 h = 0``. It falls off like ``1/x^2``: no periodic box is wide enough.

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
    >>> peregrine(nls_equation()).residual() < 1e-25
    True
    """
    check_sign(equation, "peregrine", 1)
    x, i = coordinate("x") / nls_length(equation), sympy.I
    bump = 4 * (1 + 2 * i * TIME) / (1 + 4 * TIME**2 + 4 * x**2)
    return ExactSolution(
        name="peregrine",
        equation=equation,
        fields={"h": sympy.exp(i * TIME) * (1 - bump)},
        source="Peregrine, J. Austral. Math. Soc. B 25 (1983) 16",
    )
