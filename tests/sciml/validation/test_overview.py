"""The summary of a report by topic, its figure, the committed results, and the JSON beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sciml.cli.app import app
from sciml.theory import Prediction
from sciml.validation import Case, Report, committed_results, load, run, write_json
from sciml.validation.html import render
from sciml.validation.overview import overview_figure, summarize


def case(name: str, measured: float, value: float, kind: str, quantity: str = "x") -> Case:
    prediction = Prediction(name=quantity, value=value, kind=kind)  # type: ignore[arg-type]
    return Case(name=name, run=lambda: {quantity: measured}, predictions=(prediction,))


@pytest.fixture
def report() -> Report:
    return run(
        {
            "solvers/order": case("order", 3.9, 4.0, "order"),
            "solvers/low": case("low", 2.0, 4.0, "order"),
            "theory/bound": case("bound", 0.5, 1.0, "at_most"),
            "theory/intervals": case("intervals", 0.94, 0.9, "at_least", "coverage of intervals"),
            "theory/lost": case("lost", math.nan, 1.0, "at_least"),
        }
    )


def test_topics_count_cases_and_name_the_red_ones(report):
    solvers, theory = summarize(report)
    assert (solvers.topic, solvers.cases, solvers.failed) == ("solvers", 2, 1)
    assert (solvers.hold, solvers.predictions, solvers.red) == (1, 2, ("solvers/low",))
    assert (theory.topic, theory.hold, theory.predictions) == ("theory", 2, 3)
    assert theory.red == ("theory/lost",)


def test_kinds_of_predictions_have_pictures_of_their_own(report):
    figure = overview_figure(report)
    assert figure is not None
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["orders (2)", "coverage (1)", "at most (1)"]  # nan has no place
    passed, failed, line = figure.axes[0].lines
    assert list(passed.get_ydata()) == [3.9] and list(failed.get_ydata()) == [2.0]
    assert list(line.get_xdata()) == list(line.get_ydata()) == [2.0, 4.0]
    assert figure.axes[2].get_yscale() == "log"
    assert overview_figure(Report(results=(), selected=0)) is None


def test_committed_reports_are_rows_and_other_files_are_left_out(report, tmp_path):
    folder = tmp_path / "results"
    write_json(report, folder / "kept.json")
    (folder / "benchmark.json").write_text('{"command": "x"}')
    (folder / "damaged.json").write_text("{")
    (row,) = committed_results(tmp_path)
    assert row["file"] == "kept.json" and row["date"] == report.finished[:10]
    assert (row["cases"], row["predictions"], row["hold"]) == (5, 5, 3)
    assert row["red"] == "solvers/low, theory/lost"
    # without a recorded command: one that measures the same cases
    again = "sciml validate 'solvers/*' --tier full; sciml validate 'theory/*' --tier full"
    assert row["command"] == again
    text = render(report, [row])
    assert "Kept results of the full tier" in text and "kept.json" in text


def test_the_shipped_suite_has_committed_results():
    rows = committed_results(load().folder)
    assert len(rows) > 20
    assert all(row["command"].startswith("sciml validate") for row in rows)
    assert all(len(row["date"]) == 10 and row["version"] for row in rows)


@pytest.mark.parametrize(
    ("page", "data"), [("out", "out/report.json"), ("a.html", "a.json")], ids=["folder", "file"]
)
def test_the_command_leaves_json_beside_the_page(tmp_path, monkeypatch, page, data):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["validate", "exclusion", "--html", page])
    assert found.exit_code == 0, found.output
    plain = json.loads(Path(data).read_text())
    assert plain["command"] == "sciml validate exclusion --tier quick"
    assert plain["passed"] is True
