"""`make demo` ends with the right equation and its three files, or says that it does not."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path

import pytest

from sciml import datasets

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"


@pytest.fixture
def demo(monkeypatch):
    """The script as a module, with fewer noise levels."""
    specification = importlib.util.spec_from_file_location("demo", DEMO)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "NOISE", (0.1,))
    return module


def test_it_leaves_equation_result_and_figure(demo, tmp_path, capsys):
    assert demo.main(tmp_path / "new" / "demo") == 0
    left = {path.name: path for path in (tmp_path / "new" / "demo").iterdir()}
    assert sorted(left) == ["equation.txt", "figure.png", "result.json"]
    equation = "u_t = -1.000*u*u_x - 1.000*u_xx - 1.000*u_xxxx"
    assert left["equation.txt"].read_text() == equation + "\n"
    result = json.loads(left["result.json"].read_text())
    assert result["equation"] == equation
    assert result["terms"]["u"] == pytest.approx({"u*u_x": -1, "u_xx": -1, "u_xxxx": -1}, rel=1e-5)
    assert result["data"]["ranges"]["time"] == [0.0, demo.FITTED_UNTIL]
    assert left["figure.png"].stat().st_size > 100_000
    printed = capsys.readouterr().out
    assert "10%  u_t = -0.99" in printed
    assert "right" in printed


def test_another_equation_than_the_published_one_is_a_failure(demo, tmp_path, capsys, monkeypatch):
    claimed = dataclasses.replace(datasets.recipe(demo.NAME), equation="u_t = -u*u_x - u_xx")
    monkeypatch.setattr(datasets, "recipe", lambda name: claimed)
    assert demo.main(tmp_path) == 1
    assert "This is not the published equation" in capsys.readouterr().out
