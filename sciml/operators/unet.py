"""U-Net whose levels are cells of the domain, not every other point of the input.

O. Ronneberger, P. Fischer and T. Brox, U-Net, MICCAI 2015. A convolution over 3 x 3 points is
another map on every grid. Here the input is averaged over cells that are part of the model, all
convolutions are between these cells, and the result is interpolated back to the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from sciml.nn.axis_kind import SampleGrid, check_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.quadrature import Quadrature, quadrature_weights, weights_for
from sciml.nn.seeding import seeded
from sciml.operators.cell_transfer import CellTransfer, cell_transfer
from sciml.operators.point_input import check_integers, grid_positions
from sciml.operators.quad_norm import QuadNorm
from sciml.operators.spectral_conv import check_field, check_one_of, matching

__all__ = ["UNet"]

NORMS = (None, "quad", "quad_layer", "instance", "layer")


@register_model
class UNet(nn.Module):
    """U-Net for tensor grids of one to three axes.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output fields.
    hidden_channels : int
        Width of the finest level; every coarser one has twice the width of the one before.
    n_cells : int or sequence of int, optional
        Cells of the finest level along each axis, divisible by ``2**(n_levels - 1)``. Not for
        ``scales="points"``.
    n_levels : int, default 3
        Each has half the cells of the one before.
    dimension : int, default 2
        Number of axes.
    scales : {"physical", "points"}
        ``"points"`` is the usual U-Net, whose finest level are the points of the input and whose
        convolutions shrink with their distance. For comparisons.
    norm : {None, "quad", "quad_layer", "instance", "layer"}
        Normalization of every convolution. Physical levels are equal cells, on which ``"quad"`` is
        ``"instance"`` and ``"quad_layer"`` is ``"layer"``.
    quadrature : bool, default True
        Average by the quadrature weights of the points. False takes every point for an equal cell.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`), unless every call gives its grid. Convolutions
        wrap around periodic axes, and repeat the last cell at other ends.
    seed : int, optional
        Of the initial weights.

    Notes
    -----
    What it cannot do: the input needs as many points as the finest level has cells. What the input
    shows below that scale reaches the output through a map of each point alone, so that training
    on finer grids than the cells teaches no finer neighborhoods. It needs a tensor grid: for meshes
    and clouds there is `Transolver`. With ``scales="points"`` only the averages follow the
    quadrature, and the model is tied to the distance of the points it was trained with.

    Examples
    --------
    >>> model = UNet(1, 1, 8, n_cells=8, n_levels=2, dimension=1, axis_kinds="node", seed=0)
    >>> s = torch.linspace(0, 1, 65).view(1, 1, -1)
    >>> fine, coarse = model(s**2), model(s[..., ::2] ** 2)
    >>> bool((fine[..., ::2] - coarse).abs().max() < 1e-3)
    True
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int,
        n_cells: int | Sequence[int] | None = None,
        n_levels: int = 3,
        *,
        dimension: int = 2,
        scales: Literal["physical", "points"] = "physical",
        norm: Literal["quad", "quad_layer", "instance", "layer"] | None = "quad_layer",
        quadrature: bool = True,
        axis_kinds: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        check_integers(
            in_channels=in_channels,
            out_channels=out_channels,
            hidden_channels=hidden_channels,
            n_levels=n_levels,
            dimension=dimension,
        )
        if dimension > 3:
            raise ValueError(f"dimension: got {dimension}, wanted 1 to 3")
        check_one_of("scales", scales, ("physical", "points"))
        check_one_of("norm", norm, NORMS)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.dimension, self.n_levels, self.scales = dimension, n_levels, scales
        self.quadrature, self.axis_kinds = quadrature, check_kinds(axis_kinds)
        self.n_cells = _check_cells(n_cells, n_levels, dimension, scales)
        widths = [hidden_channels * 2**level for level in range(n_levels)]
        with seeded(seed):
            self.lifting = nn.Linear(in_channels + dimension, hidden_channels)
            self.encoder = nn.ModuleList(
                _Block(widths[max(level - 1, 0)], width, dimension, norm)
                for level, width in enumerate(widths)
            )
            self.decoder = nn.ModuleList(
                _Block(widths[level] + widths[level + 1], widths[level], dimension, norm)
                for level in range(n_levels - 1)
            )
            self.mixing = nn.Linear(2 * hidden_channels, 2 * hidden_channels)
            self.projection = nn.Linear(2 * hidden_channels, out_channels)

    def forward(self, x: torch.Tensor, grid: Any = None) -> torch.Tensor:
        """Map input fields to output fields on the same points.

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, *points)
            Real.
        grid : SampleGrid, pdes.Grid or Quadrature, optional
            Of this input. Else the innermost `sciml.nn.on_grid`, else ``axis_kinds``.

        Returns
        -------
        Tensor, shape (batch, out_channels, *points)
        """
        check_field(x, self.in_channels, self.dimension, "UNet")
        found = weights_for(x, weights=grid, axis_kinds=self.axis_kinds, layer="UNet")
        if found.grid is None or not found.tensor_product:
            raise ValueError(
                "UNet: needs a tensor grid, got points without one (a mesh, a cloud, a mask or an "
                "array of weights): sample the field on a grid, or use Transolver"
            )
        around = tuple(kind == "periodic" for kind in found.grid.kinds)
        points = matching(x, self.lifting.weight, "UNet")
        places = grid_positions(found, points).unflatten(1, x.shape[2:])
        places = places.expand(x.shape[0], *places.shape[1:])
        lifted = self.lifting(torch.cat([points.movedim(1, -1), places], -1)).movedim(-1, 1)
        if not self.quadrature:
            found = quadrature_weights(SampleGrid.of_shape(found.shape, "cell"))
            around_points = (False,) * self.dimension
        else:
            around_points = around
        if self.scales == "points":
            inner = self._levels(lifted, found, around)
        else:
            transfer = cell_transfer(found, self.n_cells, around_points, lifted)
            cells = quadrature_weights(SampleGrid.of_shape(self.n_cells, "cell"))
            means = self.averages(lifted, transfer)
            inner = transfer.up(self._levels(means, cells, around))
        both = torch.cat([inner, lifted], 1).movedim(1, -1)
        return self.projection(functional.gelu(self.mixing(both))).movedim(-1, 1)

    def averages(self, x: torch.Tensor, transfer: CellTransfer) -> torch.Tensor:
        """Means of a field over the cells of the finest level: all that sees the points."""
        return transfer.down(x)

    def _levels(
        self, x: torch.Tensor, quadrature: Quadrature, around: tuple[bool, ...]
    ) -> torch.Tensor:
        """Down to the coarsest level and up again, from fields on the finest one."""
        kept: list[tuple[torch.Tensor, Quadrature, CellTransfer]] = []
        for level, block in enumerate(self.encoder):
            x = block(x, quadrature, around)
            if level < self.n_levels - 1:
                half = tuple((n + 1) // 2 for n in quadrature.shape)
                if min(half) < 2:
                    raise ValueError(
                        f"n_levels: {self.n_levels} halve a level of {quadrature.shape} below 2 "
                        "cells; use fewer levels or more points"
                    )
                transfer = cell_transfer(quadrature, half, around, x)
                kept.append((x, quadrature, transfer))
                x = transfer.down(x)
                quadrature = quadrature_weights(SampleGrid.of_shape(half, "cell"))
        for block in reversed(self.decoder):
            skip, quadrature, transfer = kept.pop()
            x = block(torch.cat([skip, transfer.up(x)], 1), quadrature, around)
        return x


class _Block(nn.Module):
    """Two convolutions over the neighbors, each with normalization and activation."""

    def __init__(
        self, in_channels: int, out_channels: int, dimension: int, norm: str | None
    ) -> None:
        super().__init__()
        kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimension - 1]
        self.convs = nn.ModuleList(kind(n, out_channels, 3) for n in (in_channels, out_channels))
        self.norms = nn.ModuleList(_make_norm(norm, out_channels, dimension) for _ in range(2))

    def forward(
        self, x: torch.Tensor, quadrature: Quadrature, around: tuple[bool, ...]
    ) -> torch.Tensor:
        """Map a field of shape (batch, channels, *cells)."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = conv(_padded(x, around))
            x = norm.normalize(x, quadrature) if isinstance(norm, QuadNorm) else norm(x)
            x = functional.gelu(x)
        return x


def _make_norm(norm: str | None, channels: int, dimension: int) -> nn.Module:
    if norm in ("quad", "quad_layer"):
        return QuadNorm(channels, channels if norm == "quad" else 1)
    if norm == "instance":
        kind = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)[dimension - 1]
        return kind(channels, affine=True)
    return nn.GroupNorm(1, channels) if norm == "layer" else nn.Identity()


def _padded(x: torch.Tensor, around: tuple[bool, ...]) -> torch.Tensor:
    """One more cell at every end: the one of the other end, or the last one again."""
    dimension = len(around)
    for axis, wraps in enumerate(around):
        pad = [0] * (2 * dimension)
        place = 2 * (dimension - 1 - axis)
        pad[place : place + 2] = [1, 1]
        x = functional.pad(x, pad, mode="circular" if wraps else "replicate")
    return x


def _check_cells(
    n_cells: int | Sequence[int] | None, n_levels: int, dimension: int, scales: str
) -> tuple[int, ...]:
    if scales == "points":
        if n_cells is not None:
            raise ValueError(f"n_cells: got {n_cells!r}, but scales 'points' have none: leave out")
        return ()
    given = (n_cells,) * dimension if isinstance(n_cells, int) else tuple(n_cells or ())
    step = 2 ** (n_levels - 1)
    fits = len(given) == dimension and all(isinstance(n, int) and n >= 2 * step for n in given)
    if not fits or any(n % step for n in given):
        raise ValueError(
            f"n_cells: got {n_cells!r}, wanted {dimension} numbers of cells (or one for all axes), "
            f"at least {2 * step} and divisible by {step} for {n_levels} levels"
        )
    return given
