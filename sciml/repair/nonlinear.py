"""Nearest states under rules that are not linear: bounds, positivity, energy, enstrophy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sciml.repair.arguments import number, numbers, real_array, whole
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.wave_numbers import half_spectrum, mode_weights, wave_numbers

__all__ = ["BoundsProjection", "EnergyProjection", "EnstrophyProjection", "SimplexProjection"]


class BoundsProjection(AbstractProjection):
    """Nearest state between bounds.

    Parameters
    ----------
    lower, upper : float, optional
        Bounds of every entry. A maximum principle takes them from the initial and boundary data.
    sample_axes : int, default 1
        Axes of one state.

    Examples
    --------
    >>> BoundsProjection(lower=0.0)(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    linear = False

    def __init__(
        self, lower: float | None = None, upper: float | None = None, *, sample_axes: int = 1
    ) -> None:
        super().__init__()
        bound = "a finite number, or None"
        low = -math.inf if lower is None else number("lower", lower, bound)
        high = math.inf if upper is None else number("upper", upper, bound)
        if not low <= high or (lower is None and upper is None):
            raise ValueError(
                f"lower={lower!r}, upper={upper!r}: wanted a lower bound, an upper, or both in "
                "order"
            )
        self.lower, self.upper = low, high
        self.sample_axes = whole("sample_axes", sample_axes, 1)

    def forward(self, u: Tensor) -> Tensor:
        """States between the bounds."""
        check_fields("u", u, self.sample_axes, "(*batch, *state)")
        return u.clamp(self.lower, self.upper)

    def defect(self, u: Tensor) -> Tensor:
        """Largest distance beyond a bound, relative to the largest entry."""
        axes = tuple(range(-self.sample_axes, 0))
        scale = u.abs().amax(axes).clamp_min(torch.finfo(u.dtype).tiny)
        return (u - self(u)).abs().amax(axes) / scale


class SimplexProjection(AbstractProjection):
    """Nearest state without negative entries and with a given total.

    Parameters
    ----------
    total : float
        Weighted sum of the entries, positive.
    weights : array_like, optional
        Positive sizes of the cells, of the shape of a state; they are the metric too. Ones if left
        out.
    sample_axes : int, default 1
        Axes of one state; those of the weights if they are given.

    References
    ----------
    L. Condat, Math. Program. 158 (2016) 575, on projection onto the simplex by sorting.

    Examples
    --------
    >>> SimplexProjection(2.0)(torch.tensor([3.0, 1.0, -4.0]))
    tensor([2., 0., 0.])
    """

    linear = False
    _weights: Tensor | None

    def __init__(self, total: float, *, weights: Any = None, sample_axes: int = 1) -> None:
        super().__init__()
        self.total = number("total", total, "a positive number", above=0.0)
        w = None
        if weights is not None:
            sizes = real_array("weights", weights, "positive sizes of cells")
            if not sizes.ndim or not ((sizes > 0.0) & np.isfinite(sizes)).all():
                raise ValueError("weights: wanted positive sizes of cells, of the shape of a state")
            w = torch.from_numpy(sizes.copy())
        self.register_buffer("_weights", w, persistent=False)
        self.sample_axes = whole("sample_axes", sample_axes, 1) if w is None else w.ndim

    def forward(self, u: Tensor) -> Tensor:
        """States of the total without negative entries."""
        check_fields("u", u, self.sample_axes, "(*batch, *state)")
        shape = None if self._weights is None else tuple(self._weights.shape)
        if shape is not None and tuple(u.shape[-len(shape) :]) != shape:
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted (*batch, {', '.join(map(str, shape))}), an "
                "entry for each of the weights"
            )
        flat = u.flatten(-self.sample_axes)
        weights = self.metric(u)
        w = torch.ones_like(flat) if weights is None else weights.expand_as(u).reshape(flat.shape)
        values, order = flat.sort(dim=-1, descending=True)
        mass = torch.gather(w, -1, order)
        # The level that the largest entries are lowered by, if just these stay positive.
        level = ((mass * values).cumsum(-1) - self.total) / mass.cumsum(-1)
        count = (values > level).sum(-1, keepdim=True).clamp_min(1)
        return (flat - level.gather(-1, count - 1)).clamp_min(0.0).reshape(u.shape)

    def defect(self, u: Tensor) -> Tensor:
        """Deviation of the total and negative part, relative to the total."""
        axes = tuple(range(-self.sample_axes, 0))
        w = self.metric(u)
        mass = u if w is None else w * u
        excess = (mass.sum(axes) - self.total).abs() + mass.clamp_max(0.0).sum(axes).abs()
        return excess / self.total

    def metric(self, u: Tensor) -> Tensor | None:
        """The weights."""
        return None if self._weights is None else self._weights.to(u)


class EnergyProjection(AbstractProjection):
    """Nearest state whose fluctuation about its mean has a given mean square.

    A sphere in the space of states: the fluctuation is rescaled.

    Parameters
    ----------
    mean_square : float
        Of the fluctuation, over the points, summed over the components; positive.
    dimension : int
        Axes of the grid; a state is ``(components, *grid)``.

    Examples
    --------
    >>> u = EnergyProjection(4.0, dimension=1)(torch.tensor([[0.0, 2.0]]))
    >>> u
    tensor([[-1.,  3.]])
    """

    linear = False

    def __init__(self, mean_square: float, *, dimension: int) -> None:
        super().__init__()
        self.mean_square = number("mean_square", mean_square, "a positive number", above=0.0)
        self.dimension = whole("dimension", dimension, 1, 3)
        self.sample_axes = self.dimension + 1

    def forward(self, u: Tensor) -> Tensor:
        """States of the given energy."""
        mean, fluctuation, size = self._parts(u)
        if u.numel() and not bool((size > 0.0).all()):
            raise ValueError("u has a state without fluctuation: no direction to scale it along")
        return mean + fluctuation * (self.mean_square / size).sqrt()

    def defect(self, u: Tensor) -> Tensor:
        """Deviation of the mean square, relative to the wanted one."""
        size = self._parts(u)[2]
        return (size / self.mean_square - 1.0).abs().reshape(u.shape[: u.ndim - self.sample_axes])

    def _parts(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        check_fields("u", u, self.sample_axes, "(*batch, components, *grid)")
        axes = tuple(range(-self.dimension, 0))
        mean = u.mean(axes, keepdim=True)
        fluctuation = u - mean
        size = fluctuation.square().mean(axes, keepdim=True).sum(axes[0] - 1, keepdim=True)
        return mean, fluctuation, size


class EnstrophyProjection(AbstractProjection):
    """Nearest periodic state whose gradient has a given mean square.

    For velocities without divergence the mean square of the gradient is that of the vorticity, so
    that this fixes twice the enstrophy. Such states lie on an ellipsoid; each mode becomes
    ``u/(1 + t |k|^2)`` with the one number ``t`` that fits, found by Newton's method.

    Parameters
    ----------
    mean_square : float
        Of the gradient, over the points, summed over components; positive.
    lengths : sequence of float
        Periods along each axis of the grid.
    """

    linear = False

    def __init__(self, mean_square: float, lengths: Sequence[float]) -> None:
        super().__init__()
        self.mean_square = number("mean_square", mean_square, "a positive number", above=0.0)
        self.lengths = numbers("lengths", lengths, (1, 2, 3), "one to three positive periods")
        self.sample_axes = len(self.lengths) + 1

    def forward(self, u: Tensor) -> Tensor:
        """States of the given enstrophy."""
        check_fields("u", u, self.sample_axes, "(*batch, components, *grid)")
        if not u.numel():
            return u.clone()
        spectrum, square, power = self._spectrum(u)
        axes = tuple(range(-len(self.lengths), 0))
        found = self._multiplier(square, power).unsqueeze(axes[0] - 1)
        return torch.fft.irfftn(
            spectrum / (1.0 + found * square), u.shape[axes[0] :], dim=axes, norm="forward"
        )

    def defect(self, u: Tensor) -> Tensor:
        """Deviation of the mean square of the gradient, relative to the wanted one."""
        _, square, power = self._spectrum(u)
        axes = tuple(range(-len(self.lengths), 0))
        return ((square * power).sum(axes) / self.mean_square - 1.0).abs()

    def _spectrum(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        d = len(self.lengths)
        check_fields("u", u, self.sample_axes, "(*batch, components, *grid)")
        axes = tuple(range(-d, 0))
        spectrum = half_spectrum(u, axes, "forward")
        k, _ = wave_numbers(tuple(u.shape[-d:]), self.lengths, u.dtype, u.device)
        square = torch.zeros((), dtype=u.dtype, device=u.device)
        for along in k:
            square = square + along**2
        return spectrum, square, mode_weights(u) * (spectrum.abs() ** 2).sum(axes[0] - 1)

    def _multiplier(self, square: Tensor, power: Tensor) -> Tensor:
        """The root ``t`` of ``sum k^2 |u_k|^2/(1 + t k^2)^2 = Z``, one for each state."""
        axes = tuple(range(-len(self.lengths), 0))
        active = square * power > 0.0
        if not bool(active.flatten(-len(axes)).any(-1).all()):
            raise ValueError("u has a state without gradient: no direction to scale it along")
        largest = torch.where(active, square, 0.0).amax(axes, keepdim=True)
        # 1/sqrt of the left side is concave and nearly linear in t, so that Newton's method
        # converges from the pole of the largest active mode outwards, without a line search.
        t = torch.zeros_like(largest)
        for _ in range(60):
            shrunk = 1.0 + t * square
            value = (square * power / shrunk**2).sum(axes, keepdim=True)
            slope = (-2.0 * square**2 * power / shrunk**3).sum(axes, keepdim=True)
            step = 2.0 * value * ((value / self.mean_square).sqrt() - 1.0) / slope
            t = torch.maximum(t - step, -1.0 / largest + 0.5 * (t + 1.0 / largest))
            if bool((step.detach().abs() <= 1e-15 * (1.0 / largest)).all()):
                break
        return t
