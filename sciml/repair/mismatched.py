"""Leray projections of a wrong geometry, for controlled studies of distortion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from sciml.repair.arguments import number
from sciml.repair.leray import LerayProjection
from sciml.repair.projection import AbstractProjection
from sciml.repair.wave_numbers import half_spectrum, wave_numbers

__all__ = ["MismatchedLeray"]


class MismatchedLeray(AbstractProjection):
    """An orthogonal projection, but onto the wrong space.

    Idempotent, symmetric and linear like the exact one: none of these tells that it distorts the
    truth. Its target distortion does.

    Parameters
    ----------
    lengths : sequence of float
        True periods along each axis.
    aspect : float, default 1
        Factor by which the first period is taken wrongly.
    symbol : {"spectral", "finite_difference"}
        Derivatives by wave numbers, or by central differences, ``sin(k h)/h``.

    Examples
    --------
    >>> x = torch.arange(16, dtype=torch.float64) / 16 * 2 * torch.pi
    >>> vortices = torch.stack([torch.sin(x)[:, None] * torch.cos(x),
    ...                         -torch.cos(x)[:, None] * torch.sin(x)])
    >>> wrong = MismatchedLeray((2 * torch.pi, 2 * torch.pi), aspect=1.1)
    >>> round(float((wrong(vortices) - vortices).square().mean()), 5)
    0.00057
    """

    exact = False

    def __init__(
        self,
        lengths: Sequence[float],
        *,
        aspect: float = 1.0,
        symbol: Literal["spectral", "finite_difference"] = "spectral",
    ) -> None:
        super().__init__()
        self._true = LerayProjection(lengths)
        self.aspect = number("aspect", aspect, "a positive number", above=0.0)
        if symbol not in ("spectral", "finite_difference"):
            raise ValueError(f"symbol={symbol!r}: wanted 'spectral' or 'finite_difference'")
        self.symbol = symbol
        self.lengths, self.sample_axes = self._true.lengths, self._true.sample_axes

    def forward(self, u: Tensor) -> Tensor:
        """Velocities without the divergence of the wrong geometry."""
        self._true._check(u)
        if not u.numel():
            return u.clone()
        d = len(self.lengths)
        axes, place = tuple(range(-d, 0)), -d - 1
        lengths = (self.lengths[0] * self.aspect, *self.lengths[1:])
        shape = tuple(u.shape[-d:])
        k, _ = wave_numbers(shape, lengths, u.dtype, u.device)
        if self.symbol == "finite_difference":
            steps = [length / n for length, n in zip(lengths, shape, strict=True)]
            k = tuple(torch.sin(along * h) / h for along, h in zip(k, steps, strict=True))
        spectrum = half_spectrum(u, axes)
        square, along = torch.zeros((), dtype=u.dtype, device=u.device), 0.0
        for wave, component in zip(k, spectrum.unbind(place), strict=True):
            square, along = square + wave**2, along + wave * component
        tiny = torch.finfo(u.dtype).eps ** 2
        along = torch.where(square > tiny, along / square.clamp_min(tiny), 0.0)
        parts = [c - wave * along for wave, c in zip(k, spectrum.unbind(place), strict=True)]
        return torch.fft.irfftn(torch.stack(parts, place), shape, dim=axes)

    def defect(self, u: Tensor) -> Tensor:
        """True spectral divergence, relative to the velocity gradient."""
        return self._true.defect(u)
