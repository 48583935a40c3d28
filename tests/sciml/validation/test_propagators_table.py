"""The page of the baselines says what the numbers say, whoever is the better one."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import pytest

page: Any = importlib.import_module("validation.benchmarks.propagators_table")
baselines: Any = importlib.import_module("validation.propagators_baselines")


def result(case: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    verdict = {
        "prediction": {"name": "quantity", "kind": "at_most", "value": 0.25},
        "measured": 0.5,
        "passed": False,
    }
    name = f"propagators_baselines/{case}"
    about = {"name": name, "table": rows, "note": f"note of {case}", "error": ""}
    return about | {"verdicts": [verdict]}


def report(network: float) -> dict[str, Any]:
    def pinn(kind: str, error: float) -> dict[str, Any]:
        row = baselines._row(
            f"physics-informed network, {kind}", 0, 5, "9 x 9", 80.0, errors=error, dense=error
        )
        return row | {"before training": 1.0}

    def own(window: int, error: float, name: str = "learned propagator") -> dict[str, Any]:
        return baselines._row(
            name, 0, 433, "8 x 8", 10.0, errors=error, dense=error, window=window, floor=0.1432
        )

    best = own(2000, 0.02, "learned propagator, best window")
    field = {
        "field": "Gaussian", "seed": 0, "parameters": 7, "steps x batch": "9 x 9",
        "CPU seconds": 80.0, "floor of |xi| <= 30": 0.0, "mean error": 0.01,
        "error at t = 1.5": 0.0213,
    }  # fmt: skip
    results = [
        result("pinn-slow", [pinn("gated", network), own(30, 0.2), own(3000, 0.01), best]),
        result("pinn-seeds", [pinn("gated", 0.11)]),
        result("pinn-plain", [pinn("plain", 0.3)]),
        result("pinn-fast", [pinn("gated", 0.9), own(32, 0.12)]),
        result("supervised-operator", [field]),
    ]
    about = {"finished": "today", "python": "3", "platform": "here"}
    return about | {"results": results}


@pytest.mark.parametrize(
    ("network", "narrow", "wide"),
    [(0.1, "2.0 times better", "5.0 times better"), (0.016, "12.5 times better", "1.2 times worse"),
     (0.4, "2.0 times worse", "20.0 times better")],
)  # fmt: skip
def test_the_better_one_is_named(network, narrow, wide):
    words = page.text(report(network))
    assert f"{narrow} than the propagator's 0.2" in words
    assert f"has 0.01, {network / 0.01:.1f} times" in words
    assert f"{wide} than the network, after 10 instead of 80 s" in words


def test_rows_stand_beside_what_was_stated():
    words = page.text(report(0.1))
    assert re.search(r"network, gated \| 0 \| 5 \|.*\| 0.1 \| 0.1 \| 0.0745; paper", words)
    assert re.search(r"network, gated \| 0 \| 5 \|.*\| 0.9 \| 0.9 \| 0.874 \|", words)
    assert re.search(r"learned propagator, best window .*\| 2000 \| 0.143 \|.*\| - \|", words)
    assert re.search(r"Gaussian .*\| 0.01 \| 0.0213 \| 3.12e-2", words)
    assert words.count("| quantity | <= 0.25 | 0.5 | FAILS |") == 5


def test_what_nobody_has_measured_is_said():
    short = report(0.1)
    (seeds,) = [r for r in short["results"] if r["name"].endswith("pinn-seeds")]
    seeds["error"] = "Traceback"
    short["results"].pop()
    assert page.text(short).count("Not measured yet.") == 2
    assert page.text(report(0.1)).count("Not measured yet.") == 0


def test_the_committed_page_is_that_of_the_committed_numbers():
    kept = json.loads((page.RESULTS / "propagators_baselines.json").read_text())
    assert (page.RESULTS / "propagators_baselines.md").read_text() == page.text(kept)
