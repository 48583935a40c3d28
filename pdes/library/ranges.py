"""Checks that physical parameters lie where an equation makes sense."""

from __future__ import annotations

import math


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
    bracket = "(" if open_low else "["
    inside = isinstance(value, int | float) or hasattr(value, "__float__")
    number = float(value) if inside else math.nan
    if not (math.isfinite(number) and low <= number <= high) or (open_low and number == low):
        raise ValueError(
            f"{problem}: {name}={value!r} is outside {bracket}{low:g}, {high:g}]; choose a finite "
            "value in this range"
        )
    return number
