"""The report on the console, as JSON and as HTML."""

from __future__ import annotations

import io
import json
import math
from html.parser import HTMLParser

import numpy as np
import pytest
import sympy
from rich.console import Console

from sciml.theory import Prediction
from sciml.validation import Case, Measurements, Report, print_report, run, write_html, write_json
from sciml.validation.html import render
from sciml.validation.result import plain_rows

HOSTILE = "<script>alert('x')</script> & \"quoted\" [bold]"


def raises() -> dict[str, float]:
    raise RuntimeError(HOSTILE)


def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(1, 1))


@pytest.fixture
def report() -> Report:
    h = sympy.Symbol("h")
    order = Prediction.from_formula(2 * h, {h: 1}, name=HOSTILE, kind="order", source=HOSTILE)
    bound = Prediction(name="bound", value=1.0, kind="at_most")
    table = [{"noise": np.float32(0.5), HOSTILE: HOSTILE}, {"noise": math.nan, "rows": np.int64(3)}]
    measured = Measurements(
        values={HOSTILE: 1.999, "bound": math.nan}, table=table, note=HOSTILE, figure=figure
    )
    cases = {
        "solvers/heat": Case(
            name="heat",
            run=lambda: measured,
            predictions=(order, bound),
            title=HOSTILE,
            description=HOSTILE,
        ),
        "solvers/raises": Case(name="raises", run=raises, predictions=(bound,)),
    }
    return run(cases, figures=True)


def test_json_is_strict_and_complete(report, tmp_path):
    path = write_json(report, tmp_path / "new" / "report.json")
    plain = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert plain["passed"] is False
    heat, broken = plain["results"]
    assert [v["measured"] for v in heat["verdicts"]] == [1.999, "nan"]
    assert heat["verdicts"][0]["prediction"]["formula"] == "2*h"
    assert heat["table"] == [{"noise": 0.5, HOSTILE: HOSTILE}, {"noise": "nan", "rows": 3}]
    assert "RuntimeError" in broken["error"]
    assert [p.name for p in path.parent.iterdir()] == ["report.json"]  # nothing temporary is left


class Outline(HTMLParser):
    """Collect what would reach outside of the file, and whether tags are balanced."""

    VOID = ("meta", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_self_contained_and_escapes_everything(report):
    outline = Outline()
    text = render(report)
    outline.feed(text)
    assert outline.open == []
    assert "script" not in outline.tags
    assert "&lt;script&gt;" in text
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in outline.links)
    assert outline.tags.count("img") == 2  # of the case, and predicted against measured
    assert "url(" not in text and "@import" not in text


def test_html_shows_tables_verdicts_and_tracebacks(report):
    text = render(report)
    assert text.count('<span class="fail">FAIL</span>') == 5  # twice each case, and the bound
    assert '<td class="number">0.5</td>' in text
    assert "<th>noise</th>" in text
    assert "Traceback (most recent call last)" in text


@pytest.mark.parametrize(("name", "file"), [("a.html", "a.html"), ("folder", "folder/index.html")])
def test_html_goes_to_a_file_or_into_a_folder(report, tmp_path, name, file):
    assert write_html(report, tmp_path / name) == tmp_path / file
    assert (tmp_path / file).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_console_shows_predicted_measured_ratio_and_verdict(report):
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=200))
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["case", "quantity", "predicted", "measured", "ratio", "verdict"]
    row = next(line for line in lines if "1.999" in line)
    assert "[bold]" in row  # markup in names is text
    assert row.split()[-6:] == ["(at", "least", "1.85)", "1.999", "0.9995", "pass"]
    assert lines[-1].startswith("0 passed, 2 failed; 1 of 2 predictions hold")
    assert "RuntimeError" in stream.getvalue() and "Traceback" not in stream.getvalue()
    print_report(report, Console(file=stream, width=200), verbose=True)
    assert "Traceback" in stream.getvalue()


def test_cells_become_plain():
    (row,) = plain_rows(
        [{1: True, "n": np.int32(4), "x": 2.0, "e": sympy.Symbol("u"), "none": None}]
    )
    assert row == {"1": True, "n": 4, "x": 2.0, "e": "u", "none": None}
    assert isinstance(row["n"], int) and isinstance(row["x"], float)
