"""What a parameter may be, noted where it is checked: written once, and shown to users."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

__all__ = ["Limits", "note_limits", "noted_limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a parameter may be.

    Parameters
    ----------
    name : str
        Of the parameter.
    low, high : float
        Closed range.
    open_low : bool, default False
        Whether `low` itself is excluded.
    whole : bool, default False
        Whether only whole numbers will do.
    choices : tuple, optional
        All values that will do, if they are few.

    Examples
    --------
    >>> print(Limits(name="viscosity", low=0.0, high=10.0, open_low=True))
    (0, 10]
    >>> print(Limits(name="plane", choices=("stress", "strain")))
    'stress' or 'strain'
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.choices:
            return " or ".join(map(repr, self.choices))
        if self.whole:
            return f"whole, {self.low:.0f} to {self.high:.0f}"
        left = "(" if self.open_low or math.isinf(self.low) else "["
        return f"{left}{self.low:g}, {self.high:g}{')' if math.isinf(self.high) else ']'}"


_NOTES: ContextVar[dict[str, Limits] | None] = ContextVar("notes of limits", default=None)


def note_limits(limits: Limits) -> None:
    """Note limits if someone is listening; the narrower ones of two count."""
    notes = _NOTES.get()
    if notes is None:
        return
    old = notes.get(limits.name)
    if old is None or limits.choices or (limits.low >= old.low and limits.high <= old.high):
        notes[limits.name] = limits


@contextlib.contextmanager
def noted_limits() -> Iterator[dict[str, Limits]]:
    """Listen to the checks inside; the mapping fills with the limits that they enforce.

    Examples
    --------
    >>> from pdes.library.ranges import check_range
    >>> with noted_limits() as limits:
    ...     _ = check_range("heat", "diffusivity", 0.1, 0.0, 100.0)
    >>> print(limits["diffusivity"])
    [0, 100]
    """
    notes: dict[str, Limits] = {}
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)
