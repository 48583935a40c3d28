"""A mode of a string or a membrane."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME, number


def standing_wave(equation: Equation, wavevector: Sequence[float]) -> ExactSolution:
    r"""``u = prod_a sin(k_a x_a) cos(c |k| t)`` and ``v = u_t``.

    Parameters
    ----------
    equation : Equation
        Wave equation as a system, with the parameter ``speed``.
    wavevector : sequence of float
        One wave number for each axis; multiples of pi over the length where the ends are held.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.wave import wave_equation
    >>> standing_wave(wave_equation(dimension=2), (1.0, 2.0)).residual() < 1e-25
    True
    """
    axes = equation.coordinates
    if len(wavevector) != len(axes):
        raise ValueError(f"wavevector={tuple(wavevector)}, wanted one entry for each of {axes}")
    waves = [number(float(k)) for k in wavevector]
    shape = sympy.Mul(*[sympy.sin(k * coordinate(a)) for k, a in zip(waves, axes, strict=True)])
    frequency = parameter("speed") * sympy.sqrt(sympy.Add(*[k**2 for k in waves]))
    u = shape * sympy.cos(frequency * TIME)
    return ExactSolution(
        name="standing_wave", equation=equation, fields={"u": u, "v": u.diff(TIME)}
    )
