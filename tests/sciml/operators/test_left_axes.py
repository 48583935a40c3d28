"""Fourier layers on axes without their last end: the field is continued, not its product."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sciml.nn import SampleAxis, axis_weights, on_grid
from sciml.nn.truncated_fourier import analysis_matrix, left_analysis_matrix
from sciml.operators import SpectralConv


@pytest.mark.parametrize(
    ("kinds", "shape", "modes"),
    [
        (("left",), (16,), (9,)),
        (("left", "left"), (16, 20), (12, 7)),
        (("node", "left"), (17, 16), (5, 8)),
        (("left", "periodic"), (8, 6), (4, 6)),
    ],
)
def test_both_ways_to_compute_agree(kinds, shape, modes):
    torch.manual_seed(0)
    matrices = SpectralConv(2, 3, modes, axis_kinds=kinds, method="matmul").double()
    fast = SpectralConv(2, 3, modes, axis_kinds=kinds, method="fft").double()
    fast.load_state_dict(matrices.state_dict())
    x = torch.randn(2, 2, *shape, dtype=torch.float64, requires_grad=True)
    first, second = matrices(x), fast(x)
    assert torch.allclose(first, second, atol=1e-12)
    for y in (first, second):
        (y**2).sum().backward()
    assert torch.allclose(x.grad, 2 * torch.autograd.grad((fast(x) ** 2).sum(), x)[0], atol=1e-10)


def coefficient(matrix, values):
    """Of the highest wave."""
    half = len(matrix) // 2
    return complex(matrix[half - 1] @ values, -(matrix[-1] @ values))


def test_fast_waves_are_integrated_as_on_fine_grids():
    def errors(points):
        axis = SampleAxis("left", points)
        x = axis.positions()
        product = analysis_matrix(x, axis_weights(axis), 6, 1.25)
        own = left_analysis_matrix(points, 6, 1.25)
        values = np.exp(x)
        slope = 1 - 12j * np.pi / 1.25
        exact = (np.exp(slope) - 1) / slope
        return [abs(coefficient(m, values) - exact) for m in (own, product)]

    coarse, fine = errors(16), errors(64)
    assert coarse[0] < 0.3 * coarse[1]
    assert fine[0] < coarse[0] / 12  # second order
    assert coarse[0] < 0.05


def test_the_constant_wave_is_the_weights():
    for points in (3, 8, 17):
        weights = axis_weights(SampleAxis("left", points))
        assert np.allclose(left_analysis_matrix(points, 2, 1.25)[0], weights, atol=1e-16)


def test_other_weights_of_such_axes_are_kept():
    layer = SpectralConv(1, 1, 4, axis_kinds="left").double()
    x = torch.rand(1, 1, 8, dtype=torch.float64)
    with on_grid((8,), "equal", axis_kinds="left") as grid:
        assert grid.equal
        equal = layer(x)
    assert not torch.allclose(equal, layer(x), atol=1e-6)
