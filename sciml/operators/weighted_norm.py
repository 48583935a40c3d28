"""Normalization with weighted statistics, and its gradient in closed form.

For sample b, group g of m channels and points i with weights w_i of sum 1

    mu = sum_i w_i mean_c x_ci,  v = sum_i w_i mean_c (x_ci - mu)^2,  xhat = (x - mu)/sqrt(v + eps),

    dL/dx_ci = r [g_ci - (w_i/m) sum g - (w_i/m) xhat_ci sum g xhat],   r = 1/sqrt(v + eps),

with g the gradient of xhat and the sums over points and the channels of the group (derived here).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from sciml.nn.quadrature import Quadrature

__all__ = ["weighted_moments", "weighted_norm", "weighted_norm_plain"]


class _Layout:
    """A field as a matrix of points for each sample, in the order in which memory holds it."""

    def __init__(self, x: torch.Tensor) -> None:
        batch, channels, *self.points = x.shape
        last = x.movedim(1, -1)
        self.last = not x.is_contiguous() and last.is_contiguous()
        self.shape = (batch, -1, channels) if self.last else (batch, channels, -1)
        if x.numel() == 0:
            count = math.prod(self.points)
            self.shape = (batch, count, channels) if self.last else (batch, channels, count)

    def matrix(self, x: torch.Tensor) -> torch.Tensor:
        """View of shape (batch, points, channels) or (batch, channels, points)."""
        if self.last:
            return x.movedim(1, -1).contiguous().view(self.shape)
        return x.contiguous().view(self.shape)

    def field(self, values: torch.Tensor) -> torch.Tensor:
        """Back to (batch, channels, *points), over the same memory."""
        batch = values.shape[0]
        if self.last:
            return values.view(batch, *self.points, values.shape[-1]).movedim(-1, 1)
        return values.view(batch, values.shape[1], *self.points)

    def spread(self, per_channel: torch.Tensor) -> torch.Tensor:
        """Numbers of shape (batch, channels) or (channels,), against a matrix."""
        full = per_channel if per_channel.ndim == 2 else per_channel.unsqueeze(0)
        return full.unsqueeze(1 if self.last else 2)

    def total(self, values: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
        """Sum over points, weighted or plain, shape (batch, channels)."""
        if weights is None:
            return values.sum(1 if self.last else 2)
        if weights.ndim == 1:
            return weights @ values if self.last else values @ weights
        weights = weights.expand(values.shape[0], -1)
        if self.last:
            return torch.bmm(weights.unsqueeze(1), values).squeeze(1)
        return torch.bmm(values, weights.unsqueeze(2)).squeeze(2)

    def weigh_(self, values: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
        """Multiply by the weight of each point in place; returns what is left to multiply.

        Where all but a few points at the ends of each axis weigh the same, only these are touched.
        """
        ends = _ends(quadrature)
        if ends is None:
            weights = quadrature.flat_tensor(values)
            weights = weights if weights.ndim == 2 else weights.unsqueeze(0)
            values.mul_(weights.unsqueeze(2 if self.last else 1))
            return values
        spread = values.view(
            (values.shape[0], *self.points, values.shape[-1])
            if self.last
            else (values.shape[0], values.shape[1], *self.points)
        )
        for axis, changes in enumerate(ends):
            place = axis + (1 if self.last else 2)
            for index, ratio in changes:
                spread.select(place, index).mul_(ratio)
        return values


def _ends(quadrature: Quadrature) -> list[list[tuple[int, float]]] | None:
    """Points of each axis that weigh unlike the middle one, with the ratio; none if many do."""
    if "ends" not in quadrature.cache:
        found: list[list[tuple[int, float]]] | None = None
        if quadrature.tensor_product and not quadrature.per_sample:
            found = []
            for factor in quadrature.factors:
                ratio = factor / factor[len(factor) // 2]
                unlike = np.flatnonzero(np.abs(ratio - 1.0) > 1e-14)
                found.append([(int(i), float(ratio[i])) for i in unlike])
            if any(len(changes) > 6 for changes in found):
                found = None
        quadrature.cache["ends"] = found
    return quadrature.cache["ends"]


def _middle(quadrature: Quadrature) -> float:
    """Weight that `_Layout.weigh_` leaves out: that of the middle point if only ends differ."""
    if _ends(quadrature) is None:
        return 1.0
    return math.prod(float(factor[len(factor) // 2]) for factor in quadrature.factors)


def _by_group(values: torch.Tensor, groups: int) -> torch.Tensor:
    """Means over the channels of each group, given back to every channel."""
    batch, channels = values.shape
    if groups == channels:
        return values
    means = values.view(batch, groups, channels // groups).mean(2, keepdim=True)
    return means.expand(-1, -1, channels // groups).reshape(batch, channels)


def _moments(
    layout: _Layout, values: torch.Tensor, weights: torch.Tensor, groups: int, rms: bool
) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean and variance of every channel's group, and values less the mean with their squares."""
    mean, centered = None, values
    if not rms:
        mean = _by_group(layout.total(values, weights), groups)
        centered = values - layout.spread(mean)
    squares = centered * centered
    return mean, _by_group(layout.total(squares, weights), groups), centered, squares


def weighted_moments(
    x: torch.Tensor, quadrature: Quadrature, groups: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted mean and variance, in two passes and at least single precision.

    Parameters
    ----------
    x : Tensor, shape (batch, channels, *points)
        Field.
    quadrature : Quadrature
        Weights of the points.
    groups : int
        Number of groups of channels.

    Returns
    -------
    pair of Tensor, shape (batch, channels)
        Of the group of each channel.
    """
    layout = _Layout(x)
    values = layout.matrix(x.float() if x.dtype in (torch.float16, torch.bfloat16) else x)
    weights = quadrature.flat_tensor(values)
    with torch.autocast(x.device.type, enabled=False):
        mean, variance, _, _ = _moments(layout, values, weights, groups, False)
    assert mean is not None
    return mean, variance


class _WeightedNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain, shift, quadrature, groups, eps, rms):
        layout = _Layout(x)
        # Sums in half precision would lose the digits that the correction is about.
        wide = x.dtype in (torch.float16, torch.bfloat16)
        values = layout.matrix(x.float() if wide else x)
        weights = quadrature.flat_tensor(values)
        _, variance, centered, squares = _moments(layout, values, weights, groups, rms)
        scale = torch.rsqrt(variance + eps)
        factor = layout.spread(scale if gain is None else scale * gain.to(scale.dtype))
        if shift is None:
            y = torch.mul(centered, factor, out=squares)
        else:
            offset = layout.spread(shift.to(scale.dtype))
            y = torch.addcmul(offset, centered, factor, out=squares)
        ctx.save_for_backward(centered, scale, gain)
        ctx.layout, ctx.quadrature, ctx.groups, ctx.rms = layout, quadrature, groups, rms
        ctx.dtypes = x.dtype, None if shift is None else shift.dtype
        return layout.field(y.to(x.dtype))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):  # pyright: ignore[reportIncompatibleMethodOverride]
        centered, scale, gain = ctx.saved_tensors
        layout, groups = ctx.layout, ctx.groups
        dtype, shift_dtype = ctx.dtypes
        g = layout.matrix(gradient.to(centered.dtype))
        product = g * centered
        along, plain = layout.total(product), layout.total(g)
        gx = ggain = gshift = None
        if ctx.needs_input_grad[1]:
            ggain = (along * scale).sum(0).to(gain.dtype)
        if ctx.needs_input_grad[2]:
            gshift = plain.sum(0).to(shift_dtype)
        if ctx.needs_input_grad[0]:
            wide = None if gain is None else gain.to(scale.dtype)
            if wide is not None:
                along, plain = along * wide, plain * wide
            middle = _middle(ctx.quadrature)
            slope = -middle * scale**3 * _by_group(along, groups)
            t = product
            if ctx.rms:
                torch.mul(centered, layout.spread(slope), out=t)
            else:
                level = -middle * scale * _by_group(plain, groups)
                torch.addcmul(layout.spread(level), centered, layout.spread(slope), out=t)
            t = layout.weigh_(t, ctx.quadrature)
            factor = layout.spread(scale if wide is None else scale * wide)
            gx = layout.field(t.addcmul_(g, factor).to(dtype))
        return gx, ggain, gshift, None, None, None, None


def weighted_norm(
    x: torch.Tensor,
    gain: torch.Tensor | None,
    shift: torch.Tensor | None,
    quadrature: Quadrature,
    groups: int,
    eps: float = 1e-5,
    rms: bool = False,
) -> torch.Tensor:
    """Normalize a field of shape (batch, channels, *points) by weighted moments.

    Parameters
    ----------
    x : Tensor, shape (batch, channels, *points)
        Field; in half precision the moments are summed in single precision.
    gain, shift : Tensor, shape (channels,), optional
        gamma and beta.
    quadrature : Quadrature
        Weights of the points.
    groups : int
        Number of groups of channels that share moments; it divides the channels.
    eps : float
        Added to the variance.
    rms : bool
        Divide by the root of the mean square and subtract nothing.

    Returns
    -------
    Tensor, shape (batch, channels, *points)
        In the memory order of ``x``. It can be differentiated once.
    """
    arguments: Any = (x, gain, shift, quadrature, groups, eps, rms)
    # Autocast would do the sums in half precision.
    with torch.autocast(x.device.type, enabled=False):
        return _WeightedNorm.apply(*arguments)  # pyright: ignore[reportReturnType]


def weighted_norm_plain(
    x: torch.Tensor,
    gain: torch.Tensor | None,
    shift: torch.Tensor | None,
    quadrature: Quadrature,
    groups: int,
    eps: float = 1e-5,
    rms: bool = False,
) -> torch.Tensor:
    """`weighted_norm` in plain operations: slower, and differentiable any number of times."""
    batch, channels, *points = x.shape
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = quadrature.flat_tensor(wide)
    weights = weights.view(-1, 1, 1, weights.shape[-1])
    grouped = wide.reshape(batch, groups, channels // groups, math.prod(points))
    if not rms:
        grouped = grouped - (grouped * weights).sum(3, keepdim=True).mean(2, keepdim=True)
    variance = (grouped**2 * weights).sum(3, keepdim=True).mean(2, keepdim=True)
    y = (grouped * torch.rsqrt(variance + eps)).reshape(x.shape)
    shape = (1, channels, *(1,) * len(points))
    if gain is not None:
        y = y * gain.view(shape)
    if shift is not None:
        y = y + shift.view(shape)
    return y.to(x.dtype)
