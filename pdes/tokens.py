"""Characters to tokens, and the error that points at one of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["MAX_LENGTH", "ParseError", "Token", "closest", "tokenize"]

MAX_LENGTH = 50_000
"""Longest text that is read, in characters."""

_WINDOW = 60
_ALIKE = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "∗": "*", "\t": " ", "\r": " "})
_PATTERN = re.compile(
    r"(?P<space> +)"
    r"|(?P<break>[\n;]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<imaginary>[jJ](?![A-Za-z0-9_]))?"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<suffix>_[A-Za-z]+)"
    r"|(?P<operator>\*\*|[-+*/^()=])"
)

Kind = Literal["number", "imaginary", "name", "suffix", "operator", "end"]


class ParseError(ValueError):
    """Text that is no equation, with the place where reading it stopped.

    Parameters
    ----------
    message
        What is wrong and what would be right.
    text
        The whole text.
    position
        Offset into ``text`` of the character that the message is about.

    Examples
    --------
    >>> from pdes.equation import Equation
    >>> Equation.from_text("u_t = u_xx + ")
    Traceback (most recent call last):
    ...
    pdes.tokens.ParseError: expected a number, a field or '(', got the end of the equation
      u_t = u_xx +
                  ^
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        self.message, self.text, self.position = message, text, position
        super().__init__(f"{message}\n{_pointed(text, position)}")

    def __reduce__(self) -> tuple:
        return type(self), (self.message, self.text, self.position)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of an equation and where it begins."""

    kind: Kind
    text: str
    position: int


def _pointed(text: str, position: int) -> str:
    """The equation around a position, and a caret under it."""
    start = max(text.rfind(mark, 0, position) for mark in "\n;") + 1
    ends = [text.find(mark, position) for mark in "\n;"]
    end = min([e for e in ends if e >= 0], default=len(text))
    start += len(text[start:end]) - len(text[start:end].lstrip())
    left, right = max(start, position - _WINDOW), min(end, position + _WINDOW)
    before = "..." if left > start else ""
    after = "..." if right < end else ""
    line = re.sub(r"\s", " ", text[left:right])
    caret = " " * (len(before) + max(position - left, 0))
    return f"  {before}{line.rstrip()}{after}\n  {caret}^"


def tokenize(text: str) -> list[list[Token]]:
    """Tokens of each equation in a text; equations end at a semicolon or a line break.

    Raises
    ------
    ParseError
        At a character that has no meaning here, or if the text is too long.
    """
    if len(text) > MAX_LENGTH:
        raise ParseError(
            f"the text has {len(text)} characters, more than {MAX_LENGTH}", text, MAX_LENGTH
        )
    readable = text.translate(_ALIKE)
    equations: list[list[Token]] = [[]]
    position = depth = 0
    while position < len(readable):
        match = _PATTERN.match(readable, position)
        if match is None:
            raise ParseError(f"unexpected character {readable[position]!r}", text, position)
        kind, word = str(match.lastgroup), match.group()
        if kind == "break" and (depth == 0 or ";" in word):
            equations.append([])
            depth = 0
        elif kind not in ("space", "break"):
            if kind == "suffix" and not (equations[-1] and equations[-1][-1].text == ")"):
                raise ParseError(f"{word} has to follow a name or ')'", text, position)
            depth += (word == "(") - (word == ")")
            equations[-1].append(Token(kind, word, position))  # type: ignore[arg-type]
        position = match.end()
    return [tokens for tokens in equations if tokens]


def closest(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the known name nearest to an unknown one, or an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""
