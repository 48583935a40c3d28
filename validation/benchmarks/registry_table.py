"""One table of the registry: solver, predicted and measured order, error and drift, by entry.

Reads what the cases of `registry_*.py` and `solvers.py` measured and left in `results`::

    python validation/benchmarks/registry_table.py validation/results

Exits with 1 if an entry of the registry is in no row.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = dict[str, str]

COLUMNS = (
    *("entry", "solver", "predicted order", "measured order", "error", "invariant drift"),
    *("closed form", "case"),
)


def measured(folder: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """All rows that name an entry and a predicted order, with the case that they are from."""
    found = []
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        for case in report.get("results", []):
            for row in case.get("table") or []:
                if "entry" in row and "predicted order" in row:
                    found.append((str(case["name"]), _with_verdict(case, row)))
            found += [(str(case["name"]), row) for row in _slopes(case)]
    return found


def drifts(folder: Path) -> dict[str, str]:
    """Drift of every declared invariant of an entry, over a short run with its own solver."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        for case in report.get("results", []):
            for row in case.get("table") or []:
                if {"entry", "invariant", "drift"} <= set(row):
                    words = f"{row['invariant']} {float(row['drift']):.1e}"
                    found.setdefault(str(row["entry"]), []).append(words)
    return {name: ", ".join(words) for name, words in found.items()}


def _with_verdict(case: Mapping[str, Any], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Row without an order, with the published or computed value that its case compares with."""
    if _text(row["predicted order"]) != "-":
        return row
    equal = [one for one in case.get("verdicts", []) if one["prediction"]["kind"] == "equals"]
    label = str(row["entry"])
    own = [one for one in equal if label.endswith(one["prediction"]["name"])]
    found = own or (equal if len(equal) == 1 else [])
    if len(found) != 1:
        return row
    wanted, measured = float(found[0]["prediction"]["value"]), float(found[0]["measured"])
    compared: dict[str, Any] = {
        "predicted order": f"value {wanted:.5g}",
        "measured order": f"{measured:.5g}",
    }
    if _text(row.get("error", "")) == "-":
        compared["error"] = abs(measured / wanted - 1.0)
    return {**row, **compared}


def _slopes(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Row of a case whose table holds quantities grid by grid, and its verdicts their order."""
    table = [row for row in case.get("table") or [] if "quantity" in row and "error" in row]
    order = [o for o in case.get("verdicts", []) if o["prediction"]["name"] == "order in space"]
    if not table or len(order) != 1:
        return []
    finest = str(table[-1]["entry"])
    errors = [float(row["error"]) for row in table if row["entry"] == finest]
    drift = [o for o in case["verdicts"] if o["prediction"]["name"] == "largest divergence"]
    return [
        {
            "entry": finest,
            "solver": table[-1]["solver"],
            "predicted order": order[0]["prediction"]["value"],
            "measured order": order[0]["measured"],
            "error": max(errors),
            "invariant drift": f"divergence {drift[0]['measured']:.1e}" if drift else "-",
        }
    ]


def rows(folder: Path) -> tuple[list[Row], list[str]]:
    """Rows of the table, entry by entry, and the entries that have none."""
    import pdes

    by_entry: dict[str, list[Row]] = {}
    for case, row in measured(folder):
        name = str(row["entry"]).split(" ")[0].split(",")[0]
        by_entry.setdefault(name, []).append(_row(case, row))
    found: list[Row] = []
    missing = []
    kept = drifts(folder)
    for name in pdes.available():
        closed = described(name)
        own = by_entry.get(name, [])
        if name in kept:
            # A source or a grid of the rate's own leaves nothing to keep: the entry's run tells.
            own = [
                {**row, "invariant drift": f"{kept[name]} (own run)"}
                if row["invariant drift"] == "-"
                else row
                for row in own
            ]
        if not own:
            missing.append(name)
        found += [{"closed form": closed, **row} for row in own]
    return found, missing


@functools.cache
def described(name: str) -> str:
    """Names of the closed forms of an entry."""
    import pdes

    problem = pdes.get(name)
    return ", ".join(sorted(problem.exact)) or "-"


def _row(case: str, row: Mapping[str, Any]) -> Row:
    label = str(row["entry"])
    if row.get("parameters"):
        label = f"{label} ({row['parameters']})"
    errors = [row[key] for key in row if str(key).startswith("error")]
    error = next((one for one in errors if _text(one) != "-"), "")
    words = [label, row.get("solver", ""), row["predicted order"], row.get("measured order", "")]
    values = [*words, error, row.get("invariant drift", "")]
    return {**dict(zip(COLUMNS, map(_text, values), strict=False)), "case": case}


def _text(value: Any) -> str:
    # Reports keep what was not measured as the word.
    if value is None or value in ("", "nan") or value != value:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(folder: Path) -> tuple[str, list[str]]:
    """The whole file as Markdown, and the entries that are in no row."""
    found, missing = rows(folder)
    lines = [
        "# Every entry of the registry",
        "",
        "Written by `python validation/benchmarks/registry_table.py validation/results` from what "
        "`sciml validate 'registry_*' --tier full --json ...` measured; the files beside this one "
        "hold versions. Orders are fitted slopes over three grids or steps, or more; each case "
        "states its prediction and its slack. Slopes above the prediction are no contradiction: "
        "where the step follows the spacing at a fixed Courant number the order in time (3) is "
        "what is sure, and on smooth fields the part of the error of WENO5 in space (order 5) "
        "still dominates at these sizes. Drifts marked "
        "`own run` are those of `registry_conservation/invariants`: every invariant that the entry "
        "declares, over a short run of its own with its own solver and step.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + " --- |" * len(COLUMNS),
    ]
    for row in found:
        cells = [row.get(column, "").replace("|", "/") or "-" for column in COLUMNS]
        lines.append("| " + " | ".join(cells) + " |")
    if missing:
        lines += ["", f"In no row: {', '.join(missing)}."]
    return "\n".join(lines) + "\n", missing


def main() -> int:
    """Write the table; 1 if an entry is missing."""
    if len(sys.argv) != 2:
        print("usage: registry_table.py FOLDER")
        return 2
    folder = Path(sys.argv[1])
    text, missing = table(folder)
    (folder / "registry-table.md").write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10)) - 7} rows; in no row: {missing or 'none'}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
