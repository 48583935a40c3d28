"""A repair whose strength is learned from data: for all, for each state, or for each mode."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from pdes.tokens import closest
from sciml.repair.arguments import check_repair
from sciml.repair.measures import error_split
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = ["GATES", "GatedRepair"]

GATES = ("global", "state", "mode")


class GatedRepair(AbstractProjection):
    """Relaxed repair whose strength is the one with the least expected error.

    ``S_e/(S_e + S_u)``, what the repair can remove against what it distorts, is fitted on
    predictions with known truth: a Wiener filter instead of a black box.

    Parameters
    ----------
    projection : AbstractProjection
        The full repair.
    gate : {"global", "state", "mode"}
        One strength; one for each state, from how much the full repair would change it,
        ``1 - S_u/|K x|^2``; or one for each Fourier mode of a periodic grid.

    Attributes
    ----------
    strength_ : Tensor
        Fitted strength, or strengths of the modes.
    distortion_ : float
        Fitted ``S_u``, summed over a state.

    Examples
    --------
    >>> from sciml.repair import MismatchedLeray
    >>> generator = torch.manual_seed(0)
    >>> truth = torch.randn(16, 2, 8, 8, dtype=torch.float64, generator=generator)
    >>> noisy = truth + 0.1 * torch.randn(16, 2, 8, 8, dtype=torch.float64, generator=generator)
    >>> gate = GatedRepair(MismatchedLeray((1.0, 1.0))).fit(noisy, truth)
    >>> bool(gate.strength_ < 0.05)
    True
    """

    strength_: Tensor

    def __init__(
        self,
        projection: AbstractProjection,
        gate: Literal["global", "state", "mode"] = "global",
    ) -> None:
        super().__init__()
        if gate not in GATES:
            raise ValueError(
                f"gate={gate!r}.{closest(str(gate), GATES)} Gates are {', '.join(GATES)}"
            )
        self.projection, self.gate = check_repair("projection", projection), gate
        self.sample_axes, self.linear = projection.sample_axes, gate != "state"
        self.exact = False
        self.register_buffer("strength_", torch.tensor(float("nan")))
        self.distortion_ = float("nan")

    def fit(self, predictions: Tensor, truth: Tensor) -> GatedRepair:
        """Find the strengths.

        Parameters
        ----------
        predictions, truth : Tensor, shape (*batch, *state)
            Of one shape; not the data on which the result is judged.

        Returns
        -------
        GatedRepair
            This one.
        """
        split = error_split(self.projection, predictions, truth)
        entries = truth.shape[truth.ndim - self.sample_axes :].numel()
        self.distortion_ = split.distortion * entries
        if self.gate != "mode":
            self.strength_ = truth.new_tensor(split.strength)
            return self
        with torch.no_grad():
            moved = self._modes(predictions - self.projection(predictions))
            error = self._modes(predictions - truth)
            batch = tuple(range(truth.ndim - self.sample_axes + 1))
            shared = (moved.conj() * error).real.flatten(0, len(batch) - 1).sum(0)
            size = (moved.abs() ** 2).flatten(0, len(batch) - 1).sum(0)
            tiny = torch.finfo(size.dtype).tiny
            self.strength_ = torch.where(size > 0, shared / size.clamp_min(tiny), 0.0).clamp(0, 1)
        return self

    def forward(self, u: Tensor) -> Tensor:
        """States repaired as far as it pays."""
        check_fields("u", u, self.sample_axes, "(*batch, *state)")
        if self.strength_.isnan().any():
            raise RuntimeError("this GatedRepair has no strength yet: call fit(predictions, truth)")
        if not u.numel():  # some transforms refuse an empty batch
            return u.clone()
        moved = u - self.projection(u)
        if self.gate == "global":
            return u - self.strength_.to(u) * moved
        if self.gate == "state":
            size = self.projection.inner(moved, moved)
            tiny = torch.finfo(u.dtype).tiny
            strength = (1.0 - self.distortion_ / size.clamp_min(tiny)).clamp(0.0, 1.0)
            return u - strength.reshape(*strength.shape, *[1] * self.sample_axes) * moved
        axes = tuple(range(1 - self.sample_axes, 0))
        spectrum, strengths = self._modes(moved), self.strength_.to(u)
        if spectrum.shape[-strengths.ndim :] != strengths.shape:
            modes = tuple(spectrum.shape[1 - self.sample_axes :])
            raise ValueError(
                f"u has shape {tuple(u.shape)}: its {modes} modes are not the "
                f"{tuple(strengths.shape)} that have strengths; fit on states of this grid"
            )
        spectrum = spectrum * strengths
        return u - torch.fft.irfftn(spectrum, u.shape[1 - self.sample_axes :], dim=axes)

    def defect(self, u: Tensor) -> Tensor:
        """Defect under the full repair's rule."""
        return self.projection.defect(u)

    def metric(self, u: Tensor) -> Tensor | None:
        """Weights of the full repair's inner product."""
        return self.projection.metric(u)

    def _modes(self, values: Tensor) -> Tensor:
        if self.sample_axes < 2:
            raise ValueError("gate='mode' needs states (components, *grid) on a periodic grid")
        return torch.fft.rfftn(values, dim=tuple(range(1 - self.sample_axes, 0)))
