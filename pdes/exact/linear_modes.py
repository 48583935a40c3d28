"""Fourier modes of linear equations with constant coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.solution import ExactSolution
from pdes.solvers.lowering import lower
from pdes.symbols import TIME, number


def linear_modes(
    equation: Equation, modes: Mapping[Sequence[float] | float, float], *, name: str = "modes"
) -> ExactSolution:
    """Sum of Fourier modes, each growing, decaying and traveling at its own rate.

    A mode of wave vector ``k`` is multiplied by ``exp(lambda(k) t)``, where ``lambda`` is the
    symbol of the right-hand side: ``amplitude * exp(Re(lambda) t) * cos(k.x + Im(lambda) t)``.

    Parameters
    ----------
    equation : Equation
        One real field, linear, with constant coefficients, in any dimension.
    modes : mapping of wave vector to amplitude
        Wave numbers in radians per length; a plain number in one dimension.
    name : str
        What to call the solution.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ValueError
        If the equation is not linear with constant coefficients.

    Examples
    --------
    >>> from pdes.library.heat import heat_equation
    >>> linear_modes(heat_equation(), {3.0: 0.5}).fields["u"]
    exp(-9*diffusivity*t)*cos(3*x)/2
    """
    lowered = lower(equation)
    if len(equation.fields) != 1 or equation.complex_fields or lowered.monomials or lowered.general:
        raise ValueError(
            f"{equation.name}: modes need one real field and a linear equation with constant "
            f"coefficients, got {equation}"
        )
    (field,) = equation.fields
    total = sympy.S.Zero
    for given, amplitude in modes.items():
        wave = [number(k) for k in ((given,) if isinstance(given, int | float) else given)]
        rate = sum(
            coefficient
            * sympy.prod((sympy.I * k) ** order for k, order in zip(wave, orders, strict=True))
            for orders, coefficient in lowered.linear.get((field, field), {}).items()
        )
        growth, turning = sympy.expand(rate).as_real_imag()
        phase = sum(k * coordinate(a) for k, a in zip(wave, equation.coordinates, strict=True))
        total += number(amplitude) * sympy.exp(growth * TIME) * sympy.cos(phase + turning * TIME)
    return ExactSolution(
        name=name, equation=equation, fields={field: total}, source="separation of variables"
    )
