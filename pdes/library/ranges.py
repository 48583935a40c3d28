"""Checks that physical parameters lie where an equation makes sense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pdes.library.limits import Limits, note_limits


def check_range(
    problem: str,
    name: str,
    value: float,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
) -> float:
    """Value of a parameter as a float, or an error that names it and its range.

    Parameters
    ----------
    problem : str
        Name of the problem.
    name : str
        Name of the parameter.
    value : float
        What was given.
    low, high : float
        Closed range.
    open_low : bool, default False
        Exclude `low` itself.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the value is no finite number in the range.

    Examples
    --------
    >>> check_range("heat", "diffusivity", 0.1, 0.0, 10.0)
    0.1
    """
    note_limits(Limits(name=name, low=low, high=high, open_low=open_low))
    number = _real(value)
    if not (math.isfinite(number) and low <= number <= high) or (open_low and number == low):
        raise ValueError(
            f"{problem}: {name}={value!r} is outside {'(' if open_low else '['}{low:g}, {high:g}]; "
            "choose a finite number in this range"
        )
    return number


def check_whole(problem: str, name: str, value: int, low: int, high: int) -> int:
    """Value of a whole number, such as a number of points, or an error that names it.

    Parameters
    ----------
    problem : str
        Name of the problem.
    name : str
        Name of the parameter.
    value : int
        What was given.
    low, high : int
        Closed range.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the value is no whole number in the range.

    Examples
    --------
    >>> check_whole("darcy", "cells", 64, 4, 2048)
    64
    >>> check_whole("darcy", "cells", 7.5, 4, 2048)
    Traceback (most recent call last):
    ...
    ValueError: darcy: cells=7.5, wanted a whole number in [4, 2048]
    """
    note_limits(Limits(name=name, low=low, high=high, whole=True))
    number = _real(value)
    if not (math.isfinite(number) and number == int(number) and low <= number <= high):
        raise ValueError(f"{problem}: {name}={value!r}, wanted a whole number in [{low}, {high}]")
    return int(number)


def _real(value: Any) -> float:
    """Number as a float; NaN for what is none: text, switches, arrays of several numbers."""
    if isinstance(value, bool | np.bool_ | str | bytes):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
