"""Every operator: files, types, batches of one, order of memory, equal weights, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import sciml.operators
from sciml.nn import load_model, on_grid, save_model
from sciml.nn.model_registry import registered_class
from sciml.operators import FNO, DeepONet, GlobalPooling, PointTransformer, Transolver, UNet

MODELS = {
    "FNO-1d": lambda seed: FNO(2, 1, 6, 4, 2, norm="quad_layer", axis_kinds="node", seed=seed),
    "FNO-3d": lambda seed: FNO(2, 1, 4, (2, 2, 2), 1, norm="quad", axis_kinds="left", seed=seed),
    "Transolver-1d": lambda seed: Transolver(
        2, 3, 1, 8, 2, n_heads=2, n_slices=5, axis_kinds="chebyshev", seed=seed
    ),
    "Transolver-2d": lambda seed: Transolver(
        2, 1, 2, 8, 2, n_heads=4, n_slices=5, axis_kinds=("node", "left"), seed=seed
    ),
    "Transolver-3d": lambda seed: Transolver(
        2, 1, 3, 8, 1, n_heads=1, n_slices=5, axis_kinds="node", seed=seed
    ),
    "softmax-2d": lambda seed: PointTransformer(
        2, 1, 2, 8, 2, n_heads=2, axis_kinds=("node", "periodic"), seed=seed
    ),
    "galerkin-2d": lambda seed: PointTransformer(
        2, 1, 2, 8, 2, attention="galerkin", n_heads=2, axis_kinds="node", seed=seed
    ),
    "UNet-1d": lambda seed: UNet(2, 1, 4, 8, 3, dimension=1, axis_kinds="left", seed=seed),
    "UNet-2d": lambda seed: UNet(2, 1, 4, (4, 8), 2, axis_kinds=("periodic", "node"), seed=seed),
    "UNet-3d": lambda seed: UNet(2, 1, 2, 4, 2, dimension=3, axis_kinds="node", seed=seed),
    "UNet-points": lambda seed: UNet(
        2, 1, 4, n_levels=2, scales="points", norm="quad", axis_kinds="node", seed=seed
    ),
    "DeepONet-1d": lambda seed: DeepONet(2, 2, 1, 8, axis_kinds="cell", seed=seed),
    "DeepONet-2d": lambda seed: DeepONet(2, 1, 2, 8, axis_kinds="node", seed=seed),
}


@pytest.fixture(params=sorted(MODELS))
def make(request):
    return MODELS[request.param]


def field(model, dtype=torch.float32, batch=2):
    dimension = getattr(model, "dimension", None) or len(model.n_modes)
    shape = {1: (16,), 2: (9, 10), 3: (7, 6, 8)}[dimension]
    draw = torch.Generator().manual_seed(3)
    return torch.randn(batch, 2, *shape, generator=draw, dtype=torch.float64).to(dtype)


def test_saved_and_loaded_bit_for_bit(make, tmp_path):
    model = make(0)
    x = field(model)
    assert not torch.equal(model(x), make(1)(x))
    save_model(model, tmp_path / "model")
    assert torch.equal(load_model(tmp_path / "model")(x), model(x))


def test_single_and_double_precision_agree(make):
    model = make(0)
    single = model(field(model))
    assert single.dtype == torch.float32
    double = model.double()(field(model, torch.float64))
    assert double.dtype == torch.float64
    assert torch.allclose(single.double(), double, atol=2e-4, rtol=2e-4)
    assert double.abs().max() > 1e-3


def test_a_sample_does_not_depend_on_its_batch(make):
    model = make(0).double()
    x = field(model, torch.float64, batch=3)
    whole = model(x)
    assert torch.allclose(model(x[1:2]), whole[1:2], atol=1e-12)
    assert model(x[:0]).shape == (0, *whole.shape[1:])


def test_memory_order_does_not_matter(make):
    model = make(0).double()
    x = field(model, torch.float64)
    strided = x.movedim(1, -1).contiguous().movedim(-1, 1)
    twice = torch.stack([x, x], -1)[..., 0]
    assert not strided.is_contiguous()
    assert not twice.is_contiguous()
    assert torch.allclose(model(strided), model(x), atol=1e-12)
    assert torch.allclose(model(twice), model(x), atol=1e-12)


def test_every_weight_has_a_gradient(make):
    model = make(0)
    model(field(model)).square().mean().backward()
    without = [name for name, p in model.named_parameters() if p.grad is None]
    assert without == []
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


def test_complex_integer_and_wrong_fields_are_refused(make):
    model = make(0)
    x = field(model)
    with pytest.raises(TypeError, match="complex"):
        model(x.to(torch.complex64))
    with pytest.raises(TypeError, match="wanted a floating type"):
        model(x.to(torch.int32))
    with pytest.raises(ValueError, match="wanted 2"):
        model(x[:, :1])
    with pytest.raises(TypeError, match="the weights are torch"):
        model(x.double())
    with pytest.raises(TypeError, match="got ndarray"):
        model(x.numpy())


def test_a_grid_of_another_shape_is_refused(make):
    model = make(0)
    x = field(model)
    with (
        on_grid((5,) * (x.ndim - 2), axis_kinds="node"),
        pytest.raises(ValueError, match="the weights are for"),
    ):
        model(x)


@pytest.mark.parametrize(
    "name", ["FNO", "DeepONet", "PointTransformer", "Transolver", "UNet", "GlobalPooling"]
)
def test_files_find_the_class_by_name(name):
    assert registered_class(name) is getattr(sciml.operators, name)


@pytest.mark.parametrize(
    "model",
    [
        Transolver(2, 1, 2, 8, 1, n_heads=2, seed=0),
        PointTransformer(2, 1, 2, 8, 1, n_heads=2, seed=0),
        UNet(2, 1, 4, 4, 2, seed=0),
        DeepONet(2, 1, 2, 8, seed=0),
        GlobalPooling(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_without_a_kind_nothing_is_guessed(model):
    with pytest.raises(ValueError, match=r"never guessed.*node: both ends"):
        model(torch.rand(1, 2, 8, 8))


QUADRATURE = {
    "Transolver": lambda q: Transolver(
        2, 1, 2, 8, 2, n_heads=2, n_slices=5, quadrature=q, axis_kinds="cell", seed=0
    ),
    "softmax": lambda q: PointTransformer(
        2, 1, 2, 8, 2, n_heads=2, quadrature=q, axis_kinds="cell", seed=0
    ),
    "galerkin": lambda q: PointTransformer(
        2, 1, 2, 8, 2, attention="galerkin", n_heads=2, quadrature=q, axis_kinds="cell", seed=0
    ),
    "UNet": lambda q: UNet(2, 1, 4, 4, 2, quadrature=q, axis_kinds="cell", seed=0),
    "DeepONet": lambda q: DeepONet(2, 1, 2, 8, quadrature=q, axis_kinds="cell", seed=0),
}


@pytest.mark.parametrize("name", sorted(QUADRATURE))
def test_where_points_count_alike_it_is_the_plain_model(name):
    weighted, plain = (QUADRATURE[name](q).double() for q in (True, False))
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 2, 8, 8)))
    assert torch.allclose(weighted(x), plain(x), atol=1e-13)
    with on_grid((8, 8), axis_kinds="node"):
        gap = (weighted(x) - plain(x)).abs().max()
    assert gap > 1e-5  # positions are the same: only the weights differ for the first four
