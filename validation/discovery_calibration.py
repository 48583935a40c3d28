"""Honest errors: intervals, chi^2, and the growth of the residual without a true term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciml.theory import Prediction, growth_at_noise, predict_coverage
from sciml.validation import Case, Measurements

from ._discovery import (
    BENCHMARK,
    engine,
    index_of,
    noisy,
    percent,
    problem_of,
    recording,
    trial,
    true_support,
)

LEVELS = (0.05, 0.2)
HALF_WIDTH = 1.959964
"""Half the width of a 95 % interval, in standard errors."""


def _calibration(problems: Sequence[str], seeds: range) -> Measurements:
    rows, coverage, chi2 = [], {}, {}
    for problem in problems:
        row: dict[str, Any] = {"problem": problem}
        pooled: list[bool] = []
        fits: list[float] = []
        for level in LEVELS:
            runs = [trial(problem, level, seed) for seed in seeds]
            inside = [abs(d) <= HALF_WIDTH for run in runs for d in run.deviations]
            row[f"coverage {percent(level)}"] = float(f"{np.mean(inside):.3f}")
            row[f"chi2/n {percent(level)}"] = float(f"{np.mean([r.chi2 for r in runs]):.4g}")
            pooled += inside
            fits += [run.chi2 for run in runs]
        coverage[problem], chi2[problem] = float(np.mean(pooled)), float(np.mean(fits))
        rows.append(row)
    farthest = max(chi2.values(), key=lambda value: abs(value - 1.0))
    worst = min(coverage, key=coverage.__getitem__)
    return Measurements(
        values={"lowest coverage of 95 % intervals": coverage[worst], "mean chi2/n": farthest},
        table=rows,
        note=f"Lowest coverage: {worst}. The mean chi2/n shown is the farthest from 1.",
    )


_CHI2 = Prediction(
    name="mean chi2/n",
    value=1.0,
    kind="equals",
    atol=0.15,
    source="whitened residuals are standard normal; 0.15 for the noise estimate and the jitter",
)
_DESCRIPTION = (
    "Standard errors of the coefficients against their true errors at 5 and 20 % noise, pooled "
    "for each equation; chi^2/n averaged over the same fits."
)

QUICK = Case(
    name="intervals-quick",
    title="Intervals cover and chi^2/n is 1, two equations and four seeds",
    description=_DESCRIPTION,
    run=lambda: _calibration(("burgers", "fisher_kpp"), range(4)),
    # burgers has two terms: 16 intervals, which are correlated within a fit
    predictions=(predict_coverage(8, name="lowest coverage of 95 % intervals"), _CHI2),
)

FULL = Case(
    name="intervals",
    tier="full",
    title="Intervals cover and chi^2/n is 1",
    description=f"{_DESCRIPTION} Eight equations, thirty seeds.",
    run=lambda: _calibration(BENCHMARK, range(30)),
    predictions=(
        Prediction(
            name="lowest coverage of 95 % intervals",
            value=0.88,
            kind="at_least",
            source="0.95, less three standard deviations sqrt(0.95*0.05/60) of 60 fits, rounded",
        ),
        _CHI2,
    ),
)

# --- Growth of the residual ----------------------------------------------------------------------


def _growth(problem: str, level: float, seed: int) -> dict[str, tuple[float, float]] | None:
    """Predicted and measured growth without each true term, or None if the terms are wrong."""
    from sciml.discovery.evidence import residual_growth
    from sciml.discovery.library import Library

    fit = engine(noisy(recording(problem), level, (seed, index_of(problem))))
    names = Library().names(("u",), ("x",))
    (true,) = true_support(problem_of(problem).equation).values()
    if {names[k] for k in fit.support} != set(true):
        return None
    _, chosen = fit.system.solve(fit.support)
    predicted = residual_growth(fit)
    out = {}
    for position, column in enumerate(fit.support):
        rest = tuple(k for k in fit.support if k != column)
        out[names[column]] = (float(predicted[position]), fit.system.solve(rest)[1] / chosen)
    return out


def _identity(problems: Sequence[str], seeds: range) -> Measurements:
    rows, deviations, ratios, missed = [], [], [], 0
    for problem in problems:
        found = {v: [_growth(problem, v, seed) for seed in seeds] for v in LEVELS}
        missed += sum(item is None for values in found.values() for item in values)
        low, high = (
            [item for item in found[level] if item is not None] for level in (LEVELS[0], LEVELS[1])
        )
        for item in (*low, *high):
            deviations += [abs(p / m - 1.0) for p, m in item.values()]
        for term in low[0]:
            before = float(np.mean([item[term][0] for item in low]))
            after = float(np.mean([item[term][1] for item in high]))
            forecast = growth_at_noise(before, LEVELS[1] / LEVELS[0])
            rows.append(
                {
                    "problem": problem,
                    "term": term,
                    "growth at 5 %": float(f"{before:.4g}"),
                    "measured at 5 %": float(f"{np.mean([i[term][1] for i in low]):.4g}"),
                    "forecast for 20 %": float(f"{forecast:.4g}"),
                    "measured at 20 %": float(f"{after:.4g}"),
                    "forecast over measured": float(f"{forecast / after:.3g}"),
                }
            )
        weakest = min((row for row in rows if row["problem"] == problem), key=_growth_at_5)
        ratios.append(weakest["forecast over measured"])
    return Measurements(
        values={
            "largest deviation from the identity": max(deviations),
            "largest forecast over measured": max(ratios),
            "smallest forecast over measured": min(ratios),
        },
        table=rows,
        note=(
            f"Means over {len(seeds)} seeds; forecasts count for the weakest term of each "
            f"equation. {missed} fits chose other terms and are left out."
        ),
    )


def _growth_at_5(row: dict[str, Any]) -> float:
    return row["growth at 5 %"]


_GROWTH = (
    Prediction(
        name="largest deviation from the identity",
        value=0.05,
        kind="at_most",
        source=(
            "1 + (w/se)^2/(nu chi2/n), exact for least squares; 5 % for the correction of w and "
            "se for noise in the columns"
        ),
    ),
    Prediction(
        name="largest forecast over measured",
        value=2.5,
        kind="at_most",
        source="se is proportional to the noise; windows widen with it, which is left out",
    ),
    Prediction(
        name="smallest forecast over measured",
        value=0.4,
        kind="at_least",
        source="as above",
    ),
)
_GROWTH_DESCRIPTION = (
    "By what factor the whitened residual grows when a true term is left out, predicted from its "
    "standard error and measured by leaving it out, at 5 and 20 % noise; and the factor at 20 % "
    "forecast from the fit at 5 %."
)

GROWTH_QUICK = Case(
    name="growth-quick",
    title="Growth of the residual without a true term, one seed",
    description=_GROWTH_DESCRIPTION,
    run=lambda: _identity(("heat", "burgers", "fisher_kpp", "allen_cahn"), range(1)),
    predictions=_GROWTH,
)

GROWTH = Case(
    name="growth",
    tier="full",
    title="Growth of the residual without a true term",
    description=f"{_GROWTH_DESCRIPTION} Eight equations, five seeds.",
    run=lambda: _identity(BENCHMARK, range(5)),
    predictions=_GROWTH,
)

CASES = [QUICK, GROWTH_QUICK, FULL, GROWTH]
