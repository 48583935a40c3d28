"""Points and values as they come from a user: checked, and in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sciml.powerlaw.kinds import SINGLE, float_kind, refuse_mixed_kinds, warn_of_single_precision
from sciml.powerlaw.masked import refuse_masked


def check_points(
    x: Any, y: Any = None, weights: Any = None, *, dimension: int | None = None
) -> tuple[Tensor, Any, Any]:
    """Return points, values and weights as float64 tensors on one device.

    Parameters
    ----------
    x : array or Tensor, shape (rows, d) or (rows,)
        Points; one axis means one dimension.
    y, weights : array or Tensor, shape (rows,) or (rows, 1), optional
        Values, and what rows are multiplied by.
    dimension : int, optional
        Wanted number of coordinates.

    Returns
    -------
    x, y, weights : Tensor
        Of shapes ``(rows, d)``, ``(rows,)`` and ``(rows,)``; what was not given stays None.

    Raises
    ------
    ValueError
        For values that are not finite or real, shapes that do not fit, different precisions or
        devices, and weights that are not positive.

    Warns
    -----
    UserWarning
        If the data are in single precision: they are computed with in double precision, but carry
        only seven digits.

    Examples
    --------
    >>> check_points([0.5, 1.0], [1.0, 2.0])[0].shape
    torch.Size([2, 1])
    """
    refuse_mixed_kinds(x=x, y=y, weights=weights)
    points = _tensor("x", x)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] < 1:
        raise ValueError(f"x has shape {tuple(points.shape)}, wanted (rows, d) with d of 1 or more")
    if dimension is not None and points.shape[1] != dimension:
        raise ValueError(f"x has shape {tuple(points.shape)}, wanted (rows, {dimension})")
    found = []
    for name, values in (("y", y), ("weights", weights)):
        if values is None:
            found.append(None)
            continue
        column = _tensor(name, values)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.shape != points.shape[:1]:
            raise ValueError(
                f"{name} has shape {tuple(column.shape)}, wanted ({len(points)},): one value for "
                "each point"
            )
        if column.device != points.device:  # an array beside a tensor elsewhere
            raise ValueError(
                f"{name} is on {column.device}, x on {points.device}: move both to one device"
            )
        found.append(column)
    if found[1] is not None and not bool((found[1] > 0.0).all()):
        worst = float(found[1].min())
        raise ValueError(f"weights: the smallest is {worst:g}, wanted positive numbers")
    given = [values for values in (x, y, weights) if values is not None]
    if any(float_kind(values) in SINGLE for values in given):
        warn_of_single_precision(4)
    return points, found[0], found[1]


def _tensor(name: str, values: Any) -> Tensor:
    refuse_masked(name, values)
    if not isinstance(values, Tensor):
        try:
            values = np.asarray(values)
        except ValueError:
            raise ValueError(f"{name} is no array: wanted numbers in equal rows") from None
        if values.dtype.kind not in "fiub":
            raise ValueError(f"{name} has dtype {values.dtype}, wanted real numbers")
        values = torch.as_tensor(np.ascontiguousarray(values, dtype=np.float64))
    if values.is_complex():
        raise ValueError(f"{name} has dtype {values.dtype}, wanted real numbers")
    values = values.detach().to(torch.float64)
    if not values.numel():
        raise ValueError(f"{name} is empty, wanted at least one row")
    if not bool(torch.isfinite(values).all()):
        bad = int((~torch.isfinite(values)).sum())
        where = [int(k) for k in torch.nonzero(~torch.isfinite(values))[0]]
        raise ValueError(
            f"{name} contains {bad} values that are not finite, the first at index {where}: leave "
            "these rows out"
        )
    return values
