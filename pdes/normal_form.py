"""One normal form for right-hand sides: expanded sums, exact numbers, known functions only."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportAssignmentType=false

from __future__ import annotations

import math
from collections.abc import Callable

import sympy

from pdes.jets import JetSpace
from pdes.symbols import tidy_numbers

__all__ = ["FUNCTIONS", "MAX_EXPONENT", "MAX_TERMS", "check_functions", "normalize"]

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    "abs": sympy.Abs,
    "conj": sympy.conjugate,
    "cos": sympy.cos,
    "cosh": sympy.cosh,
    "exp": sympy.exp,
    "log": sympy.log,
    "sign": sympy.sign,
    "sin": sympy.sin,
    "sinh": sympy.sinh,
    "sqrt": sympy.sqrt,
    "tan": sympy.tan,
    "tanh": sympy.tanh,
}
"""Functions that may appear in an equation, by the name they bear in text."""

MAX_EXPONENT = 32
"""Largest power of anything."""

MAX_TERMS = 500
"""More terms than this are refused: expanding them takes minutes, and no one could read them."""

_CLASSES = tuple(kind for kind in FUNCTIONS.values() if isinstance(kind, type))


def normalize(expr: sympy.Expr, space: JetSpace) -> sympy.Expr:
    """Normal form of an expression in plain symbols.

    Numbers become exact decimals, products of sums are multiplied out, and the modulus of a complex
    quantity z becomes sqrt(z conj(z)), so that equal expressions of polynomial type become
    identical.

    Parameters
    ----------
    expr
        In the plain symbols of ``space``, coordinates and parameters.
    space
        The fields and coordinates.

    Returns
    -------
    sympy.Expr

    Raises
    ------
    ValueError
        If a function is not one of :data:`FUNCTIONS`, a number is not finite, or more than
        :data:`MAX_TERMS` terms would result.
    """
    expr = tidy_numbers(expr)
    moduli = {
        a: sympy.sqrt(a.args[0] * sympy.conjugate(a.args[0]))
        for a in expr.atoms(sympy.Abs)
        if not a.args[0].is_extended_real
    }
    if moduli:
        expr = expr.xreplace(moduli)
    check_functions(expr, space)
    return tidy_numbers(_expand(expr))


def check_functions(expr: sympy.Expr, space: JetSpace) -> None:
    """Refuse what cannot be computed or differentiated.

    Raises
    ------
    ValueError
        At a function or construction that is not one of :data:`FUNCTIONS` or arithmetic, at the
        conjugate of anything but a field, and at the sign of a complex quantity.
    """
    for node in expr.atoms(sympy.Function):
        if not isinstance(node, _CLASSES):
            raise ValueError(
                f"{node.func.__name__} in {node} is not supported; the functions are "
                f"{', '.join(FUNCTIONS)}"
            )
        inner = node.args[0]
        if isinstance(node, sympy.conjugate) and not (inner.is_Symbol and space.parse(inner)):
            raise ValueError(f"conj({inner}) is supported for fields and derivatives only")
        if isinstance(node, sympy.sign) and not inner.is_extended_real:
            raise ValueError(f"sign({inner}) is supported for real quantities only")
    for node in sympy.preorder_traversal(expr):
        if not (node.is_Add or node.is_Mul or node.is_Pow or node.is_Function or node.is_Atom):
            raise ValueError(f"{type(node).__name__} in {node} is not supported; write it out")


def _expand(expr: sympy.Expr) -> sympy.Expr:
    """Multiply out sums; denominators, roots and functions are expanded inside only."""
    while True:
        opaque: dict[sympy.Expr, sympy.Dummy] = {}
        open_form = _hide(expr, opaque)
        if _terms(open_form) > MAX_TERMS:
            raise ValueError(f"the expression has more than {MAX_TERMS} terms when multiplied out")
        shown = {dummy: node for node, dummy in opaque.items()}
        result = sympy.expand(open_form).xreplace(shown)
        # Roots that meet in a product can open up again: sqrt(1 + u)^2 is 1 + u.
        if not opaque or result == expr:
            return result
        expr = result


def _hide(expr: sympy.Expr, opaque: dict[sympy.Expr, sympy.Dummy]) -> sympy.Expr:
    """Replace everything but sums, products and whole positive powers by dummy symbols."""
    if expr.is_Atom:
        return expr
    if expr.is_Add or expr.is_Mul:
        return expr.func(*[_hide(a, opaque) for a in expr.args])
    if expr.is_Pow and expr.exp.is_Rational and abs(expr.exp) > MAX_EXPONENT:
        raise ValueError(f"the power {expr} exceeds {MAX_EXPONENT}")
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return _hide(expr.base, opaque) ** expr.exp
    node = expr.func(*[_expand(a) for a in expr.args])
    if type(node) is not type(expr):
        return _hide(node, opaque)
    return opaque.setdefault(node, sympy.Dummy())


def _terms(expr: sympy.Expr) -> int:
    """Upper bound on the number of terms after expansion, counted no further than too many."""
    if expr.is_Add:
        count = sum(_terms(a) for a in expr.args)
    elif expr.is_Mul:
        count = math.prod(_terms(a) for a in expr.args)
    elif expr.is_Pow:
        power = int(expr.exp)
        count = math.comb(power + _terms(expr.base) - 1, power)
    else:
        count = 1
    return min(count, MAX_TERMS + 1)
