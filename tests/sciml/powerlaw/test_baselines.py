"""The papers' recipes: what is trained how, and that it trains."""

from __future__ import annotations

import math

import pytest
import torch

from sciml.powerlaw.baselines import (
    BASELINES,
    gap_penalty,
    muntz_penalty,
    recipe,
    run_recipe,
    sparsity,
    train_baseline,
    train_corner,
)
from sciml.powerlaw.msn import MSN

X = torch.rand(100, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.05


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("name", "dimension", "size"),
    [("rmn-direct", 2, 27), ("rmn-angular", 3, 55), ("rmn-centers", 2, 33), ("msn-pinn", 1, 8),
     ("msn", 1, 1013), ("mlp", 3, 33665), ("siren", 2, 8577), ("mlp-small", 1, 1021)],
)  # fmt: skip
def test_sizes_of_the_papers(name, dimension, size):
    assert count(recipe(name).build(dimension, torch.Generator().manual_seed(0))) == size


def test_recipes_of_the_papers():
    rmn, pinn, msn = recipe("rmn-direct"), recipe("msn-pinn"), recipe("msn")
    assert (rmn.steps, rmn.rate, rmn.exponent_rate, rmn.clip) == (5000, 2e-3, 2e-3, 1.0)
    assert (pinn.steps, pinn.rate, pinn.exponent_rate) == (10000, 0.01, 0.005)
    assert (msn.rate / msn.exponent_rate, msn.frozen, msn.exponent_clip) == (
        pytest.approx(50), 500, 0.05,
    )  # fmt: skip


def test_starts_of_the_papers():
    model = recipe("rmn-centers").build(2, torch.Generator().manual_seed(0))
    assert [family.coefficients.item() for family in model.families[1::2]] == [0.0, 0.0]
    assert model.exponents().max().item() == pytest.approx(4.0)
    assert all(abs(family.exponents().item()) < 0.5 for family in model.families[1::2])
    draws = torch.cat([
        recipe("msn-pinn").build(1, torch.Generator().manual_seed(k)).exponents() for k in range(50)
    ]).detach()  # fmt: skip
    assert 0.1 < draws.min() < 0.3 and 2.8 < draws.max() < 3.0


@pytest.mark.parametrize("name", ["rmn-direct", "rmn-angular", "mlp-small", "siren", "msn"])
def test_training_lowers_the_loss_and_repeats(name):
    y = X.norm(dim=1).log()
    first, second = (train_baseline(name, X, y, seed=1, steps=8) for _ in range(2))
    assert first.losses == second.losses
    assert first.losses[-1] < first.losses[0]
    assert torch.equal(first.predict(X), second.predict(X))
    other = train_baseline(name, X, y, seed=2, steps=1)
    assert other.losses[0] != first.losses[0]


def test_exponents_rest_while_frozen():
    msn = recipe("msn")
    model = msn.build(2, torch.Generator().manual_seed(0)).double()
    before = model.exponents().detach().clone()
    loss = lambda net, step: net(X).square().mean()  # noqa: E731
    run_recipe(msn, model, loss, steps=3)
    assert torch.equal(model.exponents(), before)
    assert all(parameter.requires_grad for parameter in model.parameters())
    from dataclasses import replace

    run_recipe(replace(msn, frozen=1), model, loss, steps=3)
    assert not torch.equal(model.exponents(), before)


def test_penalties_by_hand():
    model = recipe("rmn-direct").build(2, torch.Generator().manual_seed(0))
    gaps = torch.diff(model.families[0].exponents())
    expected = torch.relu(0.1 - gaps).mean()
    assert gap_penalty(model).item() == pytest.approx(expected.item(), abs=1e-7)
    line = recipe("msn-pinn").build(1, torch.Generator().manual_seed(0))
    size = line.families[0].coefficients.abs().mean().item()
    assert sparsity(line).item() == pytest.approx(1e-3 * size)
    net = MSN()
    total = sum(
        p.abs().sum().item() for name, p in net.named_parameters() if "coefficients" in name
    )
    # With 12 exponents below 4 on each edge the sum of reciprocals is at least 3: inactive.
    assert muntz_penalty(net).item() == pytest.approx(1e-4 * total, rel=1e-5)


def test_the_constraint_draws_exponents_to_admissible_ones():
    theta = torch.linspace(0.0, 1.5 * math.pi, 60, dtype=torch.float64)
    fit = train_corner(1.5 * math.pi, theta, torch.sin(2.0 * theta / 3.0), steps=100, K=2)
    free = train_corner(
        1.5 * math.pi, theta, torch.sin(2.0 * theta / 3.0), steps=100, K=2, constraint=False
    )
    assert fit.losses[-1] < fit.losses[0]
    assert not torch.equal(fit.model.exponents(), free.model.exponents())
    arc = torch.stack([torch.cos(theta), torch.sin(theta)], 1)
    assert (fit.predict(arc) - torch.sin(2.0 * theta / 3.0)).abs().max() < 0.6


def test_bad_input():
    with pytest.raises(ValueError, match=r"no baseline 'rmn'; wanted one of .* Did you mean"):
        train_baseline("rmn", X, X[:, 0])
    with pytest.raises(ValueError, match="the baseline 'msn-pinn' takes 1"):
        train_baseline("msn-pinn", X, X[:, 0])
    with pytest.raises(ValueError, match="y contains 100 values"):
        train_baseline("mlp", X, X[:, 0] * math.nan)
    with pytest.raises(ValueError, match="steps is 0"):
        train_baseline("mlp", X, X[:, 0], steps=0)
    with pytest.raises(ValueError, match="angle is 7 radians"):
        train_corner(7.0, X[:, 0], X[:, 1])
    assert "arXiv" in BASELINES["siren"].source
