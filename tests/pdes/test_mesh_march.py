"""Coupled systems on meshes go through `pdes.simulate` like everything else."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pdes
from pdes.data import load
from pdes.exact.thermoelastic_mode import warming_rate
from pdes.solvers.mesh_march import common_step
from pdes.solvers.taylor_hood_march import march_flow
from pdes.solvers.thermoelastic_march import march_thermoelastic

FLOW = pdes.get("cylinder_flow", resolution=3)
HEATED = pdes.get("thermoelastic_mode", expansion=0.5, resolution=6)


def test_flow_past_a_cylinder_is_what_the_march_finds():
    data = pdes.simulate(FLOW, times=[0.0, 0.2, 0.4], time_step=0.02)
    direct = march_flow(FLOW, resolution=3, time_step=0.02, end=0.4)
    assert data.u.dims == ("time", "point")
    assert data.force_cylinder.dims == ("step", "direction")
    for name in "uvp":
        assert np.array_equal(data[name][-1], direct[name])
    assert np.array_equal(data.force_cylinder, direct.force_cylinder)
    assert np.array_equal(data.energy, direct.energy)
    np.testing.assert_allclose(data.step_time, direct.time, rtol=1e-12)
    halfway = march_flow(FLOW, resolution=3, time_step=0.02, end=0.2)
    assert np.array_equal(data.u[1], halfway.u)
    # Slow flow has no convection to push it: it satisfies the sides from the start.
    assert float(abs(data.u[0]).max()) > 0.3
    assert data.attrs["status"] == "ok"
    record = json.loads(data.attrs["solver"])
    assert (record["name"], record["order"], record["steps"]) == ("taylor_hood_bdf2", 2, 20)
    assert json.loads(data.attrs["arguments"]) == {"name": "cylinder_flow", "reynolds": 20.0}


def test_a_heated_body_warms_at_the_known_rate():
    """``T = (1 - exp(-rate t))`` times the mode; second order in time."""
    times = np.linspace(0.0, 0.2, 5)
    rate = warming_rate(0.5, 1.0, 0.3)
    data = pdes.simulate(HEATED, times=times)
    mode = HEATED.exact["mode"].evaluate(x=data.x.values, y=data.y.values)
    grown = 1.0 - np.exp(-rate * times)
    for name in "Tuv":
        wanted = grown[:, None] * mode[name]
        scale = np.abs(mode[name]).max()
        assert np.abs(data[name].values - wanted).max() < 5e-3 * scale, name
    assert data.sizes["step"] == 200
    gap = np.diff(data.energy) + (data.dissipation - data.supply).values[1:]
    assert np.abs(gap).max() < 1e-13 * float(data.energy.max())


def test_constants_of_the_body_and_the_start_are_taken():
    body = {"heat_capacity": 0.5, "reference_temperature": 2.0}
    problem = pdes.get("thermoelastic_mode", expansion=0.5, resolution=4, in_time=body)
    data = pdes.simulate(
        problem, times=[0.1], time_step=0.02, initial=lambda x, y: {"T": x * (1 - x) * y}
    )
    direct = march_thermoelastic(
        problem, resolution=4, time_step=0.02, end=0.1,
        initial=lambda x, y: x * (1 - x) * y, **body,
    )  # fmt: skip
    assert np.array_equal(data["T"][0], direct["T"])
    again = pdes.simulate(problem, times=[0.1], time_step=0.02, initial={"T": 0.0})
    assert np.array_equal(again["T"], pdes.simulate(problem, times=[0.1], time_step=0.02)["T"])


@pytest.mark.parametrize(
    "name",
    [
        "cylinder_flow",
        "steady_kovasznay",
        "thermoelastic_cylinder",
        "thermoelastic_free",
        "thermoelastic_mode",
    ],
)
def test_registered_problems_have_times_of_their_own_and_say_so(name):
    problem = pdes.get(name, resolution=2)
    data = pdes.simulate(problem)
    assert np.array_equal(data.time, problem.in_time["times"])
    assert data.attrs["status"] == "ok"
    assert all(np.isfinite(data[field]).all() for field in problem.fields)
    solver = json.loads(data.attrs["solver"])["name"]
    assert "in time, by pdes.simulate" in pdes.describe(name).solvers[solver]


def test_what_comes_out_can_be_stored(tmp_path):
    data = pdes.simulate(pdes.get("thermoelastic_mode", resolution=2), times=[0.0, 0.1])
    pdes.save(data, tmp_path / "a.nc")
    assert load(tmp_path / "a.nc").drop_attrs().equals(data.drop_attrs())


def test_a_run_that_blows_up_says_so():
    fast = pdes.get("cylinder_flow", reynolds=100.0, resolution=4)
    with np.errstate(all="ignore"), pytest.raises(pdes.SolverDivergence, match="not finite"):
        pdes.simulate(fast, times=[0.0, 25.0, 50.0], time_step=0.01)
    with np.errstate(all="ignore"):
        data = pdes.simulate(fast, times=[0.0, 25.0, 50.0], time_step=0.01, strict=False)
    assert data.attrs["status"] == "diverged"
    assert "not finite" in data.attrs["message"]
    assert np.isfinite(data.u[0]).all() and np.isnan(data.u[-1]).all()


@pytest.mark.parametrize(
    ("problem", "options", "words"),
    [
        ("motz", {}, "'motz' is a SteadyProblem, for pdes.solve"),
        ("cylinder_flow", {"samples": 3}, "samples=3 is for problems on grids"),
        ("cylinder_flow", {"backend": "torch"}, "backend='torch' is for problems on grids"),
        ("cylinder_flow", {"rtol": 1e-3}, "rtol=0.001 is for problems on grids"),
        ("cylinder_flow", {"solver": "etdrk4"}, "is followed by 'taylor_hood_bdf2'"),
        ("cylinder_flow", {"times": [1.0, np.pi]}, "no multiples of a common step"),
        ("cylinder_flow", {"times": [0.0]}, "wanted at least one after 0"),
        ("cylinder_flow", {"times": [-1.0, 1.0]}, "before the initial field"),
        ("cylinder_flow", {"times": [0.1], "time_step": -1.0}, "time_step must be a positive"),
        ("cylinder_flow", {"times": [0.1], "initial": "x"}, "initial: got str, wanted a mapping"),
        ("cylinder_flow", {"times": [0.1], "initial": {"u": 0.0}}, r"got \['u'\], wanted a mapp"),
        (
            "cylinder_flow",
            {"times": [0.1], "initial": {"u": [1.0, 2.0], "v": 0.0}},
            r"got shapes \{'u': \(2,\)",
        ),
        ("thermoelastic_mode", {"initial": {"T": np.nan}}, "not finite"),
    ],
)
def test_bad_input_is_named(problem, options, words):
    with pytest.raises(ValueError, match=words):
        pdes.simulate(pdes.get(problem, resolution=2), **options)


def test_bad_constants_are_named():
    with pytest.raises(ValueError, match=r"in_time has \['capacity'\].*heat_capacity"):
        pdes.simulate(pdes.get("thermoelastic_mode", in_time={"capacity": 1.0}), times=[0.1])
    bare = pdes.get("cylinder_flow", in_time={})
    with pytest.raises(ValueError, match="has none of its own: give output times"):
        pdes.simulate(bare)


def test_steps_that_hit_all_times():
    assert common_step(np.array([0.0, 0.1, 0.2, 0.3]), 1.0) == pytest.approx(0.1, rel=1e-12)
    assert common_step(np.array([0.25, 1.0]), 0.1) == pytest.approx(0.25 / 3, rel=1e-12)
    assert common_step(np.linspace(0.0, 2.0, 2001), 0.5) == pytest.approx(1e-3, rel=1e-12)
    assert common_step(np.array([0.3, 0.7]), 0.1) == pytest.approx(0.1, rel=1e-9)
