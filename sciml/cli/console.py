"""Where the commands print."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_OF_A_PIPE = 120


def output() -> Console:
    """Return the console for results."""
    return _console(stderr=False)


def messages() -> Console:
    """Return the console for errors and progress, which does not mix with results in a pipe."""
    return _console(stderr=True)


def sizes_text(sizes: Mapping[Any, int]) -> str:
    """Phrase the lengths of named axes.

    Examples
    --------
    >>> sizes_text({"time": 101, "x": 64, "y": 64})
    'time 101, x 64, y 64'
    """
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


def _console(stderr: bool) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_A_PIPE  # a log has no width, and 80 columns would fold the tables
    return console
