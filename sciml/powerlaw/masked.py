"""Masked arrays are refused: their masked entries would come back as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_masked(name: str, data: Any) -> None:
    """Raise ValueError if entries are masked.

    Parameters
    ----------
    name : str
        Of the argument.
    data : object

    Raises
    ------
    ValueError

    Examples
    --------
    >>> refuse_masked("y", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: y is a masked array with 1 masked entries: leave these samples out
    """
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        count = int(np.ma.getmaskarray(data).sum())
        raise ValueError(
            f"{name} is a masked array with {count} masked entries: leave these samples out"
        )
