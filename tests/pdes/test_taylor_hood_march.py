"""Flow in time on Taylor-Hood elements: its order, its rest, its limits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pdes
from pdes.solvers.errors import SolverDivergence, StabilityError
from pdes.solvers.taylor_hood_march import ORDER, march_flow

PROBLEM = pdes.get("steady_kovasznay", reynolds=20.0)


def test_order_in_time() -> None:
    def end(step: float) -> np.ndarray:
        data = march_flow(PROBLEM, resolution=3, time_step=step, end=0.4)
        return np.concatenate([data.u.values, data.v.values])

    reference = end(0.4 / 512)
    errors = [np.abs(end(0.4 / n) - reference).max() for n in (16, 32, 64)]
    slopes = -np.diff(np.log2(errors))
    assert slopes[-1] > ORDER - 0.15, (slopes, errors)


def test_flow_comes_to_rest_at_the_steady_solution() -> None:
    data = march_flow(PROBLEM, resolution=3, time_step=0.02, end=12.0)
    steady = pdes.solve(PROBLEM, resolution=3)
    assert float(abs(data.u - steady.u).max()) < 1e-8
    assert float(abs(data.v - steady.v).max()) < 1e-8
    np.testing.assert_allclose(np.diff(data.p - steady.p), 0.0, atol=1e-7)


def test_the_steady_solution_stays() -> None:
    steady = pdes.solve(PROBLEM, resolution=3)
    start = np.stack([steady.u.values, steady.v.values])
    data = march_flow(PROBLEM, resolution=3, time_step=0.02, end=0.2, initial=start)
    assert float(abs(data.u - steady.u).max()) < 1e-9
    assert float(np.ptp(data.energy.values)) < 1e-9


def test_force_on_a_body_tends_to_the_steady_one() -> None:
    import json

    problem = pdes.get("cylinder_flow")
    seen: list[tuple[int, int]] = []
    data = march_flow(
        problem,
        resolution=4,
        time_step=0.01,
        end=4.0,
        progress=lambda done, total: seen.append((done, total)),
    )
    steady = json.loads(pdes.solve(problem, resolution=4).attrs["solver"])["forces"]["cylinder"]
    np.testing.assert_allclose(data.force_cylinder[-1], steady, rtol=0.02, atol=2e-5)
    assert seen[-1] == (400, 400)


def test_the_default_step_is_stable() -> None:
    """Reynolds number 100 on a mesh on which twice the step blows up."""
    problem = pdes.get("cylinder_flow", reynolds=100.0)
    data = march_flow(problem, resolution=4, end=1.0)
    assert 1e-3 < data.attrs["time_step"] < 2e-3
    assert 0.0 < float(data.energy[-1]) < 2.0


def test_too_long_a_step_is_told() -> None:
    problem = pdes.get("cylinder_flow", reynolds=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SolverDivergence, match="velocity is not finite") as caught:
            march_flow(problem, resolution=4, time_step=0.005, end=50.0)
    assert 0.0 < caught.value.last_good_time < caught.value.time
    assert np.all(np.isfinite(caught.value.last_good["u"]))
    with pytest.raises(StabilityError, match=r"crosses 5\.1.* cells in a step, above 2"):
        march_flow(problem, resolution=4, time_step=0.05, end=50.0)
    with pytest.raises(ValueError, match="wanted 0 < time_step <= end"):
        march_flow(problem, resolution=4, time_step=-0.1, end=1.0)
