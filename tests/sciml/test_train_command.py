"""``sciml train`` and ``sciml evaluate``: recipes, files, tables, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from typer.testing import CliRunner

from sciml.cli.app import app
from sciml.nn import load_model, model_info, register_model
from sciml.training.recipe import TrainingRecipe

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@register_model
class Affine(torch.nn.Module):
    """A channel-wise linear map, for fields that are one."""

    def __init__(self, in_channels: int, out_channels: int, scale: float = 1.0) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.layer = torch.nn.Linear(in_channels, out_channels)
        self.scale = scale

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        return self.layer(u.movedim(1, -1)).movedim(-1, 1) * self.scale


RECIPE = """
title = "a line"
model = {name = "Affine"}
data = {file = "data.nc", inputs = ["a"], targets = {u = -1}, test = 2, batch_size = 4}
optimizer = {name = "adam", lr = 0.1}
loss = {name = "mse"}
training = {steps = 150, seed = 3}
output = {folder = "run"}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).normal(3.0, 2.0, size=(12, 8))
    u = np.stack([a, 5.0 * a - 1.0], axis=1)
    data = xr.Dataset({"a": (("sample", "x"), a), "u": (("sample", "time", "x"), u)})
    data.to_netcdf(tmp_path / "data.nc", engine="h5netcdf")
    (tmp_path / "r.toml").write_text(RECIPE)
    return tmp_path


def sciml(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else result.stderr


def test_a_recipe_becomes_a_model_file_with_its_errors(place):
    shown = sciml("train", "r.toml", "--plot", "loss.png")
    assert "a line: 2 weights" in shown and "finished after 150 steps" in shown
    assert "held-back samples" in shown and "u[1]" in shown
    assert (place / "loss.png").read_bytes().startswith(b"\x89PNG")
    info = model_info(place / "run")
    assert info.name == "Normalized" and info.seed == 3
    assert info.arguments["model"]["model"] == "Affine"
    assert info.training["steps"] == 150 and info.data["targets"] == {"u": -1}
    assert len((place / "run" / "log.jsonl").read_text().splitlines()) == 150
    a = torch.linspace(-1.0, 1.0, 5)[None, None]
    model = load_model(place / "run")
    torch.testing.assert_close(model(a), 5.0 * a - 1.0, atol=1e-2, rtol=1e-2)
    # The scales are those of the training samples alone.
    data = xr.open_dataset(place / "data.nc").a[:10]
    np.testing.assert_allclose(model.input_mean.numpy(), [float(data.mean())], rtol=1e-5)


def test_evaluate_prints_and_writes_the_errors(place):
    sciml("train", "r.toml")
    shown = sciml("evaluate", "run", "data.nc", "--samples", "10:", "--each", "--json", "e.json")
    assert "2 examples" in shown and "relative L2, mean" in shown
    found = json.loads((place / "e.json").read_text())
    data = xr.open_dataset(place / "data.nc").isel(sample=slice(10, None))
    model = load_model(place / "run")
    a = torch.from_numpy(data.a.values.astype("f4"))[:, None]
    with torch.no_grad():
        difference = model(a)[:, 0].numpy() - data.u.values[:, 1]
    relative = np.linalg.norm(difference, axis=1) / np.linalg.norm(data.u.values[:, 1], axis=1)
    np.testing.assert_allclose(np.ravel(found["relative_l2"]), relative, rtol=1e-4)
    np.testing.assert_allclose(
        np.ravel(found["rmse"]), np.sqrt(np.mean(difference**2, axis=1)), rtol=1e-4
    )
    np.testing.assert_allclose(
        np.ravel(found["largest"]), np.abs(difference).max(axis=1), rtol=1e-4
    )
    assert found["fields"] == ["u[1]"] and found["examples"] == 2
    other = sciml("evaluate", "run/model.json", "data.nc", "--input", "a", "--target", "u@0")
    assert "u[0]" in other and "12 examples" in other


def test_the_same_call_goes_on_and_a_changed_recipe_is_refused(place):
    sciml("train", "r.toml")
    first = (place / "run" / "model.safetensors").read_bytes()
    assert "resumed from step 150" in sciml("train", "r.toml")
    assert (place / "run" / "model.safetensors").read_bytes() == first
    (place / "r.toml").write_text(RECIPE.replace("steps = 150", "steps = 160"))
    assert "finished after 160 steps" in sciml("train", "r.toml")
    (place / "r.toml").write_text(RECIPE.replace("lr = 0.1", "lr = 0.2"))
    refused = sciml("train", "r.toml", code=2)
    assert "run of a recipe with another table [optimizer]" in refused
    assert "finished" in sciml("train", "r.toml", "--out", "elsewhere")


def test_kinds_of_axes_are_read_from_the_coordinates_or_asked_for(place):
    """And a recipe may be mended in its folder as long as nothing was trained."""
    model = 'model = {name = "UNet", arguments = {hidden_channels = 2, n_cells = 4, n_levels = 2}}'
    text = RECIPE.replace('model = {name = "Affine"}', model).replace("150", "2")
    (place / "r.toml").write_text(text)
    refused = sciml("train", "r.toml", code=2)
    assert "[data] axis_kinds is missing, and the coordinates x" in refused
    (place / "r.toml").write_text(text.replace("test = 2", 'test = 2, axis_kinds = "cell"'))
    sciml("train", "r.toml")
    assert model_info(place / "run").data["axis_kinds"] == "cell"
    assert model_info(place / "run").arguments["model"]["arguments"]["dimension"] == 1
    assert len((place / "run" / "log.jsonl").read_text().splitlines()) == 2

    data = xr.open_dataset(place / "data.nc").load()
    for step, kinds in ((1 / 7, ["node"]), (1 / 8, None)):
        x = xr.DataArray(np.arange(8) * step, dims="x", attrs={"periodic": 0, "length": 1.0})
        data.assign_coords(x=x).to_netcdf(place / "known.nc", engine="h5netcdf")
        (place / "r.toml").write_text(text.replace("data.nc", "known.nc"))
        folder = f"run-{kinds}"
        sciml("train", "r.toml", "--out", folder, code=0 if kinds else 2)
        if kinds:
            assert model_info(place / folder).data["axis_kinds"] == kinds


def test_early_stop_looks_at_validation_samples(place):
    text = RECIPE.replace("test = 2", "test = 2, validation = 0.25").replace("150", "5000")
    (place / "r.toml").write_text(text + "early_stop = {patience = 1, every = 20}\n")
    assert "no improvement since step" in sciml("train", "r.toml")
    assert model_info(place / "run").training["status"] == "stopped_early"


def test_data_are_made_where_a_recipe_says_so(place):
    generate = """
[data.generate]
problem = "heat"
samples = 6
times = [0.0, 0.1]
[data.generate.grid]
x = [0.0, 6.283185307179586, 32]
[data.generate.initial]
family = "RandomFourier"
modes = 3
[data.generate.settings]
stored_points = 32
"""
    text = """
[model]
name = "Affine"
[training]
steps = 3
[output]
folder = "run"
[data]
inputs = {u = 0}
targets = {u = 1}
axis_kinds = "periodic"
"""
    (place / "r.toml").write_text(text + generate)
    sciml("train", "r.toml")
    (stored,) = (place / "run").glob("data.*")
    shown = sciml("evaluate", "run", stored)
    assert "6 examples" in shown


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model =", "modell =", "unknown key 'modell', did you mean 'model'?"),
        ("steps = 150", "step = 150", "[training]: unknown key 'step', did you mean 'steps'?"),
        ("steps = 150, ", "", "[training]: steps missing"),
        ("steps = 150", 'steps = "many"', "[training] steps is 'many': wanted a whole number"),
        ("seed = 3", "seed = true", "[training] seed is True: wanted a whole number"),
        ("output = {folder", "output = {folders", "did you mean 'folder'?"),
        ('"Affine"', '"Affinee"', "model class 'Affinee' is unknown, did you mean 'Affine'?"),
        (
            '"Affine"}',
            '"Affine", arguments = {scal = 1}}',
            "no argument 'scal', did you mean 'scale'",
        ),
        ('"Affine"}', '"Affine", arguments = {in_channels = 2}}', "the model has in_channels=2"),
        ('"mse"', '"msee"', "loss 'msee' is unknown, did you mean 'mse'?"),
        ('"adam"', '"adamm"', "optimizer 'adamm' is unknown, did you mean 'adam'?"),
        ("lr = 0.1", "lrr = 0.1", "no argument 'lrr', did you mean 'lr'?"),
        ('name = "adam", ', "", "[optimizer]: name is missing"),
        ('["a"]', '["aa"]', "inputs: no variable 'aa', did you mean 'a'?"),
        ("u = -1", "u = 7", "u at time 7: wanted an index from -2 to 1"),
        ("test = 2", "test = 12", "test=12 of 12 samples: wanted at least one held back"),
        ("test = 2", "test = 0.01", "test=0.01 of 12 samples"),
        ('file = "data.nc", ', "", "wanted one of file, recipe and generate, got none"),
        (
            '"data.nc",',
            '"data.nc", recipe = "x",',
            "recipe and generate, got file, recipe",
        ),
        ('file = "data.nc"', 'recipe = "fno_burger"', "did you mean 'fno_burgers'?"),
        (
            'file = "data.nc"',
            "generate = {problm = 1}",
            "'problm', did you mean 'problem'?",
        ),
        ('"data.nc"', '"none.nc"', "no file at"),
        ('title = "a line"', "early_stop = {patience = 1}", "give validation in [data]"),
        ('title = "a line"', "scheduler = {gamma = 1}", "[scheduler]: name is missing"),
        ('title = "a line"', 'title = "a', "is no TOML"),
        ("loss = {", "loss = 3 #", "[loss] is 3: wanted a table"),
        ("seed = 3", 'device = "gpu"', "device='gpu': no such device here"),
    ],
)
def test_bad_recipes_say_what_was_wanted(place, old, new, message):
    assert old in RECIPE
    (place / "r.toml").write_text(RECIPE.replace(old, new))
    said = sciml("train", "r.toml", code=2)
    assert message in said and "Traceback" not in said


def test_evaluate_refuses_what_does_not_fit(place):
    sciml("train", "r.toml")
    for arguments, message in (
        (("nowhere", "data.nc"), "no model at nowhere"),
        (("run", "none.nc"), "no file at none.nc"),
        (("run", "data.nc", "--samples", "a:b"), "--samples 'a:b': wanted a number"),
        (("run", "data.nc", "--samples", "50:"), "leaves none of 12"),
        (("run", "data.nc", "--input", "u@x"), "NAME@TIME"),
        (("run", "data.nc", "--input", "b"), "no variable 'b'"),
        (("run", "data.nc", "--input", "a", "--input", "u@0"), "wanted (batch, 1, *grid)"),
        (("run", "data.nc", "--target", "a", "--target", "u@0"), "returned shape"),
    ):
        assert message in sciml("evaluate", *arguments, code=2)
    assert "no recipe at nothing.toml" in sciml("train", "nothing.toml", code=2)


def test_the_shipped_recipe_is_one():
    recipe = TrainingRecipe.from_toml(EXAMPLES / "burgers_operator.toml")
    assert recipe.model.name == "FNO" and recipe.data.generate["problem"] == "burgers"
