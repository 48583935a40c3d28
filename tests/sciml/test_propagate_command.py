"""``sciml propagate``: recipes, results and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from sciml.cli.app import app
from sciml.propagators.recipe import PropagationRecipe

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RAYS = """
equation = {text = "u_t = -(1 + 0.5*sin(x))*u_x"}
domain = {x = [0.0, 6.283185307179586]}
propagator = {name = "RayPropagator", final_time = 1.0, n_steps = 8}
initial = [{field = "Box", start = 2.0, stop = 3.5}]
output = {times = [0.0, 1.0], folder = "moved"}
"""
LEARNED = """
[equation]
text = "u_t = -u_x"
[domain]
x = [-3.0, 3.0]
periodic = false
[propagator]
name = "MiNO"
final_time = 0.5
n_modes = 10
hidden_channels = 8
n_layers = 1
[training]
steps = 300
batch_size = 64
[[initial]]
field = "Gaussian"
center = 0.0
width = 0.4
[output]
times = [0.5]
folder = "moved"
"""


def call(*arguments):
    return CliRunner().invoke(app, ["propagate", *map(str, arguments)])


def written(tmp_path, text):
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    return path


def test_rays_move_a_box_and_bound_the_error(tmp_path):
    picture = tmp_path / "u.png"
    done = call(written(tmp_path, RAYS), "--out", tmp_path / "a", "--plot", picture)
    assert done.exit_code == 0, done.output
    assert "cut by the window" in done.output
    moved = xr.load_dataset(tmp_path / "a" / "fields.nc")
    assert moved.u.dims == ("sample", "time", "x")
    assert moved.u_bound.shape == (1, 2)
    assert 0.1 < float(moved.u_bound[0, 1]) < 0.4
    assert picture.stat().st_size > 5000


def test_a_model_is_trained_kept_and_taken_up_again(tmp_path):
    recipe = written(tmp_path, LEARNED)
    first = call(recipe, "--out", tmp_path / "a")
    assert first.exit_code == 0, first.output
    assert (tmp_path / "a" / "model.safetensors").is_file()
    moved = xr.load_dataset(tmp_path / "a" / "fields.nc")
    x = moved.x.values
    exact = np.exp(-((x - 0.5) ** 2) / (2 * 0.4**2))
    assert np.abs(moved.u.values[0, 0] - exact).max() < 0.1
    again = call(recipe, "--out", tmp_path / "a")
    assert again.exit_code == 0
    assert "resumed from step 300" in again.output
    same = xr.load_dataset(tmp_path / "a" / "fields.nc")
    np.testing.assert_array_equal(same.u.values, moved.u.values)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("initial", "inital", "unknown key 'inital', did you mean 'initial'"),
        ('"Box"', '"Bx"', "field is 'Bx', did you mean 'Box'"),
        ("start = 2.0", "strt = 2.0", "unknown key 'strt', did you mean 'start'"),
        ('"RayPropagator"', '"Ray"', "wanted MiNO or RayPropagator"),
        ("x = [0.0, 6.283185307179586]", "y = [0.0, 1.0]", "the equation lives on x"),
        ("x = [0.0, 6.283185307179586]", "x = 3", r"x is 3: wanted [start, stop]"),
        ("times", "time", "unknown key 'time', did you mean 'times'"),
        ("output", "training = {steps = 3}\noutput", "rays are traced, not trained"),
        ("final_time", "final_tme", "unknown key 'final_tme', did you mean 'final_time'"),
        ("u_x", "u*u_x", "nonlinear"),
        ("equation = {", "equation = [", "no TOML"),
    ],
)
def test_recipes_that_do_not_fit_are_refused(tmp_path, old, new, message):
    done = call(written(tmp_path, RAYS.replace(old, new, 1)), "--out", tmp_path / "a")
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_a_recipe_that_is_not_there(tmp_path):
    done = call(tmp_path / "none.toml")
    assert done.exit_code == 2
    assert "no recipe at" in done.output


def test_a_field_can_come_from_a_file(tmp_path):
    import pdes

    x = 2 * np.pi * np.arange(64) / 64
    data = xr.Dataset({"u": (("x",), np.sin(x))}, coords={"x": x})
    pdes.save(data.expand_dims(time=[0.0]), tmp_path / "start.nc")
    text = RAYS.replace('{field = "Box", start = 2.0, stop = 3.5}', '{file = "start.nc"}')
    text = text.replace("1.0]", "1.0], n_modes = 16", 1)
    done = call(written(tmp_path, text), "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    moved = xr.load_dataset(tmp_path / "a" / "fields.nc")
    np.testing.assert_allclose(moved.u.values[0, 0], np.sin(moved.x.values), atol=1e-10)


def test_the_shipped_example_is_a_recipe():
    recipe = PropagationRecipe.from_toml(EXAMPLES / "advection_propagator.toml")
    assert [type(f).__name__ for f in recipe.fields()] == ["Box", "Gaussian"]
    assert recipe.make().n_parameters == 481
