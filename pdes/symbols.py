"""The sympy objects that equations are made of, and exact decimal numbers.

Everything that builds an equation by hand uses these makers, so that ``u`` written in two places
is the same ``u``: time and coordinates are real symbols, a field is an undefined function of time
and every coordinate, a parameter is a real symbol.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy

__all__ = ["TIME", "coordinate", "field", "number", "parameter", "tidy_numbers", "to_python"]

TIME = sympy.Symbol("t", real=True)

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
    """Double nearest to a number without free symbols; complex only if its imaginary part is not 0.

    Examples
    --------
    >>> import sympy
    >>> from pdes.symbols import to_python
    >>> to_python(sympy.Rational(1, 100_000)), to_python(sympy.I / 2)
    (1e-05, 0.5j)
    """
    parts = [part.p / part.q if part.is_Rational else float(part) for part in value.as_real_imag()]
    return complex(*parts) if parts[1] else parts[0]


def tidy_numbers(expr: sympy.Expr) -> sympy.Expr:
    """Expression with every floating-point number replaced by its exact shortest decimal.

    Fractions whose numerator or denominator exceeds 2^53 are rounded to double precision first, so
    that numbers never grow beyond what a computation can use.

    Raises
    ------
    ValueError
        If a number is not finite, or too large or too small for double precision.
    """
    if expr.has(sympy.zoo, sympy.nan, sympy.oo, sympy.S.NegativeInfinity):
        raise ValueError(f"the expression divides by zero or is infinite: {expr}")
    found = {a: _tidy(a) for a in expr.atoms(sympy.Float, sympy.Rational)}
    changed = {a: b for a, b in found.items() if a is not b}
    return expr.xreplace(changed) if changed else expr


def _tidy(value: sympy.Number) -> sympy.Expr:
    if value.is_Rational and abs(value.p) < _EXACT and value.q < _EXACT:
        return value
    try:
        rounded = value.p / value.q if value.is_Rational else float(value)
    except OverflowError:
        rounded = math.inf
    if not math.isfinite(rounded) or rounded == 0.0 != value:
        raise ValueError("a number is too large or too small for double precision")
    return number(rounded)
