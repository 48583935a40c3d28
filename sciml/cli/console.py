"""Where the commands print."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_OF_A_PIPE = 120


def output() -> Console:
    """Return the console for results."""
    return _console(stderr=False)


def messages() -> Console:
    """Return the console for errors and progress, which does not mix with results in a pipe."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_A_PIPE  # a log has no width, and 80 columns would fold the tables
    return console
