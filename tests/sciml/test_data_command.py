"""Datasets on the command line, and the recipes that travel with the package."""

from __future__ import annotations

import dataclasses
import tomllib
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

from pdes.data import Recipe, load
from pdes.data.layout_of_samples import SampleLayout
from pdes.data.samples import Source, solve_samples
from sciml import datasets
from sciml.cli.app import app

RECIPES = datasets.makeable()

RECIPE = """
title = "Heat"
license = "CC0-1.0"

[generate]
problem = "heat"
samples = 4
times = [0.0, 1.0]

[generate.ranges]
diffusivity = [0.1, 0.2]
"""


def sciml(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "heat.toml"
    path.write_text(RECIPE)
    return path


def test_make_verify_and_resume(recipe, tmp_path):
    store = tmp_path / "heat.zarr"
    made = sciml("data", "make", recipe, "--out", store, "--chunk", 1)
    assert made.exit_code == 0, made.output
    assert "u_t = diffusivity*u_xx" in made.output
    assert "4 ok" in made.output
    data = load(store)
    assert data.attrs["title"] == "Heat" and data.attrs["license"] == "CC0-1.0"
    assert 0.1 <= data.diffusivity.values.min() < data.diffusivity.values.max() <= 0.2
    checked = sciml("data", "verify", store, "--samples", 2, "--rtol", 0)
    assert checked.exit_code == 0, checked.output
    assert "2 samples solved again agree" in checked.output
    assert data.u.attrs["sha256"][:16] in checked.output
    assert "4 samples, about " in made.output and "before compression" in made.output
    (store / "u" / "2.0.0").unlink()
    broken = sciml("data", "verify", store)
    assert broken.exit_code == 2 and "make it again with the same call" in broken.output
    mended = sciml("data", "make", recipe, "--out", store)
    assert mended.exit_code == 0
    assert "Warning: heat.zarr was damaged: sample 2 (u); made again, to the same bits" in " ".join(
        mended.output.split()
    )
    assert "GenerationWarning" not in mended.output and ".py" not in mended.output
    assert load(store).equals(data)
    again = sciml("data", "make", recipe, "--out", store, "--no-resume")
    assert again.exit_code == 2 and "exists" in again.output
    assert sciml("data", "make", recipe, "--out", store).exit_code == 0


def test_fewer_samples_are_the_first_ones(recipe, tmp_path):
    for count in (4, 2):
        result = sciml(
            "data", "make", recipe, "--samples", count, "--out", tmp_path / f"{count}.nc"
        )
        assert result.exit_code == 0, result.output
    many, few = (load(tmp_path / f"{count}.nc") for count in (4, 2))
    assert np.array_equal(few.u, many.u[:2])
    other = sciml("data", "make", recipe, "--seed", 1, "--out", tmp_path / "other.nc")
    assert other.exit_code == 0
    assert not np.array_equal(load(tmp_path / "other.nc").u, many.u)


def test_damage_ends_with_two(recipe, tmp_path):
    store = tmp_path / "heat.zarr"
    sciml("data", "make", recipe, "--out", store)
    chunk = next((store / "u").glob("0*"))
    chunk.write_bytes(chunk.read_bytes()[:-3])
    result = sciml("data", "verify", store)
    assert result.exit_code == 2 and "heat.zarr: u " in result.output


def test_wrong_names_are_answered(recipe, tmp_path):
    wrong = sciml("data", "make", "fno_burger", "--out", tmp_path / "x.zarr")
    assert wrong.exit_code == 2 and "did you mean 'fno_burgers'" in wrong.output
    suffix = sciml("data", "make", recipe, "--out", tmp_path / "x.hdf5")
    assert suffix.exit_code == 2 and ".zarr, .nc" in suffix.output
    missing = sciml("data", "verify", tmp_path / "nothing.zarr")
    assert missing.exit_code == 2 and "no file" in missing.output


def test_list_names_recordings_and_recipes():
    result = sciml("data", "list")
    assert result.exit_code == 0
    for name in (*datasets.available(), *RECIPES):
        assert name in result.output


# --- the recipes that travel with the package ---------------------------------------------------


def test_there_are_recipes_of_the_published_protocols():
    assert {"fno_burgers", "fno_navier_stokes", "pdebench_burgers"} <= set(RECIPES)
    assert not set(RECIPES) & set(datasets.available())


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_a_card_that_agrees_with_it(name):
    path = RECIPES[name]
    entries = tomllib.loads(path.read_text())
    assert {"title", "license", "source", "generate"} <= set(entries)
    card = (path.parent / "README.md").read_text()
    assert f"sciml data make {name}" in card
    assert f"| samples | {entries['generate']['samples']}" in card
    assert "arXiv:" in card and "arXiv:" in entries["source"]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_makes_samples(name):
    """Its first sample, on a coarser grid and over a short time."""
    whole = Recipe.from_toml(RECIPES[name])
    axes = (whole.grid or {}).items()
    coarse = {name: [start, stop, points // 4] for name, (start, stop, points) in axes}
    settings = {k: v for k, v in whole.settings.items() if k not in ("stored_points", "time_step")}
    changes = {"times": [0.0, 0.02], "settings": {**settings, "stored_points": None}}
    if "cells" in whole.parameters:
        changes = {"parameters": {**whole.parameters, "cells": 16}}
    recipe = dataclasses.replace(whole, samples=2, grid=coarse or None, **changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layout = SampleLayout.probe(Source(recipe=recipe))
        solved = solve_samples(Source(recipe=recipe), [0, 1])
    assert layout.arrays(recipe)["sample"].shape == (2,)
    for sample in solved.values():
        assert sample.status in ("ok", "under_resolved"), sample.message
        assert all(np.isfinite(values).all() for values in sample.fields.values())
    first, second = (next(iter(sample.fields.values())) for sample in solved.values())
    assert not np.array_equal(first, second)


def test_the_coarse_protocol_of_burgers_agrees_with_the_published_numbers_in_law():
    """The initial field's variance at a point is the sum of its modes' variances."""
    from pdes.grid import Grid
    from pdes.initial import GaussianRandomField

    entry = Recipe.from_toml(RECIPES["fno_burgers"]).initial
    settings = {key: value for key, value in entry.items() if key != "family"}
    family, grid = GaussianRandomField(**settings), Grid.periodic(x=(0.0, 1.0, 256))
    rng = np.random.default_rng(0)
    draws = np.stack([family(grid, rng)["u"] for _ in range(4000)])
    k = 2 * np.pi * np.arange(1, 128)
    variance = 2 * np.sum(625.0 * (k**2 + 25.0) ** -2.0)
    error = np.std(draws[:, 0] ** 2) / np.sqrt(len(draws))
    assert abs(np.mean(draws[:, 0] ** 2) - variance) < 4 * error
