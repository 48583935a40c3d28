"""Tables of trained forecasters and their repairs, and what is predicted of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sciml.theory import Prediction
from sciml.validation import Measurements

from ._repair_flows import LENGTH, Protocol, forecaster, kept, test_flows, validation_flows

TEN = 10
"""Steps after which the gain of the loop is judged."""

# --- two losses, three ways to repair ------------------------------------------------------------


def matrix(
    settings: Protocol,
    judge: Protocol | None = None,
    *,
    horizons: Sequence[int] = (1, 10, 20, 50, 100),
    said: str = "",
) -> Measurements:
    """Table of two losses, three ways and all seeds, with the honest baseline in its note."""
    rows: list[dict[str, Any]] = []
    worst, stopped = 0.0, []
    ratios: dict[bool, list[float]] = {False: [], True: []}
    losses = (False, True)
    # Seed by seed, so that what is interrupted holds both losses.
    every = {
        (s, after): kept(settings, after, s, judge) for s in settings.seeds for after in losses
    }
    for loss_after in losses:
        for seed in settings.seeds:
            found = every[seed, loss_after]
            name = "C(f(u))" if loss_after else "f(u)"
            for where in ("raw", "post hoc", "in loop"):
                errors = found[where]
                row: dict[str, Any] = {"loss on": name, "seed": seed, "repair": where}
                row |= {f"h = {h}": (errors + [math.inf] * h)[h - 1] for h in horizons}
                if where == "raw":
                    row["divergent share, h = 10"] = (found["share"] + [math.nan] * TEN)[TEN - 1]
                if len(errors) < settings.horizon:
                    stopped.append(f"{name}, seed {seed}, {where}: step {len(errors) + 1}")
                rows.append(row)
            both = zip(found["raw"], found["post hoc"], strict=True)
            worst = max(worst, *(after / raw for raw, after in both))
            ratios[loss_after].append(found["raw"][TEN - 1] / found["in loop"][TEN - 1])
    note = (
        f"{said}{settings.words}. Loss on f(u), the honest baseline: raw over in loop at h = 10 is "
        f"{', '.join(f'{ratio:.3f}' for ratio in ratios[False])}."
    )
    if stopped:
        note += f" Stopped at 100 times the amplitude: {'; '.join(stopped)}."
    return Measurements(
        values={
            "post hoc over raw, worst": worst,
            "raw over in loop at h = 10, loss on C(f(u))": min(ratios[True]),
        },
        table=rows,
        note=note,
    )


NEVER_HURTS = Prediction(
    name="post hoc over raw, worst",
    value=1.0,
    kind="at_most",
    rtol=1e-6,
    source="Pythagoras",
)
LARGE_GAIN = Prediction(
    name="raw over in loop at h = 10, loss on C(f(u))",
    value=5.0,
    kind="at_least",
    source="unrestrained divergence drifts linearly: A_dd near 1",
)


# --- repairs of a wrong geometry -----------------------------------------------------------------


def mismatch(settings: Protocol, horizon: int = 40) -> Measurements:
    """Controlled mismatch: what the target distortion predicts, on trained forecasters."""
    from sciml.repair import LerayProjection, MismatchedLeray, Relaxed, error_split, rollout

    box = (LENGTH, LENGTH)
    exact = LerayProjection(box)
    repairs: dict[str, Any] = {
        "exact": exact,
        "finite differences": MismatchedLeray(box, symbol="finite_difference"),
        **{f"aspect {a}": MismatchedLeray(box, aspect=a) for a in (1.03, 1.1, 1.3, 1.6)},
    }
    test, held = test_flows(settings), validation_flows(settings)
    truth = test[:, horizon]
    rows: list[dict[str, Any]] = []
    deviation, residuals = 0.0, []
    for seed in settings.seeds:
        network = forecaster(settings, False, seed)
        raw = rollout(network, test[:, 0].float(), horizon).states[:, -1].double()
        # Strengths come from other trajectories than those they are judged on.
        held_raw = rollout(network, held[:, 0].float(), horizon).states[:, -1].double()
        for name, repair in repairs.items():
            split = error_split(repair, raw, truth)
            predicted = split.remaining + split.distortion
            deviation = max(deviation, abs(split.repaired / predicted - 1.0))
            strength = error_split(repair, held_raw, held[:, horizon]).strength
            relaxed = error_split(Relaxed(repair, strength), raw, truth).repaired
            loop = rollout(
                network, test[:, 0].float(), horizon, repair=repair, where="in_loop"
            ).states[:, -1]
            inside = float((loop.double() - truth).square().mean())
            residuals.append(float(exact.defect(repair(raw)).mean()))
            rows.append(
                {
                    "seed": seed,
                    "operator": name,
                    "distortion": split.distortion,
                    "residual": residuals[-1],
                    "post hoc over raw": split.repaired / split.error,
                    "predicted": predicted / split.error,
                    "strength": strength,
                    "relaxed over raw": relaxed / split.error,
                    "in loop over raw": inside / split.error,
                }
            )
    ranks = {
        (harm, against): rank_correlation(rows, harm, against)
        for harm in ("post hoc over raw", "in loop over raw")
        for against in ("distortion", "residual")
    }
    listed = (f"{harm} and {against} {rank:.3f}" for (harm, against), rank in ranks.items())
    return Measurements(
        values={
            "post hoc against closed form": deviation,
            "worst relaxed over raw, held out": max(row["relaxed over raw"] for row in rows),
            "rank correlation of harm and distortion": ranks["post hoc over raw", "distortion"],
        },
        table=rows,
        note=(
            f"Errors after {horizon} steps; {settings.words}. Residual: divergence that the repair "
            f"leaves. Spearman's rank correlations: {', '.join(listed)}."
        ),
    )


def rank_correlation(rows: list[dict[str, Any]], first: str, second: str) -> float:
    """Spearman's, between two columns."""
    from scipy.stats import spearmanr

    found = spearmanr([row[first] for row in rows], [row[second] for row in rows])
    return float(found[0])  # pyright: ignore[reportArgumentType]


MISMATCH = (
    Prediction(
        name="post hoc against closed form",
        value=1e-10,
        kind="at_most",
        source="orthogonal projections",
    ),
    Prediction(
        name="worst relaxed over raw, held out",
        value=1.0,
        kind="at_most",
        rtol=0.05,
        source="Wiener strength, 5 % for other trajectories",
    ),
    Prediction(
        name="rank correlation of harm and distortion",
        value=0.9,
        kind="at_least",
        source="error ratio is 1 - S_e/E + S_u/E",
    ),
)
