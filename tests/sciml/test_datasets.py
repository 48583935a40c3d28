"""Every recording that travels with the package is what its recipe says."""

from __future__ import annotations

import shutil
import tomllib

import numpy as np
import pytest

import pdes
from sciml import _resources, datasets

NAMES = datasets.available()


def entries(name):
    return tomllib.loads((_resources.folder("datasets") / name / "recipe.toml").read_text())


def test_there_are_recordings():
    assert NAMES == ["burgers", "kuramoto_sivashinsky"]


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_those_of_the_recipe(name):
    data = datasets.load(name)
    for axis, expected in entries(name)["axes"].items():
        line = data[axis].values
        assert line.size == expected["points"]
        np.testing.assert_allclose(line[[0, -1]], [expected["first"], expected["last"]], rtol=1e-12)
        np.testing.assert_allclose(np.diff(line), np.diff(line).mean(), rtol=1e-9)
    assert set(data.data_vars) == {"u"}
    assert data.u.dtype == np.float64
    assert np.isfinite(data.u.values).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_equation_of_the_recipe_moves_the_field(name):
    """Second-order differences in time against spectral derivatives in x."""
    data = datasets.load(name)
    values, dt = data.u.values, float(data.time[1] - data.time[0])
    length = float(data.x[1] - data.x[0]) * data.sizes["x"]
    waves = 2j * np.pi * np.fft.fftfreq(data.sizes["x"], length / data.sizes["x"])
    waves[np.abs(waves.imag) > 0.3 * np.abs(waves.imag).max()] = 0.0  # rounding left of the solver

    def derivative(order):
        return np.fft.ifft(waves**order * np.fft.fft(values)).real

    orders = range(1, 5)
    jets = {"u": values} | {"u_" + "x" * order: derivative(order) for order in orders}
    equation = pdes.Equation.from_text(datasets.recipe(name).equation, name=name)
    needed = {jet: jets[jet] for jet in equation.jets}
    right = equation.compile("numpy")(needed)["u"][2:-2]
    left = (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12 * dt)
    error = np.linalg.norm(left - right) / np.linalg.norm(left)
    assert error < 0.05
    wrong = np.linalg.norm(left - 1.2 * right) / np.linalg.norm(left)
    assert wrong > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_license_and_card_lie_beside_the_file(name):
    folder = datasets.recipe(name).path.parent
    permission = (folder / entries(name)["license_file"]).read_text()
    assert "Permission is hereby granted" in permission
    assert "Brian de Silva" in permission
    card = (folder / "README.md").read_text()
    for fact in (datasets.recipe(name).equation, entries(name)["source"]["commit"]):
        assert fact in card


def test_periodic_axes_are_marked():
    assert datasets.load("kuramoto_sivashinsky").x.attrs["periodic"] == 1
    assert "periodic" not in datasets.load("burgers").x.attrs


def test_provenance_travels_with_the_data():
    data = datasets.load("burgers")
    assert data.attrs["source"] == "dynamicslab/pysindy c4421fc examples/data/burgers.mat"
    assert data.attrs["source_sha256"] == datasets.recipe("burgers").sha256
    assert "equation" not in data.attrs


def test_an_unknown_name_gets_the_closest_one():
    with pytest.raises(ValueError, match=r"unknown dataset 'burger', did you mean 'burgers'\?"):
        datasets.load("burger")


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    shutil.copytree(_resources.folder("datasets"), tmp_path / "datasets")
    monkeypatch.setattr(_resources, "folder", lambda name: tmp_path / name)
    file = datasets.recipe("burgers").path
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(ValueError, match="not the published file"):
        datasets.load("burgers")
