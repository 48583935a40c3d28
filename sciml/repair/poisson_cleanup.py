"""The usual cleaning of collocated velocities by a Poisson equation, which is not exact."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from pdes.solvers.fast_poisson import fast_poisson
from sciml.repair.arguments import number, numbers, shape_hint, share
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = ["PoissonCleanup"]


class PoissonCleanup(AbstractProjection):
    """Takes away the gradient of a potential that lowers the divergence of central differences.

    Between walls: the normal velocity vanishes there. Kept for study and honest comparison. It is
    not exact for two reasons: the divergence of a central gradient is the wide stencil of the
    Laplacian and not that of five points which is inverted, and the ring of cells at the walls is
    left alone. It lowers the divergence, and changes true states.

    Parameters
    ----------
    spacings : sequence of float
        Size of the cells along each axis, two or three axes.
    strength : float, default 1
        Share of the correction, in [0, 1].
    keep_boundary : bool, default True
        Leave the outermost ring of cells unchanged.
    screened : float, optional
        Positive ``alpha`` in ``(alpha - lap) phi = -div u``: long waves are left alone.

    Examples
    --------
    >>> u = torch.randn(2, 16, 16, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> clean = PoissonCleanup((1 / 16, 1 / 16))
    >>> bool(clean.defect(clean(u)) < clean.defect(u))
    True
    """

    exact = False

    def __init__(
        self,
        spacings: Sequence[float],
        *,
        strength: float = 1.0,
        keep_boundary: bool = True,
        screened: float | None = None,
    ) -> None:
        super().__init__()
        self.spacings = numbers(
            "spacings", spacings, (2, 3), "two or three positive sizes of cells"
        )
        self.strength, self.keep_boundary = share("strength", strength), bool(keep_boundary)
        self.screened = None
        if screened is not None:
            wanted = "a positive number, or None"
            self.screened = number("screened", screened, wanted, above=0.0)
        self.sample_axes = len(self.spacings) + 1

    def forward(self, u: Tensor) -> Tensor:
        """Cleaned velocities, shape ``(*batch, d, *cells)``."""
        divergence = self.divergence(u)
        kinds = ["neumann"] * len(self.spacings)
        potential = fast_poisson(divergence, self.spacings, kinds, shift=self.screened or 0.0)
        gradient = torch.stack(
            [
                _central(potential, axis - len(self.spacings), h, edge=1.0)
                for axis, h in enumerate(self.spacings)
            ],
            dim=-len(self.spacings) - 1,
        )
        if self.keep_boundary:
            d = len(self.spacings)
            inner = gradient[(..., *[slice(1, -1)] * d)]
            gradient = functional.pad(inner, [1, 1] * d)
        return u - self.strength * gradient

    def divergence(self, u: Tensor) -> Tensor:
        """Divergence by central differences, with the walls' mirror images beyond the ends."""
        d = len(self.spacings)
        wanted = f"(*batch, {d}, {', '.join(f'n_{j + 1}' for j in range(d))})"
        check_fields("u", u, self.sample_axes, wanted)
        if u.shape[-d - 1] != d or min(u.shape[-d:]) < 4:
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted {wanted}, one velocity component for each "
                "axis of the grid and four or more cells along each"
                f"{shape_hint(u.shape[-d - 1 :], (d, *u.shape[-d - 1 : -1]))}"
            )
        total = torch.zeros_like(u.select(-d - 1, 0))
        for axis, (component, h) in enumerate(zip(u.unbind(-d - 1), self.spacings, strict=True)):
            total = total + _central(component, axis - d, h, edge=-1.0)
        return total

    def defect(self, u: Tensor) -> Tensor:
        """Root mean square of the divergence times the smallest cell, relative to the velocity."""
        axes = tuple(range(-len(self.spacings), 0))
        size = u.square().mean((*axes, axes[0] - 1)).sqrt().clamp_min(torch.finfo(u.dtype).tiny)
        return self.divergence(u).square().mean(axes).sqrt() * min(self.spacings) / size


def _central(values: Tensor, axis: int, h: float, *, edge: float) -> Tensor:
    """Central difference; beyond an end stands `edge` times the value at it."""
    low, high = values.narrow(axis, 0, 1), values.narrow(axis, values.shape[axis] - 1, 1)
    full = torch.cat([edge * low, values, edge * high], dim=axis)
    n = values.shape[axis]
    return (full.narrow(axis, 2, n) - full.narrow(axis, 0, n)) / (2.0 * h)
