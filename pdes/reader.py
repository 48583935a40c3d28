"""One right-hand side, from tokens to symbols, by recursive descent.

The grammar, loosest binding first; nothing is ever evaluated as code::

    sum       product (("+" | "-") product)*
    product   unary (("*" | "/") unary)*
    unary     ("+" | "-") unary | power
    power     postfix (("^" | "**") unary)?
    postfix   atom SUFFIX*                  (u^2)_xx: a total derivative
    atom      NUMBER | NAME | FUNCTION "(" sum ")" | "(" sum ")"

Depth, exponents, orders of derivatives and the size of the result are bounded, so that every text
is either read or refused in reasonable time.
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection

import sympy

from pdes.jets import JetSpace
from pdes.normal_form import FUNCTIONS, MAX_EXPONENT, normalize
from pdes.symbols import coordinate, number, parameter, tidy_numbers
from pdes.tokens import ParseError, Token, closest

__all__ = ["MAX_DEPTH", "MAX_ORDER", "Reader"]

MAX_DEPTH = 40
"""Deepest nesting of parentheses, signs and powers."""

MAX_ORDER = 8
"""Highest order of a derivative that may be written."""

MAX_WORK = 40_000
"""Bound on the work of differentiation: size of what is differentiated times the number of jets."""

_CHUNK = 64


class Reader:
    """Reads the tokens of one right-hand side.

    Parameters
    ----------
    tokens
        At least one.
    text
        The whole text, for messages.
    space
        The fields and coordinates.
    parameters
        Names that stay symbolic.
    """

    def __init__(
        self, tokens: list[Token], text: str, space: JetSpace, parameters: Collection[str]
    ) -> None:
        last = tokens[-1]
        self._tokens = [*tokens, Token("end", "", last.position + len(last.text))]
        self._text, self._space, self._parameters = text, space, parameters
        self._index = self._depth = self._work = 0

    def read(self, *, real: bool = False) -> sympy.Expr:
        """The right-hand side in normal form; with ``real``, complex ones are refused."""
        start = self._tokens[0]
        expr = self._sum()
        if self._next.kind != "end":
            self._unexpected()
        normal = self._normal(expr, start)
        if real and normal.has(sympy.I):
            raise self._error(
                "this is complex while the field is real; name the field in complex_fields", start
            )
        return normal

    # -- tokens ------------------------------------------------------------------------------

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._next
        self._index += token.kind != "end"
        return token

    def _accept(self, *words: str) -> Token | None:
        return self._take() if self._next.kind == "operator" and self._next.text in words else None

    def _error(self, message: str, token: Token | None = None) -> ParseError:
        return ParseError(message, self._text, (token or self._next).position)

    def _unexpected(self) -> None:
        token = self._next
        if token.kind in ("name", "number", "imaginary") or token.text == "(":
            raise self._error(f"write '*' before {token.text!r} to multiply")
        if token.text == ")":
            raise self._error("')' without '('")
        raise self._error(f"unexpected {token.text!r}")

    # -- grammar -----------------------------------------------------------------------------

    def _sum(self) -> sympy.Expr:
        parts = [self._product()]
        while sign := self._accept("+", "-"):
            part = self._product()
            parts.append(part if sign.text == "+" else -part)
        return self._combined(sympy.Add, parts)

    def _product(self) -> sympy.Expr:
        parts = [self._unary()]
        while sign := self._accept("*", "/"):
            part = self._unary()
            if sign.text == "/" and part == 0:
                raise self._error("division by zero", sign)
            parts.append(part if sign.text == "*" else 1 / part)
        return self._combined(sympy.Mul, parts)

    def _combined(self, combine: type[sympy.Expr], parts: list[sympy.Expr]) -> sympy.Expr:
        """Sum or product, its numbers rounded on the way lest exact fractions grow without end."""
        while len(parts) > _CHUNK:
            chunks = [parts[i : i + _CHUNK] for i in range(0, len(parts), _CHUNK)]
            parts = [self._tidied(combine(*chunk)) for chunk in chunks]
        return combine(*parts)

    def _tidied(self, expr: sympy.Expr) -> sympy.Expr:
        try:
            return tidy_numbers(expr)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _unary(self) -> sympy.Expr:
        if sign := self._accept("+", "-"):
            with_depth = self._nested(self._unary, sign)
            return with_depth if sign.text == "+" else -with_depth
        return self._power()

    def _power(self) -> sympy.Expr:
        base = self._postfix()
        if sign := self._accept("^", "**"):
            exponent = self._nested(self._unary, sign)
            return self._raised(base, exponent, sign)
        return base

    def _postfix(self) -> sympy.Expr:
        start = self._next
        expr = self._atom()
        while self._next.kind == "suffix":
            suffix = self._take()
            self._check_letters(suffix.text[1:], suffix)
            expr = self._normal(expr, start)
            for letter in suffix.text[1:]:
                self._count(expr, len(self._space.jets(expr)), suffix)
                expr = self._normal(self._space.derivative(expr, letter), start)
            self._check_order(expr, suffix)
        return expr

    def _atom(self) -> sympy.Expr:
        token = self._take()
        if token.kind in ("number", "imaginary"):
            return self._number(token)
        if token.kind == "name":
            return self._function(token) if self._next.text == "(" else self._name(token)
        if token.text == "(":
            inner = self._nested(self._sum, token)
            self._close(token)
            return inner
        got = "the end of the equation" if token.kind == "end" else repr(token.text)
        raise self._error(f"expected a number, a field or '(', got {got}", token)

    def _nested(self, rule: Callable[[], sympy.Expr], token: Token) -> sympy.Expr:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep", token)
        inner = rule()
        self._depth -= 1
        return inner

    def _close(self, opening: Token) -> None:
        if not self._accept(")"):
            if self._next.kind == "end":
                raise self._error("'(' is never closed", opening)
            self._unexpected()

    # -- meaning -----------------------------------------------------------------------------

    def _number(self, token: Token) -> sympy.Expr:
        value = float(token.text.rstrip("jJ"))
        if not math.isfinite(value):
            raise self._error(f"{token.text} is too large for double precision", token)
        if value == 0 and re.match(r"[0.]*[1-9]", token.text):
            raise self._error(f"{token.text} is too small for double precision", token)
        return number(value) * (sympy.I if token.kind == "imaginary" else 1)

    def _name(self, token: Token) -> sympy.Expr:
        word = token.text
        found = self._space.parse(sympy.Symbol(word))
        if found:
            if sum(found[1]) > MAX_ORDER:
                raise self._error(f"{word!r} is of higher order than {MAX_ORDER}", token)
            return self._space.symbol(*found)
        if word in self._parameters:
            return parameter(word)
        if word == "t" or word in self._space.coordinates:
            return coordinate(word)
        if word in ("I", "pi"):
            return sympy.I if word == "I" else sympy.pi
        stem, _, suffix = word.rpartition("_")
        if stem in self._space.fields:
            self._check_letters(suffix, token)
        known = [*self._space.fields, *self._parameters, *self._space.coordinates, "I", "pi", "t"]
        if word in FUNCTIONS:
            raise self._error(f"write {word}(...): it is a function", token)
        raise self._error(
            f"unknown name {word!r}.{closest(word, known)} The fields are "
            f"{', '.join(self._space.fields)}; parameters: "
            f"{', '.join(self._parameters) or 'none given'}",
            token,
        )

    def _function(self, token: Token) -> sympy.Expr:
        if token.text not in FUNCTIONS:
            try:
                self._name(token)
            except ParseError:
                raise self._error(
                    f"unknown function {token.text!r}.{closest(token.text, FUNCTIONS)} "
                    f"The functions are {', '.join(FUNCTIONS)}",
                    token,
                ) from None
            raise self._error(f"write '*' between {token.text!r} and '(' to multiply", token)
        opening = self._take()
        argument = self._nested(self._sum, opening)
        self._close(opening)
        self._count(argument, 1, token)
        return self._normal(FUNCTIONS[token.text](argument), token)

    def _raised(self, base: sympy.Expr, exponent: sympy.Expr, sign: Token) -> sympy.Expr:
        plain = exponent.is_Rational or (
            not exponent.is_number
            and all(s.name in self._parameters for s in exponent.free_symbols)
        )
        if not plain:
            raise self._error("an exponent is a number or made of parameters", sign)
        if exponent.is_Rational and abs(exponent) > MAX_EXPONENT:
            raise self._error(f"exponent {exponent} exceeds {MAX_EXPONENT}", sign)
        if base == 0 and not exponent.is_positive:
            raise self._error("division by zero", sign)
        return self._tidied(base**exponent)

    def _normal(self, expr: sympy.Expr, start: Token) -> sympy.Expr:
        try:
            return normalize(expr, self._space)
        except ValueError as error:
            raise self._error(str(error), start) from None

    def _count(self, expr: sympy.Expr, times: int, token: Token) -> None:
        """Stop before derivatives or nested functions become too large."""
        self._work += 20 + times * sum(1 for _ in sympy.preorder_traversal(expr))
        if self._work > MAX_WORK:
            raise self._error("derivatives or functions here would have too many terms", token)

    def _check_letters(self, letters: str, token: Token) -> None:
        if "t" in letters:
            raise self._error("time derivatives are supported on the left only", token)
        wrong = set(letters) - set(self._space.coordinates)
        if wrong or not letters:
            raise self._error(
                f"cannot differentiate by {', '.join(sorted(wrong)) or 'nothing'}: the "
                f"coordinates are {', '.join(self._space.coordinates)}",
                token,
            )
        if len(letters) > MAX_ORDER:
            raise self._error(f"derivative of higher order than {MAX_ORDER}", token)

    def _check_order(self, expr: sympy.Expr, token: Token) -> None:
        if any(self._space.rank(jet)[1] > MAX_ORDER for jet in self._space.jets(expr)):
            raise self._error(f"derivative of higher order than {MAX_ORDER}", token)
