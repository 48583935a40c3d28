"""Kinds of the axes of a dataset, as far as its coordinates say them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["stored_kinds"]


def stored_kinds(dataset: xr.Dataset, axes: Sequence[str]) -> tuple[str, ...] | None:
    """Read the kinds of axes from what `pdes` writes beside coordinates; nothing is guessed.

    A coordinate with the attribute ``periodic`` 1 is ``"periodic"``; with 0 and a ``length`` that
    its points span, ``"node"``.

    Parameters
    ----------
    dataset : xarray.Dataset
    axes : sequence of str
        Axes of space.

    Returns
    -------
    tuple of str or None
        None if a single one is not told.

    Examples
    --------
    >>> import pdes
    >>> stored_kinds(pdes.simulate(pdes.get("heat")), ["x"])
    ('periodic',)
    """
    kinds = []
    for name in axes:
        coordinate = dataset.coords.get(name)
        if coordinate is None or "periodic" not in coordinate.attrs:
            return None
        if coordinate.attrs["periodic"]:
            kinds.append("periodic")
            continue
        span = float(np.ptp(np.asarray(coordinate.values, dtype=float)))
        length = float(coordinate.attrs.get("length", np.nan))
        # Cell centers span less than the length, as do points that leave out an end.
        if not abs(span - length) <= 1e-6 * length:
            return None
        kinds.append("node")
    return tuple(kinds) if kinds else None
