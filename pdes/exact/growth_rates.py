"""Linear growth rates of small disturbances of a uniform state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from pdes.equation import Equation
from pdes.jets import parse_derivative
from pdes.symbols import number, parameter


def growth_rates(
    equation: Equation, state: Mapping[str, float], wavevector: Sequence[float] | float
) -> np.ndarray:
    """Eigenvalues of the equation linearized about a uniform state, for one Fourier mode.

    A disturbance proportional to ``exp(i k.x)`` evolves as ``exp(lambda t)`` while it is small.

    Parameters
    ----------
    equation : Equation
        Real fields; coefficients that do not depend on space or time.
    state : mapping of str to float
        Value of each field.
    wavevector : float or sequence of float
        ``k`` in radians per length.

    Returns
    -------
    ndarray of complex, shape (fields,)
        Sorted by decreasing real part.

    Examples
    --------
    >>> from pdes import Equation
    >>> fisher = Equation.from_text("u_t = 0.1*u_xx + u - u^2", name="fisher")
    >>> growth_rates(fisher, {"u": 1.0}, 2.0)
    array([-1.4+0.j])
    """
    space = equation.space
    wave = (wavevector,) if isinstance(wavevector, int | float) else tuple(wavevector)
    values: Any = {parameter(n): number(v) for n, v in equation.parameters.items()}
    zeros = (0,) * len(equation.coordinates)
    matrix = np.zeros((len(equation.fields),) * 2, dtype=np.complex128)
    for row, name in enumerate(equation.fields):
        expression: Any = space.from_functions(equation.rhs[name]).xreplace(values)
        parsed = {
            jet: parse_derivative(jet.name, space.fields, space.coordinates)
            for jet in space.jets(expression)
        }
        uniform = {
            jet: number(state[field]) if orders == zeros else sympy.S.Zero
            for jet, (field, orders) in parsed.items()
        }
        for jet, (field, orders) in parsed.items():
            slope = complex(expression.diff(jet).xreplace(uniform))
            factor = np.prod([(1j * k) ** order for k, order in zip(wave, orders, strict=True)])
            matrix[row, equation.fields.index(field)] += slope * factor
    eigenvalues = np.linalg.eigvals(matrix)
    return eigenvalues[np.argsort(-eigenvalues.real)]
