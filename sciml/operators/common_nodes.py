"""Points that two grids share, on which fields can be compared without interpolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sciml.nn.axis_kind import SampleAxis
from sciml.nn.axis_rules import axis_weights
from sciml.nn.quadrature import Quadrature

__all__ = ["CommonNodes", "common_nodes"]


@dataclass(frozen=True)
class CommonNodes:
    """Indices of shared points along each axis of two grids, and their weights.

    Attributes
    ----------
    first, second : tuple of ndarray of int
        For each axis.
    weights : ndarray
        Quadrature weights of the shared points, of sum 1.
    """

    first: tuple[np.ndarray, ...]
    second: tuple[np.ndarray, ...]
    weights: np.ndarray

    def of_first(self, x: torch.Tensor) -> torch.Tensor:
        """Values of a field of the first grid at the shared points."""
        return _chosen(x, self.first)

    def of_second(self, x: torch.Tensor) -> torch.Tensor:
        """Values of a field of the second grid at the shared points."""
        return _chosen(x, self.second)

    def distance(self, first: torch.Tensor, second: torch.Tensor) -> float:
        """Mean over samples of ``||second - first||/||first||`` on the shared points."""
        a, b = self.of_first(first).double(), self.of_second(second).double()
        return relative_size(b - a, a, self.weights)


def relative_size(difference: torch.Tensor, whole: torch.Tensor, weights: Any) -> float:
    """Mean over samples of ``||difference||/||whole||``; 0 for two fields that are 0."""
    share = torch.tensor(np.array(weights), dtype=whole.dtype, device=whole.device)
    axes = tuple(range(1, whole.ndim))
    gap = (difference.square() * share).sum(axes).sqrt()
    size = (whole.square() * share).sum(axes).sqrt()
    return float((gap / size.clamp_min(torch.finfo(size.dtype).tiny)).mean())


def common_nodes(first: Quadrature, second: Quadrature) -> CommonNodes:
    """Find the points that two tensor grids share.

    Raises
    ------
    ValueError
        If there are fewer than three along an axis that has more.

    Examples
    --------
    >>> from sciml.nn import quadrature_weights
    >>> pair = [quadrature_weights((n,), axis_kinds="node") for n in (5, 9)]
    >>> common_nodes(*pair).second[0]
    array([0, 2, 4, 6, 8])
    """
    if first.grid is None or second.grid is None:
        raise ValueError("grids: wanted tensor grids, whose points can be compared")
    if len(first.shape) != len(second.shape):
        raise ValueError(f"grids: got shapes {first.shape} and {second.shape}: other dimensions")
    ours, theirs, weights = [], [], np.ones(())
    parts = zip(first.grid.axes, second.grid.axes, first.factors, second.factors, strict=True)
    for place, (one, other, w_one, w_other) in enumerate(parts):
        i, j = _shared(one.positions(), other.positions())
        if len(i) < min(3, one.points, other.points):
            raise ValueError(
                f"grids: {first.shape} and {second.shape} ({one.kind!r}, {other.kind!r}) share "
                f"{len(i)} points along axis {place}; wanted nested grids, such as 33 and 65 nodes "
                "or 16 and 32 periodic points"
            )
        ours.append(i)
        theirs.append(j)
        if len(i) == one.points:
            own = w_one
        elif len(i) == other.points:
            own = w_other
        else:
            places = tuple(one.positions()[i].tolist())
            own = axis_weights(SampleAxis("nonuniform", len(i), 0.0, 1.0, places))
        weights = np.multiply.outer(weights, own)
    return CommonNodes(tuple(ours), tuple(theirs), weights)


def _shared(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    near = np.abs(a[:, None] - b).argmin(1)
    same = np.abs(b[near] - a) < 1e-6 / max(len(a), len(b))
    return np.flatnonzero(same), near[same]


def _chosen(x: torch.Tensor, indices: tuple[np.ndarray, ...]) -> torch.Tensor:
    for axis, index in enumerate(indices):
        x = x.index_select(axis + 2, torch.as_tensor(index, device=x.device))
    return x
