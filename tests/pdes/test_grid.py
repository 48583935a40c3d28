"""Uniform grids and their wave numbers."""

from __future__ import annotations

import pickle

import array_api_compat.torch as xtorch
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pdes import Axis, Grid


def test_a_periodic_axis_leaves_out_its_end_and_any_other_includes_it() -> None:
    np.testing.assert_array_equal(Axis("x", -1.0, 1.0, 4).values(), [-1.0, -0.5, 0.0, 0.5])
    closed = Axis("x", -1.0, 1.0, 5, periodic=False)
    np.testing.assert_array_equal(closed.values(), [-1.0, -0.5, 0.0, 0.5, 1.0])
    assert closed.spacing == Axis("x", -1.0, 1.0, 4).spacing == 0.5


def test_grid_describes_its_axes_in_order() -> None:
    grid = Grid.periodic(x=(0.0, 2.0, 8), y=(-1.0, 3.0, 16))
    assert grid.names == ("x", "y")
    assert grid.shape == (8, 16)
    assert grid.lengths == (2.0, 4.0)
    assert grid.spacings == (0.25, 0.25)
    assert list(grid.coordinates()) == ["x", "y"]
    assert grid.coordinates()["y"][5] == 0.25


def test_mesh_broadcasts_to_the_shape_of_a_field() -> None:
    grid = Grid.periodic(x=(0.0, 2.0, 8), y=(-1.0, 3.0, 16))
    mesh = grid.mesh()
    full = mesh["x"] + 10.0 * mesh["y"]
    assert full.shape == grid.shape
    assert full[3, 5] == 0.75 + 2.5


@given(
    points=st.integers(4, 40).map(lambda n: 2 * n),
    mode=st.integers(1, 3),
    start=st.floats(-5, 5),
    length=st.floats(0.5, 20),
)
def test_wave_numbers_differentiate_a_wave(
    points: int, mode: int, start: float, length: float
) -> None:
    grid = Grid.periodic(x=(start, start + length, points))
    k = 2 * np.pi * mode / grid.lengths[0]
    x = grid.coordinates()["x"]
    slope = np.fft.irfft(1j * grid.wavenumbers()["x"] * np.fft.rfft(np.sin(k * x)), n=points)
    np.testing.assert_allclose(slope, k * np.cos(k * x), atol=1e-10 * k)


def test_wave_numbers_of_several_axes_are_ready_to_broadcast() -> None:
    grid = Grid.periodic(x=(0.0, 2 * np.pi, 8), y=(0.0, np.pi, 10))
    k = grid.wavenumbers()
    np.testing.assert_allclose(k["x"][:, 0], [0, 1, 2, 3, -4, -3, -2, -1])
    np.testing.assert_allclose(k["y"][0], 2.0 * np.arange(6))
    full = grid.wavenumbers(real_last=False)
    np.testing.assert_allclose(full["y"][0], [0, 2, 4, 6, 8, -10, -8, -6, -4, -2])


def test_wave_numbers_in_torch_have_the_precision_asked_for() -> None:
    grid = Grid.periodic(x=(0.0, 3.0, 8))
    k = grid.wavenumbers(xtorch, dtype=torch.float32, device="cpu")["x"]
    assert k.dtype == grid.wavenumbers(xtorch, dtype="float32")["x"].dtype == torch.float32
    np.testing.assert_allclose(k.numpy(), grid.wavenumbers()["x"], rtol=1e-6)


@pytest.mark.parametrize("points", [6, 9, 255])
def test_fourier_methods_refuse_few_or_odd_points_and_name_the_axis(points: int) -> None:
    grid = Grid.periodic(x=(0.0, 1.0, 16), y=(0.0, 1.0, points))
    with pytest.raises(ValueError, match=f"axis y: got {points} points"):
        grid.wavenumbers()


def test_fourier_methods_refuse_an_axis_with_ends() -> None:
    with pytest.raises(ValueError, match=r"axis x: .*periodic"):
        Grid((Axis("x", 0.0, 1.0, 16, periodic=False),)).wavenumbers()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", 1.0, 1.0, 8), "axis x: got start 1.0 and stop 1.0"),
        (("x", 0.0, float("nan"), 8), "axis x: got start"),
        (("x", 0.0, 1.0, 1), "axis x: got 1 points"),
        (("x", 0.0, 1.0, 8.5), "axis x: got 8.5 points"),
    ],
)
def test_bad_axes_are_refused_by_name(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Axis(*arguments)


def test_axes_need_different_names() -> None:
    with pytest.raises(ValueError, match="different names"):
        Grid((Axis("x", 0.0, 1.0, 8), Axis("x", 0.0, 2.0, 8)))
    with pytest.raises(ValueError, match="one or more"):
        Grid(())


def test_grids_compare_hash_and_pickle() -> None:
    grid = Grid.periodic(x=(0.0, 2.0, 8))
    assert grid == Grid((Axis("x", 0.0, 2.0, 8),))
    assert hash(grid) == hash(Grid((Axis("x", 0.0, 2.0, 8),)))
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert grid != Grid.periodic(x=(0.0, 2.0, 16))
