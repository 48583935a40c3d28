"""Transformers over the points of grids, meshes and clouds, with attention by quadrature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from sciml.nn.axis_kind import check_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.seeding import seeded
from sciml.operators.attention import (
    ATTENTIONS,
    GalerkinAttention,
    SliceAttention,
    SoftmaxAttention,
    check_heads,
)
from sciml.operators.fno import ChannelMLP
from sciml.operators.point_input import check_integers, read_points
from sciml.operators.spectral_conv import check_one_of, matching

__all__ = ["PointTransformer", "Transolver", "TransolverBlock"]


class _OverPoints(nn.Module):
    """Perceptron, blocks of attention and a last map; what both models share."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dimension: int,
        hidden_channels: int,
        n_layers: int,
        n_heads: int,
        mlp_ratio: float,
        quadrature: bool,
        axis_kinds: str | Sequence[str] | None,
        seed: int | None,
    ) -> None:
        super().__init__()
        check_integers(
            in_channels=in_channels,
            out_channels=out_channels,
            dimension=dimension,
            hidden_channels=hidden_channels,
            n_layers=n_layers,
        )
        check_heads(hidden_channels, n_heads)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.dimension, self.quadrature = dimension, quadrature
        self.axis_kinds = check_kinds(axis_kinds)
        hidden = max(1, round(mlp_ratio * hidden_channels))
        with seeded(seed):
            self.lifting = ChannelMLP(in_channels + dimension, 2 * hidden_channels, hidden_channels)
            self.offset = nn.Parameter(torch.rand(hidden_channels) / hidden_channels)
            self.blocks = nn.ModuleList(
                TransolverBlock(hidden_channels, self._attention(hidden_channels, n_heads), hidden)
                for _ in range(n_layers)
            )
            self.last_norm = nn.LayerNorm(hidden_channels)
            self.projection = nn.Linear(hidden_channels, out_channels)

    def _attention(self, channels: int, n_heads: int) -> nn.Module:
        raise NotImplementedError

    def forward(self, x: torch.Tensor, positions: Any = None, grid: Any = None) -> torch.Tensor:
        """Map fields to fields on the same points.

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, *points)
            On a tensor grid, or a list of points in any order.
        positions : array, shape (*points, dimension) or (batch, *points, dimension), optional
            Coordinates, best between 0 and 1. Tensor grids and meshes know theirs.
        grid : SampleGrid, pdes.Grid, pdes.Mesh, Quadrature or array of weights, optional
            Of this input. Else the innermost `sciml.nn.on_grid`, else ``axis_kinds``. For a cloud
            `sciml.nn.point_cloud_weights` makes weights.

        Returns
        -------
        Tensor, shape (batch, out_channels, *points)
        """
        places, weights = read_points(
            x,
            channels=self.in_channels,
            dimension=self.dimension,
            positions=positions,
            grid=grid,
            axis_kinds=self.axis_kinds,
            quadrature=self.quadrature,
            layer=type(self).__name__,
        )
        h = matching(x, self.offset, type(self).__name__).flatten(2).transpose(1, 2)
        places = places.to(h).expand(h.shape[0], *places.shape[1:])
        h = self.lifting(torch.cat([h, places], -1)) + self.offset
        for block in self.blocks:
            h = block(h, weights)
        h = self.projection(self.last_norm(h))
        return h.transpose(1, 2).reshape(x.shape[0], self.out_channels, *x.shape[2:])


class TransolverBlock(nn.Module):
    """Attention and a perceptron at each point, both behind a layer normalization over channels.

    That normalization is of one point and does not see the grid.
    """

    def __init__(self, channels: int, attention: nn.Module, hidden_channels: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.attention = attention
        self.first = nn.Linear(channels, hidden_channels)
        self.second = nn.Linear(hidden_channels, channels)

    def forward(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Map a field of shape (batch, points, channels)."""
        x = x + self.attention(self.first_norm(x), weights)
        return x + self.second(functional.gelu(self.first(self.second_norm(x))))


@register_model
class Transolver(_OverPoints):
    """Transolver: attention between learned slices of the domain, on points of any kind.

    H. Wu et al., Transolver: a fast transformer solver for PDEs on general geometries, ICML 2024.
    A slice is a mean over the points that belong to it; with ``quadrature`` an integral mean, so
    that a mesh that is fine somewhere gives the same slices as one that is not. Its cost grows
    linearly with the number of points.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output fields.
    dimension : int
        Number of coordinates.
    hidden_channels : int, default 64
        Width.
    n_layers : int, default 4
        Blocks.
    n_heads : int, default 4
        It divides the width.
    n_slices : int, default 32
        Slices of each head.
    mlp_ratio : float, default 2
        Hidden width of the perceptron of a block over ``hidden_channels``.
    quadrature : bool, default True
        Weigh points by the part of the domain they stand for. False is the plain model, in which
        all points count the same.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`) for input on tensor grids, unless every call
        gives its grid.
    seed : int, optional
        Of the initial weights.

    Examples
    --------
    A cloud whose points are all there twice has the same slices, if every twin stands for half:

    >>> model = Transolver(1, 1, 2, hidden_channels=8, n_layers=2, n_heads=2, n_slices=4, seed=0)
    >>> x, places = torch.rand(1, 1, 30), torch.rand(30, 2)
    >>> order = torch.tensor([*range(30), *range(10)])
    >>> weights = torch.tensor([0.5] * 10 + [1.0] * 20 + [0.5] * 10)
    >>> once = model(x, places, torch.ones(30))
    >>> twice = model(x[..., order], places[order], weights)
    >>> bool(torch.allclose(twice[..., :30], once, atol=1e-6))
    True
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dimension: int,
        hidden_channels: int = 64,
        n_layers: int = 4,
        *,
        n_heads: int = 4,
        n_slices: int = 32,
        mlp_ratio: float = 2,
        quadrature: bool = True,
        axis_kinds: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        check_integers(n_slices=n_slices)
        self._slices = n_slices
        super().__init__(
            in_channels,
            out_channels,
            dimension,
            hidden_channels,
            n_layers,
            n_heads,
            mlp_ratio,
            quadrature,
            axis_kinds,
            seed,
        )

    def _attention(self, channels: int, n_heads: int) -> nn.Module:
        return SliceAttention(channels, n_heads, self._slices)


@register_model
class PointTransformer(_OverPoints):
    """Transformer with softmax or Galerkin attention between points of any kind.

    Parameters
    ----------
    in_channels, out_channels, dimension, hidden_channels, n_layers, n_heads, mlp_ratio
        As in `Transolver`.
    attention : {"softmax", "galerkin"}
        Softmax attention, whose cost grows with the square of the number of points, or the linear
        attention of S. Cao, Choose a transformer: Fourier or Galerkin, NeurIPS 2021.
    quadrature, axis_kinds, seed
        As in `Transolver`.

    Examples
    --------
    >>> model = PointTransformer(1, 2, 1, 8, 2, n_heads=2, axis_kinds="chebyshev", seed=0)
    >>> model(torch.rand(3, 1, 20)).shape
    torch.Size([3, 2, 20])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dimension: int,
        hidden_channels: int = 64,
        n_layers: int = 4,
        *,
        attention: Literal["softmax", "galerkin"] = "softmax",
        n_heads: int = 4,
        mlp_ratio: float = 2,
        quadrature: bool = True,
        axis_kinds: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        check_one_of("attention", attention, [name for name in ATTENTIONS if name != "slices"])
        self._kind = attention
        super().__init__(
            in_channels,
            out_channels,
            dimension,
            hidden_channels,
            n_layers,
            n_heads,
            mlp_ratio,
            quadrature,
            axis_kinds,
            seed,
        )

    def _attention(self, channels: int, n_heads: int) -> nn.Module:
        kind = SoftmaxAttention if self._kind == "softmax" else GalerkinAttention
        return kind(channels, n_heads)
