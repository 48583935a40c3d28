"""Fields on points of any kind: a grid, the vertices of a mesh, a cloud."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from sciml.nn.quadrature import Quadrature, weights_for
from sciml.operators.spectral_conv import check_field

__all__ = ["check_integers", "grid_positions", "read_points"]


def read_points(
    x: torch.Tensor,
    *,
    channels: int,
    dimension: int,
    positions: Any,
    grid: Any,
    axis_kinds: Any,
    quadrature: bool,
    layer: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions and weights of the points of a field, for models that take any points.

    Parameters
    ----------
    x : Tensor, shape (batch, channels, *points)
        Field on a tensor grid, or on a list of points.
    channels, dimension : int
        What the model wants.
    positions : array, shape (*points, dimension) or (batch, *points, dimension), optional
        Of the points; without them the grid must tell.
    grid : optional
        Grid, mesh or weights of this call.
    axis_kinds
        Of the model.
    quadrature : bool
        Whether the weights are to follow the points; else all count the same.
    layer : str
        Who asks, for messages.

    Returns
    -------
    places : Tensor, shape (1 or batch, count, dimension)
    weights : Tensor, shape (count,) or (batch, count)
        Of sum 1.
    """
    check_field(x, channels, None, layer)
    found: Quadrature | None = None
    if quadrature or positions is None:
        found = weights_for(x, weights=grid, axis_kinds=axis_kinds, layer=layer)
    places = _given(x, positions, dimension, layer)
    if places is None:
        places = _of_grid(x, found, dimension, layer)
    count = x.shape[2:].numel()
    if not quadrature or found is None:
        return places, x.new_full((count,), 1.0 / max(count, 1))
    return places, found.flat_tensor(x)


def _given(x: torch.Tensor, positions: Any, dimension: int, layer: str) -> torch.Tensor | None:
    if positions is None:
        return None
    places = torch.as_tensor(positions)
    wanted = (*x.shape[2:], dimension)
    if places.is_complex() or tuple(places.shape) not in (
        wanted,
        (1, *wanted),
        (x.shape[0], *wanted),
    ):
        raise ValueError(
            f"{layer}: positions have shape {tuple(places.shape)} and type {places.dtype}, wanted "
            f"real {wanted}, or {(x.shape[0], *wanted)} for samples on points of their own"
        )
    places = places.to(device=x.device, dtype=x.dtype)
    if not bool(torch.isfinite(places).all()):
        raise ValueError(f"{layer}: positions hold numbers that are not finite")
    return places.reshape(-1 if places.ndim > len(wanted) else 1, x.shape[2:].numel(), dimension)


def _flat(positions: np.ndarray, dimension: int, layer: str) -> np.ndarray:
    """Coordinates of a mesh without those in which it has no extent, as files of planes have."""
    more = positions[:, dimension:]
    if more.size and np.any(np.ptp(more, axis=0) > 0.0):
        raise ValueError(
            f"{layer}: was made for {dimension} coordinates (dimension), the points have "
            f"{positions.shape[1]} that vary: make it with dimension={positions.shape[1]}"
        )
    return positions[:, :dimension]


def _of_grid(
    x: torch.Tensor, quadrature: Quadrature | None, dimension: int, layer: str
) -> torch.Tensor:
    if quadrature is not None and quadrature.grid is None and quadrature.positions is not None:
        places = _given(x, _flat(quadrature.positions, dimension, layer), dimension, layer)
        assert places is not None
        return places
    if quadrature is None or quadrature.grid is None:
        raise ValueError(
            f"{layer}: the points of shape {tuple(x.shape[2:])} come without positions: give "
            "positions=, or a tensor grid or a mesh as grid="
        )
    if len(quadrature.shape) != dimension:
        raise ValueError(
            f"{layer}: was made for {dimension} coordinates (dimension), the grid has the shape "
            f"{quadrature.shape}"
        )
    return grid_positions(quadrature, x)


def grid_positions(quadrature: Quadrature, like: torch.Tensor) -> torch.Tensor:
    """Points of a tensor grid on the unit box, shape (1, count, axes), made once."""
    key = ("point list", like.dtype, like.device)
    if key not in quadrature.cache:
        assert quadrature.grid is not None
        axes = [
            torch.tensor(axis.positions(), dtype=like.dtype, device=like.device)
            for axis in quadrature.grid.axes
        ]
        mesh = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1)
        quadrature.cache[key] = mesh.reshape(1, -1, len(axes))
    return quadrature.cache[key]


def check_integers(**values: Any) -> None:
    """Refuse sizes that are no integers of at least 1."""
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}: got {value!r}, wanted an integer >= 1")
