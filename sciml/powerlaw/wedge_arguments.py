"""Arguments of a wedge fit, checked before anything is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sciml.powerlaw.wedge_model import WedgeModel


def check_wedge(order: Any, bounds: Any, start: Any) -> tuple[int | str, tuple[float, float]]:
    """Order and bounds of `WedgeFit`.

    Parameters
    ----------
    order : int or "auto"
    bounds : tuple of float
    start : float

    Returns
    -------
    order : int or "auto"
    bounds : tuple of float

    Raises
    ------
    ValueError
        Naming the argument.

    Examples
    --------
    >>> check_wedge(2, (0.05, 7), 0.0)
    (2, (0.05, 7.0))
    """
    whole = isinstance(order, (int, np.integer)) and not isinstance(order, bool)
    if order != "auto" and not (whole and order >= 1):
        raise ValueError(f"order={order!r}, wanted an integer of at least 1, or 'auto'")
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds={bounds!r}, wanted (low, high)") from None
    if not (0.0 < low < high < 100.0):
        raise ValueError(
            f"bounds={bounds!r}, wanted 0 < low < high < 100: exponents of finite energy"
        )
    if not (isinstance(start, (int, float, np.number)) and math.isfinite(float(start))):
        raise ValueError(f"start={start!r}, wanted the angle of the first edge")
    return "auto" if order == "auto" else int(order), (low, high)


def check_wedge_rows(rows: int, model: WedgeModel, order: int) -> None:
    """Raise ValueError if there are fewer rows than unknowns."""
    wanted = order * (model.per_term + 1) + model.constant
    if rows < wanted:
        raise ValueError(
            f"arc: {rows} rows with the edges for {order} terms of {model.per_term} "
            f"coefficients and an exponent each; wanted at least {wanted}"
        )
