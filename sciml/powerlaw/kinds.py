"""Data types and devices of arrays that belong together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

SINGLE = ("float32", "float16", "bfloat16")


def refuse_mixed_kinds(**arrays: Any) -> None:
    """Refuse arrays of several precisions, or on several devices, or without data.

    Parameters
    ----------
    **arrays : array, Tensor or anything else
        By the names of the arguments. Lists and numbers have no precision of their own, whole
        numbers are exact: both go with all others. None was not given.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> refuse_mixed_kinds(x=np.ones(2, np.float32), y=np.ones(2))
    Traceback (most recent call last):
    ValueError: x is float32, y is float64: wanted one precision, float64 at best
    """
    kinds = {name: kind for name, array in arrays.items() if (kind := float_kind(array))}
    if len(set(kinds.values())) > 1:
        given = ", ".join(f"{name} is {kind}" for name, kind in kinds.items())
        raise ValueError(f"{given}: wanted one precision, float64 at best")
    places = {name: str(array.device) for name, array in arrays.items() if hasattr(array, "detach")}
    if len(set(places.values())) > 1:
        given = ", ".join(f"{name} is on {place}" for name, place in places.items())
        raise ValueError(f"{given}: move all to one device")
    empty = [name for name, place in places.items() if place.startswith("meta")]
    if empty:
        raise ValueError(f"{', '.join(empty)}: on the device meta tensors hold no numbers")


def float_kind(array: Any) -> str:
    """Name of a floating point type such as ``"float32"``; empty for everything else.

    Examples
    --------
    >>> float_kind(np.ones(2)), float_kind([1.0]), float_kind(np.arange(2))
    ('float64', '', '')
    """
    # Numbers of NumPy are scalars like those of Python, which take the type of the others.
    if isinstance(array, np.generic):
        return ""
    name = str(getattr(array, "dtype", "")).removeprefix("torch.")
    return name if name.startswith(("float", "bfloat")) else ""


def warn_of_single_precision(stacklevel: int = 3) -> None:
    """Say once that data carry seven digits.

    Parameters
    ----------
    stacklevel : int, default 3
        As in `warnings.warn`: 3 is the caller of the function that calls this.
    """
    warnings.warn(
        "the data are in single precision: the fit is computed in float64, but exponents can "
        "be no better than the seven digits of the data",
        UserWarning,
        stacklevel=stacklevel,
    )
