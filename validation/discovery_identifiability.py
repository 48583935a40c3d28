"""Data that cannot decide, and whether the estimator says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._discovery import BENCHMARK, LEVELS, UNDECIDABLE, percent, trial

_WAVES = tuple(name for name in UNDECIDABLE if name != "heat_one_mode")
_NOTICE = "traveling wave"


def _undecidable(levels: Sequence[float], seeds: range) -> Measurements:
    rows: list[dict[str, Any]] = []
    claimed = unnoticed = 0
    for problem in UNDECIDABLE:
        row: dict[str, Any] = {"problem": problem}
        for level in levels:
            runs = [trial(problem, level, seed) for seed in (seeds if level else [0])]
            noticed = [any(_NOTICE in notice for notice in run.notices) for run in runs]
            claimed += sum(run.verdict == "identified" for run in runs)
            if problem in _WAVES:
                unnoticed += len(noticed) - sum(noticed)
            row[percent(level)] = "; ".join(
                dict.fromkeys(f"{', '.join(run.support['u'])}: {run.verdict}" for run in runs)
            )
        rows.append(row)
    return Measurements(
        values={
            "reported as identified": claimed,
            "waves without the traveling-wave notice": unnoticed,
        },
        table=rows,
    )


_PREDICTIONS = (
    Prediction(
        name="reported as identified",
        value=0,
        kind="equals",
        source="several equations of the library have the same solution",
    ),
    Prediction(
        name="waves without the traveling-wave notice",
        value=0,
        kind="equals",
        source="f(x - c t) solves u_t = -c u_x whatever else it solves",
    ),
)
_DESCRIPTION = (
    "One decaying mode, in which u, u_xx and u_xxxx are the same column, and three waves that "
    "move without changing: a soliton, a shock and a front in closed form."
)

QUICK = Case(
    name="undecidable-quick",
    title="What data cannot decide is not called identified, one seed",
    description=_DESCRIPTION,
    run=lambda: _undecidable((0.0, 0.05), range(1)),
    predictions=_PREDICTIONS,
)

FULL = Case(
    name="undecidable",
    tier="full",
    title="What data cannot decide is not called identified",
    description=f"{_DESCRIPTION} Ten seeds.",
    run=lambda: _undecidable(LEVELS, range(10)),
    predictions=_PREDICTIONS,
)

# --- Where the data do decide --------------------------------------------------------------------


def _advection(levels: Sequence[float], seeds: range) -> Measurements:
    runs = [trial("advection", v, s) for v in levels for s in (seeds if v else [0])]
    return Measurements(
        values={
            "share with the right equation": sum(run.f1 == 1.0 for run in runs) / len(runs),
            "advection taken for another traveling wave": sum(
                any(_NOTICE in notice for notice in run.notices) for run in runs
            ),
            "smallest ratio of the best rival": min(run.ratio for run in runs),
        }
    )


ADVECTION = Case(
    name="advection",
    title="True advection of a rich field is identified",
    description="Six random modes that move at one speed: no other equation of the library fits.",
    run=lambda: _advection((0.0, 0.05), range(2)),
    predictions=(
        Prediction(name="share with the right equation", value=1, kind="equals", source="F1 = 1"),
        Prediction(
            name="advection taken for another traveling wave",
            value=0,
            kind="equals",
            source="u_x and u_xxx are independent on six modes: every rival is far worse",
        ),
        Prediction(
            name="smallest ratio of the best rival",
            value=100.0,
            kind="at_least",
            source="every rival is far worse",
        ),
    ),
)


def _verdicts(levels: Sequence[float], seeds: range) -> Measurements:
    rows, wrong = [], 0
    for problem in BENCHMARK:
        row: dict[str, Any] = {"problem": problem}
        for level in levels:
            runs = [trial(problem, level, seed) for seed in (seeds if level else [0])]
            wrong += sum(run.verdict == "identified" and run.f1 < 1 for run in runs)
            ratios = sorted(run.ratio for run in runs)
            row[percent(level)] = f"{ratios[0]:.3g} to {ratios[-1]:.3g}"
        rows.append(row)
    return Measurements(values={"wrong equations reported as identified": wrong}, table=rows)


VERDICTS = Case(
    name="rivals",
    tier="full",
    title="How far behind the best rival is",
    description=(
        "Residual of the best equation without one of the true terms over that of the truth, ten "
        "seeds: below 1.25 the estimator says ambiguous, below 3 weakly identified."
    ),
    run=lambda: _verdicts((0.01, 0.05, 0.2, 0.5), range(10)),
    predictions=(
        Prediction(
            name="wrong equations reported as identified",
            value=0,
            kind="equals",
            source="a wrong choice has a rival that is as good: the truth",
        ),
    ),
)

CASES = [QUICK, ADVECTION, FULL, VERDICTS]
