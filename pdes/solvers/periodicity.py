"""Coefficients of an equation must have the period of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sympy

from pdes.grid import Grid
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lowering import LoweredEquation
from pdes.symbols import coordinate


def check_periodic(lowered: LoweredEquation, grid: Grid, parameters: Mapping[str, Any]) -> None:
    """Refuse coefficients that depend on a coordinate without the period of its axis.

    Parameters
    ----------
    lowered : LoweredEquation
        The sorted equation.
    grid : Grid
        Gives the periods.
    parameters : mapping of str to float
        Value of every parameter.

    Raises
    ------
    ValueError
        Naming the coefficient and the axis.

    Examples
    --------
    >>> from pdes import Equation, Grid
    >>> from pdes.solvers.lowering import lower
    >>> equation = Equation.from_text("u_t = sin(x)*u_x", name="stretching", coordinates=("x",))
    >>> check_periodic(lower(equation), Grid.periodic(x=(0.0, 1.0, 16)), {})
    Traceback (most recent call last):
    ...
    ValueError: the coefficient sin(x) does not have the period 1 of axis 'x': ...
    """
    space, rng = lowered.space, np.random.default_rng(0)
    numbers = {
        name: float(value.detach() if hasattr(value, "detach") else value)
        for name, value in parameters.items()
    }
    jets = {jet.name: rng.uniform(0.3, 0.9, size=16) for jet in _jets(lowered)}
    point = {a.name: a.start + a.length * rng.uniform(size=16) for a in grid.axes}
    for expression in _expressions(lowered):
        for axis in grid.axes:
            if coordinate(axis.name) not in expression.free_symbols:
                continue
            values = []
            for shift in (0.0, axis.length):
                there = {**point, axis.name: point[axis.name] + shift}
                evaluator = Evaluator(space=space, parameters=numbers, coordinates=there)
                values.append(evaluator.program(expression)(jets, 0.7))
            here, there = values
            with np.errstate(invalid="ignore"):
                agree = np.abs(there - here) <= 1e-9 * (1.0 + np.abs(here))
            if not np.all(agree):
                raise ValueError(
                    f"the coefficient {expression} does not have the period {axis.length:g} of "
                    f"axis {axis.name!r}: the Fourier solver needs coefficients that repeat with "
                    "the box; change the box, or write the coefficient as a periodic function"
                )


def _expressions(lowered: LoweredEquation) -> Iterator[sympy.Expr]:
    for row in lowered.monomials.values():
        yield from row.values()
    yield from lowered.general.values()


def _jets(lowered: LoweredEquation) -> list[sympy.Symbol]:
    return lowered.space.jets(sympy.Add(*lowered.general.values()))
