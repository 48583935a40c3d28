"""Text to equations, by recursive descent.

The grammar, loosest binding first; nothing is ever evaluated as code::

    equation  FIELD_t "=" sum
    sum       product (("+" | "-") product)*
    product   unary (("*" | "/") unary)*
    unary     ("+" | "-") unary | power
    power     postfix (("^" | "**") unary)?
    postfix   atom SUFFIX*                  (u^2)_xx: a total derivative
    atom      NUMBER | NAME | FUNCTION "(" sum ")" | "(" sum ")"

Depth, exponents, orders of derivatives and the size of the result are bounded, so that every text
is either read or refused in reasonable time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import sympy

from pdes.jets import JetSpace
from pdes.names import MAX_EXPONENT, check_coordinates, check_name
from pdes.normal_form import FUNCTIONS, MAX_TERMS, normalize
from pdes.symbols import coordinate, number, parameter
from pdes.tokens import ParseError, Token, closest, tokenize

__all__ = ["MAX_DEPTH", "MAX_EXPONENT", "MAX_ORDER", "ParseError", "ParsedSystem"]
__all__ += ["parse_expression", "parse_system"]

MAX_DEPTH = 40
"""Deepest nesting of parentheses, signs and powers."""

MAX_ORDER = 8
"""Highest order of a derivative that may be written."""

MAX_WORK = 5 * MAX_TERMS
"""Most terms that powers, functions and derivatives in one right-hand side may make together."""

_AXES = ("x", "y", "z")


@dataclass(frozen=True, kw_only=True)
class ParsedSystem:
    """What a text says: right-hand sides in plain symbols, and the space they live in."""

    rhs: dict[str, sympy.Expr]
    space: JetSpace


def parse_system(
    text: str,
    *,
    parameters: Collection[str] = (),
    coordinates: Sequence[str] | None = None,
    complex_fields: Iterable[str] = (),
) -> ParsedSystem:
    """Read a system of evolution equations.

    Parameters
    ----------
    text
        Equations such as ``"u_t = -u*u_x + 0.1*u_xx"``, one a line or separated by semicolons.
    parameters
        Names that stay symbolic.
    coordinates
        Names of the spatial coordinates, one letter each; those of x, y and z that occur if None.
    complex_fields
        Complex-valued fields. A field whose equation holds ``I`` or whose conjugate is taken is
        complex without being listed.

    Returns
    -------
    ParsedSystem

    Raises
    ------
    ParseError
        With the position, and the closest known name where a name is unknown.
    """
    equations = tokenize(text)
    if not equations:
        raise ParseError("no equation: wanted something like 'u_t = u_xx'", text, 0)
    sides: dict[str, list[Token]] = {}
    for tokens in equations:
        name = _left_side(tokens, text)
        if name in sides:
            raise ParseError(f"a second equation for {name}", text, tokens[0].position)
        sides[name] = tokens[2:]
    fields = tuple(sides)
    if coordinates is None:
        words = [token for tokens in sides.values() for token in tokens]
        coordinates = _axes_used(words, fields, parameters)
    else:
        check_coordinates(tuple(coordinates))
    for name, tokens in zip(fields, equations, strict=True):
        try:
            others = [other for other in fields if other != name]
            check_name("field", name, [*others, *parameters], coordinates)
        except ValueError as error:
            raise ParseError(str(error), text, tokens[0].position) from None
    complex_names = frozenset(complex_fields) | _complex_fields(sides)
    space = JetSpace(fields, tuple(coordinates), complex_names & frozenset(fields))
    rhs = {name: _Reader(tokens, text, space, parameters).read() for name, tokens in sides.items()}
    return ParsedSystem(rhs=rhs, space=space)


def parse_expression(text: str, space: JetSpace, parameters: Collection[str] = ()) -> sympy.Expr:
    """Read one right-hand side, such as ``"-u*u_x"``, into plain symbols in normal form.

    Raises
    ------
    ParseError
        As :func:`parse_system`.
    """
    pieces = tokenize(text)
    if len(pieces) != 1:
        raise ParseError("wanted one expression", text, 0)
    return _Reader(pieces[0], text, space, parameters).read()


def _left_side(tokens: list[Token], text: str) -> str:
    first = tokens[0]
    if first.kind != "name" or len(tokens) < 2 or tokens[1].text != "=":
        raise ParseError(
            "an equation begins with a field's time derivative, as 'u_t ='", text, first.position
        )
    name, _, suffix = first.text.rpartition("_")
    if not name or set(suffix) - {"t", *_AXES} or "t" not in suffix:
        raise ParseError(
            f"wanted a time derivative such as 'u_t' on the left, got {first.text!r}",
            text,
            first.position,
        )
    if suffix != "t":
        raise ParseError(
            f"{first.text!r}: only first-order time derivatives are supported yet; "
            "write a second-order equation as a system (u_t = v; v_t = ...)",
            text,
            first.position,
        )
    if len(tokens) == 2:
        raise ParseError("nothing to the right of '='", text, tokens[1].position)
    return name


def _axes_used(
    words: Iterable[Token], fields: tuple[str, ...], parameters: Collection[str]
) -> tuple[str, ...]:
    used: set[str] = set()
    for word in words:
        if word.kind == "suffix":
            used |= set(word.text[1:])
        elif word.kind == "name" and word.text not in parameters and word.text not in fields:
            stem, _, suffix = word.text.rpartition("_")
            used |= set(suffix) if stem in fields else {word.text}
    return tuple(axis for axis in _AXES if axis in used and axis not in fields) or ("x",)


def _complex_fields(sides: dict[str, list[Token]]) -> frozenset[str]:
    found = set()
    for name, tokens in sides.items():
        for place, token in enumerate(tokens):
            if token.kind == "imaginary" or token.text == "I":
                found.add(name)
            if token.text == "conj" and len(tokens) > place + 2:
                stem = tokens[place + 2].text
                found |= {f for f in sides if stem == f or stem.startswith(f"{f}_")}
    return frozenset(found)


class _Reader:
    """Reads the tokens of one right-hand side."""

    def __init__(
        self, tokens: list[Token], text: str, space: JetSpace, parameters: Collection[str]
    ) -> None:
        last = tokens[-1]
        self.tokens = [*tokens, Token("end", "", last.position + len(last.text))]
        self.text, self.space, self.parameters = text, space, parameters
        self.index = self.depth = self.work = 0

    def read(self, *, real: bool = False) -> sympy.Expr:
        start = self.tokens[0]
        expr = self.sum()
        if self.next.kind != "end":
            self.unexpected()
        normal = self.normal(expr, start)
        if real and normal.has(sympy.I):
            raise self.error(
                "this is complex while the field is real; name the field in complex_fields", start
            )
        return normal

    # -- tokens ------------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        token = self.next
        self.index += token.kind != "end"
        return token

    def accept(self, *words: str) -> Token | None:
        return self.take() if self.next.kind == "operator" and self.next.text in words else None

    def error(self, message: str, token: Token | None = None) -> ParseError:
        return ParseError(message, self.text, (token or self.next).position)

    def unexpected(self) -> None:
        token = self.next
        if token.kind in ("name", "number", "imaginary") or token.text == "(":
            raise self.error(f"write '*' before {token.text!r} to multiply")
        if token.text == ")":
            raise self.error("')' without '('")
        raise self.error(f"unexpected {token.text!r}")

    # -- grammar -----------------------------------------------------------------------------

    def sum(self) -> sympy.Expr:
        parts = [self.product()]
        while sign := self.accept("+", "-"):
            part = self.product()
            parts.append(part if sign.text == "+" else -part)
        return sympy.Add(*parts)

    def product(self) -> sympy.Expr:
        parts = [self.unary()]
        while sign := self.accept("*", "/"):
            part = self.unary()
            if sign.text == "/" and part == 0:
                raise self.error("division by zero", sign)
            parts.append(part if sign.text == "*" else 1 / part)
        return sympy.Mul(*parts)

    def unary(self) -> sympy.Expr:
        if sign := self.accept("+", "-"):
            with_depth = self.nested(self.unary, sign)
            return with_depth if sign.text == "+" else -with_depth
        return self.power()

    def power(self) -> sympy.Expr:
        start = self.next
        base = self.postfix()
        if sign := self.accept("^", "**"):
            exponent = self.nested(self.unary, sign)
            return self.raised(base, exponent, start, sign)
        return base

    def postfix(self) -> sympy.Expr:
        start = self.next
        expr = self.atom()
        while self.next.kind == "suffix":
            suffix = self.take()
            self.check_letters(suffix.text[1:], suffix)
            expr = self.normal(expr, start)
            for letter in suffix.text[1:]:
                expr = self.normal(self.space.derivative(expr, letter), start)
            self.check_order(expr, suffix)
        return expr

    def atom(self) -> sympy.Expr:
        token = self.take()
        if token.kind in ("number", "imaginary"):
            return self.number(token)
        if token.kind == "name":
            return self.function(token) if self.next.text == "(" else self.name(token)
        if token.text == "(":
            inner = self.nested(self.sum, token)
            self.close(token)
            return inner
        got = "the end of the equation" if token.kind == "end" else repr(token.text)
        raise self.error(f"expected a number, a field or '(', got {got}", token)

    def nested(self, rule, token: Token) -> sympy.Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep", token)
        inner = rule()
        self.depth -= 1
        return inner

    def close(self, opening: Token) -> None:
        if not self.accept(")"):
            if self.next.kind == "end":
                raise self.error("'(' is never closed", opening)
            self.unexpected()

    # -- meaning -----------------------------------------------------------------------------

    def number(self, token: Token) -> sympy.Expr:
        value = float(token.text.rstrip("jJ"))
        if not math.isfinite(value):
            raise self.error(f"{token.text} is too large for double precision", token)
        return number(value) * (sympy.I if token.kind == "imaginary" else 1)

    def name(self, token: Token) -> sympy.Expr:
        word = token.text
        found = self.space.parse(sympy.Symbol(word))
        if found:
            if sum(found[1]) > MAX_ORDER:
                raise self.error(f"{word!r} is of higher order than {MAX_ORDER}", token)
            return self.space.symbol(*found)
        if word in self.parameters:
            return parameter(word)
        if word == "t" or word in self.space.coordinates:
            return coordinate(word)
        if word in ("I", "pi"):
            return sympy.I if word == "I" else sympy.pi
        stem, _, suffix = word.rpartition("_")
        if stem in self.space.fields:
            self.check_letters(suffix, token)
        known = [*self.space.fields, *self.parameters, *self.space.coordinates, "I", "pi", "t"]
        if word in FUNCTIONS:
            raise self.error(f"write {word}(...): it is a function", token)
        raise self.error(
            f"unknown name {word!r}.{closest(word, known)} The fields are "
            f"{', '.join(self.space.fields)}; the parameters "
            f"{', '.join(self.parameters) or '(none given)'}",
            token,
        )

    def function(self, token: Token) -> sympy.Expr:
        if token.text not in FUNCTIONS:
            try:
                self.name(token)
            except ParseError:
                raise self.error(
                    f"unknown function {token.text!r}.{closest(token.text, FUNCTIONS)} "
                    f"The functions are {', '.join(FUNCTIONS)}",
                    token,
                ) from None
            raise self.error(f"write '*' between {token.text!r} and '(' to multiply", token)
        opening = self.take()
        argument = self.nested(self.sum, opening)
        self.close(opening)
        return self.normal(FUNCTIONS[token.text](argument), token)

    def raised(
        self, base: sympy.Expr, exponent: sympy.Expr, start: Token, sign: Token
    ) -> sympy.Expr:
        plain = exponent.is_Rational or (
            not exponent.is_number and all(s.name in self.parameters for s in exponent.free_symbols)
        )
        if not plain:
            raise self.error("an exponent is a number or made of parameters", sign)
        if exponent.is_Rational and abs(exponent) > MAX_EXPONENT:
            raise self.error(f"exponent {exponent} exceeds {MAX_EXPONENT}", sign)
        if base == 0 and not exponent.is_positive:
            raise self.error("division by zero", sign)
        return self.normal(base**exponent, start)

    def normal(self, expr: sympy.Expr, start: Token) -> sympy.Expr:
        try:
            normal = normalize(expr, self.space)
        except ValueError as error:
            raise self.error(str(error), start) from None
        self.work += len(sympy.Add.make_args(normal))
        if self.work > MAX_WORK:
            raise self.error("too many terms from powers and derivatives of sums", start)
        return normal

    def check_letters(self, letters: str, token: Token) -> None:
        if "t" in letters:
            raise self.error("time derivatives are supported on the left only", token)
        wrong = set(letters) - set(self.space.coordinates)
        if wrong or not letters:
            raise self.error(
                f"cannot differentiate by {', '.join(sorted(wrong)) or 'nothing'}: the "
                f"coordinates are {', '.join(self.space.coordinates)}",
                token,
            )
        if len(letters) > MAX_ORDER:
            raise self.error(f"derivative of higher order than {MAX_ORDER}", token)

    def check_order(self, expr: sympy.Expr, token: Token) -> None:
        if any(self.space.rank(jet)[1] > MAX_ORDER for jet in self.space.jets(expr)):
            raise self.error(f"derivative of higher order than {MAX_ORDER}", token)
