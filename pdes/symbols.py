"""The sympy objects that equations are made of, and exact decimal numbers.

Everything that builds an equation by hand uses these makers, so that ``u`` written in two places
is the same ``u``: time and coordinates are real symbols, a field is an undefined function of time
and every coordinate, a parameter is a real symbol.
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportAssignmentType=false
# pyright: reportReturnType=false

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

import sympy

__all__ = ["TIME", "coordinate", "field", "number", "parameter", "tidy_numbers", "to_python"]

TIME = sympy.Symbol("t", real=True)

_CONSTANTS = {sympy.I: 1j, sympy.pi: math.pi, sympy.E: math.e}

# Integers up to here are exact in double precision, so such fractions are kept as they are.
_EXACT = 2**53


def coordinate(name: str) -> sympy.Symbol:
    """Spatial coordinate (or time, ``"t"``) as a real symbol.

    Parameters
    ----------
    name
        One letter, for example ``"x"``.

    Returns
    -------
    sympy.Symbol

    Examples
    --------
    >>> from pdes.symbols import coordinate
    >>> coordinate("x").is_real
    True
    """
    return sympy.Symbol(name, real=True)


def parameter(name: str) -> sympy.Symbol:
    """Physical parameter, such as a viscosity, as a real symbol.

    Parameters
    ----------
    name
        An identifier, for example ``"viscosity"``.

    Returns
    -------
    sympy.Symbol

    Examples
    --------
    >>> from pdes.symbols import field, coordinate, parameter
    >>> u, x = field("u"), coordinate("x")
    >>> parameter("viscosity") * u.diff(x, 2)
    viscosity*Derivative(u(t, x), (x, 2))
    """
    return sympy.Symbol(name, real=True)


def field(name: str, coordinates: Sequence[str] = ("x",), *, complex: bool = False) -> sympy.Expr:
    """Field, the undefined function ``name(t, x, ...)``.

    Parameters
    ----------
    name
        An identifier, for example ``"u"`` or ``"h_re"``.
    coordinates
        Names of the spatial axes, in order.
    complex
        True for a complex-valued field; otherwise it is real.

    Returns
    -------
    sympy.Expr
        The function applied to time and the coordinates, ready for ``.diff``.

    Examples
    --------
    >>> from pdes.symbols import field
    >>> field("u", ("x", "y"))
    u(t, x, y)
    """
    function = sympy.Function(name) if complex else sympy.Function(name, real=True)
    return function(TIME, *[coordinate(c) for c in coordinates])


def number(value: complex) -> sympy.Expr:
    """Number as the shortest decimal that is this double, exactly: ``0.1`` becomes 1/10.

    Exact decimals add, multiply and print without rounding noise, and converting back gives the
    double that came in.

    Parameters
    ----------
    value
        A finite real or complex number.

    Returns
    -------
    sympy.Expr
        A rational number, or ``a + I*b`` with rational parts.

    Raises
    ------
    ValueError
        If the value is not finite.

    Examples
    --------
    >>> from pdes.symbols import number
    >>> number(0.1), number(-2.0), number(0.5j)
    (1/10, -2, I/2)
    """
    value = complex(value)
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        raise ValueError(f"number: got {value}, wanted a finite one")
    real, imaginary = (sympy.Rational(repr(part)) for part in (value.real, value.imag))
    return real + sympy.I * imaginary if imaginary else real


def to_python(value: sympy.Expr) -> complex:
    """Double for an expression without free symbols; complex only if its imaginary part is not 0.

    Every step is one operation in double precision, so the cost does not depend on the numbers.

    Raises
    ------
    ValueError
        If the result, or something on the way to it, is out of range or undefined.

    Examples
    --------
    >>> import sympy
    >>> from pdes.symbols import to_python
    >>> to_python(sympy.Rational(1, 100_000)), to_python(sympy.I / 2)
    (1e-05, 0.5j)
    """
    try:
        found = complex(_double(value))
    except (ArithmeticError, ValueError):
        raise ValueError("a number is undefined or too large for double precision") from None
    if not cmath.isfinite(found):
        raise ValueError("a number is undefined or too large for double precision")
    return found if found.imag else found.real


def tidy_numbers(expr: sympy.Expr) -> sympy.Expr:
    """Expression with its numbers in normal form.

    Floating-point numbers become their exact shortest decimals, and so do roots and functions of
    numbers, such as sqrt(2) or exp(1). Fractions whose numerator or denominator exceeds 2^53 are
    rounded to double precision, so that numbers never grow beyond what a computation can use.

    Raises
    ------
    ValueError
        If a number is not finite, or too large or too small for double precision.
    """
    if expr.has(sympy.zoo, sympy.nan, sympy.oo, sympy.S.NegativeInfinity):
        raise ValueError("the expression divides by zero or is infinite")
    compound = expr.atoms(sympy.Function, sympy.Pow, sympy.exp, type(sympy.E))
    values = {node: _tidy(node) for node in compound if node.is_number and not _kept(node)}
    expr = expr.xreplace(values) if values else expr
    found = {a: _tidy(a) for a in expr.atoms(sympy.Float, sympy.Rational) if not _kept(a)}
    return expr.xreplace(found) if found else expr


def _kept(value: sympy.Expr) -> bool:
    """Whether a number is in normal form: a short fraction or a power of pi."""
    if value.is_Rational:
        return abs(value.p) < _EXACT and value.q < _EXACT
    return value.is_Pow and value.base is sympy.pi and value.exp.is_Integer


def _tidy(value: sympy.Expr) -> sympy.Expr:
    found = to_python(value)
    if found == 0 and not value.is_zero:
        raise ValueError("a number is too small for double precision")
    return number(found)


def _double(expr: sympy.Expr) -> complex:
    if expr.is_Rational:
        return expr.p / expr.q
    if expr.is_Float:
        return float(expr)
    if expr.is_Add:
        return sum(_double(a) for a in expr.args)
    if expr.is_Mul:
        return math.prod(_double(a) for a in expr.args)
    if expr.is_Pow:
        return _double(expr.base) ** _double(expr.exp)
    if expr in _CONSTANTS:
        return _CONSTANTS[expr]
    value = complex(*[_double(a) for a in expr.args])
    if isinstance(expr, sympy.Abs):
        return abs(value)
    if isinstance(expr, sympy.conjugate):
        return value.conjugate()
    if isinstance(expr, sympy.sign):
        return value / abs(value)
    return getattr(cmath, expr.func.__name__)(value)
