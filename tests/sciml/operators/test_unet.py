"""U-Net: averages over cells, interpolation, order of transfer, periodic axes, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sciml.nn import SampleAxis, axis_weights
from sciml.operators import UNet
from sciml.operators.cell_transfer import cell_means, cell_values

KINDS = ("node", "periodic", "cell", "left", "chebyshev")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [8, 13, 32])
def test_means_keep_the_integral_and_constants(kind, points):
    axis = SampleAxis(kind, points)
    weights = axis_weights(axis)
    means = cell_means(axis, weights, 4, wrap=kind == "periodic")
    assert np.allclose(means.sum(1), 1.0, atol=1e-14)
    assert means.min() >= 0.0
    assert np.allclose(means.mean(0), weights, atol=1e-14)
    assert np.allclose(cell_values(axis, 4).sum(1), 1.0, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_means_are_of_second_order(kind):
    exact = np.diff(np.exp(np.linspace(0, 1, 5)) + np.sin(2 * np.pi * np.linspace(0, 1, 5))) * 4
    if kind == "periodic":
        exact = np.diff(np.sin(2 * np.pi * np.linspace(0, 1, 5))) * 4
    errors = []
    for points in (65, 257):  # a power of two in a round number of cells, or nearly
        axis = SampleAxis(kind, points)
        x = axis.positions()
        values = (0 if kind == "periodic" else np.exp(x)) + 2 * np.pi * np.cos(2 * np.pi * x)
        means = cell_means(axis, axis_weights(axis), 4, wrap=kind == "periodic") @ values
        errors.append(np.abs(means - exact).max())
    assert math.log2(errors[0] / errors[1]) / 2 > 1.8


def test_linear_functions_come_back_between_the_centers():
    axis = SampleAxis("nonuniform", 4, 0.0, 1.0, (0.1, 0.2, 0.55, 0.9))
    centers = (np.arange(8) + 0.5) / 8
    assert np.allclose(cell_values(axis, 8) @ centers, axis.positions(), atol=1e-14)
    around = cell_values(SampleAxis("periodic", 4), 4, wrap=True)
    assert np.allclose(around[0], [0.5, 0, 0, 0.5])


def test_average_pooling_is_the_plain_one_on_cells():
    plain = torch.nn.functional.avg_pool1d(torch.arange(12.0).view(1, 1, 12), 3).flatten()
    means = cell_means(SampleAxis("cell", 12), np.full(12, 1 / 12), 4)
    assert np.allclose(means @ np.arange(12.0), plain.numpy())


def field(points, dtype=torch.float64):
    s = torch.linspace(0, 1, points, dtype=dtype)
    x, y = s[:, None], s[None, :]
    return (torch.exp(x * y) * torch.cos(2 * x + y) + x / 2).view(1, 1, points, points)


def distances(model):
    with torch.no_grad():
        outputs = {n: model(field(n)) for n in (17, 33, 65, 257)}
    fine = outputs[257]
    found = []
    for n in (17, 33, 65):
        shared = fine[..., :: 256 // (n - 1), :: 256 // (n - 1)]
        found.append(float((outputs[n] - shared).norm() / shared.norm()))
    return found


def test_untrained_transfer_is_of_second_order_and_that_of_points_is_none():
    own = distances(UNet(1, 1, 4, 8, 3, axis_kinds="node", seed=0).double())
    assert math.log2(own[1] / own[2]) > 1.8
    points = distances(
        UNet(1, 1, 4, n_levels=3, scales="points", axis_kinds="node", seed=0).double()
    )
    assert points[2] > 5 * own[2]


def test_equal_weights_on_nodes_leave_first_order():
    plain = distances(UNet(1, 1, 4, 8, 3, axis_kinds="node", quadrature=False, seed=0).double())
    own = distances(UNet(1, 1, 4, 8, 3, axis_kinds="node", seed=0).double())
    assert math.log2(plain[1] / plain[2]) < 1.4
    assert plain[2] > 3 * own[2]


def test_on_physical_levels_quad_norm_is_the_usual_normalization():
    x = field(17)
    for quad, usual in (("quad", "instance"), ("quad_layer", "layer")):
        one, other = (
            UNet(1, 1, 4, 8, 2, axis_kinds="node", norm=norm, seed=0).double()
            for norm in (quad, usual)
        )
        assert torch.allclose(one(x), other(x), atol=1e-12)


def test_it_wraps_around_periodic_axes():
    model = UNet(1, 1, 4, 8, 2, dimension=1, axis_kinds="periodic", seed=0).double()
    with torch.no_grad():
        model.lifting.weight[:, 1] = 0.0  # without the coordinate, shifts by two cells commute
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(1, 1, 32)))
    shifted = model(x.roll(8, 2))
    assert torch.allclose(shifted, model(x).roll(8, 2), atol=1e-12)
    other = UNet(1, 1, 4, 8, 2, dimension=1, axis_kinds="left", seed=0).double()
    other.load_state_dict(model.state_dict())
    assert not torch.allclose(other(x.roll(8, 2)), other(x).roll(8, 2), atol=1e-3)


def test_bad_arguments_and_grids_are_refused():
    with pytest.raises(ValueError, match=r"n_cells: got 12.*divisible by 8 for 4 levels"):
        UNet(1, 1, 4, 12, 4)
    with pytest.raises(ValueError, match="n_cells: got None, wanted 2 numbers"):
        UNet(1, 1, 4)
    with pytest.raises(ValueError, match="leave out"):
        UNet(1, 1, 4, 8, scales="points")
    with pytest.raises(ValueError, match="scales: got 'pixels'"):
        UNet(1, 1, 4, 8, scales="pixels")
    with pytest.raises(ValueError, match="norm: got 'batch'"):
        UNet(1, 1, 4, 8, norm="batch")
    with pytest.raises(ValueError, match="wanted 1 to 3"):
        UNet(1, 1, 4, 8, dimension=4)
    model = UNet(1, 1, 4, 16, 2, axis_kinds="node")
    with pytest.raises(ValueError, match=r"\(16, 16\) cells need at least as many.*\(9, 17\)"):
        model(torch.rand(1, 1, 9, 17))
    with pytest.raises(ValueError, match="needs a tensor grid"):
        model(torch.rand(1, 1, 17, 17), grid=torch.ones(17, 17))
    with pytest.raises(ValueError, match="below 2"):
        UNet(1, 1, 4, n_levels=5, scales="points", axis_kinds="node")(torch.rand(1, 1, 9, 9))
