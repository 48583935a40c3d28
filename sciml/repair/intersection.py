"""Several rules at once: Dykstra's alternating projections."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from sciml.repair.arguments import check_repair, number, whole
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = ["Intersection"]


class Intersection(AbstractProjection):
    """Nearest state in the intersection of convex sets, by Dykstra's method.

    Projecting in turn finds *some* common state; Dykstra's corrections make it the *nearest*. The
    iteration converges linearly at best, so that what is left is reported, and this is exact only
    up to it.

    Parameters
    ----------
    projections : sequence of AbstractProjection
        Onto convex sets, of one kind of state and one inner product.
    iterations : int, default 1000
        Rounds at most.
    tolerance : float, default 1e-12
        Change of a round, relative to the largest entry, at which it stops.

    Attributes
    ----------
    residual : float
        Largest defect of any of the rules after the last call.
    rounds : int
        Rounds of the last call.

    References
    ----------
    J. P. Boyle and R. L. Dykstra, Lecture Notes in Statistics 37 (1986) 28.

    Examples
    --------
    >>> from sciml.repair import AffineProjection, BoundsProjection
    >>> both = Intersection([AffineProjection([[1.0, 1.0]], [1.0]), BoundsProjection(0.0)])
    >>> both(torch.tensor([2.0, -3.0], dtype=torch.float64)).round(decimals=6)
    tensor([1., 0.], dtype=torch.float64)
    """

    def __init__(
        self,
        projections: Sequence[AbstractProjection],
        *,
        iterations: int = 1000,
        tolerance: float = 1e-12,
    ) -> None:
        super().__init__()
        if len(projections) < 2:
            raise ValueError(f"projections: got {len(projections)}, wanted two or more")
        for place, projection in enumerate(projections):
            check_repair(f"projections[{place}]", projection)
        axes = {projection.sample_axes for projection in projections}
        if len(axes) > 1:
            raise ValueError(
                f"projections work on states of {sorted(axes)} axes: wanted one kind of state"
            )
        self.projections = torch.nn.ModuleList(projections)
        self.iterations = whole("iterations", iterations, 1)
        self.tolerance = number("tolerance", tolerance, "a positive number", above=0.0)
        self.sample_axes = axes.pop()
        self.linear = all(projection.linear for projection in projections)
        self.exact = all(projection.exact for projection in projections)
        self.residual, self.rounds = float("nan"), 0
        self._looked = False

    def forward(self, u: Tensor) -> Tensor:
        """States that obey all rules, up to `residual`."""
        check_fields("u", u, self.sample_axes, "(*batch, *state)")
        self._compare_metrics(u)
        corrections = [torch.zeros_like(u) for _ in self.projections]
        scale = float(u.detach().abs().max()) if u.numel() else 0.0
        floor = max(self.tolerance, 4.0 * torch.finfo(u.dtype).eps) * max(scale, 1e-300)
        for rounds in range(1, self.iterations + 1):
            self.rounds, before = rounds, u
            moved = 0.0
            for place, projection in enumerate(self.projections):
                asked = u + corrections[place]
                u = projection(asked)
                moved = max(moved, _largest(asked - u - corrections[place]))
                corrections[place] = asked - u
            # An iterate may rest for a while and move again; the corrections must rest too.
            if max(moved, _largest(u - before)) <= floor:
                break
        self.residual = float(self.defect(u.detach()).max()) if u.numel() else 0.0
        return u

    def defect(self, u: Tensor) -> Tensor:
        """Largest defect under any of the rules."""
        found = [member.defect(u) for member in self._members()]
        return torch.stack(found).amax(0)

    def metric(self, u: Tensor) -> Tensor | None:
        """Weights of the first rule that has any."""
        return next((w for p in self._members() if (w := p.metric(u)) is not None), None)

    def _compare_metrics(self, u: Tensor) -> None:
        """Warn, once, if the members measure distances differently."""
        if self._looked or not u.numel():
            return
        self._looked = True
        shape = u.shape[u.ndim - self.sample_axes :]
        generator = torch.Generator().manual_seed(0)
        probe = torch.randn(shape, dtype=torch.float64, generator=generator).to(u)
        sizes = [float(member.inner(probe, probe)) for member in self._members()]
        if max(sizes) > (1.0 + 1e-4) * min(sizes):
            warnings.warn(
                "the projections have different inner products (sizes of one state: "
                f"{', '.join(f'{size:.4g}' for size in sizes)}): what is found obeys all rules, "
                "but is not the nearest state; give them one metric",
                stacklevel=4,
            )

    def _members(self) -> list[AbstractProjection]:
        return [member for member in self.projections if isinstance(member, AbstractProjection)]


def _largest(change: Tensor) -> float:
    return float(change.detach().abs().max()) if change.numel() else 0.0
