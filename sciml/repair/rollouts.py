"""Forecasts over many steps, with a repair after the loop or inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pdes.tokens import closest
from sciml.repair.arguments import check_callable, next_states, whole
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = ["PLACES", "Rollout", "rollout", "steps_of"]

Place = Literal["raw", "post_hoc", "in_loop"]
PLACES = ("raw", "post_hoc", "in_loop")
LARGEST_GROWTH = 100.0
"""Amplitude over that of the initial state at which a rollout is stopped; from rest, over that of
the first states that move."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """Recorded states of a rollout.

    Attributes
    ----------
    states : Tensor, shape (batch, records, *state)
        The initial state first, then every recorded step.
    steps : tuple of int
        Step of each record, from 0.
    status : {"ok", "not finite", "blow-up"}
        Whether all steps were made.
    message : str
        Why not, in words; empty if they were.
    """

    states: Tensor
    steps: tuple[int, ...]
    status: str
    message: str


def rollout(
    forecaster: Callable[[Tensor], Tensor],
    u0: Tensor,
    steps: int,
    *,
    repair: Callable[[Tensor], Tensor] | None = None,
    where: Place = "raw",
    every: int = 1,
) -> Rollout:
    """Apply a forecaster many times.

    Parameters
    ----------
    forecaster : callable
        One step, from states to states of the same shape; any `torch.nn.Module` or function.
    u0 : Tensor, shape (batch, *state)
        Initial states.
    steps : int
        Steps, 1 or more.
    repair : callable, optional
        Such as an `AbstractProjection`; needed unless `where` is "raw".
    where : {"raw", "post_hoc", "in_loop"}
        No repair; of what is recorded alone; or of every step before the next is made.
    every : int, default 1
        Steps between records. Nothing else is held in memory.

    Returns
    -------
    Rollout
        Shorter, and saying so, if values cease to be finite or exceed 100 times the largest initial
        one.

    Raises
    ------
    ValueError
        If an argument does not fit, or the forecaster changes the shape.

    Examples
    --------
    >>> found = rollout(lambda u: 2 * u, torch.ones(1, 1, 4), 4, every=2)
    >>> found.steps, [float(u.max()) for u in found.states[0]]
    ((0, 2, 4), [1.0, 4.0, 16.0])
    """
    every = whole("every", every, 1)
    records, at, status, message = [u0], [0], "ok", ""
    for step, u, status_of, message_of in steps_of(
        forecaster, u0, steps, repair=repair, where=where
    ):
        status, message = status_of, message_of
        if status == "ok" and step % every == 0:
            records.append(u)
            at.append(step)
    return Rollout(
        states=torch.stack(records, dim=1), steps=tuple(at), status=status, message=message
    )


def steps_of(
    forecaster: Callable[[Tensor], Tensor],
    u0: Tensor,
    steps: int,
    *,
    repair: Callable[[Tensor], Tensor] | None = None,
    where: Place = "raw",
) -> Iterator[tuple[int, Tensor, str, str]]:
    """Steps of a rollout one at a time: step, reported states, status and message.

    The last one has another status than "ok" if the rollout had to be stopped; its states are those
    that were refused. Nothing is differentiated.
    """
    steps = whole("steps", steps, 1)
    check_callable("forecaster", forecaster)
    if where not in PLACES:
        raise ValueError(
            f"where={where!r}.{closest(str(where), PLACES)} Wanted one of {', '.join(PLACES)}"
        )
    if (repair is None) != (where == "raw"):
        raise ValueError(
            f"where={where!r} with repair={'none' if repair is None else 'given'}: a repair is "
            "needed for 'post_hoc' and 'in_loop', and for those alone"
        )
    if repair is not None:
        check_callable("repair", repair)
    axes = repair.sample_axes if isinstance(repair, AbstractProjection) else 0
    check_fields("u0", u0, 1, "(batch, *state)")
    if u0.ndim <= axes:
        raise ValueError(
            f"u0 has shape {tuple(u0.shape)}: wanted (batch, *state), and "
            f"{type(repair).__name__} takes states of {axes} axes; put a batch before one state by "
            "u0[None]"
        )
    limit = LARGEST_GROWTH * float(u0.abs().max()) if u0.numel() else 0.0
    u = u0
    with torch.no_grad():
        for step in range(1, steps + 1):
            u = next_states(forecaster, u)
            largest = float(u.abs().max()) if u.numel() else 0.0
            if limit == 0.0:  # from rest: the first states that move are the measure
                limit = LARGEST_GROWTH * largest
            if not largest <= limit:  # also if it is NaN
                finite = largest < float("inf")
                status = "blow-up" if finite else "not finite"
                said = f"reach {largest:.3g}" if finite else "cease to be finite"
                message = (
                    f"stopped at step {step} of {steps}: values {said}, from "
                    f"{limit / LARGEST_GROWTH:.3g} at the start"
                )
                yield step, u, status, message
                return
            reported = u
            if repair is not None:
                reported = repair(u.clone())
                u = reported if where == "in_loop" else u
            yield step, reported, "ok", ""
