"""Numbers that tell what a repair does: distortion, idempotence, symmetry, what it can remove."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from sciml.repair.arguments import check_repair
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = [
    "EXACT",
    "ErrorSplit",
    "error_split",
    "idempotence",
    "mean_square",
    "optimal_strength",
    "removable_error",
    "symmetry",
    "target_distortion",
]

EXACT = 1e-8
"""Share of the mean square of the states up to which a distortion counts as rounding."""


def mean_square(projection: AbstractProjection, a: Tensor, b: Tensor | None = None) -> float:
    """Mean of ``a b``, or of ``a^2``, over batch and entries in the inner product of a repair.

    Parameters
    ----------
    projection : AbstractProjection
        Whose inner product.
    a, b : Tensor
        Of one shape, ``(*batch, *state)``. Without `b` the square of `a`.

    Returns
    -------
    float
        Per entry of a state; computed in double precision. Zero for an empty batch.

    Examples
    --------
    >>> from sciml.repair import LerayProjection
    >>> mean_square(LerayProjection((1.0, 1.0)), torch.full((2, 4, 4), 3.0))
    9.0
    """
    a = a.detach().double()
    b = a if b is None else b.detach().double()
    entries = a.shape[a.ndim - projection.sample_axes :].numel()
    products = projection.inner(a, b)
    return float(products.mean()) / entries if products.numel() else 0.0


def target_distortion(projection: AbstractProjection, states: Tensor) -> float:
    """Mean square of what a repair changes in true states, per entry.

    Zero to rounding for an exact repair. It bounds what a repair costs: beyond what it removes of
    the error it does harm (`sciml.theory.projection.repair_harms`).

    Parameters
    ----------
    projection : AbstractProjection
        The repair.
    states : Tensor, shape (*batch, *state)
        True states, as stored.

    Returns
    -------
    float

    Warns
    -----
    UserWarning
        If the states look like velocities whose components stand in another order than the axes.

    Examples
    --------
    >>> from sciml.repair import LerayProjection
    >>> x = torch.arange(8, dtype=torch.float64) / 8
    >>> gradient = torch.stack([torch.sin(2 * torch.pi * x)[:, None].expand(8, 8)] * 2)
    >>> round(target_distortion(LerayProjection((1.0, 1.0)), gradient), 12)
    0.25
    """
    axes = check_repair("projection", projection).sample_axes
    check_fields("states", states, axes, "(*batch, *state)")
    found = mean_square(projection, projection(states) - states)
    claimed = projection.exact and found > EXACT * mean_square(projection, states)
    if claimed and (hint := swapped_hint(projection, states, found)):
        warnings.warn(hint, stacklevel=2)
    return found


def idempotence(projection: AbstractProjection, states: Tensor) -> float:
    """Largest change when repaired states are repaired again, relative to the largest entry.

    Says nothing about exactness: top-down reconciliation has 0.
    """
    axes = check_repair("projection", projection).sample_axes
    check_fields("states", states, axes, "(*batch, *state)")
    once = projection(states)
    scale = float(states.abs().max()) if states.numel() else 0.0
    return float((projection(once) - once).abs().max()) / scale if scale else 0.0


def symmetry(projection: AbstractProjection, a: Tensor, b: Tensor) -> float:
    """Violation of ``<L a, b> = <a, L b>`` for the linear part ``L``, relative to the norms.

    Zero to rounding if the repair is an *orthogonal* projection in its own inner product.

    Parameters
    ----------
    projection : AbstractProjection
        Linear, or affine.
    a, b : Tensor, shape (*batch, *state)
        Any two states.

    Returns
    -------
    float
        The largest over the batch.

    Raises
    ------
    TypeError
        If the repair is not linear.
    """
    if not check_repair("projection", projection).linear:
        raise TypeError(f"{type(projection).__name__} is not linear: symmetry has no meaning")
    check_fields("a", a, projection.sample_axes, "(*batch, *state)")
    check_fields("b", b, projection.sample_axes, "(*batch, *state)")
    if a.shape != b.shape:
        raise ValueError(
            f"a has shape {tuple(a.shape)}, b {tuple(b.shape)}: wanted two states of one shape"
        )
    if not a.numel():
        return 0.0
    moved = projection(torch.zeros_like(a))
    left = projection.inner(projection(a) - moved, b)
    right = projection.inner(a, projection(b) - moved)
    scale = (projection.inner(a, a) * projection.inner(b, b)).sqrt()
    tiny = torch.finfo(a.dtype).tiny
    return float(((left - right).abs() / scale.clamp_min(tiny)).max())


@dataclass(frozen=True, kw_only=True)
class ErrorSplit:
    """Mean squares that decide whether a repair helps; per entry of a state.

    Attributes
    ----------
    error : float
        ``|e|^2`` of the predictions.
    repaired : float
        ``|C x - u|^2``, measured.
    remaining : float
        ``|e - L e|^2`` with what the repair takes from the error, ``L e = K x - K u``.
    distortion : float
        ``S_u = |K u|^2``.
    removed : float
        ``S_e = |K x - K u|^2``.
    cross : float
        ``c = <K x - K u, K u>``.
    projected : float
        ``<e, K x>``: equals ``removed + cross`` for orthogonal projections.
    """

    error: float
    repaired: float
    remaining: float
    distortion: float
    removed: float
    cross: float
    projected: float

    @property
    def removable(self) -> float:
        """``|e|^2 - |C e|^2``: what the repair takes off the error."""
        return self.error - self.remaining

    @property
    def share(self) -> float:
        """Part of the error that the repair can remove."""
        return self.removable / self.error if self.error > 0.0 else 0.0

    @property
    def strength(self) -> float:
        """Strength in [0, 1] with the least error on these predictions."""
        moved = self.removed + self.distortion + 2.0 * self.cross
        if moved <= 0.0:
            return 0.0
        return min(1.0, max(0.0, self.projected / moved))

    def relaxed(self, strength: float) -> float:
        """Mean squared error of the relaxed repair, exactly, for any linear repair."""
        moved = self.removed + self.distortion + 2.0 * self.cross
        return self.error - 2.0 * strength * self.projected + strength**2 * moved


def error_split(projection: AbstractProjection, predictions: Tensor, truth: Tensor) -> ErrorSplit:
    """Measure what a repair does to predictions.

    Parameters
    ----------
    projection : AbstractProjection
        The repair.
    predictions, truth : Tensor, shape (*batch, *state)
        Of one shape.

    Returns
    -------
    ErrorSplit

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    axes = check_repair("projection", projection).sample_axes
    check_fields("predictions", predictions, axes, "(*batch, *state)")
    check_fields("truth", truth, axes, "(*batch, *state)")
    if predictions.shape != truth.shape:
        raise ValueError(
            f"predictions have shape {tuple(predictions.shape)}, truth {tuple(truth.shape)}: "
            "wanted one shape"
        )
    with torch.no_grad():
        error = predictions - truth
        repaired = projection(predictions)
        moved, moved_truth = predictions - repaired, truth - projection(truth)
        taken = moved - moved_truth
        return ErrorSplit(
            error=mean_square(projection, error),
            repaired=mean_square(projection, repaired - truth),
            remaining=mean_square(projection, error - taken),
            distortion=mean_square(projection, moved_truth),
            removed=mean_square(projection, taken),
            cross=mean_square(projection, taken, moved_truth),
            projected=mean_square(projection, error, moved),
        )


def removable_error(projection: AbstractProjection, predictions: Tensor, truth: Tensor) -> float:
    """How much of the mean squared error a repair removes, ``|e|^2 - |C e|^2``, per entry.

    Parameters
    ----------
    projection : AbstractProjection
        The repair.
    predictions, truth : Tensor, shape (*batch, *state)
        Of one shape.

    Returns
    -------
    float
        The repair does harm if its target distortion is larger, and errors and distortion are
        uncorrelated.
    """
    return error_split(projection, predictions, truth).removable


def optimal_strength(projection: AbstractProjection, predictions: Tensor, truth: Tensor) -> float:
    """Strength of the relaxed repair with the least error on these predictions, in [0, 1].

    The least-squares value ``<e, K x>/|K x|^2``, which for orthogonal projections is
    ``(S_e + c)/(S_e + S_u + 2 c)``.

    Parameters
    ----------
    projection : AbstractProjection
        The repair at full strength.
    predictions, truth : Tensor, shape (*batch, *state)
        Of one shape. Use validation data, not those on which the result is judged.

    Returns
    -------
    float
        0 if there is nothing to repair.
    """
    return error_split(projection, predictions, truth).strength


def swapped_hint(projection: AbstractProjection, states: Tensor, found: float) -> str:
    """A sentence if states that a repair distorts by `found` have their components in reverse.

    Parameters
    ----------
    projection : AbstractProjection
        The repair.
    states : Tensor, shape (*batch, *state)
        True states.
    found : float
        Mean square of what it changes in them.

    Returns
    -------
    str
        Empty if reversing the components would not lower the distortion to a hundredth.
    """
    place = -projection.sample_axes
    if projection.sample_axes < 3 or states.shape[place] != projection.sample_axes - 1:
        return ""
    swapped = states.flip(place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            other = mean_square(projection, projection(swapped) - swapped)
        except ValueError:  # the sides do not let the swapped flow through
            return ""
    if other >= 0.01 * found:
        return ""
    return (
        f"the repair changes the true states by a mean square of {found:.3g}, but with the "
        f"components in reverse order by {other:.3g} alone: component j must be the velocity "
        "along axis j of the grid; reverse the components or transpose the grid"
    )
