"""One equation through all rooms: simulated, discovered, solved again, learned, certified."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import pdes
from sciml.discovery import DiscoveryWarning, EqOD
from sciml.noise import add_noise
from sciml.propagators import MiNO

TIMES = np.linspace(0.0, 1.0, 101)
WAVES = ("", "sin(x)*", "cos(x)*", "sin(2*x)*", "cos(2*x)*")
LIBRARY = [wave + term for term in ("u", "u_x", "u_xx") for wave in WAVES]


class Loop(NamedTuple):
    """What each step hands to the next."""

    problem: pdes.Problem
    start: Any
    found: EqOD
    solved: np.ndarray
    truth: np.ndarray


@pytest.fixture(scope="module")
def loop() -> Loop:
    problem = dataclasses.replace(pdes.get("advection_varying", base=0.5), times=TIMES)
    clean = pdes.simulate(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscoveryWarning)  # EqOD says that it falls back
        found = EqOD(library=LIBRARY, periodic=True, n_subsamples=20)
        found.fit(add_noise(clean, 0.05, seed=0))
    again = dataclasses.replace(problem, equation=found.equation_, exact={}, exact_name=None)
    solved = pdes.simulate(again).u.values[-1]
    truth = problem.exact["varying_speed"].evaluate(problem.grid, [TIMES[-1]])["u"][0]
    return Loop(problem, clean.u.isel(time=0), found, solved, truth)


def norm(field: np.ndarray) -> float:
    return float(np.sqrt((field**2).mean() * 2 * np.pi))


def test_the_wind_is_found_within_its_error_bars(loop):
    # sin^2(x - 1) = (1 - cos 2 cos 2x - sin 2 sin 2x)/2
    true = {"u_x": -1.0, "u_x*sin(2*x)": np.sin(2.0) / 2, "u_x*cos(2*x)": np.cos(2.0) / 2}
    assert loop.found.terms_["u"].keys() == true.keys()
    for term, value in loop.found.terms_["u"].items():
        # three coefficients: beyond 4 standard errors by chance once in 5000 recordings
        assert abs(value - true[term]) < 4 * loop.found.standard_errors_["u"][term], term
        assert loop.found.standard_errors_["u"][term] < 0.01
    assert loop.found.adequate_["u"]


def test_the_solver_takes_the_equation_as_it_was_found(loop):
    assert norm(loop.solved - loop.truth) < 0.003 * norm(loop.truth)
    assert loop.found.equation_ != loop.problem.equation


@pytest.mark.slow
def test_the_network_takes_it_too_and_its_certificate_holds(loop):
    equation = loop.found.equation_
    model = MiNO(equation, loop.problem.grid, 1.0, hidden_channels=16, n_layers=2, seed=0)
    model.fit(400, batch_size=256, progress=False)
    moved = model.propagate(loop.start, [TIMES[-1]], n_modes=16).u.values[0, 0]
    bound = model.certify(loop.start, [TIMES[-1]], n_modes=16).l2[0, 0]
    # The solver's own error is 1e-10, so that its field stands for the found equation's.
    assert norm(moved - loop.solved) <= bound
    assert norm(moved - loop.truth) <= bound + norm(loop.solved - loop.truth)
    assert bound < 0.1 * norm(loop.truth)
    # a bound that any other equation met as well would say nothing
    other = pdes.simulate(dataclasses.replace(loop.problem, times=TIMES * 1.3)).u.values[-1]
    assert norm(moved - other) > bound
