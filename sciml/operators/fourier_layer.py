"""Fourier layer with normalization and pointwise skip as one function with its own gradient.

Only the input and its amplitudes are kept for the gradient, and nothing but the products with the
waves of the first axis and the skip touches every point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from sciml.nn.truncated_fourier import analyze, from_modes, synthesize, to_modes
from sciml.operators.mode_norm import ModeNorm

__all__ = ["FourierPlan", "fourier_layer"]


@dataclass(frozen=True)
class FourierPlan:
    """Matrices of a Fourier layer on given points.

    Attributes
    ----------
    analysis : tuple of Tensor, shapes (waves, points)
        Weighted waves of each axis.
    synthesis : tuple of Tensor, shapes (points, waves)
        Waves of each axis.
    n_modes : tuple of int
        Number of modes of each axis.
    norm : ModeNorm, optional
        Normalization of the result.
    """

    analysis: tuple[torch.Tensor, ...]
    synthesis: tuple[torch.Tensor, ...]
    n_modes: tuple[int, ...]
    norm: ModeNorm | None = None


class _FourierLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, skip, gain, shift, plan):
        x = x.contiguous()
        modes = to_modes(analyze(x, plan.analysis), plan.n_modes)
        mixed = _mix(modes, weight)
        if bias is not None:
            # The cosine of mode 0 is 1 everywhere, whatever the grid.
            mixed[0, 0] += bias
        waves, kept = from_modes(mixed, plan.n_modes), (None, None, None)
        if plan.norm is not None:
            waves, kept = plan.norm.forward(waves, gain, shift)
        added = None
        if skip is not None:
            added = torch.mm(x.view(-1, x.shape[-1]), skip.t()).view(*x.shape[:-1], len(skip))
        ctx.save_for_backward(None if skip is None else x, modes, weight, skip, gain, *kept)
        ctx.plan, ctx.has_bias = plan, bias is not None
        ctx.has_shift = shift is not None
        return synthesize(waves, plan.synthesis, added)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):  # pyright: ignore[reportIncompatibleMethodOverride]
        x, modes, weight, skip, gain, *kept = ctx.saved_tensors
        plan, needed = ctx.plan, ctx.needs_input_grad
        gradient = gradient.contiguous()
        rows = gradient.view(-1, gradient.shape[-1])
        waves = analyze(gradient, tuple(m.t() for m in plan.synthesis))
        of_gain = of_shift = of_x = of_weight = of_skip = None
        if plan.norm is not None:
            waves, of_gain, of_shift = plan.norm.backward(waves, tuple(kept), gain)
        g = to_modes(waves, plan.n_modes)
        product = _transposed(g)
        if needed[0]:
            count = len(modes)
            of_modes = torch.bmm(product, weight.transpose(1, 2)).view(modes.shape)
            added = None
            if skip is not None:
                added = torch.mm(rows, skip).view(*gradient.shape[:-1], skip.shape[1])
            of_x = synthesize(
                from_modes(of_modes, plan.n_modes), tuple(m.t() for m in plan.analysis), added
            )
        if needed[1]:
            count, _, batch, channels = modes.shape
            of_weight = torch.bmm(modes.view(count, 2 * batch, channels).transpose(1, 2), product)
        of_bias = g[0, 0].sum(0) if ctx.has_bias else None
        if skip is not None and needed[3]:
            of_skip = torch.mm(rows.t(), x.view(-1, x.shape[-1]))
        return (
            of_x,
            of_weight,
            of_bias,
            of_skip,
            None if gain is None else of_gain,
            of_shift if ctx.has_shift else None,
            None,
        )


def _mix(modes: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Complex product of every mode with its matrix, as one product of real ones."""
    count, _, batch, channels = modes.shape
    product = torch.bmm(modes.view(count, 2 * batch, channels), weight)
    product = product.view(count, 2, batch, 2, weight.shape[2] // 2)
    mixed = product.new_empty(count, 2, batch, weight.shape[2] // 2)
    torch.sub(product[:, 0, :, 0], product[:, 1, :, 1], out=mixed[:, 0])
    torch.add(product[:, 0, :, 1], product[:, 1, :, 0], out=mixed[:, 1])
    return mixed


def _transposed(g: torch.Tensor) -> torch.Tensor:
    """Gradient of the real product in `_mix` from that of its result."""
    count, _, batch, channels = g.shape
    product = g.new_empty(count, 2, batch, 2, channels)
    product[:, 0, :, 0] = g[:, 0]
    product[:, 0, :, 1] = g[:, 1]
    product[:, 1, :, 0] = g[:, 1]
    torch.neg(g[:, 0], out=product[:, 1, :, 1])
    return product.view(count, 2 * batch, 2 * channels)


def fourier_layer(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    skip: torch.Tensor | None,
    gain: torch.Tensor | None,
    shift: torch.Tensor | None,
    plan: FourierPlan,
) -> torch.Tensor:
    """Normalized Fourier layer plus pointwise skip, of a field with its channels last.

    Parameters
    ----------
    x : Tensor, shape (batch, *points, in_channels)
        Real field.
    weight : Tensor, shape (modes, in_channels, 2 out_channels)
        Real parts, then imaginary parts.
    bias : Tensor, shape (out_channels,), optional
        Constant of the Fourier layer.
    skip : Tensor, shape (out_channels, in_channels), optional
        Pointwise map to add.
    gain, shift : Tensor, shape (out_channels,), optional
        gamma and beta of the normalization, if the plan has one.
    plan : FourierPlan
        Matrices for the points of ``x``.

    Returns
    -------
    Tensor, shape (batch, *points, out_channels)
        It can be differentiated once.
    """
    arguments: Any = (x, weight, bias, skip, gain, shift, plan)
    return _FourierLayer.apply(*arguments)  # pyright: ignore[reportReturnType]
