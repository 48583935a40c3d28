"""The Fourier layer by fast transforms: the same numbers as by small matrices.

It needs equal distances that divide the period: then a field times its weights, continued by zeros
to a whole period, has the quadrature coefficients as its discrete Fourier transform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from sciml.nn.axis_kind import UNIFORM, SampleAxis, SampleGrid
from sciml.nn.axis_rules import axis_weights
from sciml.nn.quadrature import Quadrature
from sciml.nn.truncated_fourier import mode_numbers

__all__ = ["continues", "fast_layer", "fast_lengths", "faster"]

WORK = {1: 320.0, 2: 320.0, 3: 80.0}
"""Products for each point above which fast transforms win, by the number of axes; measured forward
and backward on one core with 8 to 32 channels."""


def fast_lengths(
    grid: SampleGrid, n_modes: Sequence[int], periods: Sequence[float]
) -> tuple[int, ...] | None:
    """Points of a whole period along each axis, or None if fast transforms do not apply."""
    lengths = []
    for axis, n, period in zip(grid.axes, n_modes, periods, strict=True):
        if axis.kind not in UNIFORM or axis.points < 2:
            return None
        exact = period * (axis.points - 1 if axis.kind == "node" else axis.points)
        length = round(exact)
        own_mirror = axis.kind == "periodic" and period == 1.0
        # A field that is continued to the last end takes one point more.
        if abs(exact - length) > 1e-9 or length < axis.points + (axis.kind == "left"):
            return None
        if 2 * (n // 2) > length or (2 * (n // 2) == length and not own_mirror):
            return None
        lengths.append(length)
    return tuple(lengths)


def faster(n_modes: Sequence[int], points: Sequence[int], lengths: Sequence[int]) -> bool:
    """Whether fast transforms take less time than matrices: with very many modes.

    Matrices do about n products for each point along the first axis, and as many along the next for
    each of the modes that are left; fast transforms make all modes of the whole period.
    """
    work, left = 0.0, 1.0
    for n, count in zip(n_modes, points, strict=True):
        work += left * n
        left *= n / count
    return work > WORK[len(points)] * math.prod(lengths) / math.prod(points)


def fast_layer(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    quadrature: Quadrature,
    n_modes: tuple[int, ...],
    lengths: tuple[int, ...],
) -> torch.Tensor:
    """Fourier layer of a field of shape (batch, *points, in_channels).

    Parameters
    ----------
    x : Tensor, shape (batch, *points, in_channels)
        Real field.
    weight : Tensor, shape (modes, in_channels, 2 out_channels)
        As in `SpectralConv`.
    bias : Tensor, shape (out_channels,), optional
        Constant.
    quadrature : Quadrature
        Of a tensor grid of uniform axes.
    n_modes : tuple of int
        Number of modes of each axis.
    lengths : tuple of int
        From `fast_lengths`.

    Returns
    -------
    Tensor, shape (batch, *points, out_channels)
    """
    axes = list(range(1, 1 + len(n_modes)))
    spectrum = torch.fft.rfftn(_weighted(x, quadrature), s=lengths, dim=axes)
    # Where the first point lies (half a step inside, of cells) does not matter: its phase in a
    # coefficient and that in the wave of the mode cancel.
    kept, places = spectrum, []
    for axis, (n, length) in enumerate(zip(n_modes, lengths, strict=True)):
        numbers = torch.from_numpy(mode_numbers(n, axis == len(n_modes) - 1)).to(x.device)
        places.append(numbers % length)
        kept = kept.index_select(axis + 1, places[-1])
    sizes = kept.shape[1:-1]
    modes = kept.flatten(1, -2).transpose(0, 1)
    half = weight.shape[2] // 2
    mixed = torch.bmm(modes, torch.complex(weight[..., :half], weight[..., half:]))
    spread = mixed.transpose(0, 1).reshape(x.shape[0], *sizes, half)
    full = spread.new_zeros(x.shape[0], *spectrum.shape[1:-1], half)
    index = [torch.arange(x.shape[0], device=x.device), *places]
    index = [v.view(-1, *(1,) * (len(index) - i)) for i, v in enumerate(index)]
    channels = torch.arange(half, device=x.device)
    full = full.index_put((*index, channels), spread)
    y = torch.fft.irfftn(full, s=lengths, dim=axes, norm="forward")
    y = y[(slice(None), *(slice(0, n) for n in quadrature.shape))]
    return y if bias is None else y + bias


def continues(axis: SampleAxis, weights: np.ndarray) -> bool:
    """Whether the field is continued to the last end: on "left" axes with their own weights."""
    if axis.kind != "left":
        return False
    return bool(np.allclose(weights, axis_weights(axis), rtol=0, atol=1e-14))


def _weighted(x: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
    """Field times weights; one point more along axes on which it is continued to the end."""
    grid = quadrature.grid
    assert grid is not None
    for place, (axis, weights) in enumerate(zip(grid.axes, quadrature.factors, strict=True)):
        if continues(axis, weights):
            last, before = (x.narrow(place + 1, axis.points - k, 1) for k in (1, 2))
            x = torch.cat([x, 2.0 * last - before], place + 1)
            weights = axis_weights(SampleAxis("node", axis.points + 1))
        shape = [1] * x.ndim
        shape[place + 1] = len(weights)
        x = x * torch.tensor(weights, dtype=x.dtype, device=x.device).view(shape)
    return x
