"""Losses by name against their definitions, with the weights of a grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sciml.metrics import relative_l2
from sciml.nn import quadrature_weights
from sciml.training.losses import supervised_loss

WEIGHTS = quadrature_weights((5, 4), axis_kinds=("node", "periodic")).full()


def fields(seed, dtype=torch.float64):
    return torch.randn(3, 2, 5, 4, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def loss_of(name, weights, u, v):
    return supervised_loss(name, weights)(torch.nn.Identity(), (u, v))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_losses_are_integrals(weights):
    u, v = fields(0), fields(1)
    share = np.full((5, 4), 1 / 20) if weights is None else weights
    squares, sizes = ((each.numpy() ** 2).sum(1) for each in (u - v, v))
    wanted = np.sqrt((squares * share).sum((1, 2)) / (sizes * share).sum((1, 2))).mean()
    assert float(loss_of("relative_l2", weights, u, v)) == pytest.approx(wanted, rel=1e-13)
    metric = relative_l2(u, v, axis=(1, 2, 3), weights=weights).mean()
    assert float(metric) == pytest.approx(wanted, rel=1e-13)
    distance = (u - v).abs().numpy().mean(1)
    for name, values in (("mse", ((u - v).numpy() ** 2).mean(1)), ("mae", distance)):
        wanted = (values * share).sum((1, 2)).mean()
        assert float(loss_of(name, weights, u, v)) == pytest.approx(wanted, rel=1e-13)


def test_half_precision_is_summed_in_single_and_gradients_flow():
    u = fields(0).half().requires_grad_()
    found = loss_of("relative_l2", WEIGHTS, u, fields(1).half())
    assert found.dtype == torch.float32
    found.backward()
    assert u.grad is not None and u.grad.dtype == torch.float16
    assert float(u.grad.abs().sum()) > 0
    wide = loss_of("relative_l2", WEIGHTS, u.detach().double(), fields(1).half().double())
    assert float(found.detach()) == pytest.approx(float(wide), rel=1e-6)


def test_targets_that_are_zero_and_wrong_shapes_are_refused():
    u, v = fields(0), fields(1)
    v[1] = 0.0
    with pytest.raises(ValueError, match="truth is 0 everywhere"):
        loss_of("relative_l2", WEIGHTS, u, v)
    with pytest.raises(ValueError, match=r"for targets of shape \(3, 1, 5, 4\)"):
        loss_of("mse", None, u, v[:, :1])
    with pytest.raises(ValueError, match="did you mean 'relative_l2'"):
        supervised_loss("relative_l1")
