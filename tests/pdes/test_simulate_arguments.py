"""Steps and batches that make no sense are refused, not integrated into nonsense."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
from pdes.solvers import rollout


@pytest.mark.parametrize(
    ("name", "step"),
    [("nls", 0.2), ("allen_cahn", 3.0), ("swift_hohenberg", 5.0), ("fisher_kpp", 2.0)],
)
def test_a_step_beyond_the_reaction_is_refused(name, step):
    with pytest.raises(pdes.StabilityError, match="rate of the reaction"):
        pdes.simulate(pdes.get(name), times=[0.0, step], time_step=step)


@pytest.mark.parametrize("step", [0, -1.0, float("nan"), float("inf"), "x", True])
@pytest.mark.parametrize("name", ["burgers", "heat", "gray_scott"])
def test_a_step_must_be_a_positive_number(name, step):
    with pytest.raises(ValueError, match="time_step must be a positive finite number"):
        pdes.simulate(pdes.get(name), times=[0.0, 0.1], time_step=step)


@pytest.mark.parametrize("samples", [0, -1, 1.5, True])
def test_a_batch_has_a_whole_number_of_samples(samples):
    with pytest.raises(ValueError, match="samples must be a whole number"):
        pdes.simulate(pdes.get("burgers"), samples=samples)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([1.0, 2.0]), r"parameter viscosity: got shape \(2,\), wanted one number"),
        ("a", "parameter viscosity: got 'a', wanted a real number"),
        ({}, "parameter viscosity: got {}, wanted a real number"),
        (np.nan, "parameter viscosity: got nan, wanted a finite number"),
        (-0.1, "viscosity=-0.1 the shortest waves grow fastest"),
    ],
)
def test_rollout_names_the_parameter_that_cannot_be(value, message) -> None:
    problem = pdes.get("burgers")
    start = {"u": np.sin(problem.grid.coordinates()["x"])}
    with pytest.raises(ValueError, match=message):
        rollout(problem.equation, problem.grid, start, [0.0, 0.1], parameters={"viscosity": value})
    with pytest.raises(ValueError, match="Did you mean 'viscosity'"):
        rollout(problem.equation, problem.grid, start, [0.1], parameters={"viscosty": 1.0})
