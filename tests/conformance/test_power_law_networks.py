"""Every power-law network: files, types, batches, order of memory, training."""

from __future__ import annotations

import math

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from sciml.nn import load_model, registered_models, save_model
from sciml.powerlaw import (
    MSN,
    EnrichedNetwork,
    MSNPinn,
    RMNAngular,
    RMNDirect,
    RMNMultiCenter,
)

NETWORKS = {
    "RMNDirect": lambda g: RMNDirect(3, generator=g),
    "RMNAngular": lambda g: RMNAngular(2, generator=g),
    "RMNAngular-space": lambda g: RMNAngular(3, generator=g),
    "RMNAngular-harmonic": lambda g: RMNAngular(2, frequencies="harmonic", generator=g),
    "RMNMultiCenter": lambda g: RMNMultiCenter(2, exponent_map="gaps", generator=g),
    "MSNPinn": lambda g: MSNPinn(exponent_map="sigmoid", generator=g),
    "MSNPinn-wedge": lambda g: MSNPinn(angle=1.5 * math.pi, generator=g),
    "MSN": lambda g: MSN((2, 4, 1), generator=g),
}


@pytest.fixture(params=sorted(NETWORKS))
def make(request):
    return NETWORKS[request.param]


def build(make, seed=0):
    model = make(torch.Generator().manual_seed(seed))
    draw = torch.Generator().manual_seed(seed + 1)
    for name, parameter in model.named_parameters():
        if "coefficients" in name or "bias" in name:
            parameter.data += 0.1 * torch.randn(parameter.shape, generator=draw)
    return model


def points(model, count=7, dtype=torch.float32):
    draw = torch.Generator().manual_seed(5)
    return torch.rand(count, model.dimension, generator=draw, dtype=torch.float64).to(dtype) + 0.1


def test_saved_and_loaded_bit_for_bit(make, tmp_path):
    model, other = build(make), build(make, seed=9)
    x = points(model)
    assert not torch.equal(model(x), other(x))
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(model(x), other(x))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    third = build(make, seed=11)
    third.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(model(x), third(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_file_makes_it_again(make, dtype, tmp_path):
    model = build(make).to(dtype)
    x = points(model, dtype=dtype)
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    assert type(again) is type(model)
    assert torch.equal(model(x), again(x))
    for one, other in zip(model.value_grad_lap(x), again.value_grad_lap(x), strict=True):
        assert torch.equal(one, other)


def test_every_network_is_registered():
    rooms = {name.split("-")[0] for name in NETWORKS}
    assert rooms | {"EnrichedNetwork"} <= set(registered_models())


def test_a_model_file_holds_the_corner_beside_a_network(tmp_path):
    corner = MSNPinn(2, angle=1.5 * math.pi, generator=torch.Generator().manual_seed(0)).double()
    model = EnrichedNetwork(6, corner, torch.Generator().manual_seed(1))
    model.outer.data.uniform_(-1.0, 1.0, generator=torch.Generator().manual_seed(2))
    save_model(model, tmp_path)
    x = points(corner, dtype=torch.float64)
    assert torch.equal(load_model(tmp_path)(x), model(x))


def test_the_same_seed_gives_the_same_network(make):
    first, second = build(make), build(make)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_and_double_precision(make, dtype):
    model = build(make)
    exact = model.double()(points(model, dtype=torch.float64)).detach()
    model = model.to(dtype)
    found = model(points(model, dtype=dtype))
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), exact, rtol=2e-5, atol=2e-5)
    for part in model.value_grad_lap(points(model, dtype=dtype)):
        assert part.dtype == dtype and bool(torch.isfinite(part).all())


def test_a_batch_of_one_and_batches_of_batches(make):
    model = build(make).double()
    x = points(model, 6, torch.float64)
    whole = model(x)
    assert whole.shape == (6, 1)
    torch.testing.assert_close(model(x[2:3]), whole[2:3], rtol=1e-14, atol=1e-15)
    torch.testing.assert_close(model(x[2]), whole[2], rtol=1e-14, atol=1e-15)
    folded = model(x.reshape(2, 3, -1))
    torch.testing.assert_close(folded.reshape(6, 1), whole, rtol=1e-14, atol=1e-15)
    value, gradient, laplacian = model.value_grad_lap(x.reshape(2, 3, -1))
    assert (value.shape, gradient.shape, laplacian.shape) == (
        (2, 3, 1), (2, 3, model.dimension), (2, 3, 1),
    )  # fmt: skip


def test_points_that_are_not_contiguous(make):
    model = build(make).double()
    x = points(model, 6, torch.float64)
    strided = torch.stack([x, x], -1)[..., 0]
    assert not strided.is_contiguous() or model.dimension == 1
    assert torch.equal(model(strided), model(x))


def test_an_optimizer_lowers_the_error(make):
    model = build(make)
    x = points(model, 32)
    y = x.norm(dim=1, keepdim=True).sqrt()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_what_every_network_offers(make):
    model = build(make).double()
    assert model.exponents().ndim == 1 and len(model.exponents()) > 0
    assert len(model.blocks()) >= 1
    form = model.to_varpro(points(model, 40, torch.float64))
    columns, _ = form(form.start[None])
    assert columns.shape[:2] == (1, 40)
