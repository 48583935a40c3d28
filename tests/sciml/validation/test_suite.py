"""Finding cases in a folder and choosing among them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sciml.validation import UnknownCaseError, load

HEADER = """
from sciml.theory import Prediction
from sciml.validation import Case
ONE = (Prediction(name="one", value=1.0, kind="equals"),)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "_shared.py").write_text("def measure():\n    return {'one': 1.0}\n")
    (tmp_path / "solvers.py").write_text(
        HEADER
        + "from ._shared import measure\n"
        + "CASES = [Case(name='heat', run=measure, predictions=ONE),"
        + " Case(name='burgers', run=measure, predictions=ONE, tier='full')]\n"
    )
    (tmp_path / "zeta.py").write_text(
        HEADER
        + "CASES = [Case(name='sum', run=lambda: {'one': 1.0}, predictions=ONE, tier='full')]\n"
    )
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "slow.py").write_text("raise SystemExit('never imported')")
    return tmp_path


def test_names_are_topic_and_case_in_order_of_files(folder):
    suite = load(folder)
    assert list(suite.cases) == ["solvers/heat", "solvers/burgers", "zeta/sum"]
    assert suite.broken == {}
    assert suite.source("solvers/heat") == [folder / "solvers.py", folder / "_shared.py"]


def test_loading_leaves_no_trace(folder):
    path, writes = list(sys.path), sys.dont_write_bytecode
    load(folder)
    assert sys.path == path
    assert sys.dont_write_bytecode is writes
    assert list(folder.rglob("__pycache__")) == []


def test_a_changed_file_is_read_again(folder):
    load(folder)
    text = (folder / "zeta.py").read_text()
    (folder / "zeta.py").write_text(text.replace("'sum'", "'product'"))
    assert "zeta/product" in load(folder).cases


@pytest.mark.parametrize(
    ("pattern", "tier", "names"),
    [
        (None, "full", ["solvers/heat", "solvers/burgers", "zeta/sum"]),
        (None, "quick", ["solvers/heat"]),
        ("solvers/*", "full", ["solvers/heat", "solvers/burgers"]),
        ("burg", "full", ["solvers/burgers"]),
        ("*/s?m", "full", ["zeta/sum"]),
        ("s?m", "full", ["zeta/sum"]),
        ("he", "quick", ["solvers/heat"]),
    ],
)
def test_patterns_and_tiers(folder, pattern, tier, names):
    assert list(load(folder).select(pattern, tier).cases) == names


def test_the_closest_names_are_offered(folder):
    with pytest.raises(
        UnknownCaseError, match=r"No validation case fits 'burger_s'.*solvers/burgers"
    ):
        load(folder).select("burger_s")
    with pytest.raises(UnknownCaseError, match=r"all of tier full: zeta/sum.*--tier full"):
        load(folder).select("zeta", tier="quick")
    with pytest.raises(ValueError, match="tier is 'slow'"):
        load(folder).select(tier="slow")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import a_module_that_is_not_there\nCASES = []\n", "a_module_that_is_not_there"),
        ("CASES = [1]\n", "broken.py has no list CASES"),
        ("", "broken.py has no list CASES"),
        (
            HEADER + "CASES = [Case(name='a', run=dict, predictions=ONE)] * 2\n",
            "two cases are named",
        ),
    ],
)
def test_a_file_that_does_not_load_stops_no_other(folder, source, message):
    (folder / "broken.py").write_text(source)
    suite = load(folder)
    assert list(suite.broken) == ["broken"]
    assert message in suite.broken["broken"]
    assert "solvers/heat" in suite.cases
    assert suite.select("solvers").broken == {}  # another topic was asked for
    assert list(suite.select("broken/thing").broken) == ["broken"]


def test_an_empty_or_missing_folder_is_said(tmp_path):
    with pytest.raises(UnknownCaseError, match="No validation cases are in"):
        load(tmp_path).select()
    with pytest.raises(FileNotFoundError, match="nowhere of validation cases does not exist"):
        load(tmp_path / "nowhere")


def test_the_suite_of_this_installation_loads():
    suite = load()
    assert suite.broken == {}
    assert "theory/exclusion-theorem" in suite.cases
