"""The report as one HTML file that needs nothing else: no scripts, fonts or pictures elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import sciml
from sciml import _atomic
from sciml.theory.prediction import Verdict
from sciml.validation.overview import overview_figure, summarize
from sciml.validation.report import Report
from sciml.validation.result import Result, png

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --pass: #1a7f37; --fail: #cf222e; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; }
table { border-collapse: collapse; margin: .6rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .7rem; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.pass { color: var(--pass); font-weight: 600; } .fail { color: var(--fail); font-weight: 600; }
.quiet { opacity: .7; font-size: .9em; } img { max-width: 100%; background: white; }
pre { overflow-x: auto; border: 1px solid var(--line); padding: .7rem; font-size: .85em; }
"""


def write_html(
    report: Report, path: str | PathLike[str], *, committed: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write the report as one self-contained HTML file, whole or not at all.

    Parameters
    ----------
    report
        What to write.
    path
        A file ending in ``.html`` or ``.htm``, or a folder, which gets an ``index.html``.
    committed
        Rows of `committed_results`, shown at the end.

    Returns
    -------
    pathlib.Path
        The file.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
        target = target / "index.html"
    return _atomic.write(target, render(report, committed))


def render(report: Report, committed: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the report as HTML text. Everything that comes from a case is escaped."""
    overview = [
        (f'<a href="#{_anchor(r.name)}">{escape(r.name)}</a>', escape(r.tier), _word(r.passed))
        for r in report.results
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Validation of sciml-pdes {escape(sciml.__version__)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Predicted and measured</h1>",
        f'<p class="{"pass" if report.passed else "fail"}">{escape(report.summary)}</p>',
        f'<p class="quiet">{escape(_about(report))}</p>',
        _topics(report),
        _overview(report),
        "<details><summary>All cases</summary>",
        _table(("case", "tier", "verdict"), overview),
        "</details>",
        *(_section(result) for result in report.results),
        *_committed(committed),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _about(report: Report) -> str:
    parts = [f"sciml-pdes {sciml.__version__}", report.finished, report.command]
    return ", ".join(part for part in parts if part) + "; every case has its seed in its code"


def _topics(report: Report) -> str:
    """The summary that fits a screen: one row for each file of cases."""
    rows = []
    for topic in summarize(report):
        red = [f'<a class="fail" href="#{_anchor(name)}">{escape(name)}</a>' for name in topic.red]
        skipped = f" ({topic.skipped} skipped)" if topic.skipped else ""
        rows.append(
            (
                escape(topic.topic),
                f"{topic.cases}{skipped}",
                f"{topic.hold} of {topic.predictions}",
                f"{topic.seconds:.1f}",
                ", ".join(red),
            )
        )
    return _table(("topic", "cases", "predictions that hold", "seconds", "red"), rows)


def _overview(report: Report) -> str:
    figure = overview_figure(report)
    if figure is None:
        return ""
    data = base64.b64encode(png(figure)).decode("ascii")
    return (
        f'<img alt="Predicted and measured, by kind" src="data:image/png;base64,{data}">'
        '<p class="quiet">Each point is a prediction; the line is measured = predicted. Red '
        "crosses do not hold. Bounds from above have their points on or below the line, bounds "
        "from below on or above.</p>"
    )


def _committed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    return [
        '<section id="committed">',
        "<h2>Kept results of the full tier</h2>",
        '<p class="quiet">Measured before, and committed with the suite; not part of this run. The '
        "command measures these cases again.</p>",
        _measured_table(rows),
        "</section>",
    ]


def _section(result: Result) -> str:
    kept = ", kept from an earlier run" if result.cached else ""
    about = f"{result.name}, tier {result.tier}, {result.seconds:.2f} s{kept}"
    parts = [
        f'<section id="{_anchor(result.name)}">',
        f"<h2>{escape(result.title)} {_word(result.passed)}</h2>",
        f'<p class="quiet">{escape(about)}</p>',
    ]
    if result.description:
        parts.append(f"<p>{escape(result.description)}</p>")
    if result.verdicts:
        parts.append(
            _table(
                ("quantity", "predicted", "measured", "ratio", "verdict", "why"),
                [_verdict_row(verdict) for verdict in result.verdicts],
            )
        )
    if result.error:
        parts.append(f"<pre>{escape(result.error)}</pre>")
    if result.note:
        parts.append(f"<p>{escape(result.note)}</p>")
    if result.table:
        parts.append(_measured_table(result.table))
    if result.figure is not None:
        data = base64.b64encode(result.figure).decode("ascii")
        parts.append(f'<img alt="{escape(result.title)}" src="data:image/png;base64,{data}">')
    return "\n".join([*parts, "</section>"])


def _verdict_row(verdict: Verdict) -> tuple[str, ...]:
    prediction = verdict.prediction
    formula = "" if prediction.formula is None else f"{prediction.formula}; "
    return (
        escape(prediction.name),
        escape(prediction.statement),
        escape(f"{verdict.measured:.6g}"),
        escape(f"{verdict.ratio:.4g}"),
        _word(verdict.passed),
        f'<span class="quiet">{escape(formula + prediction.source)}</span>',
    )


def _measured_table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_show(row.get(column)) for column in columns] for row in rows]
    return _table([escape(column) for column in columns], cells)


def _show(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.5g}" if isinstance(value, float) else str(value))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _cell(content: str) -> str:
    try:
        float(content)
    except ValueError:
        return f"<td>{content}</td>"
    return f'<td class="number">{content}</td>'


def _word(passed: bool) -> str:
    return '<span class="pass">pass</span>' if passed else '<span class="fail">FAIL</span>'


def _anchor(name: str) -> str:
    return escape(name.replace("/", "-").replace("*", "file"))
