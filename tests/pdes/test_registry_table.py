"""The table of the registry: every entry is in it, and it is what the results say."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path

import pytest

import pdes

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "validation" / "results"


@functools.cache
def _script():
    path = ROOT / "validation" / "benchmarks" / "registry_table.py"
    spec = importlib.util.spec_from_file_location("registry_table", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_entry_has_a_row() -> None:
    rows, missing = _script().rows(RESULTS)
    assert not missing
    named = {row["entry"].split(" ")[0].split(",")[0] for row in rows}
    assert set(pdes.available()) <= named


def test_every_entry_has_a_rate_of_its_own() -> None:
    rows, _ = _script().rows(RESULTS)
    for name in pdes.available():
        own = [row for row in rows if row["entry"].split(" ")[0].split(",")[0] == name]
        assert any(row["predicted order"] != "-" for row in own), name
        assert not [row for row in own if f"{name} (as " in row["entry"]], name


def test_every_declared_invariant_is_in_the_table() -> None:
    rows, _ = _script().rows(RESULTS)
    for name in pdes.available():
        own = [row for row in rows if row["entry"].split(" ")[0].split(",")[0] == name]
        told = " ".join(row["invariant drift"] for row in own)
        for one in getattr(pdes.get(name), "invariants", ()):
            assert f"{one.name} " in told, f"{name}: {one.name} in {told!r}"


def test_drifts_of_an_entry_fill_rows_that_have_none(tmp_path: Path) -> None:
    row = {"entry": "heat", "solver": "etdrk4", "predicted order": 4, "measured order": 4.0}
    kept = [{"entry": "heat", "invariant": name, "drift": 1e-9} for name in ("mass", "square")]
    report = {
        "results": [
            {"name": "a/b", "table": [{**row, "error": 1e-9, "invariant drift": "-"}]},
            {"name": "a/c", "table": [{**row, "error": 1e-8, "invariant drift": "mass 1.0e-12"}]},
            {"name": "a/invariants", "table": kept},
        ]
    }
    (tmp_path / "one.json").write_text(json.dumps(report), encoding="utf-8")
    rows, _ = _script().rows(tmp_path)
    told = [one["invariant drift"] for one in rows if one["entry"] == "heat"]
    assert told == ["mass 1.0e-09, square 1.0e-09 (own run)", "mass 1.0e-12"]


def test_table_is_the_one_of_the_results() -> None:
    text, _ = _script().table(RESULTS)
    assert (RESULTS / "registry-table.md").read_text(encoding="utf-8") == text


def test_missing_entry_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"entry": "heat (x 1)", "solver": "etdrk4", "predicted order": 4, "measured order": 3.99}
    report = {"results": [{"name": "a/b", "table": [{**row, "error": 1e-9}]}]}
    (tmp_path / "one.json").write_text(json.dumps(report), encoding="utf-8")
    script = _script()
    rows, missing = script.rows(tmp_path)
    assert "burgers" in missing
    assert "heat" not in missing
    (own,) = [row for row in rows if row["entry"] == "heat (x 1)"]
    assert own["measured order"] == "3.99"
    assert own["error"] == "1e-09"
    monkeypatch.setattr("sys.argv", ["registry_table.py", str(tmp_path)])
    assert script.main() == 1
    assert "In no row: " in (tmp_path / "registry-table.md").read_text(encoding="utf-8")


def test_rows_without_an_order_show_what_their_case_compares(tmp_path: Path) -> None:
    row = {"entry": "cylinder_flow, Re 100, drag", "predicted order": "", "error": "nan"}
    verdict = {
        "prediction": {"name": "drag", "kind": "equals", "value": 2.0},
        "measured": 2.02,
    }
    report = {"results": [{"name": "a/b", "table": [row], "verdicts": [verdict]}]}
    (tmp_path / "one.json").write_text(json.dumps(report), encoding="utf-8")
    rows, _ = _script().rows(tmp_path)
    (own,) = [row for row in rows if row["entry"].startswith("cylinder_flow")]
    assert (own["predicted order"], own["measured order"]) == ("value 2", "2.02")
    assert own["error"] == "0.01"


def test_nothing_is_printed_as_nan() -> None:
    assert "| nan |" not in _script().table(RESULTS)[0]
