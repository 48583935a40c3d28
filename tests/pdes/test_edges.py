"""Arguments at the edge of what a call can mean: each is refused by name, or does what it says."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import pdes
from pdes import Grid
from pdes.data import region_store
from pdes.solvers import rollout
from pdes.solvers.errors import StabilityError
from pdes.solvers.kernels import kernel_class
from pdes.solvers.march import March
from pdes.solvers.step_budget import MOST_STEPS_BY_NAME, check_named_step
from pdes.time.integrator import INTEGRATORS


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


def test_a_gradient_is_not_lost_in_a_parameter() -> None:
    torch = pytest.importorskip("torch")
    value = torch.tensor(0.1, requires_grad=True)
    message = r"viscosity is a tensor with requires_grad=True.*rollout\(\.\.\., parameters="
    with pytest.raises(TypeError, match=message):
        pdes.get("burgers", viscosity=value)
    with pytest.raises(TypeError, match=message):
        pdes.get("burgers").equation.with_parameters(viscosity=value)
    own = pdes.get("burgers", viscosity=value.detach()).equation.parameters["viscosity"]
    assert own == pytest.approx(0.1)


SMALL: dict[str, Any] = {
    "times": [0.0, 0.1],
    "grid": {"x": [0.0, 6.283185307179586, 64]},
    "settings": {"stored_points": 32},
    "parameters": {"viscosity": 0.5},
    "scheduler": "sync",
}


def test_two_processes_that_begin_one_store_leave_it_whole(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, said = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=_begin, args=(tmp_path / "same.zarr", barrier, said))
        for _ in range(2)
    ]
    for one in both:
        one.start()
    outcomes = [said.get(timeout=120) for _ in both]
    for one in both:
        one.join()
    assert "made" in outcomes
    assert all(o == "made" or "is being made by another process" in o for o in outcomes), outcomes
    assert pdes.load(tmp_path / "same.zarr").attrs["complete"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["same.zarr"]


def _begin(path: Path, barrier: Any, said: Any) -> None:
    """Both arrive at the layout at the same time."""
    from pdes.data import region_store

    create = region_store.create
    first = True

    def together(*arguments: Any, **options: Any) -> None:
        time.sleep(1.0)
        create(*arguments, **options)

    probe = region_store.samples_per_block

    def meet(*arguments: Any) -> int:
        nonlocal first
        if first:
            first = False
            barrier.wait(60)
        return probe(*arguments)

    region_store.create, region_store.samples_per_block = together, meet
    try:
        pdes.generate("burgers", 2, path, **SMALL)
        said.put("made")
    except Exception as error:
        said.put(f"{type(error).__name__}: {error}")


def test_a_store_that_is_being_laid_out_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "held.zarr"
    with region_store.laying_out(path), pytest.raises(RuntimeError, match="by another process"):
        pdes.generate("burgers", 2, path, **SMALL)
    assert not path.exists()
    # What a killed process leaves behind holds nobody up.
    (tmp_path / ".held.zarr.lock").touch()
    assert pdes.generate("burgers", 2, path, **SMALL).attrs["complete"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["held.zarr"]


def test_values_under_a_mask_are_not_used() -> None:
    problem = pdes.get("burgers")
    x = problem.grid.coordinates()["x"]
    masked = np.ma.masked_greater(np.sin(x), 0.9)
    with pytest.raises(ValueError, match=r"initial field 'u' is a masked array with \d+ of 512"):
        pdes.simulate(problem, [0.01], initial={"u": masked})
    with pytest.raises(ValueError, match="'u' is a masked array"):
        pdes.simulate(problem, [0.01], initial=lambda grid, rng: {"u": masked})
    whole = np.ma.masked_greater(np.sin(x), 2.0)
    assert pdes.simulate(problem, [0.01], initial={"u": whole}).attrs["status"] == "ok"
    plate = pdes.get("thermoelastic_mode", resolution=4)
    with pytest.raises(ValueError, match="'T' is a masked array"):
        pdes.simulate(plate, [0.1], initial=lambda x, y: {"T": np.ma.masked_less(x, 0.5)})


def test_times_of_a_picture_are_drawn_or_refused() -> None:
    data = pdes.simulate(pdes.get("heat"), [0.0, 0.5, 1.0])
    axes = pdes.plot(data, times=[0.0, 1.0])
    assert axes.shape == (1, 2)
    for place, moment in zip(axes[0], (0, 2), strict=True):
        assert np.array_equal(place.lines[0].get_ydata(), data.u.values[moment])
    assert axes[0, 0].get_ylim() == axes[0, 1].get_ylim()
    with pytest.raises(ValueError, match="times: got 5, the data go from 0 to 1"):
        pdes.plot(data, times=[5])
    still = xr.Dataset({"a": ("x", np.ones(4))}, {"x": np.arange(4.0)})
    with pytest.raises(ValueError, match=r"times=\[5\.0\]: no field of \['a'\] has a time"):
        pdes.plot(still, times=[5])


@pytest.mark.parametrize("name", ["tau", "alpha", "sigma", "mean"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_random_field_of_no_size_is_refused(name: str, value: float) -> None:
    numbers = {"tau": 3.0, "alpha": 2.0, "sigma": 1.0, "mean": 0.0, name: value}
    with pytest.raises(ValueError, match=f"{name}={value!r}, wanted a finite number"):
        pdes.initial.GaussianRandomField(**numbers)


def test_an_initial_flow_that_is_not_resolved_is_refused_in_one_sentence() -> None:
    problem = pdes.get("navier_stokes")
    noise = np.random.default_rng(0).normal(size=problem.grid.shape)
    with pytest.raises(pdes.SolverDivergence, match=r"^initial field: the top third") as caught:
        pdes.simulate(problem, [0.1], initial={"w": noise - noise.mean()})
    said = str(caught.value)
    assert said.count("t=0") == 1
    assert "None" not in said
    assert "step" not in said


def test_a_run_that_stops_being_resolved_says_once_when() -> None:
    problem = pdes.get("burgers", viscosity=0.001, grid=Grid.periodic(x=(0.0, 6.2831853, 64)))
    problem = dataclasses.replace(problem, stored_points=None)
    start = {"u": np.sin(problem.grid.coordinates()["x"])}
    with pytest.raises(pdes.SolverDivergence, match="not resolved") as caught:
        pdes.simulate(problem, np.linspace(0.0, 1.2, 13), initial=start, strict=True)
    said = str(caught.value)
    assert said.count(f"t={caught.value.time:.4g}") == 1
    assert f"(step {caught.value.step}); the last good state is at t=" in said
    assert "Use more points" in said


def test_masks_are_not_lost_in_lists_rollouts_or_times():
    problem = pdes.get("burgers")
    x = problem.grid.coordinates()["x"]
    hidden = np.ma.masked_array(np.sin(2 * np.pi * x), mask=x > 0.9)
    with pytest.raises(ValueError, match="masked"):
        rollout(problem.equation, problem.grid, {"u": hidden}, np.array([0.0, 0.1]))
    with pytest.raises(ValueError, match="masked"):
        pdes.simulate(problem, [0.0, 0.1], initial={"u": [hidden, hidden]})
    times = np.ma.masked_array([0.0, 0.1, 0.2], mask=[False, True, False])
    with pytest.raises(ValueError, match="times: 1 of them are masked"):
        pdes.simulate(problem, times)


def test_a_number_in_an_array_is_recorded_as_a_number():
    assert pdes.get("burgers", viscosity=np.array(0.1)).arguments["viscosity"] == 0.1


def test_a_wind_slower_than_the_grid_resolves_is_refused():
    with pytest.raises(ValueError, match="mean_speed"):
        pdes.get("advection_sine", mean_speed=1.1)


def test_a_step_named_by_a_problem_is_a_named_one():
    grid = Grid.periodic(x=(0.0, 1.0, 16))
    equation = pdes.get("burgers").equation
    u = {"u": 0.1 * np.sin(2 * np.pi * grid.coordinates()["x"])}
    kernel = kernel_class(equation)(equation, grid)
    state = kernel.forward({"u": kernel.basis.asarray(u["u"])})
    method = INTEGRATORS["etdrk4"]
    march = March(kernel, method, 0.0, None, 1e-8, state, None, 0.1)
    assert march.time_step == 1e-8  # ten million steps, which nobody chose but the caller
    with pytest.raises(StabilityError, match=r"time_step=1e-12 makes 1e\+11 steps"):
        March(kernel, method, 0.0, None, 1e-12, state, None, 0.1)
