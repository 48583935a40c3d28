"""The wheel: what it puts on a machine, and whether it works from there."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.packaging


def call(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source tree."""
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package 'build' is not installed: pip install -e .[dev]")
    out = tmp_path_factory.mktemp("dist")
    # With the build backend at hand nothing needs to be fetched.
    here = importlib.util.find_spec("hatchling") is not None
    isolation = ["--no-isolation"] if here else []
    result = call(sys.executable, "-m", "build", "--wheel", *isolation, "-o", out, ROOT, cwd=out)
    assert result.returncode == 0, result.stdout + result.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and nothing else; the dependencies are those of the test run."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-compile", "--quiet"]
    result = call(*pip, "--no-index", "--target", site, wheel, cwd=site)
    assert result.returncode == 0, result.stdout + result.stderr
    return site


def members(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_only_our_two_packages_are_at_the_top(wheel):
    tops = {name.split("/")[0] for name in members(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sciml", "pdes"}
    assert sum(top.endswith(".dist-info") for top in tops) == 1


def test_installing_adds_nothing_else(installed):
    names = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"sciml", "pdes", "bin"}
    assert [path.name for path in (installed / "bin").iterdir()] == ["sciml"]


def test_nothing_is_packed_by_accident(wheel):
    names = members(wheel)
    assert [
        name for name in names if "__pycache__" in name or name.endswith((".pyc", ".tmp"))
    ] == []
    assert [name for name in names if name.startswith(("sciml/tests", "pdes/tests"))] == []
    assert {"sciml/py.typed", "pdes/py.typed"} <= set(names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.parametrize("folder", ["validation", "datasets"])
def test_the_shared_folders_are_packed_whole(wheel, folder):
    packed = {
        n.removeprefix("sciml/_share/") for n in members(wheel) if n.startswith("sciml/_share/")
    }
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".tmp"
    }
    assert there
    assert {name for name in packed if name.startswith(f"{folder}/")} == there


def test_the_installed_package_is_the_one_that_answers(installed):
    code = "import pdes, sciml; print(pdes.__file__); print(sciml.__file__)"
    result = call(sys.executable, "-c", code, cwd=installed, PYTHONPATH=str(installed))
    assert result.returncode == 0, result.stderr
    assert all(Path(line).is_relative_to(installed) for line in result.stdout.split())


def test_the_command_validates_from_the_wheel(installed, tmp_path):
    command = [installed / "bin" / "sciml", "validate", "--tier", "quick", "exclusion"]
    result = call(
        *command, "--json", tmp_path / "report.json", cwd=tmp_path, PYTHONPATH=str(installed)
    )
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [case["name"] for case in report["results"]] == ["theory/exclusion-theorem"]
    assert report["passed"] is True


def test_cases_and_data_come_from_the_wheel(installed):
    code = """
from sciml import _resources
print(_resources.folder("validation"), _resources.folder("datasets"))
"""
    result = call(sys.executable, "-c", code, cwd=installed, PYTHONPATH=str(installed))
    assert [Path(line) for line in result.stdout.split()] == [
        installed / "sciml" / "_share" / name for name in ("validation", "datasets")
    ]


def test_an_incomplete_installation_says_so(installed, tmp_path):
    """A foreign folder of the same name beside the package is not mistaken for ours."""
    site = tmp_path / "site"
    (site / "sciml").mkdir(parents=True)
    (site / "datasets").mkdir()
    for name in ("__init__.py", "_resources.py"):
        (site / "sciml" / name).write_bytes((installed / "sciml" / name).read_bytes())
    code = "from sciml import _resources as r; r.folder('datasets')"
    result = call(sys.executable, "-c", code, cwd=site, PYTHONPATH=str(site))
    assert result.returncode == 1
    assert "The installation is incomplete" in result.stderr
