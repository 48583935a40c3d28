"""Values of products on the grid: each compiled once to plain multiplications."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy

from pdes.solvers.divergence_form import Flux
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lowering import Powers
from pdes.symbols import TIME

Array = Any
OnGrid = Callable[[Sequence[Array], float], Array]
"""Function of the jets' values, in a fixed order, and the time."""


def compile_fluxes(
    fluxes: Sequence[Flux], index: Mapping[str, int], evaluator: Evaluator, xp: Any
) -> tuple[Any, OnGrid]:
    """Sum of products, without the outer derivative.

    Parameters
    ----------
    fluxes : sequence of Flux
        Products with their coefficients.
    index : mapping
        Position of each jet among the values, by name.
    evaluator : Evaluator
        Knows parameters and coordinates.
    xp : module
        Namespace of the arrays.

    Returns
    -------
    scale : float or scalar array
        Constant factor that the caller applies in Fourier space, at no cost.
    function : callable
        ``(jet values, time) -> values on the grid``.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> from pdes.jets import JetSpace
    >>> u = sympy.Symbol("u", real=True)
    >>> flux = Flux((1,), ((u, 2),), sympy.Rational(-1, 2))
    >>> evaluator = Evaluator(space=JetSpace(("u",), ("x",)))
    >>> scale, square = compile_fluxes([flux], {"u": 0}, evaluator, np)
    >>> scale, square([np.array([3.0])], 0.0)
    (-0.5, array([9.]))
    """
    products = [compile_product(flux.powers, index, xp) for flux in fluxes]
    coefficients = [_coefficient(flux.coefficient, evaluator) for flux in fluxes]
    if len(fluxes) == 1:
        value, product = coefficients[0], products[0]
        if not callable(value) and getattr(value, "ndim", 0) == 0:
            return value, product
    pairs = list(zip(coefficients, products, strict=True))

    def total(values: Sequence[Array], time: float) -> Array:
        result: Any = 0.0
        for value, product in pairs:
            factor = value(time) if callable(value) else value
            result = result + factor * product(values, time)
        return result

    return 1.0, total


def compile_product(powers: Powers, index: Mapping[str, int], xp: Any) -> OnGrid:
    """Product of jets by repeated multiplication.

    Parameters
    ----------
    powers : tuple of (jet or conjugated jet, power)
        The factors.
    index : mapping
        Position of each jet among the values, by name.
    xp : module
        Namespace of the arrays.

    Returns
    -------
    callable
        ``(jet values, time) -> values on the grid``.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> h = sympy.Symbol("h", complex=True)
    >>> cube = compile_product(((h, 2), (sympy.conjugate(h), 1)), {"h": 0}, np)
    >>> cube([np.array([2.0j])], 0.0)
    array([0.+8.j])
    """
    factors: list[tuple[int, bool]] = []
    for base, power in powers:
        bar = isinstance(base, sympy.conjugate)
        factors += [(index[str(base.args[0] if bar else base)], bar)] * power
    (first, first_bar), *rest = factors
    if not first_bar and rest == [(first, False)]:
        return lambda values, time: values[first] * values[first]

    def product(values: Sequence[Array], time: float) -> Array:
        result = xp.conj(values[first]) if first_bar else values[first]
        for position, bar in rest:
            result = result * (xp.conj(values[position]) if bar else values[position])
        return result

    return product


def compile_general(
    expression: sympy.Expr, index: Mapping[str, int], evaluator: Evaluator
) -> OnGrid:
    """Function of jets that is no polynomial.

    Parameters
    ----------
    expression : sympy.Expr
        In jet, coordinate and parameter symbols.
    index : mapping
        Position of each jet among the values, by name.
    evaluator : Evaluator
        Knows parameters and coordinates.

    Returns
    -------
    callable
        ``(jet values, time) -> values on the grid``.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> from pdes.jets import JetSpace
    >>> evaluator = Evaluator(space=JetSpace(("u",), ("x",)))
    >>> u = sympy.Symbol("u", real=True)
    >>> compile_general(sympy.sin(u), {"u": 0}, evaluator)([np.array([0.0])], 0.0)
    array([0.])
    """
    program = evaluator.program(expression)

    def function(values: Sequence[Array], time: float) -> Array:
        return program({name: values[i] for name, i in index.items()}, time)

    return function


def _coefficient(expression: sympy.Expr, evaluator: Evaluator) -> Any:
    """Value of a coefficient, or a function of time where it depends on time."""
    if TIME in expression.free_symbols:
        program = evaluator.program(expression)
        return lambda time: program({}, time)
    return evaluator.value(expression)
