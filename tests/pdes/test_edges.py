"""Arguments at the edge of what a call can mean: each is refused by name, or does what it says."""

from __future__ import annotations

import pytest

import pdes
from pdes.solvers.step_budget import MOST_STEPS_BY_NAME, check_named_step


@pytest.mark.parametrize("tolerance", [2.0, 0.1, 0.0, -1.0, float("nan"), float("inf"), "x", None])
@pytest.mark.parametrize("method", ["direct", "multigrid"])
def test_a_tolerance_that_no_solution_meets_is_refused(method: str, tolerance: object) -> None:
    with pytest.raises(ValueError, match=r"tolerance=.*wanted a number above 0 and at most 0\.01"):
        pdes.solve(pdes.get("motz"), resolution=4, linear_solver=method, tolerance=tolerance)


def test_the_tolerance_of_newtons_method_is_checked_too() -> None:
    with pytest.raises(ValueError, match=r"tolerance=5, wanted a number above 0"):
        pdes.solve(pdes.get("steady_kovasznay"), resolution=2, tolerance=5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("burgers", {}),
        ("burgers", {"rtol": 1e-4}),
        ("burgers", {"solver": "rk4"}),
        ("burgers", {"solver": "weno5"}),
        ("lid_driven_cavity", {}),
        ("cylinder_flow", {}),
        ("thermoelastic_mode", {}),
    ],
)
@pytest.mark.parametrize("step", [1e-300, 1e-10])
def test_a_step_with_which_a_run_never_ends_is_refused(
    name: str, options: dict, step: float
) -> None:
    coarse = {"resolution": 4} if name in ("cylinder_flow", "thermoelastic_mode") else {}
    problem = pdes.get(name, **coarse)
    with pytest.raises(pdes.StabilityError, match=r"time_step=1e-\d+ .*take time_step >= "):
        pdes.simulate(problem, [0.0, 1.0], time_step=step, **options)


def test_a_small_step_may_be_named_where_it_is_meant() -> None:
    check_named_step(0.0, 1.0, 1.0 / MOST_STEPS_BY_NAME)
    check_named_step(1.0, 1.0, 1e-300)
    with pytest.raises(pdes.StabilityError, match="lost in the rounding"):
        check_named_step(1e6, 1e6 + 1e-9, 1e-12)
    data = pdes.simulate(pdes.get("burgers"), [0.0, 1e-8], time_step=1e-9)
    assert data.attrs["status"] == "ok"
