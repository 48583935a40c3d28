"""How the axes of a recording are called: the names met in files, and the names used here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

DIMENSIONS = ("sample", "time", "x", "y", "z")
"""Dimensions of a recording, in the order in which they are laid out."""

SPACE = ("x", "y", "z")
"""Spatial dimensions, in order."""

_STEMS = {"time": "t", "x": "x", "y": "y", "z": "z"}
_PATTERNS = ("{0}", "{0}{0}", "{0}s", "{0}_star", "{0}_grid", "{0}grid", "{0}_coordinate", "{0}vec")
_ALIASES = {
    "time": "time",
    "times": "time",
    "tspan": "time",
    "t_span": "time",
    "space": "x",
    "sample": "sample",
    "samples": "sample",
    **{pattern.format(stem): axis for axis, stem in _STEMS.items() for pattern in _PATTERNS},
}


def canonical_axis(name: str) -> str | None:
    """Translate the name of an axis met in a file, or return None for a name that is no axis.

    Parameters
    ----------
    name
        As stored: case, hyphens and the folder of a nested file do not matter.

    Returns
    -------
    str or None
        One of ``sample``, ``time``, ``x``, ``y``, ``z``.

    Examples
    --------
    >>> [canonical_axis(name) for name in ("t", "tt", "T", "xs", "x-coordinate", "grid/y", "lat")]
    ['time', 'time', 'time', 'x', 'x', 'y', None]
    """
    return _ALIASES.get(name.rsplit("/", 1)[-1].lower().replace("-", "_"))


def closest(name: str, known: Iterable[str]) -> str:
    """Phrase the nearest known name as a suggestion, or just end the sentence.

    Examples
    --------
    >>> closest("usoll", ["usol", "x"])
    "; did you mean 'usol'?"
    >>> closest("pressure", ["usol", "x"])
    '.'
    """
    known = list(known)
    folded = {candidate.lower(): candidate for candidate in known}
    match = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[match[0]]!r}?" if match else "."
