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
    versions |= {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    lines = [
        f"# {topic.replace('_', ' ').capitalize()}",
        "",
        f"Measured by `{command}`. Seeds are in `validation/{topic}.py` and `_discovery.py`; "
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
    lines += [*_table(verdicts), ""]
    if result["table"]:
        lines += [*_table(result["table"]), ""]
    if result["note"]:
        lines += [result["note"], ""]
    return lines


def _statement(prediction: dict[str, Any]) -> str:
    from sciml.theory import Prediction

    known = {key: prediction[key] for key in ("name", "value", "kind")}
    return Prediction(**known, atol=prediction["slack"]).statement


def _table(rows: list[dict[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    body = ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]
    return ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |", *body]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
