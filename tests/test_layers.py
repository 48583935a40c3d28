"""Who may know whom: the contracts of import-linter hold, and cover every room."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINT = (
    "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
)


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the packages and the pyproject.toml of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", LINT], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_contracts_hold():
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_every_room_has_its_floor():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [c["layers"] for c in settings["contracts"] if c["type"] == "layers"]
    floors = {name for layer in layers for name in re.findall(r"\w+", layer)}
    rooms = {p.parent.name for p in (ROOT / "sciml").glob("*/__init__.py")}
    assert rooms <= floors, f"{sorted(rooms - floors)} are on no floor in pyproject.toml"


@pytest.mark.parametrize(
    ("module", "source", "broken"),
    [
        ("pdes/solvers.py", "import torch", "pdes knows nothing"),
        ("pdes/solvers.py", "def f():\n    import sciml", "pdes knows nothing"),
        ("sciml/theory.py", "import sciml.discovery", "floors of sciml"),
        ("sciml/discovery.py", "import sciml.validation", "floors of sciml"),
        ("sciml/discovery.py", "import sciml.operators", "floors of sciml"),
    ],
)
def test_contracts_notice_what_they_forbid(tmp_path, module, source, broken):
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for package, names in {
        "pdes": ["solvers"],
        "sciml": ["cli", "validation", "discovery", "operators", "theory"],
    }.items():
        (tmp_path / package).mkdir()
        for name in ("__init__", *names):
            (tmp_path / package / f"{name}.py").write_text("")
    assert lint(tmp_path).returncode == 0
    (tmp_path / module).write_text(source + "\n")
    result = lint(tmp_path)
    assert result.returncode == 1
    assert any(broken in line and "BROKEN" in line for line in result.stdout.splitlines())
