"""Whether to repair a forecaster, where, and how strongly: measured on validation trajectories."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from sciml.repair.arguments import check_callable, check_repair, next_states, whole
from sciml.repair.measures import EXACT, ErrorSplit, error_split, mean_square, swapped_hint
from sciml.repair.off_manifold import OffManifoldGain, off_manifold_gain
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.relaxed import Relaxed
from sciml.repair.report import Choice, Interval, RepairReport, Variant
from sciml.repair.rollouts import Place, steps_of

__all__ = ["recommend"]

FEWEST_TRAJECTORIES = 8
NEGLIGIBLE = 1e-6
"""Distortion over what is removed up to which it does not matter."""
WORTH_WHILE = 0.02
"""Share of the error that a repair must be able to remove to be worth its while."""

Forecaster = Callable[[Tensor], Tensor]


def recommend(
    forecaster: Forecaster,
    projection: AbstractProjection,
    validation: Tensor,
    *,
    horizon: int | None = None,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> RepairReport:
    """Measure five ways to use a repair, and choose one on evidence.

    Raw, after the loop, in the loop, and both with the relaxed repair of the best strength. An
    exact repair after the loop never hurts, so that it is chosen unless the repair in the loop is
    better beyond chance. An inexact one is relaxed: after the loop with the best strength, which
    for the data it was found on never hurts either. If the rule holds too little of the error,
    nothing is repaired.

    Parameters
    ----------
    forecaster : callable
        One step, from states to states; any `torch.nn.Module` or function.
    projection : AbstractProjection
        The repair at full strength.
    validation : Tensor, shape (trajectories, times, *state)
        True states, one step apart, that neither trained the forecaster nor will judge it.
    horizon : int, optional
        Steps of the rollouts; all that the data have by default.
    n_bootstrap : int, default 1000
        Resamplings of the trajectories behind the intervals.
    seed : int, default 0
        Of the resampling and of random perturbations.

    Returns
    -------
    RepairReport
        Prints as a table with the reasons, and plots.

    Raises
    ------
    ValueError
        If the data are too short for the horizon, or hold fewer than two trajectories.

    Warns
    -----
    UserWarning
        With fewer than eight trajectories, or if a repair that claims to be exact changes the true
        states: it is then treated as inexact.

    Examples
    --------
    >>> from sciml.repair import LerayProjection
    >>> generator = torch.Generator().manual_seed(0)
    >>> project = LerayProjection((1.0, 1.0))
    >>> truth = project(torch.randn(8, 4, 2, 8, 8, dtype=torch.float64, generator=generator))
    >>> truth = truth[:, :1].expand(-1, 4, -1, -1, -1)
    >>> push = torch.zeros(2, 8, 8, dtype=torch.float64)
    >>> push[0] = torch.sin(2 * torch.pi * torch.arange(8) / 8)[:, None]
    >>> report = recommend(lambda u: u + 0.1 * push, project, truth)
    >>> report.choice.where, report.choice.strength
    ('post_hoc', 1.0)
    """
    check_callable("forecaster", forecaster)
    steps = _check(projection, validation, horizon, n_bootstrap, seed)
    exact, warning = _holds_exactly(projection, validation)
    with torch.no_grad():
        one_step, at_end = _splits(forecaster, projection, validation, steps)
        # The strength of each half of the trajectories comes from the other half.
        halves = _halves(len(validation), seed)
        strengths = [
            [error_split(projection, *_taken(pair, other)).strength for _, other in halves]
            for pair in (one_step, at_end)
        ]
        variants = _variants(forecaster, projection, validation, steps, halves, strengths)
    single, final = error_split(projection, *one_step), error_split(projection, *at_end)
    gain = _gain(forecaster, projection, validation, seed)
    generator = np.random.default_rng(seed)
    resampled = generator.integers(len(validation), size=(n_bootstrap, len(validation)))
    # Errors of rounding are all alike.
    floor = (8.0 * torch.finfo(validation.dtype).eps) ** 2 * mean_square(projection, validation)
    intervals = {
        (a, b): _interval(variants[a], variants[b], resampled, floor)
        for a, b in (
            ("in_loop", "post_hoc"),
            ("in_loop", "raw"),
            ("post_hoc", "raw"),
            ("relaxed post_hoc", "raw"),
            ("relaxed in_loop", "relaxed post_hoc"),
            ("relaxed in_loop", "raw"),
        )
    }
    return RepairReport(
        choice=_choose(projection, exact, final, intervals, variants),
        exact=exact,
        claimed_exact=projection.exact,
        one_step=single,
        at_horizon=final,
        variants=tuple(variants.values()),
        intervals=intervals,
        gain=gain,
        horizon=steps,
        trajectories=len(validation),
        warning=warning,
        repair=type(projection).__name__,
    )


def _check(
    projection: AbstractProjection,
    validation: Tensor,
    horizon: int | None,
    n_bootstrap: int,
    seed: int,
) -> int:
    check_repair("projection", projection)
    wanted = "(trajectories, times, *state)"
    check_fields("validation", validation, projection.sample_axes + 2, wanted)
    if validation.ndim != projection.sample_axes + 2:
        raise ValueError(f"validation has shape {tuple(validation.shape)}: wanted {wanted}")
    trajectories, times = validation.shape[:2]
    if trajectories < 2:
        raise ValueError(
            f"validation holds {trajectories} trajectories: wanted at least 2, and better "
            f"{FEWEST_TRAJECTORIES}, since the choice is judged by their scatter"
        )
    if trajectories < FEWEST_TRAJECTORIES:
        warnings.warn(
            f"{trajectories} validation trajectories: with fewer than {FEWEST_TRAJECTORIES} the "
            "intervals are unreliable",
            stacklevel=3,
        )
    if times < 2:
        raise ValueError(
            f"validation has {times} times: wanted two or more, one step of the forecaster apart"
        )
    whole("n_bootstrap", n_bootstrap, 1)
    whole("seed", seed, 0)
    why = f", since the trajectories have {times} times"
    return times - 1 if horizon is None else whole("horizon", horizon, 1, times - 1, why)


def _holds_exactly(projection: AbstractProjection, validation: Tensor) -> tuple[bool, str]:
    """Whether a repair that claims to be exact leaves the true states alone, or why not."""
    if not projection.exact:
        return False, ""
    change = (projection(validation) - validation).detach()
    floor = max(EXACT, 10.0 * torch.finfo(validation.dtype).eps ** 2)
    worst = projection.inner(change, change) / projection.inner(validation, validation)
    share = mean_square(projection, change) / max(mean_square(projection, validation), 1e-300)
    if share <= floor:
        return True, ""
    places = torch.nonzero(worst > floor).tolist()
    message = (
        f"{type(projection).__name__} claims to be exact, but changes the true states by "
        f"{share:.2g} of their mean square ({len(places)} states, first trajectory "
        f"{places[0][0]}, time {places[0][1]}): they are stored in another way than it assumes "
        "(staggering, interpolation, boundary values, noise). It is treated as inexact"
    )
    if hint := swapped_hint(projection, validation, mean_square(projection, change)):
        message += f". {hint[:1].upper()}{hint[1:]}"
    warnings.warn(message, stacklevel=3)
    return False, message


def _splits(
    forecaster: Forecaster, projection: AbstractProjection, validation: Tensor, steps: int
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Predictions and truth of one step from every state, and at the end of raw rollouts."""
    now = validation[:, :-1].unbind(1)
    ahead = torch.stack([next_states(forecaster, u) for u in now], 1)
    last = validation[:, 0]
    for _, state, status, message in steps_of(forecaster, validation[:, 0], steps):
        last = state
        if status != "ok":
            raise ValueError(
                f"the forecaster {message}: no repair mends that; train it further, or pass a "
                "smaller horizon"
            )
    return (ahead, validation[:, 1:]), (last, validation[:, steps])


def _halves(count: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    order = np.random.default_rng(seed).permutation(count)
    first, second = np.sort(order[: count // 2]), np.sort(order[count // 2 :])
    return [(first, second), (second, first)]


def _taken(pair: tuple[Tensor, Tensor], rows: np.ndarray) -> tuple[Tensor, Tensor]:
    return pair[0][rows], pair[1][rows]


def _variants(
    forecaster: Forecaster,
    projection: AbstractProjection,
    validation: Tensor,
    steps: int,
    halves: list[tuple[np.ndarray, np.ndarray]],
    strengths: list[list[float]],
) -> dict[str, Variant]:
    def errors(repair: AbstractProjection | None, where: Place, rows: np.ndarray) -> np.ndarray:
        return _errors(forecaster, projection, repair, where, validation[rows], steps)

    everything = np.arange(len(validation))
    full: tuple[tuple[Place, AbstractProjection | None, float], ...] = (
        ("raw", None, 0.0),
        ("post_hoc", projection, 1.0),
        ("in_loop", projection, 1.0),
    )
    found: dict[str, Variant] = {
        place: Variant(name=place, errors=errors(repair, place, everything), strength=strength)
        for place, repair, strength in full
    }
    places: tuple[tuple[Place, list[float]], ...] = (
        ("post_hoc", strengths[1]),
        ("in_loop", strengths[0]),
    )
    for place, fitted in places:
        values = np.empty_like(found["raw"].errors)
        for (rows, _), strength in zip(halves, fitted, strict=True):
            values[rows] = errors(Relaxed(projection, strength), place, rows)
        name = f"relaxed {place}"
        found[name] = Variant(name=name, errors=values, strength=float(np.mean(fitted)))
    return found


def _errors(
    forecaster: Forecaster,
    projection: AbstractProjection,
    repair: AbstractProjection | None,
    where: Place,
    truth: Tensor,
    steps: int,
) -> np.ndarray:
    """Mean squared error per entry by trajectory and step; infinite after a stop."""
    entries = truth.shape[2:].numel()
    found = np.full((len(truth), steps), np.inf)
    for step, u, status, _ in steps_of(forecaster, truth[:, 0], steps, repair=repair, where=where):
        if status == "ok":
            error = (u - truth[:, step]).double()
            found[:, step - 1] = (projection.inner(error, error) / entries).cpu().numpy()
    return found


def _interval(a: Variant, b: Variant, resampled: np.ndarray, floor: float) -> Interval:
    """Relative change of the error at the horizon from b to a, resampling trajectories in pairs."""
    left, right = np.maximum(a.errors[:, -1], floor), np.maximum(b.errors[:, -1], floor)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = left[resampled].mean(1) / right[resampled].mean(1) - 1.0
        change = float(left.mean() / right.mean() - 1.0)
    ratios = np.nan_to_num(ratios, nan=0.0, posinf=np.inf)
    low, high = np.quantile(ratios, [0.025, 0.975], method="nearest")
    return Interval(change=0.0 if np.isnan(change) else change, low=float(low), high=float(high))


def _gain(
    forecaster: Forecaster, projection: AbstractProjection, validation: Tensor, seed: int
) -> OffManifoldGain | None:
    if not projection.linear:
        return None
    return off_manifold_gain(forecaster, projection, validation[:, 0], seed=seed)


def _choose(
    projection: AbstractProjection,
    exact: bool,
    final: ErrorSplit,
    intervals: dict[tuple[str, str], Interval],
    variants: dict[str, Variant],
) -> Choice:
    kind = "" if exact else "relaxed "
    inside, after = f"{kind}in_loop", f"{kind}post_hoc"
    rival = intervals[inside, after]
    against_raw = intervals[inside, "raw"]
    gainful = final.removable if exact else final.error - final.relaxed(final.strength)
    share = gainful / final.error if final.error > 0.0 else 0.0
    loop_strength = 1.0 if exact else variants[inside].strength
    if rival.high < 0.0 and against_raw.high < 0.0:
        return Choice(
            where="in_loop",
            strength=loop_strength,
            reason=(
                f"in the loop the error at the horizon is {_percent(rival.change)} below that of "
                f"the same repair after it, beyond chance ({rival})"
            ),
        )
    lost = rival.low > 0.0
    loop = (
        f"in the loop it is {_percent(rival.change)} higher, beyond chance ({rival})"
        if lost
        else f"in the loop it is not better beyond chance ({rival})"
    )
    if share < WORTH_WHILE:
        said = (
            f"the repair can take {100.0 * share:.2g} % off the error at the horizon, less than "
            f"{100.0 * WORTH_WHILE:.0f} %: the error does not lie where the rule looks"
            if share >= 0.0
            else f"the repair adds {_percent(share)} to the error at the horizon: the states of "
            "its rule are no convex set, so that the nearest one may lie away from the truth"
        )
        return Choice(where="raw", strength=0.0, reason=f"{said}; {loop}")
    gained = f"takes {100.0 * share:.2g} % off the error at the horizon"
    if exact:
        # The nearest point of a set that is not flat may lie away from the truth.
        said = "an exact repair after the loop never hurts, and" if projection.linear else "it"
        return Choice(where="post_hoc", strength=1.0, reason=f"{said} {gained}; {loop}")
    said = (
        f"the repair changes true states, by a mean square of {final.distortion:.2g} against "
        f"{final.removed:.2g} that it could remove"
        if projection.exact or final.distortion > NEGLIGIBLE * final.removed
        else "the repair leaves true states alone, but is no orthogonal projection"
    )
    return Choice(
        where="post_hoc",
        strength=final.strength,
        reason=f"{said}: at strength {final.strength:.2f} it {gained}; {loop}",
    )


def _percent(change: float) -> str:
    return f"{100.0 * abs(change):.2g} %"
