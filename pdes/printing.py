"""Expressions in plain symbols as text that the parser reads back."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportAssignmentType=false
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Sequence

import sympy

from pdes.normal_form import FUNCTIONS

__all__ = ["expression_text", "fraction_parts", "joined", "modulus", "number_text"]
__all__ += ["power_text", "product_text", "term_text"]

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_NAMES = {kind: name for name, kind in FUNCTIONS.items() if isinstance(kind, type)}


def number_text(value: sympy.Rational) -> str:
    """Shortest text of a rational number that reads back as the same number.

    Examples
    --------
    >>> import sympy
    >>> number_text(sympy.Rational(1, 10)), number_text(sympy.Rational(1, 3))
    ('0.1', '1/3')
    """
    value = sympy.Rational(value)
    if value.q == 1 and abs(value.p) < 10**15:
        return str(value.p)
    text = repr(value.p / value.q).removesuffix(".0")
    return text if sympy.Rational(text) == value else f"{value.p}/{value.q}"


def power_text(base: str, power: sympy.Expr | int) -> str:
    """``base^power``; the base has to be an atom or in parentheses already."""
    if power == 1:
        return base
    exponent = sympy.Integer(power) if isinstance(power, int) else power
    if exponent == sympy.Rational(1, 2):
        return f"sqrt({base[1:-1] if base.startswith('(') else base})"
    if (exponent.is_Integer and exponent >= 0) or exponent.is_Symbol:
        return f"{base}^{exponent}"
    return f"{base}^({expression_text(exponent)})"


def fraction_parts(expr: sympy.Expr) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """Factors of the numerator and of the denominator; exponentials stay in the numerator."""
    above, below = [], []
    for factor in sympy.Mul.make_args(expr):
        base, power = factor.as_base_exp()
        if power.is_Rational and power < 0 and base is not sympy.S.Exp1 and not base.is_Rational:
            below.append(base**-power)
        elif factor != 1:
            above.append(factor)
    return above, below


def product_text(pieces: Sequence[str], *factors: sympy.Expr) -> str:
    """Product of ready pieces and further factors, negative powers as divisions."""
    above: list[str] = []
    below: list[str] = []
    for factor in factors:
        parts = fraction_parts(factor)
        for texts, found in zip((above, below), parts, strict=True):
            texts += [_wrapped(part, _POWER) for part in found]
    return "/".join(["*".join([*pieces, *sorted(above)]) or "1", *sorted(below)])


def term_text(coefficient: sympy.Expr, name: str) -> str:
    """Coefficient times a canonical name, shortest form."""
    if coefficient == 1:
        return name
    if coefficient == -1:
        return f"-{name}"
    front = _wrapped(coefficient, _PRODUCT)
    if coefficient.could_extract_minus_sign() and not coefficient.is_Add:
        front = f"-{_wrapped(-coefficient, _PRODUCT)}"
    if name == "1":
        return front
    return f"{front}{name[1:]}" if name.startswith("1/") else f"{front}*{name}"


def joined(addends: Sequence[str]) -> str:
    """Sum of texts, negative ones subtracted; ``0`` if there are none."""
    text = addends[0] if addends else "0"
    for addend in addends[1:]:
        text += f" - {addend[1:]}" if addend.startswith("-") else f" + {addend}"
    return text


def expression_text(expr: sympy.Expr) -> str:
    """Text of any expression in plain symbols."""
    return _render(expr)[0]


def _wrapped(expr: sympy.Expr, level: int) -> str:
    text, own = _render(expr)
    return text if own >= level else f"({text})"


def _render(expr: sympy.Expr) -> tuple[str, int]:
    """Text and the binding strength of its outermost operation."""
    if expr.is_Rational:
        text = number_text(expr)
        return text, _SUM if expr < 0 else _PRODUCT if "/" in text else _ATOM
    if expr is sympy.S.ImaginaryUnit:
        return "I", _ATOM
    if expr is sympy.S.Exp1:
        return "exp(1)", _ATOM
    if expr.is_Symbol or expr is sympy.S.Pi:
        return str(expr), _ATOM
    if expr.is_Add:
        addends = sorted(
            map(expression_text, expr.args), key=lambda s: (s.startswith("-"), len(s), s)
        )
        return joined(addends), _SUM
    if expr.is_Mul:
        return _product(expr)
    if isinstance(expr, sympy.exp):
        return f"exp({expression_text(expr.args[0])})", _ATOM
    if expr.is_Pow:
        return _power(expr)
    if type(expr) in _NAMES:
        return f"{_NAMES[type(expr)]}({expression_text(expr.args[0])})", _ATOM
    raise ValueError(f"{type(expr).__name__} in {expr} cannot be written as text")


def _product(expr: sympy.Expr) -> tuple[str, int]:
    coefficient, rest = expr.as_coeff_Mul()
    return term_text(coefficient, product_text([], rest)), _SUM if coefficient < 0 else _PRODUCT


def _power(expr: sympy.Expr) -> tuple[str, int]:
    base, power = expr.base, expr.exp
    inner = modulus(base) if (2 * power).is_Integer else None
    if inner is not None and power > 0:
        text = power_text(f"abs({expression_text(inner)})", 2 * power)
        return text, _POWER if "^" in text else _ATOM
    if power.is_Rational and power < 0:
        return f"1/{_wrapped(base**-power, _POWER)}", _PRODUCT
    text = power_text(_wrapped(base, _ATOM), power)
    return text, _ATOM if text.startswith("sqrt(") else _POWER


def modulus(base: sympy.Expr) -> sympy.Expr | None:
    """The z of a product z conj(z), if the base is one."""
    if base.is_Mul and len(base.args) == 2:
        for z, bar in (base.args, base.args[::-1]):
            if isinstance(bar, sympy.conjugate) and bar.args[0] == z:
                return z
    return None
