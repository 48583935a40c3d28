"""Decaying sines and cosines between two sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME, number


def side_modes(
    equation: Equation,
    kind: Literal["sine", "cosine"],
    amplitudes: Mapping[int, float],
    *,
    length: float = 1.0,
) -> ExactSolution:
    r"""``u = sum_j a_j exp(-D (j pi/L)^2 t) sin(j pi x/L)``, or the same with cosines.

    Sines vanish at both ends, cosines have no flux through them.

    Parameters
    ----------
    equation : Equation
        Heat equation with the parameter ``diffusivity`` (``D``).
    kind : {"sine", "cosine"}
        Which functions.
    amplitudes : mapping of int to float
        ``a_j`` by ``j``.
    length : float
        ``L``; the interval begins at 0.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.heat import heat_equation
    >>> side_modes(heat_equation(0.1), "cosine", {0: 1.0, 2: 0.5}).residual() < 1e-25
    True
    """
    if kind not in ("sine", "cosine"):
        raise ValueError(f"kind={kind!r}, wanted 'sine' or 'cosine'")
    function = sympy.sin if kind == "sine" else sympy.cos
    total = sympy.S.Zero
    for j, amplitude in amplitudes.items():
        wave = number(3.141592653589793) * j / number(length)
        decay = sympy.exp(-parameter("diffusivity") * wave**2 * TIME)
        total = total + number(amplitude) * decay * function(wave * coordinate("x"))
    return ExactSolution(name="side_modes", equation=equation, fields={"u": total})
