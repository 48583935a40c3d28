"""Explicit expressions put into an equation."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping

import sympy

from pdes.jets import JetSpace, parse_derivative
from pdes.symbols import TIME, coordinate

__all__ = ["residual_of"]


def residual_of(
    rhs: Mapping[str, sympy.Expr], space: JetSpace, expressions: Mapping[str, sympy.Expr]
) -> dict[str, sympy.Expr]:
    """d(field)/dt - rhs with an explicit expression for each field.

    Parameters
    ----------
    rhs
        Right-hand sides in plain symbols.
    space
        The fields and coordinates.
    expressions
        For each field an expression in time and the coordinates, matched by name.

    Returns
    -------
    dict
        Field to residual.

    Raises
    ------
    ValueError
        If the fields are not those of the equation.
    """
    if set(expressions) != set(space.fields):
        raise ValueError(
            f"expressions: got {', '.join(expressions) or 'none'}, "
            f"wanted one for each of {', '.join(space.fields)}"
        )
    given = {name: _by_name(expressions[name]) for name in space.fields}
    substituted = {}
    for jet in space.jets(sympy.Tuple(*rhs.values())):
        column, orders = parse_derivative(jet.name, space.fields, space.coordinates)
        value = given[column]
        for axis, order in zip(space.coordinates, orders, strict=True):
            value = value.diff(coordinate(axis), order)
        substituted[jet] = value
    return {name: given[name].diff(TIME) - rhs[name].xreplace(substituted) for name in rhs}


def _by_name(expr: sympy.Expr) -> sympy.Expr:
    """Same expression in the real symbols that equations use."""
    expr = sympy.S.Zero + expr
    return expr.xreplace({s: sympy.Symbol(s.name, real=True) for s in expr.free_symbols})
