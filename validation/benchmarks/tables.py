"""Turn a JSON report of the suite into the pages of ``validation/results``.

::

    sciml validate "discovery*" --tier full --json build/report.json
    python validation/benchmarks/tables.py build/report.json --output validation/results

One page for each file of cases: what was predicted, what was measured, and the tables behind it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from sciml import __version__, _atomic


def main() -> int:
    """Read the report, write the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path, help="JSON file that `sciml validate --json` wrote")
    parser.add_argument("--output", type=Path, required=True, help="folder for the pages")
    parser.add_argument(
        "--command",
        default='sciml validate "discovery*" --tier full --json build/report.json',
        help="the command that measured, for the head of each page",
    )
    options = parser.parse_args()
    report = json.loads(options.report.read_text(encoding="utf-8"))
    topics: dict[str, list[dict[str, Any]]] = {}
    for result in report["results"]:
        if result["name"].endswith("-quick"):
            continue  # the same with fewer seeds
        topics.setdefault(result["name"].partition("/")[0], []).append(result)
    for topic, results in topics.items():
        page = _page(topic, results, options.command)
        print(_atomic.write(options.output / f"{topic}.md", page))
    return 0


def _page(topic: str, results: list[dict[str, Any]], command: str) -> str:
    versions = {"Python": platform.python_version(), "sciml-pdes": __version__}
    discovers = topic.startswith("discovery")
    libraries = ("numpy", "scipy", "scikit-learn" if discovers else "torch")
    versions |= {name: metadata.version(name) for name in libraries}
    seeds = f"`validation/{topic}.py`" + (" and `_discovery.py`" if discovers else "")
    lines = [
        f"# {topic.replace('_', ' ').capitalize()}",
        "",
        f"Measured by `{command}`. Seeds are in {seeds}; "
        f"{', '.join(f'{name} {version}' for name, version in versions.items())}.",
        "",
    ]
    for result in results:
        lines += _section(result)
    return "\n".join(lines)


def _section(result: dict[str, Any]) -> list[str]:
    name = result["name"].partition("/")[2]
    lines = [f"## {result['title']} (`{name}`)", "", result["description"], ""]
    if result["error"]:
        return [*lines, f"Not measured: {result['error'].strip().splitlines()[-1]}", ""]
    verdicts = [
        {
            "quantity": verdict["prediction"]["name"],
            "predicted": _statement(verdict["prediction"]),
            "measured": verdict["measured"],
            "verdict": "pass" if verdict["passed"] else "**FAIL**",
        }
        for verdict in result["verdicts"]
    ]
    lines += [*markdown_table(verdicts), ""]
    if result["table"]:
        lines += [*markdown_table([_with_ranges(row) for row in result["table"]]), ""]
    if result["note"]:
        lines += [result["note"], ""]
    return lines


def _statement(prediction: dict[str, Any]) -> str:
    from sciml.theory import Prediction

    known = {key: prediction[key] for key in ("name", "value", "kind")}
    return Prediction(**known, atol=prediction["slack"]).statement


def markdown_table(rows: Sequence[Mapping[str, Any]], digits: int = 4) -> list[str]:
    """Lines of a table in Markdown: a column for every name, numbers to so many digits."""
    if not rows:
        return []
    names = list(dict.fromkeys(name for row in rows for name in row))
    body = [
        "| " + " | ".join(_cell(row.get(name), digits) for name in names) + " |" for row in rows
    ]
    return ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |", *body]


def _with_ranges(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the range of a mean, from a column of its own, behind it."""
    merged = {name: value for name, value in row.items() if not name.endswith(", range")}
    for name, value in row.items():
        mean = name.removesuffix(", range")
        if mean != name and value is not None:
            merged[mean] = f"{_cell(row[mean], 4)} ({value})"
    return merged


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
