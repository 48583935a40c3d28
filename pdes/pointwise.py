"""Values of sympy expressions at points, for boundary data, coefficients and closed forms.

Steady problems know functions that the programs of `pdes.compile` have no use for: angles,
pieces, Bessel functions. The expression is walked once; nothing is turned into code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.special
import sympy

from pdes.symbols import to_python

__all__ = ["pointwise"]

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.Abs: np.abs,
    sympy.Max: lambda *values: np.maximum.reduce(np.broadcast_arrays(*values)),
    sympy.Min: lambda *values: np.minimum.reduce(np.broadcast_arrays(*values)),
    sympy.Heaviside: lambda value, half=0.5: np.heaviside(value, half),
    sympy.acos: np.arccos,
    sympy.acosh: np.arccosh,
    sympy.arg: np.angle,
    sympy.asin: np.arcsin,
    sympy.asinh: np.arcsinh,
    sympy.atan: np.arctan,
    sympy.atan2: np.arctan2,
    sympy.besselj: scipy.special.jv,
    sympy.bessely: scipy.special.yv,
    sympy.conjugate: np.conjugate,
    sympy.cos: np.cos,
    sympy.cosh: np.cosh,
    sympy.erf: scipy.special.erf,
    sympy.exp: np.exp,
    sympy.floor: np.floor,
    sympy.hankel1: scipy.special.hankel1,
    sympy.hankel2: scipy.special.hankel2,
    sympy.im: np.imag,
    sympy.log: np.log,
    sympy.re: np.real,
    sympy.sign: np.sign,
    sympy.sin: np.sin,
    sympy.sinh: np.sinh,
    sympy.tan: np.tan,
    sympy.tanh: np.tanh,
    sympy.StrictLessThan: np.less,
    sympy.LessThan: np.less_equal,
    sympy.StrictGreaterThan: np.greater,
    sympy.GreaterThan: np.greater_equal,
    sympy.And: lambda *values: np.logical_and.reduce(np.broadcast_arrays(*values)),
    sympy.Or: lambda *values: np.logical_or.reduce(np.broadcast_arrays(*values)),
    sympy.Not: np.logical_not,
}


def pointwise(expression: Any, values: Mapping[str, Any]) -> Any:
    """Value of an expression, with its symbols replaced by arrays.

    Parameters
    ----------
    expression : sympy.Expr or float
        In the symbols named by `values`.
    values : mapping of str to array or float
        Coordinates (``"x"``, ``"y"``, ``"t"``) and parameters, of shapes that broadcast together.

    Returns
    -------
    ndarray
        Float or complex, of the common shape of `values`.

    Raises
    ------
    ValueError
        If a symbol has no value, or a function is not known.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> pointwise(sympy.Piecewise((x**2, x > 0), (0, True)), {"x": np.array([-1.0, 2.0])})
    array([0., 4.])
    """
    arrays = {name: np.asarray(value) for name, value in values.items()}
    shape = np.broadcast_shapes(*[array.shape for array in arrays.values()])
    # Both pieces of a piecewise expression are evaluated everywhere: one may be infinite.
    with np.errstate(all="ignore"):
        found = (
            _Walk(arrays).value(expression) if isinstance(expression, sympy.Basic) else expression
        )
    found = np.broadcast_to(found, shape)
    return found.astype(np.complex128 if np.iscomplexobj(found) else np.float64)


class _Walk:
    """Evaluates each different subexpression once."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.known: dict[Any, Any] = {}

    def value(self, node: Any) -> Any:
        if node not in self.known:
            self.known[node] = self.computed(node)
        return self.known[node]

    def computed(self, node: Any) -> Any:
        if node.is_Symbol:
            return self.looked_up(node.name)
        if node in (sympy.true, sympy.false):
            return np.asarray(bool(node))
        if not node.args or (node.is_number and node.is_Rational):
            return to_python(node)
        if node.is_Add:
            return sum(self.value(argument) for argument in node.args[1:]) + self.value(
                node.args[0]
            )
        if node.is_Mul:
            product = self.value(node.args[0])
            for argument in node.args[1:]:
                product = product * self.value(argument)
            return product
        if isinstance(node, sympy.Piecewise):
            return self.pieces(node)
        if node.is_Pow and not isinstance(node, sympy.exp):
            return self.power(node)
        function = _FUNCTIONS.get(type(node))
        if function is None:
            raise ValueError(
                f"expression: {type(node).__name__} cannot be evaluated at points; known are "
                f"{sorted(kind.__name__ for kind in _FUNCTIONS)}"
            )
        return function(*[self.value(argument) for argument in node.args])

    def looked_up(self, name: str) -> Any:
        if name not in self.values:
            raise ValueError(
                f"expression: {name!r} has no value; given are {sorted(self.values)}: name it "
                "among the coordinates or the parameters"
            )
        return self.values[name]

    def power(self, node: Any) -> Any:
        base, exponent = self.value(node.base), node.exp
        if exponent == sympy.S.Half:
            return np.sqrt(base)
        if exponent.is_Integer:
            whole = int(exponent)
            return (
                base**whole if whole > 0 else 1.0 / np.asarray(base, dtype=float_of(base)) ** -whole
            )
        return np.power(base, self.value(exponent))

    def pieces(self, node: Any) -> Any:
        found: Any = np.nan
        for value, condition in reversed(node.args):
            found = np.where(self.value(condition), self.value(value), found)
        return found


def float_of(value: Any) -> type:
    """Complex or double precision, whichever holds the value."""
    return np.complex128 if np.iscomplexobj(value) else np.float64
