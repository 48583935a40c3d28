"""What fits a screen: the topics of a report, its predictions as figures, committed results."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciml.theory.prediction import Verdict
from sciml.validation.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PASSED, FAILED = "#1a7f37", "#cf222e"


@dataclass(frozen=True, kw_only=True)
class TopicSummary:
    """The cases of one file, counted.

    Attributes
    ----------
    topic
        Name of the file.
    cases, failed, skipped
        How many cases ran, failed, and could not be run here.
    predictions, hold
        How many numbers were predicted, and how many of them hold.
    seconds
        Wall time, also of what comes from the cache.
    red
        Names of the cases that failed.
    """

    topic: str
    cases: int
    failed: int
    skipped: int
    predictions: int
    hold: int
    seconds: float
    red: tuple[str, ...]


def summarize(report: Report) -> tuple[TopicSummary, ...]:
    """Count the cases of each topic, in the order of the report."""
    topics: dict[str, list[Any]] = {}
    for result in report.results:
        topics.setdefault(result.name.partition("/")[0], []).append(result)
    rows = []
    for topic, results in topics.items():
        verdicts = [verdict for result in results for verdict in result.verdicts]
        red = tuple(result.name for result in results if not result.passed)
        rows.append(
            TopicSummary(
                topic=topic,
                cases=len(results),
                failed=len(red),
                skipped=sum(bool(result.skipped) for result in results),
                predictions=len(verdicts),
                hold=sum(verdict.passed for verdict in verdicts),
                seconds=sum(result.seconds for result in results),
                red=red,
            )
        )
    return tuple(rows)


def overview_figure(report: Report) -> Figure | None:
    """Draw every prediction of a report beside its measurement, by kind.

    Orders of convergence, values (floors among them), coverage of error bars, and bounds, each in a
    picture of its own; kinds that are absent are left out.

    Returns
    -------
    matplotlib.figure.Figure or None
        None if nothing was measured.
    """
    groups = _groups([verdict for result in report.results for verdict in result.verdicts])
    if not groups:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(groups), 3.3), layout="constrained")
    places = figure.subplots(1, len(groups), squeeze=False)[0]
    for axes, (title, verdicts) in zip(places, groups.items(), strict=True):
        (_draw_plain if title in ("orders", "coverage") else _draw_logarithmic)(axes, verdicts)
        axes.set_title(f"{title} ({len(verdicts)})")
        axes.set_xlabel("predicted")
    places[0].set_ylabel("measured")
    return figure


def _groups(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = {
        title: [] for title in ("orders", "values", "coverage", "at most", "at least")
    }
    for verdict in verdicts:
        prediction = verdict.prediction
        if not math.isfinite(verdict.measured):
            continue
        if prediction.kind == "order":
            groups["orders"].append(verdict)
        elif "coverage" in prediction.name:
            groups["coverage"].append(verdict)
        elif verdict.measured > 0.0 and prediction.value > 0.0:  # what a logarithm can show
            title = {"equals": "values", "at_most": "at most", "at_least": "at least"}
            groups[title[prediction.kind]].append(verdict)
    return {title: found for title, found in groups.items() if found}


def _draw_plain(axes: Axes, verdicts: Sequence[Verdict]) -> None:
    _points(axes, verdicts)
    _diagonal(axes, verdicts)


def _draw_logarithmic(axes: Axes, verdicts: Sequence[Verdict]) -> None:
    axes.set(xscale="log", yscale="log")
    _points(axes, verdicts)
    _diagonal(axes, verdicts)
    axes.minorticks_off()  # their labels would run into each other


def _points(axes: Axes, verdicts: Sequence[Verdict]) -> None:
    for passed, color, marker in ((True, PASSED, "o"), (False, FAILED, "X")):
        chosen = [verdict for verdict in verdicts if verdict.passed is passed]
        axes.plot(
            [verdict.prediction.value for verdict in chosen],
            [verdict.measured for verdict in chosen],
            marker,
            color=color,
            alpha=0.6,
            markersize=4 if passed else 6,
        )


def _diagonal(axes: Axes, verdicts: Sequence[Verdict]) -> None:
    values = [value for v in verdicts for value in (v.prediction.value, v.measured)]
    ends = [min(values), max(values)]
    axes.plot(ends, ends, color="gray", lw=0.8)


def committed_results(folder: Path) -> tuple[dict[str, Any], ...]:
    """Return one row for each report of the suite that is kept in ``results/`` of its folder.

    Parameters
    ----------
    folder
        Of the suite.

    Returns
    -------
    tuple of dict
        Date, version, Python, cases, predictions that hold, what is red, and the command; files
        that are no reports, such as those of benchmarks, are left out.
    """
    rows = []
    for path in sorted((folder / "results").glob("*.json")):
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            results = plain["results"]
            verdicts = [verdict for result in results for verdict in result["verdicts"]]
            rows.append(
                {
                    "file": path.name,
                    "date": plain["finished"][:10],
                    "version": plain["version"],
                    "Python": plain["python"],
                    "cases": len(results),
                    "predictions": len(verdicts),
                    "hold": sum(verdict["passed"] for verdict in verdicts),
                    "red": ", ".join(r["name"] for r in results if not r["passed"]),
                    "command": plain.get("command") or _again(results),
                }
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return tuple(rows)


def _again(results: Sequence[Any]) -> str:
    """A command that measures the same cases; older reports did not record theirs."""
    names = [result["name"] for result in results]
    topics = list(dict.fromkeys(name.partition("/")[0] for name in names))
    patterns = names if len(names) == 1 else [f"{topic}/*" for topic in topics]
    return "; ".join(f"sciml validate '{pattern}' --tier full" for pattern in patterns)
