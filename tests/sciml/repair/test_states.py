"""Datasets of published collections become states whose components stand along their axes."""

import json

import numpy as np
import pytest
import torch

import pdes
from pdes.data.layouts import read_cfdbench
from pdes.grid import Axis, Grid
from pdes.solvers.staggered import FlowMarch, StaggeredFlow
from sciml.repair import RangeProjection, recommend, target_distortion, velocity_states

CELLS, FRAMES = (16, 12), 4


@pytest.fixture(scope="module")
def cavity():
    """Velocities at the centers of a driven cavity that is wider than high, (time, x, y)."""
    axes = [Axis(n, 0.0, c / 16, c + 1, False) for n, c in zip("xy", CELLS, strict=True)]
    grid = Grid(tuple(axes))
    problem = pdes.get("lid_driven_cavity", reynolds=100.0)
    flow = StaggeredFlow(problem.equation, grid, problem.boundary)
    march = FlowMarch(flow, flow.from_nodes({name: np.zeros(grid.shape) for name in "uv"}))
    found = []
    for frame in range(FRAMES):
        march.to(0.2 * (frame + 1))
        u, v = march.state
        found.append((0.5 * (u[1:] + u[:-1]), 0.5 * (v[:, 1:] + v[:, :-1])))
    return tuple(np.stack([frame[j] for frame in found]) for j in (0, 1))


@pytest.fixture
def folder(cavity, tmp_path):
    """Eight cases of CFDBench with that flow at other speeds; rows of its arrays are y."""
    for case in range(8):
        place = tmp_path / f"case{case:04d}"
        place.mkdir()
        for name, values in zip("uv", cavity, strict=True):
            np.save(place / f"{name}.npy", (1.0 + 0.1 * case) * values.transpose(0, 2, 1))
        (place / "case.json").write_text(json.dumps({"height": 0.75, "width": 1.0}))
    return tmp_path


PROJECT = RangeProjection(CELLS, (1 / 16, 1 / 16), ("wall", "wall"))


def test_cfdbench_comes_in_the_right_orientation(folder, cavity):
    states = velocity_states(read_cfdbench(folder))
    assert states.shape == (8, FRAMES, 2, *CELLS)
    assert torch.equal(states[0], torch.from_numpy(np.stack(cavity, axis=1)))
    assert target_distortion(PROJECT, states) < 1e-28
    # The lid drags u along x below it, at the far end of y.
    assert float(states[0, -1, 0, :, -1].mean()) > 0.1
    with pytest.warns(UserWarning, match="components in reverse order"):
        assert target_distortion(PROJECT, states.flip(2)) > 1e-5


def test_a_forecaster_of_cfdbench_is_judged(folder):
    states = velocity_states(read_cfdbench(folder))
    wave = torch.zeros(2, *CELLS, dtype=states.dtype)
    wave[0] = torch.sin(2 * torch.pi * torch.arange(CELLS[0]) / CELLS[0])[:, None]
    report = recommend(lambda u: u + 0.05 * wave, PROJECT, states, horizon=2)
    assert report.exact
    assert (report.choice.where, report.choice.strength) == ("post_hoc", 1.0)
    breaking = wave - PROJECT(wave)
    removed = float((0.1 * breaking).square().mean())
    # The flow's own change is free of divergence, so that all that is removed comes from the wave.
    assert report.at_horizon.removed == pytest.approx(removed, rel=1e-10)
    assert report.at_horizon.share > 0.1


def test_shorter_cases_are_named(folder):
    u = np.load(folder / "case0003" / "u.npy")
    for name in "uv":
        np.save(folder / "case0003" / f"{name}.npy", u[:3])
    data = read_cfdbench(folder)
    with pytest.raises(ValueError, match=r"1 of 8 trajectories .* from frame 3: pass frames=3"):
        velocity_states(data)
    assert velocity_states(data, frames=3).shape[:2] == (8, 3)
    assert velocity_states(data, samples=[0, 1]).shape[:2] == (2, FRAMES)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"components": ("u",)}, "grid has the axes x, y; wanted one velocity for each"),
        ({"components": ("u", "vv")}, "did you mean 'v'"),
        ({"frames": 9}, "frames=9: wanted a whole number from 1 to 4"),
        ({"samples": 99}, "samples=99"),
    ],
)
def test_bad_arguments_are_named(folder, options, match):
    with pytest.raises(ValueError, match=match):
        velocity_states(read_cfdbench(folder), **options)


def test_states_without_times_are_refused(folder):
    with pytest.raises(ValueError, match="u has no axis 'time'"):
        velocity_states(read_cfdbench(folder).isel(time=0, drop=True))
