"""QuadNorm of a field that is given by its Fourier modes, without a pass over the points.

A field ``h = S z`` of amplitudes z has the weighted mean ``m.z`` and the weighted variance
``z_c.G z_c``, where ``m = S^T w``, ``G = S^T diag(w) S``, and ``z_c`` is z less the mean in its
constant wave. On tensor grids m and G are products of one factor for each axis. The normalized
field is ``S (gamma z_c/sqrt(v + eps))`` and a constant: the layer is exactly `weighted_norm` of
the field, at the price of its amplitudes (derived here).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from sciml.nn.quadrature import Quadrature

__all__ = ["ModeNorm", "mode_norm"]


@dataclass(frozen=True)
class ModeNorm:
    """Moments of waves on given points.

    Attributes
    ----------
    means : tuple of Tensor, shapes (waves,)
        Weighted mean of every wave of each axis.
    grams : tuple of Tensor, shapes (waves, waves)
        Weighted mean of every product of two waves.
    groups : int
        Groups of channels with common moments.
    eps : float
        Added to the variance.
    rms : bool
        Subtract nothing.
    """

    means: tuple[torch.Tensor, ...]
    grams: tuple[torch.Tensor, ...]
    groups: int
    eps: float
    rms: bool

    def forward(
        self, waves: torch.Tensor, gain: torch.Tensor | None, shift: torch.Tensor | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Amplitudes of the normalized field, and what `backward` needs."""
        batch, channels = waves.shape[0], waves.shape[-1]
        z = waves.reshape(batch, waves.shape[1:-1].numel(), channels)
        if not self.rms:
            mean = self._over_group((self._full_mean() @ z).view(batch, channels))
            z = z.clone()
            z[:, 0] -= mean
        turned = self._turn(z)
        variance = self._over_group((z * turned).sum(1))
        # Rounding can leave a tiny negative number for a constant field.
        scale = torch.rsqrt(variance.clamp_min(0.0) + self.eps)
        factor = scale if gain is None else scale * gain
        new = z * factor.unsqueeze(1)
        if shift is not None:
            new[:, 0] += shift
        return new.view(waves.shape), (z, turned, scale)

    def backward(
        self, gradient: torch.Tensor, kept: tuple[torch.Tensor, ...], gain: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Gradients of amplitudes, gain and shift."""
        z, turned, scale = kept
        g = gradient.reshape(z.shape)
        along = (g * z).sum(1)
        of_gain, of_shift = (along * scale).sum(0), g[:, 0].sum(0)
        if gain is not None:
            g, along = g * gain, along * gain
        slope = scale**3 * self._over_group(along)
        of_z = g * scale.unsqueeze(1) - turned * slope.unsqueeze(1)
        if not self.rms:
            level = self._over_group(of_z[:, 0])
            of_z = of_z - self._full_mean()[:, None] * level.unsqueeze(1)
        return of_z.view(gradient.shape), of_gain, of_shift

    def _full_mean(self) -> torch.Tensor:
        full = self.means[0]
        for mean in self.means[1:]:
            full = (full[:, None] * mean).reshape(-1)
        return full

    def _turn(self, z: torch.Tensor) -> torch.Tensor:
        """Product of the Gram matrices with amplitudes of shape (batch, waves, channels)."""
        outer, inner = z.shape[0], z.shape[1:].numel()
        x = z
        for gram in self.grams:
            inner //= len(gram)
            x = torch.bmm(gram.expand(outer, *gram.shape), x.reshape(outer, len(gram), inner))
            outer *= len(gram)
        return x.view(z.shape)

    def _over_group(self, values: torch.Tensor) -> torch.Tensor:
        batch, channels = values.shape
        if self.groups == channels:
            return values
        split = values.view(batch, self.groups, channels // self.groups)
        return split.mean(2, keepdim=True).expand_as(split).reshape(batch, channels)


def mode_norm(
    quadrature: Quadrature,
    synthesis: tuple[torch.Tensor, ...],
    groups: int,
    eps: float,
    rms: bool,
) -> ModeNorm:
    """Moments of the waves of a Fourier layer on points of known weights.

    Parameters
    ----------
    quadrature : Quadrature
        Of a tensor grid.
    synthesis : tuple of Tensor, shapes (points, waves)
        Waves of each axis at the points.
    groups, eps, rms
        As in `QuadNorm`.

    Returns
    -------
    ModeNorm
    """
    means, grams = [], []
    for weights, matrix in zip(quadrature.factors, synthesis, strict=True):
        waves = matrix.detach().double().cpu().numpy()
        for found, values in (
            (means, weights @ waves),
            (grams, waves.T @ (weights[:, None] * waves)),
        ):
            found.append(torch.tensor(np.asarray(values), dtype=matrix.dtype, device=matrix.device))
    return ModeNorm(tuple(means), tuple(grams), groups, eps, rms)
