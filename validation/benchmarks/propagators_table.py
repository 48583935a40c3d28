"""What others reach at advection, beside learned propagators: a table from committed results.

    sciml validate 'propagators_baselines*' --tier full --no-resume \
        --json validation/results/propagators_baselines.json
    python validation/benchmarks/propagators_table.py

The first line runs all baselines; the second reads its file and writes
``validation/results/propagators_baselines.md``. Nothing is measured here.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "results"

Row = dict[str, Any]

INTRODUCTION = """# Baselines of learned propagators

Made by `python validation/benchmarks/propagators_table.py` from `propagators_baselines.json` in
this folder, which `sciml validate 'propagators_baselines*' --tier full --no-resume --json FILE`
measures in one go. Finished {finished}, Python {python}.

Errors are relative, in L2, the mean over four times (a quarter, half, three quarters and all of
the time). Seconds are of processor time on one thread of a machine that others used at the same
time; they are comparable within this table only. "Stated" is what prototypes gave before, with one
seed, or the paper (N'guessan and Kim, arXiv:2608.15187) where it says so.

"Balanced" is the weighting of S. Wang, X. Yu and P. Perdikaris, J. Comput. Phys. 449, 110768
(2022): traces of the tangent kernel, taken every 500 steps over 64 points. Propagators are
homogeneous ones, trained without any field; floors are exact tails of the field outside of the
window.
"""

DENSE = "on 400003 nodes"
SECTIONS = {
    "pinn-slow": "A box of width 1 at speed 1, T = 1.5",
    "pinn-seeds": "The same network from other seeds",
    "pinn-plain": "The same with a plain network",
    "pinn-fast": "A box of width 1.5 on a circle at speed 30, T = 1",
    "supervised-operator": "A Fourier neural operator, supervised",
}
STATED = {
    ("pinn-slow", "physics-informed network, gated", "-"): "0.0745; paper: near its initial error",
    ("pinn-slow", "learned propagator", 30): "0.1430",
    ("pinn-slow", "learned propagator", 300): "0.0461",
    ("pinn-slow", "learned propagator", 3000): "0.0151 to 0.0188",
    ("pinn-seeds", "physics-informed network, gated", "-"): "0.0745",
    ("pinn-plain", "physics-informed network, plain", "-"): "0.111",
    ("pinn-fast", "physics-informed network, gated", "-"): "0.874",
    ("pinn-fast", "learned propagator", 32): "0.1206",
}
STATED_FIELDS = {
    "Gaussian": ("3.12e-2 (mean, smooth)", "3.84e-3 (mean, smooth)", "1.4e-3"),
    "box": ("-", "-", "1.9e-3 beside the floor"),
}


def number(value: Any) -> str:
    """Three digits of a number; anything else as a cell can hold it."""
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
    return str(value).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    lines += ["| " + " | ".join(map(number, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdicts(result: Row) -> str:
    """Predictions of a case and whether they hold."""
    signs = {"at_most": "<=", "at_least": ">=", "equals": "="}
    rows = [
        (
            v["prediction"]["name"],
            f"{signs[v['prediction']['kind']]} {number(v['prediction']['value'])}",
            v["measured"],
            "holds" if v["passed"] else "FAILS",
        )
        for v in result["verdicts"]
    ]
    return table(("predicted before", "", "measured", ""), rows)


def networks(results: dict[str, Row], case: str) -> str:
    """Networks and propagators of a case."""
    head = ("model", "seed", "parameters", "steps x batch", "CPU s", "window", "floor",
            "before training", "error, 4,001 nodes", "400,003 nodes", "stated")  # fmt: skip
    columns = ("model", "seed", "parameters", "steps x batch", "CPU seconds", "window", "floor",
               "before training", "mean error", DENSE)  # fmt: skip
    rows = []
    for row in results[case]["table"]:
        key = (case, row["model"].removesuffix(", best window"), row["window"])
        rows.append([*[row[c] for c in columns], STATED.get(key, "-")])
    return table(head, rows)


def middle(rows: list[Row], column: str, model: str, window: Any = None) -> float:
    """Median over the seeds."""
    return statistics.median(
        r[column] for r in rows if r["model"] == model and window in (None, r["window"])
    )


def slow(results: dict[str, Row]) -> str:
    """Who is the better one at speed 1, and by how much."""
    rows = results["pinn-slow"]["table"]
    own, best = "learned propagator", "learned propagator, best window"
    network = middle(rows, DENSE, "physics-informed network, gated")
    narrow, wide = middle(rows, DENSE, own, 30), middle(rows, DENSE, best)
    widest = middle(rows, DENSE, own, 3000)
    seconds = middle(rows, "CPU seconds", "physics-informed network, gated")
    mine = middle(rows, "CPU seconds", best)
    start = middle(rows, "before training", "physics-informed network, gated")

    def better(one: float, other: float) -> str:
        factor = max(one, other) / min(one, other)
        return f"{factor:.1f} times {'better' if one < other else 'worse'} than"

    return (
        "Medians over the seeds in this table, on the dense nodes. From "
        f"{number(start)} before training the network comes to {number(network)}. "
        "In the window |xi| <= 30 that is "
        f"{better(network, narrow)} the propagator's {number(narrow)}, whose floor is "
        f"{number(middle(rows, 'floor', own, 30))}: no training gets below it. In the window that "
        "its certified foot error suggests, nothing trained anew, the propagator has "
        f"{number(wide)}: {better(wide, network)} the network, after {number(mine)} instead of "
        f"{number(seconds)} s, and for every initial field, where the network has learned one. "
        "That window is a cautious one: the certified foot error is a bound. With |xi| <= 3000, "
        f"taken without looking at any error either, the propagator has {number(widest)}, "
        f"{better(widest, network)} the network.\n\n"
        "At high windows errors sit within 1/Xi of the jumps, closer than the 4,001 nodes are; "
        "there the column of the dense nodes is the one to read.\n"
    )


def operator(results: dict[str, Row]) -> str:
    """Errors of the operator by field."""
    case = results["supervised-operator"]
    columns = ("field", "seed", "parameters", "steps x batch", "CPU seconds", "floor of |xi| <= 30",
               "mean error", "error at t = 1.5")  # fmt: skip
    rows = [
        [*[r[c] for c in columns], *STATED_FIELDS.get(r["field"], ("-",) * 3)]
        for r in case["table"]
    ]
    head = ("field", "seed", "parameters", "steps x batch", "CPU s", "floor of abs(xi) <= 30",
            "mean error", "at t = 1.5", "paper, its operator", "paper, propagator",
            "generic propagator, prototype")  # fmt: skip
    return table(head, rows)


def text(report: Row) -> str:
    """The whole page."""
    results = {r["name"].partition("/")[2]: r for r in report["results"]}

    def note(case: str) -> str:
        said = results[case]["note"].rstrip(".")
        return f"{said[:1].upper()}{said[1:]}."

    parts = [INTRODUCTION.format(**report)]
    for case, title in SECTIONS.items():
        parts.append(f"## {title}\n")
        if case not in results or results[case]["error"]:
            parts.append("Not measured yet.\n")
            continue
        if case == "supervised-operator":
            parts += [operator(results), "Reported, not a goal. " + note(case) + "\n"]
        else:
            parts.append(networks(results, case))
            parts += [slow(results)] if case == "pinn-slow" else []
            parts.append(note(case) + "\n")
        parts.append(verdicts(results[case]))
    return "\n".join(parts)


def main() -> None:
    """Write the table."""
    report = json.loads((RESULTS / "propagators_baselines.json").read_text(encoding="utf-8"))
    (RESULTS / "propagators_baselines.md").write_text(text(report), encoding="utf-8")


if __name__ == "__main__":
    main()
