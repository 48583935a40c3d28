"""The front door: labels, provenance, choices of the step, and what goes wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np
import pytest

import pdes
from pdes import Equation, Grid
from pdes.solvers import ResolutionWarning

TWO_PI = 2.0 * np.pi


def _problem(text: str, points: int = 32, **options) -> pdes.Problem:
    options.setdefault("times", [0.0, 1.0])
    options.setdefault("initial", lambda grid, rng: {"u": np.sin(grid.coordinates()["x"])})
    return pdes.Problem(
        equation=Equation.from_text(text, name="test"),
        grid=Grid.periodic(x=(0.0, TWO_PI, points)),
        **options,
    )


def test_dataset_says_what_it_is() -> None:
    data = pdes.simulate(pdes.get("burgers"), [0.0, 0.5])
    assert data.u.dims == ("time", "x")
    assert data.u.shape == (2, 256)
    np.testing.assert_array_equal(data.time, [0.0, 0.5])
    np.testing.assert_allclose(data.x, TWO_PI * np.arange(256) / 256, rtol=0, atol=1e-14)
    assert data.x.attrs["periodic"] == 1
    assert data.attrs["equation"] == "u_t = -u*u_x + 0.1*u_xx"
    assert json.loads(data.attrs["parameters"]) == {"viscosity": 0.1}
    solver = json.loads(data.attrs["solver"])
    assert solver["name"] == "etdrk4"
    assert (solver["order"], solver["points"], solver["dealias"]) == (4, [512], [170])
    assert solver["steps"] == 1000
    assert solver["time_step"] == pytest.approx(5e-4)
    assert data.attrs["status"] == "ok"
    assert data.attrs["seed"] == 3
    expected = hashlib.sha256(np.ascontiguousarray(data.u.values, "<f8").tobytes()).hexdigest()
    assert data.u.attrs["sha256"] == expected


def test_attributes_survive_netcdf(tmp_path) -> None:
    data = pdes.simulate(pdes.get("heat"), [0.0, 0.5])
    data.to_netcdf(tmp_path / "heat.nc", engine="h5netcdf")
    import xarray as xr

    with xr.open_dataset(tmp_path / "heat.nc", engine="h5netcdf") as back:
        assert back.attrs == data.attrs
        np.testing.assert_array_equal(back.u, data.u)


def test_same_seed_same_bits() -> None:
    first, second = (pdes.simulate(pdes.get("burgers"), [0.2], seed=5) for _ in range(2))
    other = pdes.simulate(pdes.get("burgers"), [0.2], seed=6)
    assert first.u.attrs["sha256"] == second.u.attrs["sha256"] != other.u.attrs["sha256"]


def test_samples_do_not_depend_on_the_size_of_the_batch() -> None:
    problem = pdes.get("burgers")
    few = pdes.simulate(problem, [0.0, 0.1], samples=2, seed=1)
    many = pdes.simulate(problem, [0.0, 0.1], samples=5, seed=1)
    assert many.sizes["sample"] == 5
    assert float(np.abs(many.u[:2] - few.u).max()) < 1e-13
    assert float(np.abs(many.u[0, 0] - many.u[1, 0]).max()) > 0.1


def test_steps_land_on_output_times() -> None:
    """A step that divides no interval is shortened, not interpolated over."""
    problem = _problem("u_t = -u^2", initial=lambda g, r: {"u": np.ones(32)})
    times = [0.0, 0.1, 0.37, 1.0]
    data = pdes.simulate(problem, times, time_step=0.03)
    assert np.max(np.abs(data.u.values - 1.0 / (1.0 + np.array(times))[:, None])) < 1e-7
    assert json.loads(data.attrs["solver"])["steps"] == 4 + 9 + 21


def test_discard_moves_the_clock() -> None:
    problem = _problem("u_t = u_xx", discard=0.5)
    data = pdes.simulate(problem, [0.0, 1.0])
    assert float(data.u[0].max()) == pytest.approx(np.exp(-0.5), rel=1e-3)
    ratio = float(np.abs(data.u[1]).max() / np.abs(data.u[0]).max())
    assert ratio == pytest.approx(np.exp(-1.0))


def test_the_problems_step_is_lowered_where_the_field_is_fast() -> None:
    fast = pdes.get("burgers", initial=pdes.initial.RandomFourier(modes=3, amplitude=20.0))
    data = pdes.simulate(fast, [0.0, 0.001], strict=False)
    speed = float(np.abs(data.u[0]).max())
    step = json.loads(data.attrs["solver"])["time_step"]
    assert step < 5e-4
    assert step * speed / (TWO_PI / 512) <= 0.5 * 1.01


def test_progress_is_reported() -> None:
    seen = []
    pdes.simulate(pdes.get("heat"), [0.0, 0.1, 0.2], progress=lambda *call: seen.append(call))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_explicit_solvers_agree_with_the_exponential_one() -> None:
    problem = _problem("u_t = -u*u_x + 0.2*u_xx", points=32)
    reference = pdes.simulate(problem, [0.5], time_step=0.001)
    for solver in ("rk4", "ssprk3"):
        other = pdes.simulate(problem, [0.5], solver=solver, time_step=0.001)
        assert float(np.abs(other.u - reference.u).max()) < 1e-8


def test_torch_runs_give_numpy_numbers() -> None:
    pytest.importorskip("torch")
    data = [pdes.simulate(pdes.get("kdv"), [0.05], backend=b) for b in ("numpy", "torch")]
    assert isinstance(data[1].u.values, np.ndarray)
    assert float(np.abs(data[0].u - data[1].u).max()) < 1e-12


def test_tensors_are_accepted_as_initial_fields() -> None:
    torch = pytest.importorskip("torch")
    problem = _problem("u_t = u_xx")
    x = torch.linspace(0, TWO_PI, 33, dtype=torch.float64)[:-1]
    data = pdes.simulate(problem, initial={"u": torch.sin(x).requires_grad_()}, backend="torch")
    assert float(data.u[-1].max()) == pytest.approx(np.exp(-1.0), rel=1e-3)


# What goes wrong


def test_unstable_step_is_refused_before_the_first() -> None:
    problem = _problem("u_t = -u*u_x + 0.1*u_xx")
    with pytest.raises(pdes.StabilityError, match=r"use time_step <= 0\.255"):
        pdes.simulate(problem, time_step=0.3)
    pdes.simulate(problem, [0.25], time_step=0.25)


def test_blow_up_raises_with_the_last_good_state() -> None:
    """u' = u^2 from 1 + sin(x)/2 blows up at 2/3."""
    problem = _problem(
        "u_t = u^2", initial=lambda g, r: {"u": 1.0 + 0.5 * np.sin(g.coordinates()["x"])}
    )
    times = np.linspace(0.0, 2.0, 21)
    with pytest.raises(pdes.SolverDivergence, match="not finite") as caught:
        pdes.simulate(problem, times, time_step=0.01)
    error = caught.value
    assert 0.5 <= error.last_good_time <= 1.0
    assert error.time > error.last_good_time
    assert error.step > 50
    assert np.all(np.isfinite(error.last_good["u"]))


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_without_strict_the_rest_of_the_batch_goes_on() -> None:
    x = TWO_PI * np.arange(32) / 32
    fields = {"u": np.stack([0.1 + 0.0 * x, 2.0 + np.sin(x)])}
    data = pdes.simulate(
        _problem("u_t = u^2"), [0.0, 1.0], initial=fields, time_step=0.01, strict=False
    )
    assert data.attrs["status"] == "diverged"
    assert "not finite" in data.attrs["message"]
    assert np.max(np.abs(data.u.values[0, 1] - 0.1 / 0.9)) < 1e-9
    assert np.all(np.isnan(data.u.values[1, 1]))


def test_a_step_that_becomes_too_large_is_noticed() -> None:
    """A uniform wind that grows while it carries a wave."""
    problem = _problem(
        "u_t = u - u*u_x + 0.001*u_xx",
        initial=lambda g, r: {"u": 1.0 + 0.01 * np.sin(g.coordinates()["x"])},
    )
    with pytest.raises(pdes.SolverDivergence, match="Courant number has grown"):
        pdes.simulate(problem, np.linspace(0.0, 1.2, 13), time_step=0.1)
    data = pdes.simulate(problem, np.linspace(0.0, 1.2, 13), time_step=0.1, strict=False)
    assert data.attrs["status"] == "step_too_large"


def test_fields_that_are_not_resolved_are_announced() -> None:
    problem = _problem("u_t = u_xx", initial=lambda g, r: {"u": g.coordinates()["x"]})
    with pytest.warns(ResolutionWarning, match="not resolved, or not periodic"):
        data = pdes.simulate(problem)
    assert data.attrs["status"] == "under_resolved"
    assert json.loads(data.attrs["solver"])["spectral_tail"] > 1e-3


def test_strict_refuses_data_that_are_not_resolved() -> None:
    def saw(grid, rng):
        x = grid.coordinates()["x"]
        return {"u": np.sin(x), "v": x}

    problem = _problem("u_t = u_xx; v_t = v_xx", initial=saw)
    with pytest.raises(ValueError, match=r"initial field 'v': the highest modes hold .* at t=0 "):
        pdes.simulate(problem, strict=True)
    with pytest.warns(ResolutionWarning):
        assert pdes.simulate(problem, strict=False).attrs["status"] == "under_resolved"
    smooth = _problem("u_t = u_xx", initial=lambda g, r: {"u": np.sin(g.coordinates()["x"])})
    assert pdes.simulate(smooth, strict=True).attrs["status"] == "ok"


def test_strict_refuses_a_run_that_stops_being_resolved() -> None:
    problem = _problem(
        "u_t = -u*u_x + 0.001*u_xx",
        initial=lambda g, r: {"u": np.sin(g.coordinates()["x"])},
    )
    with pytest.raises(pdes.SolverDivergence, match="the field is not resolved") as caught:
        pdes.simulate(problem, np.linspace(0.0, 1.2, 13), strict=True)
    assert 0.0 < caught.value.time <= 1.2
    assert caught.value.last_good_time == pytest.approx(caught.value.time - 0.1)
    with pytest.warns(ResolutionWarning):
        data = pdes.simulate(problem, np.linspace(0.0, 1.2, 13))
    assert data.attrs["status"] == "under_resolved"


def test_strict_refuses_cells_that_ring() -> None:
    problem = pdes.get("advection_diffusion_wall", diffusivity=0.01, points=33)
    with pytest.raises(ValueError, match="Peclet number of a cell along x"):
        pdes.simulate(problem, [0.1], strict=True)


def test_splitting_watches_the_spectrum_too() -> None:
    problem = pdes.get("nls", stored_points=None, grid=Grid.periodic(x=(-2.0, 2.0, 32)))
    for solver in ("strang", "yoshida4"):
        with pytest.raises(ValueError, match="initial field 'h': the highest modes hold"):
            pdes.simulate(problem, [0.01], solver=solver, strict=True)
        with pytest.warns(ResolutionWarning, match="not resolved, or not periodic"):
            data = pdes.simulate(problem, [0.01], solver=solver)
        assert data.attrs["status"] == "under_resolved"


@pytest.mark.parametrize("strict", ["yes", 1])
def test_strict_is_a_truth_value(strict) -> None:
    with pytest.raises(ValueError, match=f"strict must be None, True or False, got {strict!r}"):
        pdes.simulate(pdes.get("heat"), [0.1], strict=strict)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": [0.0, 2.0, 1.0]}, "times must increase"),
        ({"times": [-1.0, 1.0]}, "before the initial field"),
        ({"times": []}, "at least one"),
        ({"times": [0.0, np.nan]}, "finite"),
        ({"solver": "euler"}, "unknown solver 'euler'"),
        ({"solver": "exact"}, "names no closed form"),
        ({"backend": "jax"}, "backend must be"),
        ({"dtype": "float16"}, "dtype must be"),
        ({"initial": {"v": np.zeros(512)}}, "initial has fields"),
        ({"initial": {"u": np.zeros(100)}}, r"have shape \(100,\), the grid has \(512,\)"),
        ({"initial": {"u": np.zeros(512, dtype=complex)}}, "is complex"),
        ({"initial": {"u": np.full(512, np.inf)}}, "512 values that are not finite"),
        ({"initial": {"u": np.zeros(512)}, "samples": 2}, "needs a random initial field"),
    ],
)
def test_bad_arguments_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pdes.simulate(pdes.get("heat"), **options)


def test_samples_of_a_fixed_field_are_refused() -> None:
    with pytest.raises(ValueError, match="would all be the same"):
        pdes.simulate(pdes.get("kdv"), [0.0], samples=3)


def test_module_and_function_of_one_name() -> None:
    """Importing the module binds it to the package; it has to stay callable."""
    import importlib

    module = importlib.import_module("pdes.simulate")
    problem = _problem("u_t = u_xx")
    assert module(problem).u.attrs["sha256"] == pdes.simulate(problem).u.attrs["sha256"]


def test_stored_points_are_every_second_one() -> None:
    problem = pdes.get("heat")
    full = pdes.simulate(dataclasses.replace(problem, stored_points=None), [0.3])
    half = pdes.simulate(problem, [0.3])
    np.testing.assert_array_equal(half.u, full.u[:, ::2])
    np.testing.assert_array_equal(half.x, full.x[::2])


def test_ill_posed_equations_name_their_fastest_mode() -> None:
    """Backward diffusion amplifies the highest mode of the grid at the rate 16^2."""
    with pytest.raises(pdes.SolverDivergence, match="grows at the rate 256"):
        pdes.simulate(_problem("u_t = -u_xx"), [10.0])


def test_exact_sampling_takes_no_other_options() -> None:
    with pytest.raises(ValueError, match="time_step would have no effect"):
        pdes.simulate(pdes.get("burgers_shock"), time_step=0.1)


def test_plain_numbers_override_parameters() -> None:
    problem = pdes.get("heat_one_mode")
    run = pdes.solvers.rollout(
        problem.equation,
        problem.grid,
        problem.initial(problem.grid, None),
        np.array([1.0]),
        parameters={"diffusivity": np.float64(0.25)},
    )
    assert float(run.fields["u"].max()) == pytest.approx(np.exp(-1.0))
