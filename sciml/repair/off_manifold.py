"""What a forecaster does with a part of its input that breaks the rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from sciml.repair.arguments import check_callable, check_repair, next_states, whole
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = ["OffManifoldGain", "off_manifold_gain"]


@dataclass(frozen=True, kw_only=True)
class OffManifoldGain:
    """Growth in one step of a small perturbation that breaks the rule.

    Attributes
    ----------
    breaking : float
        Into what breaks the rule again. Near 1 for models of increments: they keep their defect,
        which then drifts. Near 0 for models of the next state: they forget it.
    admissible : float
        Into what obeys it: the leak that a repair in the loop stops.
    """

    breaking: float
    admissible: float

    def __str__(self) -> str:
        return (
            f"breaking -> breaking {self.breaking:.3f}, breaking -> admissible "
            f"{self.admissible:.3f} in one step"
        )


def off_manifold_gain(
    forecaster: Callable[[Tensor], Tensor],
    projection: AbstractProjection,
    states: Tensor,
    *,
    directions: int = 4,
    seed: int = 0,
) -> OffManifoldGain:
    """Measure the gains ``|J v|/|v|`` of perturbations ``v`` that a projection would remove.

    Parameters
    ----------
    forecaster : callable
        One step, from states to states. Differentiated by forward tangents; a forecaster that has
        none is differenced.
    projection : AbstractProjection
        Linear; its complement is the space of ``v``.
    states : Tensor, shape (batch, *state)
        Around which.
    directions : int, default 4
        Random perturbations of each state.
    seed : int, default 0
        Of the perturbations.

    Returns
    -------
    OffManifoldGain
        Root mean squares over states and directions.

    Raises
    ------
    TypeError
        If the projection is not linear.
    ValueError
        If nothing breaks the rule.

    Examples
    --------
    >>> from sciml.repair import LerayProjection
    >>> u = torch.randn(3, 2, 8, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> print(off_manifold_gain(lambda v: 0.5 * v, LerayProjection((1.0, 1.0)), u))
    breaking -> breaking 0.500, breaking -> admissible 0.000 in one step
    """
    if not check_repair("projection", projection).linear:
        raise TypeError(f"{type(projection).__name__} is not linear: wanted a linear projection")
    check_fields("states", states, projection.sample_axes, "(batch, *state)")
    directions = whole("directions", directions, 1)
    generator = torch.Generator().manual_seed(seed)
    origin = projection(torch.zeros_like(states))
    size, breaking, admissible = 0.0, 0.0, 0.0
    with torch.no_grad():
        next_states(check_callable("forecaster", forecaster), states)
        for _ in range(directions):
            noise = torch.randn(states.shape, generator=generator, dtype=torch.float64).to(states)
            v = noise - (projection(noise) - origin)
            pushed = _tangent(forecaster, states, v)
            kept = projection(pushed) - origin
            size += float(projection.inner(v, v).sum())
            breaking += float(projection.inner(pushed - kept, pushed - kept).sum())
            admissible += float(projection.inner(kept, kept).sum())
    if size == 0.0:
        raise ValueError("every perturbation obeys the rule: there is nothing off the manifold")
    return OffManifoldGain(breaking=(breaking / size) ** 0.5, admissible=(admissible / size) ** 0.5)


def _tangent(forecaster: Callable[[Tensor], Tensor], states: Tensor, v: Tensor) -> Tensor:
    def step_of(u: Tensor) -> Tensor:
        return forecaster(u.clone())

    try:
        return torch.func.jvp(step_of, (states,), (v,))[1].detach()
    except (RuntimeError, NotImplementedError):
        root = torch.finfo(states.dtype).eps ** 0.5
        step = (
            root * float(states.abs().max().clamp_min(1.0)) / float(v.abs().max().clamp_min(root))
        )
        return (step_of(states + step * v) - step_of(states)) / step
