"""A case that was run."""

from __future__ import annotations

import base64
import io
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from sciml.theory.prediction import Verdict, finite_or_text


@dataclass(frozen=True, kw_only=True)
class Result:
    """A case that was run, with its verdicts or with the traceback of its failure.

    Attributes
    ----------
    name
        Name with its topic, such as ``solvers/heat``.
    title, description, tier
        As in the case.
    verdicts
        One for each prediction; empty if the case raised.
    error
        Traceback if the case raised, else empty.
    skipped
        Why the case could not be run here (it raised ``unittest.SkipTest``), else empty.
    seconds
        Wall time of the run, also if it comes from the cache.
    cached
        Whether the measurements come from an earlier run.
    table, note
        As measured.
    figure
        PNG bytes, or None if there is no figure or none was asked for.
    """

    name: str
    title: str
    description: str
    tier: str
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    skipped: str = ""
    seconds: float = 0.0
    cached: bool = False
    table: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    figure: bytes | None = None

    @property
    def passed(self) -> bool:
        """Whether every prediction holds, or the case could not be run here."""
        return not self.error and all(verdict.passed for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON data, the figure as base64 text."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "tier": self.tier,
            "passed": self.passed,
            "seconds": self.seconds,
            "cached": self.cached,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "error": self.error,
            "skipped": self.skipped,
            "table": [dict(row) for row in self.table],
            "note": self.note,
            "figure": None
            if self.figure is None
            else base64.b64encode(self.figure).decode("ascii"),
        }


def plain_rows(table: Any) -> tuple[dict[str, Any], ...]:
    """Return table rows whose cells are text, numbers, booleans or None, fit for JSON.

    Examples
    --------
    >>> plain_rows([{"noise": 0.05, "equation": ["u", "u_x"]}])
    ({'noise': 0.05, 'equation': "['u', 'u_x']"},)
    """
    return tuple(
        {str(column): _cell(value) for column, value in row.items()} for row in table or ()
    )


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, Real):  # also NumPy's scalars
        number = float(value)
        if math.isfinite(number) and number.is_integer() and not isinstance(value, float):
            return int(number)
        return finite_or_text(number)
    return str(value)


def png(figure: Any) -> bytes:
    """Return a Matplotlib figure as PNG bytes."""
    if not hasattr(figure, "savefig"):
        raise TypeError(
            f"figure of a case returned {type(figure).__name__}: a Matplotlib Figure is needed"
        )
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
    if "matplotlib.pyplot" in sys.modules:  # else pyplot keeps every figure of the suite alive
        sys.modules["matplotlib.pyplot"].close(figure)
    return buffer.getvalue()
