"""Entries solved by the method of lines: numpy, torch, single precision and batches agree."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pdes
from pdes.grid import Grid
from pdes.solvers.line_solvers import LINE_SOLVERS

POINTS = {1: 40, 2: 14}
NAMES = [
    name
    for name in pdes.available()
    if isinstance(pdes.get(name), pdes.Problem) and pdes.get(name).solver in LINE_SOLVERS
]

pytestmark = pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")


def _coarse(name: str) -> tuple[pdes.Problem, dict[str, np.ndarray], np.ndarray]:
    """Problem with few points, its initial field, and a short run."""
    problem = pdes.get(name)
    points = POINTS[len(problem.grid.shape)]
    axes = tuple(dataclasses.replace(axis, points=points) for axis in problem.grid.axes)
    problem = dataclasses.replace(problem, grid=Grid(axes), stored_points=None, time_step=None)
    given = problem.initial(problem.grid, np.random.default_rng(1))
    span = min(0.02 * (problem.times[-1] - problem.times[0]), 1.0)
    return problem, dict(given), problem.times[0] + np.array([0.0, span])


def test_all_solvers_by_lines_are_met() -> None:
    """By an entry, or by the conformance module of their family."""
    used = {pdes.get(name).solver for name in NAMES}
    others = {"finite_difference_sbdf2", "finite_difference_ars443", "strang", "yoshida4"}
    assert used | others == set(LINE_SOLVERS)


@pytest.mark.parametrize("name", NAMES)
def test_backends_and_precisions_agree(name: str) -> None:
    problem, initial, times = _coarse(name)
    double = pdes.simulate(problem, times, initial=initial)
    other = pdes.simulate(problem, times, initial=initial, backend="torch")
    single = pdes.simulate(problem, times, initial=initial, dtype="float32")
    for field in double.data_vars:
        scale = max(float(np.abs(double[field]).max()), 1e-3)
        assert float(np.abs(double[field][1] - double[field][0]).max()) > 0.0
        assert float(np.abs(other[field] - double[field]).max()) < 1e-12 * scale
        assert single[field].dtype == np.float32
        assert float(np.abs(single[field] - double[field]).max()) < 2e-4 * scale


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_equals_single_runs(name: str) -> None:
    problem, initial, times = _coarse(name)
    # Sides that are given belong to one field only: the second sample is a little off inside.
    window = np.ones(problem.grid.shape)
    for axis in range(window.ndim):
        window[tuple(slice(1, -1) if i == axis else slice(None) for i in range(window.ndim))] *= 0.9
    fields = {n: np.stack([v, window * v]) for n, v in initial.items()}
    step = 0.25 * (times[1] - times[0])
    batch = pdes.simulate(problem, times, initial=fields, time_step=step)
    for i in range(2):
        one = pdes.simulate(
            problem, times, initial={n: v[i] for n, v in fields.items()}, time_step=step
        )
        for field in batch.data_vars:
            assert np.max(np.abs(batch[field].values[i] - one[field].values)) < 1e-13


def test_the_record_says_how_it_was_solved() -> None:
    import json

    run = pdes.simulate(pdes.get("burgers_riemann"), [0.0, 0.1])
    record = json.loads(run.attrs["solver"])
    assert record["name"] == "weno5"
    assert record["order"] == 3
    assert 0.0 < record["time_step"] <= 0.5 * 0.01 * (1.0 + 1e-9)
    assert record["steps"] >= 20
