"""A repair of less than full strength."""

from __future__ import annotations

import torch
from torch import Tensor

from sciml.repair.arguments import check_repair, share
from sciml.repair.projection import AbstractProjection

__all__ = ["Relaxed"]


class Relaxed(AbstractProjection):
    """Goes part of the way to the repaired state: ``u - strength (u - C u)``.

    Parameters
    ----------
    projection : AbstractProjection
        The full repair ``C``.
    strength : float
        Between 0, no repair, and 1, the full one. `sciml.repair.optimal_strength` finds the one
        with the least error.

    Raises
    ------
    ValueError
        If the strength is outside [0, 1].

    Examples
    --------
    >>> from sciml.repair import LerayProjection
    >>> project = LerayProjection((1.0, 1.0))
    >>> u = torch.randn(2, 8, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> half = Relaxed(project, 0.5)(u)
    >>> bool(torch.allclose(half, 0.5 * (u + project(u))))
    True
    """

    def __init__(self, projection: AbstractProjection, strength: float) -> None:
        super().__init__()
        self.projection = check_repair("projection", projection)
        self.strength = share("strength", strength)
        self.sample_axes, self.linear = projection.sample_axes, projection.linear
        self.exact = projection.exact and self.strength == 1.0

    def forward(self, u: Tensor) -> Tensor:
        """States moved towards the repaired ones."""
        return torch.lerp(u, self.projection(u), self.strength)

    def defect(self, u: Tensor) -> Tensor:
        """Defect under the full repair's rule."""
        return self.projection.defect(u)

    def metric(self, u: Tensor) -> Tensor | None:
        """Weights of the full repair's inner product."""
        return self.projection.metric(u)

    def extra_repr(self) -> str:
        """Strength, for print."""
        return f"strength={self.strength:g}"
