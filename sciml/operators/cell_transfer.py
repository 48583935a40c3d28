"""From the points of a tensor grid to the means of fixed cells, and back, as one matrix an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from sciml.nn.axis_kind import SampleAxis
from sciml.nn.quadrature import Quadrature

__all__ = ["CellTransfer", "cell_means", "cell_transfer", "cell_values"]


def cell_means(axis: SampleAxis, weights: np.ndarray, cells: int, wrap: bool = False) -> np.ndarray:
    """Matrix that takes values at points to means over equal cells.

    A point stands for a piece of the axis as long as its weight; a cell takes of it what lies
    inside. Sums of weighted values are kept exactly, and means of smooth fields are of second
    order in the distance of the points. For cell centers and a divisor of their number this is
    plain average pooling.

    Parameters
    ----------
    axis : SampleAxis
    weights : ndarray, shape (points,)
        Of sum 1.
    cells : int
    wrap : bool, default False
        The first point lies on the end that both sides of a periodic axis share.

    Returns
    -------
    ndarray, shape (cells, points)

    Examples
    --------
    >>> cell_means(SampleAxis("cell", 4), np.full(4, 0.25), 2)
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    stops = np.cumsum(weights)
    starts = stops - weights
    if wrap:
        # The piece of point 0 lies on both sides of the end.
        starts, stops = starts - 0.5 * weights, stops - 0.5 * weights
    low, high = np.arange(cells) / cells, np.arange(1, cells + 1) / cells
    inside = np.zeros((cells, axis.points))
    for shift in (0.0, 1.0) if wrap else (0.0,):
        upper = np.minimum(high[:, None], stops + shift)
        lower = np.maximum(low[:, None], starts + shift)
        inside += np.maximum(upper - lower, 0.0)
    return inside / inside.sum(1, keepdims=True)


def cell_values(axis: SampleAxis, cells: int, wrap: bool = False) -> np.ndarray:
    """Matrix that takes values at cell centers to points, by linear interpolation.

    With ``wrap`` the first cell follows the last; else the field is constant between the last
    center and the end.

    Returns
    -------
    ndarray, shape (points, cells)

    Examples
    --------
    >>> cell_values(SampleAxis("node", 3), 2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    place = axis.positions() * cells - 0.5
    left = np.floor(place).astype(int)
    part = place - left
    rows = np.arange(axis.points)
    found = np.zeros((axis.points, cells))
    for index, share in ((left, 1.0 - part), (left + 1, part)):
        chosen = index % cells if wrap else np.clip(index, 0, cells - 1)
        np.add.at(found, (rows, chosen), share)
    return found


@dataclass(frozen=True)
class CellTransfer:
    """Means over cells, and values at points, of fields of shape (batch, channels, *points)."""

    means: tuple[torch.Tensor, ...]
    values: tuple[torch.Tensor, ...]

    def down(self, x: torch.Tensor) -> torch.Tensor:
        """Means over the cells."""
        return _apply(x, self.means)

    def up(self, x: torch.Tensor) -> torch.Tensor:
        """Values at the points."""
        return _apply(x, self.values)


def _apply(x: torch.Tensor, matrices: tuple[torch.Tensor, ...]) -> torch.Tensor:
    for axis, matrix in enumerate(matrices):
        x = torch.matmul(x.movedim(axis + 2, -1), matrix.t()).movedim(-1, axis + 2)
    return x


def cell_transfer(
    quadrature: Quadrature,
    cells: tuple[int, ...],
    around: tuple[bool, ...],
    like: torch.Tensor,
) -> CellTransfer:
    """Transfer between the points of a tensor grid and cells, made once for each.

    Parameters
    ----------
    quadrature : Quadrature
        Of the points.
    cells : tuple of int
        Cells of each axis.
    around : tuple of bool
        Which axes are periodic: a level of cells may be, and its points are cell centers.
    like : Tensor
        Type and device.

    Raises
    ------
    ValueError
        If the grid has fewer points than cells along an axis.
    """
    key = ("cells", cells, around, like.dtype, like.device)
    if key not in quadrature.cache:
        grid = quadrature.grid
        assert grid is not None
        coarse = [(n, m) for n, m in zip(grid.shape, cells, strict=True) if n < m]
        if coarse:
            raise ValueError(
                f"n_cells: {cells} cells need at least as many points along every axis, the grid "
                f"has {grid.shape}: use fewer cells or more points"
            )
        means, values = [], []
        parts = zip(grid.axes, quadrature.factors, cells, around, strict=True)
        for axis, weights, m, wrap in parts:
            shifted = wrap and axis.kind == "periodic"
            for made, found in (
                (cell_means(axis, weights, m, shifted), means),
                (cell_values(axis, m, wrap), values),
            ):
                found.append(torch.tensor(made, dtype=like.dtype, device=like.device))
        quadrature.cache[key] = CellTransfer(tuple(means), tuple(values))
    return quadrature.cache[key]
