"""Leray's projection: periodic flows made free of divergence by Fourier transforms."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from sciml.repair.arguments import numbers, shape_hint
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.wave_numbers import half_spectrum, mode_weights, wave_numbers

__all__ = ["LerayProjection"]


class LerayProjection(AbstractProjection):
    """Nearest periodic flow without divergence, for any number of points and any box.

    Each Fourier mode loses its part along its wave vector, ``u - k (k.u)/|k|^2``. The mean flow is
    kept. On an axis with an even number of points the derivative of the mode of Nyquist is taken
    as zero, as the solvers of `pdes` do: otherwise the map would be neither real nor idempotent.

    Parameters
    ----------
    lengths : sequence of float
        Periods along each axis of the grid, two or three. **Component j is the velocity along
        axis j of the grid.**
    fix_mean : sequence of float, optional
        Mean flow to set, one number for each component: the states of one momentum are an affine
        set, and the map is the nearest point on it.

    Raises
    ------
    ValueError
        If lengths are not two or three positive numbers, or `fix_mean` does not fit them.

    Examples
    --------
    >>> x = torch.arange(8.0) / 8
    >>> shear = torch.stack(torch.broadcast_tensors(torch.sin(2 * torch.pi * x), x[:, None] * 0))
    >>> project = LerayProjection((1.0, 1.0))
    >>> bool(torch.allclose(project(shear + 0.3), shear + 0.3, atol=1e-6))
    True
    """

    def __init__(
        self, lengths: Sequence[float], *, fix_mean: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        self.lengths = numbers("lengths", lengths, (2, 3), "two or three positive periods")
        d = len(self.lengths)
        wanted = f"{d} finite numbers, one for each component"
        self.fix_mean = None if fix_mean is None else numbers("fix_mean", fix_mean, (d,), wanted)
        self.sample_axes = len(self.lengths) + 1
        self._looked = False

    def forward(self, u: Tensor) -> Tensor:
        """Flows without divergence, shape ``(*batch, d, n_1, ..., n_d)``."""
        self._check(u)
        if not u.numel():  # some transforms refuse an empty batch
            return u.clone()
        axes = tuple(range(-len(self.lengths), 0))
        spectrum = half_spectrum(u, axes)
        k, inverse = self._symbol(u)
        along = _dot(k, spectrum) * inverse
        components = spectrum.unbind(self._place)
        parts = [part - k_j * along for k_j, part in zip(k, components, strict=True)]
        spectrum = self._with_mean(torch.stack(parts, self._place), u)
        return torch.fft.irfftn(spectrum, u.shape[1 - self.sample_axes :], dim=axes)

    def defect(self, u: Tensor) -> Tensor:
        """Root mean square of the spectral divergence, relative to the rms velocity gradient.

        Where nothing varies there is no gradient: then the deviation of a fixed mean counts, or
        zero.
        """
        self._check(u)
        axes = tuple(range(-len(self.lengths), 0))
        spectrum = half_spectrum(u, axes, "forward")
        k, _ = self._symbol(u)
        weight = mode_weights(u)
        divergence = (weight * _dot(k, spectrum).abs() ** 2).sum(axes)
        k2 = sum(k_j**2 for k_j in k)
        gradient = (weight * k2 * (spectrum.abs() ** 2).sum(self._place)).sum(axes)
        tiny = torch.finfo(u.dtype).tiny
        found = (divergence / gradient.clamp_min(tiny)).sqrt()
        if self.fix_mean is not None:
            wanted = u.new_tensor(self.fix_mean)
            found = found + (u.mean(axes) - wanted).norm(dim=-1)
        return found

    @property
    def _place(self) -> int:
        return -len(self.lengths) - 1

    def _symbol(self, u: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        return wave_numbers(tuple(u.shape[1 - self.sample_axes :]), self.lengths, u.dtype, u.device)

    def _with_mean(self, spectrum: Tensor, u: Tensor) -> Tensor:
        if self.fix_mean is None:
            return spectrum
        d = len(self.lengths)
        points = u[(0,) * (u.ndim - d)].numel()
        constant = torch.zeros(spectrum.shape[-d:], dtype=torch.bool, device=u.device)
        constant[(0,) * d] = True
        wanted = (u.new_tensor(self.fix_mean) * points).reshape(-1, *[1] * d)
        return torch.where(constant, wanted.to(spectrum.dtype), spectrum)

    def _check(self, u: Tensor) -> None:
        d = len(self.lengths)
        wanted = f"(*batch, {d}, {', '.join(f'n_{j + 1}' for j in range(d))})"
        check_fields("u", u, self.sample_axes, wanted)
        if u.shape[self._place] != d:
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted {wanted}, one velocity component for each "
                f"of the {d} axes of the grid"
                f"{shape_hint(u.shape[-d - 1 :], (d, *u.shape[-d - 1 : -1]))}"
            )
        if min(u.shape[-d:]) < 2:
            raise ValueError(f"u has shape {tuple(u.shape)}: wanted two or more points an axis")
        if not self._looked and u.numel():
            self._looked = True
            self._warn_unless_periodic(u.detach())

    def _warn_unless_periodic(self, u: Tensor) -> None:
        for axis in range(-len(self.lengths), 0):
            steps = torch.diff(u, dim=axis).square()
            interior = steps.transpose(axis, -1).reshape(-1, steps.shape[axis]).mean(0).max()
            jump = (u.select(axis, 0) - u.select(axis, -1)).square().mean()
            if jump > 4.0 * interior:
                ratio = float((jump / interior).sqrt())
                warnings.warn(
                    f"u does not look periodic along axis {axis} of the grid: its opposite edges "
                    f"differ by {ratio:.1f} times the largest step inside. Between walls or "
                    "openings use StaggeredProjection (velocities on faces) or RangeProjection "
                    "(velocities interpolated to centers)",
                    stacklevel=4,
                )


def _dot(k: tuple[Tensor, ...], spectrum: Tensor) -> Tensor:
    total: Tensor | float = 0.0
    for k_j, component in zip(k, spectrum.unbind(-len(k) - 1), strict=True):
        total = total + k_j * component
    assert isinstance(total, Tensor)
    return total
