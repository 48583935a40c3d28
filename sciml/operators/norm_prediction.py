"""How far a normalization with equal weights will be from itself on another grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from sciml.nn.quadrature import Quadrature
from sciml.operators.quad_norm import BlendQuadNorm, QuadNorm
from sciml.theory.quadrature import FaceMoments

__all__ = ["face_moments", "predicted_mismatch"]


def predicted_mismatch(
    layer: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    quadrature: Quadrature,
    points: tuple[int, ...],
    other: tuple[int, ...],
) -> float:
    """Relative change of a layer's output from one grid to another, to first order in 1/M.

    Of each sample and group, mean and variance change by ``dm`` and ``dv`` (`FaceMoments`), and the
    output by ``gamma (dm/s + dv/(2 v) xhat)``.

    Parameters
    ----------
    layer : Module
        `QuadNorm` (for which it is 0), `BlendQuadNorm`, group or instance normalization.
    x, y : Tensor, shape (batch, channels, *points)
        Input and output on a fine grid.
    quadrature : Quadrature
        Of that grid. Levels of a model that are not on it do not change: 0.
    points, other : tuple of int
        Of the two grids.

    Returns
    -------
    float
        Not-a-number for kinds of axes without a formula.
    """
    if isinstance(layer, QuadNorm) or tuple(x.shape[2:]) != quadrature.shape:
        return 0.0
    if quadrature.grid is None:
        return math.nan
    kinds = quadrature.grid.kinds
    if not set(kinds) <= {"node", "left", "periodic", "cell"}:
        return math.nan
    channels, groups, part = x.shape[1], _groups(layer, x.shape[1]), 1.0
    if isinstance(layer, BlendQuadNorm):
        part = 1.0 - layer.alpha
    fields = x.detach().double().cpu().numpy()
    fields = fields.reshape(x.shape[0], groups, channels // groups, *quadrature.shape)
    change = np.empty_like(fields)
    for place in np.ndindex(*fields.shape[:2]):
        moments = face_moments(fields[place], quadrature)
        spread = moments.variance + float(getattr(layer, "eps", 0.0))
        dm = moments.mean_gap(points, other, kinds)
        dv = moments.variance_gap(points, other, kinds)
        change[place] = part * (dm + 0.5 * dv * (fields[place] - moments.mean) / spread)
        change[place] /= math.sqrt(spread)
    change = change.reshape(x.shape)
    gain: Any = getattr(layer, "weight", None)
    if gain is not None:
        gain = gain.detach().double().cpu().numpy()
        change *= gain.reshape(1, -1, *(1,) * len(quadrature.shape))
    weights = quadrature.full()
    out = y.detach().double().cpu().numpy()
    axes = tuple(range(1, out.ndim))
    size = np.sqrt((out**2 * weights).sum(axes))
    moved = np.sqrt((change**2 * weights).sum(axes))
    return float(np.mean(moved / np.maximum(size, np.finfo(float).tiny)))


def _groups(layer: nn.Module, channels: int) -> int:
    if isinstance(layer, nn.GroupNorm):
        return layer.num_groups
    return 1 if isinstance(layer, BlendQuadNorm) else channels


def face_moments(values: np.ndarray, quadrature: Quadrature) -> FaceMoments:
    """Moments of a group of channels and its faces, from samples on any grid.

    Parameters
    ----------
    values : ndarray, shape (channels, *points)
    quadrature : Quadrature
        Of a tensor grid. A face that holds no points is extrapolated from the two layers of points
        that are nearest.

    Returns
    -------
    FaceMoments
    """
    means = values.mean(0)
    mean = float((means * quadrature.full()).sum())
    squares = ((values - mean) ** 2).mean(0)
    ends = [
        tuple(_faces(field, axis, quadrature) for axis in range(means.ndim))
        for field in (means, squares)
    ]
    variance = float((squares * quadrature.full()).sum())
    return FaceMoments(mean=mean, variance=variance, face_means=ends[0], face_squares=ends[1])


def _faces(field: np.ndarray, axis: int, quadrature: Quadrature) -> tuple[float, float]:
    layers = np.moveaxis(field, axis, 0)
    weights = [w for place, w in enumerate(quadrature.factors) if place != axis]
    for w in reversed(weights):
        layers = layers @ w
    assert quadrature.grid is not None
    first, last = float(layers[0]), float(layers[-1])
    if quadrature.grid.kinds[axis] == "left" and len(layers) > 1:
        last = 2.0 * last - float(layers[-2])
    return first, last
