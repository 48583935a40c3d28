"""Values of sympy expressions at one point in extended precision, each subexpression once.

Sympy's own evaluation visits equal subexpressions again and again; long series take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import sympy

__all__ = ["precise"]

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.Abs: abs,
    sympy.Max: max,
    sympy.Min: min,
    sympy.Heaviside: lambda value, half=0.5: mpmath.mpf(value > 0) if value else mpmath.mpf(half),
    sympy.acos: mpmath.acos,
    sympy.acosh: mpmath.acosh,
    sympy.asin: mpmath.asin,
    sympy.asinh: mpmath.asinh,
    sympy.atan: mpmath.atan,
    sympy.atan2: mpmath.atan2,
    sympy.besselj: mpmath.besselj,
    sympy.bessely: mpmath.bessely,
    sympy.cos: mpmath.cos,
    sympy.cosh: mpmath.cosh,
    sympy.erf: mpmath.erf,
    sympy.exp: mpmath.exp,
    sympy.hankel1: mpmath.hankel1,
    sympy.log: mpmath.log,
    sympy.sign: mpmath.sign,
    sympy.sin: mpmath.sin,
    sympy.sinh: mpmath.sinh,
    sympy.tan: mpmath.tan,
    sympy.tanh: mpmath.tanh,
    sympy.StrictLessThan: lambda a, b: a < b,
    sympy.LessThan: lambda a, b: a <= b,
    sympy.StrictGreaterThan: lambda a, b: a > b,
    sympy.GreaterThan: lambda a, b: a >= b,
    sympy.And: lambda *values: all(values),
    sympy.Or: lambda *values: any(values),
    sympy.Not: lambda value: not value,
}


def precise(expression: Any, values: Mapping[Any, Any], digits: int = 40) -> Any:
    """Value of an expression in extended precision.

    Parameters
    ----------
    expression : sympy.Expr
        Without undefined functions.
    values : mapping of sympy.Symbol to number
        Value of every symbol.
    digits : int, default 40
        Decimal digits of every operation.

    Returns
    -------
    mpmath.mpf or mpmath.mpc

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> abs(precise(sympy.sin(sympy.pi * x), {x: 1})) < 1e-39
    True
    """
    with mpmath.workdps(digits):
        known = {
            symbol: _number(value, digits)
            if isinstance(value, sympy.Basic)
            else +mpmath.mpmathify(value)
            for symbol, value in values.items()
        }
        return _value(expression, known, digits)


def _value(node: Any, known: dict[Any, Any], digits: int) -> Any:
    if node not in known:
        known[node] = _computed(node, known, digits)
    return known[node]


def _computed(node: Any, known: dict[Any, Any], digits: int) -> Any:
    if node in (sympy.true, sympy.false):
        return bool(node)
    if not node.args:
        return _number(node, digits)
    if isinstance(node, sympy.Piecewise):
        pieces: Any = node.args
        for value, condition in pieces:
            if _value(condition, known, digits):
                return _value(value, known, digits)
        return mpmath.nan
    values = [_value(argument, known, digits) for argument in node.args]
    if node.is_Add:
        return mpmath.fsum(values)
    if node.is_Mul:
        return mpmath.fprod(values)
    function = _FUNCTIONS.get(type(node))
    if function is None and node.is_Pow:
        return values[0] ** values[1]
    # What is not in the table is left to sympy, more slowly.
    if function is None:
        numbers = dict(zip(node.args, [_sympy(value) for value in values], strict=True))
        return _number(node.xreplace(numbers), digits)
    return function(*values)


def _number(node: Any, digits: int) -> Any:
    if node.is_Rational:
        return mpmath.mpf(int(node.p)) / int(node.q)
    return mpmath.mpmathify(sympy.N(node, digits)._to_mpmath(mpmath.mp.prec))


def _sympy(value: Any) -> sympy.Expr:
    return sympy.Float(value) if isinstance(value, mpmath.mpf) else sympy.S.Zero + value
