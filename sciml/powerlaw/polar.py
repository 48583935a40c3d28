"""Radius and angle about a center for torch, safe at the center itself.

At the center the radius has no derivative, and a selection after the fact would leave ``0 * inf``:
the argument is replaced before the root is taken, and the value afterwards (the "double where").
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sciml.powerlaw import blocks


class Position(NamedTuple):
    """Points as seen from a center.

    Attributes
    ----------
    offset : Tensor, shape (..., d)
        ``x - center``.
    radius : Tensor, shape (..., 1)
        Its length; 0 at the center, where its gradient is 0 too.
    unit : Tensor, shape (..., d)
        Direction; 0 at the center.
    """

    offset: Tensor
    radius: Tensor
    unit: Tensor


def position(x: Tensor, center: Tensor | None = None) -> Position:
    """Offset and distance from a center.

    Parameters
    ----------
    x : Tensor, shape (..., d)
        Points.
    center : Tensor, shape (d,), optional
        The origin by default.

    Returns
    -------
    Position

    Examples
    --------
    >>> position(torch.tensor([[3.0, 4.0], [0.0, 0.0]])).radius.tolist()
    [[5.0], [0.0]]
    """
    offset = x if center is None else x - center
    away = (offset != 0.0).any(-1, keepdim=True)
    length = torch.linalg.vector_norm(_safe(offset, away), dim=-1, keepdim=True)
    return Position(offset, torch.where(away, length, torch.zeros_like(length)), offset / length)


def polar_angle(offset: Tensor, start: float) -> Tensor:
    """Polar angle in ``[start, start + 2 pi)``, with a zero gradient at the center.

    Parameters
    ----------
    offset : Tensor, shape (..., 2)
        Points relative to the center.
    start : float
        Where the branch begins, in radians.

    Returns
    -------
    Tensor, shape (..., 1)

    Examples
    --------
    >>> polar_angle(torch.tensor([[0.0, -2.0]]), 0.0) / torch.pi
    tensor([[1.5000]])
    """
    away = (offset != 0.0).any(-1, keepdim=True)
    return blocks.angle(_safe(offset, away), start)[..., None]


def _safe(offset: Tensor, away: Tensor) -> Tensor:
    return torch.where(away, offset, torch.ones_like(offset))
