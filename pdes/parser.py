"""Text to systems of equations, and to single right-hand sides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import sympy

from pdes.jets import JetSpace
from pdes.names import check_coordinates, check_name
from pdes.reader import Reader
from pdes.symbols import number
from pdes.tokens import ParseError, Token, tokenize

__all__ = ["ParseError", "ParsedSystem", "parse_expression", "parse_system", "parse_terms"]

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
    rhs = {
        name: Reader(tokens, text, space, parameters).read(real=name not in complex_names)
        for name, tokens in sides.items()
    }
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
    return Reader(pieces[0], text, space, parameters).read()


def parse_terms(
    terms: Mapping[str, Mapping[str, complex]], space: JetSpace, parameters: Collection[str] = ()
) -> dict[str, sympy.Expr]:
    """Right-hand sides in plain symbols from the coefficients of terms such as ``"u*u_x"``."""
    return {
        row: sympy.Add(
            *[
                number(value) * parse_expression(term, space, parameters)
                for term, value in coefficients.items()
            ]
        )
        for row, coefficients in terms.items()
    }


def _left_side(tokens: list[Token], text: str) -> str:
    first = tokens[0]

    def error(message: str) -> ParseError:
        return ParseError(message, text, first.position)

    if first.kind != "name" or len(tokens) < 2 or tokens[1].text != "=":
        raise error(
            "an equation begins with a field's time derivative, as 'u_t =', "
            "and has everything else on the right"
        )
    name, _, suffix = first.text.rpartition("_")
    if name and suffix.strip("t") == "" and len(suffix) > 1:
        raise error(
            f"{first.text!r}: only first-order time derivatives are supported yet; "
            "write a second-order equation as a system (u_t = v; v_t = ...)"
        )
    if not name or suffix != "t":
        raise error(f"wanted a time derivative such as 'u_t' on the left, got {first.text!r}")
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
