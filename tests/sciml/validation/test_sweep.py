"""Cases side by side on processes and on a dask cluster: the verdicts of one process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sciml.cli.app import app
from sciml.validation import Report, load, run, sweep
from sciml.validation.cache import Cache

SHARED = "import os\nPLACE = {}\n"
FIRST = """
import os, unittest
import numpy as np
from sciml.theory import Prediction
from sciml.validation import Case, Measurements
from ._shared import PLACE

def prediction(value=1.0):
    return (Prediction(name="value", value=value, kind="equals", rtol=1e-6),)

def drawn():
    value = float(np.random.default_rng(0).normal())
    return Measurements(values={"value": value}, note=str(os.getpid()), table=[{"n": 1}])

def raises():
    raise RuntimeError("on purpose")

def skips():
    raise unittest.SkipTest("not here")

CASES = [
    Case(name="drawn", run=drawn, predictions=prediction(0.12573022)),
    Case(name="raises", run=raises, predictions=prediction()),
    Case(name="skips", run=skips, predictions=prediction()),
    *(
        Case(name=f"kept-{k}", run=drawn, predictions=prediction(0.12573022), tier="full")
        for k in range(4)
    ),
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "suite"
    place.mkdir()
    (place / "_shared.py").write_text(SHARED)
    (place / "first.py").write_text(FIRST)
    (place / "broken.py").write_text("import a_module_that_is_not_there\n")
    return place


def plain(report: Report) -> list[dict[str, Any]]:
    """What must agree: everything but times, places and the paths in tracebacks."""
    rows = [result.to_json() for result in report.results]
    for row in rows:
        row["error"] = row["error"].splitlines()[-1:]
        for name in ("seconds", "note"):
            del row[name]
    return rows


def notes(report: Report) -> set[str]:
    return {result.note for result in report.results if result.name.startswith("first/kept")}


@pytest.mark.slow
def test_two_workers_of_a_dask_cluster_give_the_report_of_one_process(folder, tmp_path):
    distributed = pytest.importorskip("distributed")
    suite, cache = load(folder), Cache(tmp_path / "cache")
    alone = run(suite)
    seen = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        spread = sweep(
            suite, client=client, cache=cache, progress=lambda *arguments: seen.append(arguments)
        )
        workers = {str(worker.pid) for worker in cluster.workers.values()}
        again = sweep(suite, client=client, cache=cache)
    assert plain(spread) == plain(alone)
    assert [result.name for result in spread.results][:2] == ["broken/*", "first/drawn"]
    assert notes(spread) <= workers and notes(alone) == {str(os.getpid())}
    assert [(number, total) for number, total, _ in seen] == [(k, 7) for k in range(7)]
    # what the workers kept is not measured again
    assert [result.cached for result in again.results] == [False] * 4 + [True] * 4
    assert notes(again) == notes(spread)


@pytest.mark.slow
def test_processes_of_this_machine_do_the_same(folder):
    suite = load(folder).select("first")
    alone, spread = run(suite), sweep(suite, workers=2)
    assert plain(spread) == plain(alone)
    assert str(os.getpid()) not in notes(spread)
    assert spread.selected == 7 and not spread.passed


def test_workers_beside_a_client_are_refused(folder):
    with pytest.raises(ValueError, match="workers=2 beside a client"):
        sweep(load(folder), client=object(), workers=2)


@pytest.mark.slow
def test_the_command_spreads_cases_over_processes(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "report.json"
    command = ["validate", "first", "--suite", str(folder), "--workers", "2", "--json", str(target)]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 1, found.output
    report = json.loads(target.read_text())
    assert [row["name"] for row in report["results"]] == [
        "first/drawn",
        "first/raises",
        "first/skips",
    ]
    assert report["results"][0]["passed"] and report["results"][0]["note"] != str(os.getpid())


def test_the_command_refuses_workers_beside_a_cluster(folder):
    command = ["validate", "--suite", str(folder), "--workers", "2", "--dask", "tcp://127.0.0.1:1"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2
