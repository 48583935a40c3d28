"""What the README and its neighbors say is so: their code runs, their links and pins hold."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sciml import datasets

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "datasets").rglob("*.md"),
    *(ROOT / "validation").glob("*.md"),
]

CALL = "from sciml.cli import main; main()"

PREPARED = """
import numpy as np, pdes, pysindy, torch
from sciml.discovery import WeakRowCovariance, WhitenedBestSubsetOptimizer
x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))[..., None]
library = pysindy.WeakPDELibrary(
    function_library=pysindy.PolynomialLibrary(degree=2, include_bias=False),
    derivative_order=2,
    spatiotemporal_grid=np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1),
    K=60,
    H_xt=[1.0, 0.4],
)
r = np.geomspace(0.01, 1.0, 200)
y = r**0.544 + 0.3 * r**1.5
from sciml.repair import LerayProjection
noise = torch.randn(8, 1, 2, 8, 8, generator=torch.manual_seed(0), dtype=torch.float64)
flows = LerayProjection((1.0, 1.0))(noise).expand(8, 4, 2, 8, 8)
forecaster = lambda u: u + 0.1 * torch.sin(torch.arange(8.0))[:, None]
"""
"""What the further lines of the README take for granted."""

CHECKED = (
    "assert model.equations(precision=1) == [' 0.1 x0_11'], model.equations()",
    "assert abs(PowerLawFit().fit(r, y).exponents_[0] - 0.544) < 1e-9",
    "assert data.status == state.status == 'ok' and many.sizes['sample'] == 8",
)


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of a page in one language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), flags=re.M | re.S)
    return [text for named, text in fenced if named == language]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with somebody's recording.mat."""
    shutil.copy(datasets.recipe("burgers").path, tmp_path / "recording.mat")
    return tmp_path


def test_the_lines_of_python_in_the_readme_run(folder):
    (script,) = blocks("README.md", "python")
    (folder / "script.py").write_text(script)
    result = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "['usol_t = -1.000*usol*usol_x + 0.1000*usol_xx']" in result.stdout
    assert (folder / "evidence.png").read_bytes().startswith(b"\x89PNG")


def test_the_further_lines_of_python_in_the_readme_run(tmp_path):
    pytest.importorskip("pysindy")
    scripts = blocks("README.md", "py")
    assert len(scripts) == 3
    for place, script in enumerate(scripts):
        (tmp_path / f"script_{place}.py").write_text(PREPARED + script + CHECKED[place])
        result = subprocess.run(
            [sys.executable, f"script_{place}.py"], cwd=tmp_path, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "motz.png").read_bytes().startswith(b"\x89PNG")


def test_the_commands_in_the_readme_run(folder):
    (shell,) = [text for text in blocks("README.md", "") if text.startswith("sciml")]
    commands = [line.split() for line in shell.splitlines()]
    assert [command[1] for command in commands] == ["discover", "simulate", "validate", "list"]
    for command in commands:
        if command[1] != "validate":  # which has tests of its own
            result = subprocess.run(
                [sys.executable, "-c", CALL, *command[1:]],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "burgers.nc",
        "found.json",
        "found.png",
        "recording.mat",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_tested_set_lies_within_the_declared_ranges():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    releases = {canonicalize_name(p.name): str(p.specifier).removeprefix("==") for p in pins}
    assert len(releases) == len(pins)
    groups = project["optional-dependencies"]
    (ours,) = [
        Requirement(line) for line in groups["dev"] if Requirement(line).name == project["name"]
    ]
    tested = [*project["dependencies"], *(line for name in ours.extras for line in groups[name])]
    for requirement in map(Requirement, [*tested, *groups["dev"]]):
        if requirement.name != project["name"]:
            release = releases[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(release), f"{requirement} against {release}"
    assert releases[canonicalize_name("torch")] == "2.13.0"
