"""What the pages of docs/ say runs, and the site is built without a warning."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SCRIPTS = {"scale_out.md"}  # scripts that start workers: tests/test_scale_out.py


def blocks(path: Path, language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), flags=re.M | re.S)
    return [text for named, text in fenced if named == language]


def having(language: str) -> list[Path]:
    return [path for path in PAGES if path.name not in SCRIPTS and blocks(path, language)]


@pytest.mark.parametrize("path", having("python"), ids=lambda path: path.stem)
def test_the_python_of_a_page_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    if path.stem == "pysindy":
        pytest.importorskip("pysindy")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    namespace: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(path, "python")):
        exec(compile(block, f"{path.name}, block {number}", "exec"), namespace)


@pytest.mark.parametrize("path", having("pycon"), ids=lambda path: path.stem)
def test_the_answers_shown_on_a_page_are_those_given(path):
    text = "\n".join(blocks(path, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(examples, out=said.append)
    assert examples.examples
    assert runner.failures == 0, "".join(said)


def test_every_notebook_has_a_page_in_the_navigation():
    shown = re.findall(r"tutorials/(\d\d\w+)\.md", (ROOT / "mkdocs.yml").read_text())
    assert shown == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: pip install -e '.[docs]'")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "theory" / "mino.html").read_text()
    assert "<math" in page and "arithmatex" not in page
    assert "sciml.theory.best_window" in (tmp_path / "api" / "theory.html").read_text()
    for path in tmp_path.rglob("*.html"):
        outside = re.findall(
            r'<(?:script|link)[^>]+(?:src|href)="(https?://[^"]+)', path.read_text()
        )
        assert not outside, f"{path.name} loads {outside}"
