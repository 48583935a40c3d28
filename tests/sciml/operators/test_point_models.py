"""Models over points: permutations, meshes, clouds, convergence, the plain layers as a limit."""

from __future__ import annotations

import math

import meshio
import numpy as np
import pytest
import skfem
import torch
from scipy.spatial import Delaunay
from torch.nn import functional

from sciml.nn import (
    mesh_quadrature_weights,
    on_grid,
    point_cloud_weights,
    quadrature_weights,
)
from sciml.operators import DeepONet, GlobalPooling, PointTransformer, Transolver
from sciml.operators.attention import GalerkinAttention, SliceAttention, SoftmaxAttention

MODELS = {
    "Transolver": lambda q=True: Transolver(
        1, 1, 2, 8, 2, n_heads=2, n_slices=6, quadrature=q, seed=0
    ),
    "softmax": lambda q=True: PointTransformer(1, 1, 2, 8, 2, n_heads=2, quadrature=q, seed=0),
    "galerkin": lambda q=True: PointTransformer(
        1, 1, 2, 8, 2, n_heads=2, attention="galerkin", quadrature=q, seed=0
    ),
    "DeepONet": lambda q=True: DeepONet(1, 1, 2, 8, quadrature=q, seed=0),
}


@pytest.fixture(params=sorted(MODELS))
def make(request):
    return MODELS[request.param]


def graded(n):
    """Points of a mesh that is fine at one corner, and its triangles."""
    s = np.linspace(0.0, 1.0, n)
    points = np.stack(np.meshgrid(s**1.7, s**0.8, indexing="ij"), -1).reshape(-1, 2)
    cells = Delaunay(points).simplices
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    return points, cells[np.abs(np.linalg.det(edges)) > 1e-12]


def values(points):
    return torch.from_numpy(np.exp(points[:, 0] * points[:, 1]) + points[:, 0]).view(1, 1, -1)


def test_points_in_another_order_give_the_output_in_that_order(make):
    model = make().double()
    points, cells = graded(7)
    weights = mesh_quadrature_weights((points, cells), cell_type="triangle").full()
    order = np.random.default_rng(1).permutation(len(points))
    x = values(points)
    turned = model(x[..., order], points[order], weights[order])
    assert torch.allclose(turned, model(x, points, weights)[..., order], atol=1e-13)
    assert not torch.allclose(model(x, points, weights[order]), model(x, points, weights))


def test_a_mesh_brings_its_points_and_weights(make):
    import meshio

    model = make().double()
    points, cells = graded(7)
    mesh = meshio.Mesh(np.column_stack([points, np.zeros(len(points))]), [("triangle", cells)])
    x = values(points)
    weights = mesh_quadrature_weights(mesh)
    assert torch.equal(model(x, grid=mesh), model(x, points, weights))


def test_on_a_graded_mesh_quadrature_converges_and_equal_weights_do_not(make):
    queries = np.random.default_rng(2).uniform(size=(5, 2))

    def at_queries(model, n):
        points, cells = graded(n)
        weights = mesh_quadrature_weights((points, cells), cell_type="triangle").full()
        if isinstance(model, DeepONet):
            return model(values(points), points, weights, queries=queries)
        # The points asked for are seen, but stand for nothing.
        every = np.concatenate([points, queries])
        share = np.concatenate([weights, np.zeros(5)])
        if not model.quadrature:
            share = np.full(len(every), 1.0)
        return model(values(every), every, share)[..., -5:]

    weighted, plain = make().double(), make(False).double()
    with torch.no_grad():
        exact = at_queries(weighted, 47)
        errors = [float((at_queries(weighted, n) - exact).norm()) for n in (8, 15, 29)]
        wrong = [float((at_queries(plain, n) - exact).norm()) for n in (8, 15, 29)]
    assert math.log2(errors[0] / errors[2]) / 2 > 1.6
    assert wrong[2] > 0.5 * wrong[0]
    assert wrong[2] > 10 * errors[2]


def test_samples_may_stand_on_points_of_their_own(make):
    model = make().double()
    rng = np.random.default_rng(3)
    points, weights = rng.uniform(size=(2, 20, 2)), rng.uniform(size=(2, 20))
    x = torch.from_numpy(rng.normal(size=(2, 1, 20)))
    both = model(x, points, torch.from_numpy(weights))
    for i in range(2):
        alone = model(x[i : i + 1], points[i], torch.from_numpy(weights[i]))
        assert torch.allclose(both[i : i + 1], alone, atol=1e-12)


def test_a_cloud_takes_voronoi_weights(make):
    model = make().double()
    points = np.random.default_rng(4).uniform(size=(40, 2))
    x = values(points)
    weights = point_cloud_weights(points, ([0, 0], [1, 1]))
    assert torch.equal(model(x, points, weights), model(x, points, weights.full()))
    # Positions alone do not tell what a point stands for.
    with pytest.raises(ValueError, match="never guessed"):
        model(x, points)


def test_bad_positions_are_refused(make):
    model = make()
    x, weights = torch.rand(2, 1, 10), np.ones(10)
    with pytest.raises(ValueError, match=r"positions have shape \(10, 3\).*wanted real \(10, 2\)"):
        model(x, np.zeros((10, 3)), weights)
    with pytest.raises(ValueError, match="come without positions"):
        model(x, grid=weights)
    places = np.zeros((10, 2))
    places[3, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        model(x, places, weights)
    with pytest.raises(ValueError, match=r"made for 2 coordinates.*shape \(10,\)"):
        model(x, grid=quadrature_weights((10,), axis_kinds="node"))
    with pytest.raises(ValueError, match="weights have shape"):
        model(x, np.zeros((10, 2)), np.ones(9))
    with pytest.raises(ValueError, match="negative or not finite"):
        model(x, np.zeros((10, 2)), -weights)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="n_heads: got 3, wanted a divisor of hidden_channels 8"):
        Transolver(1, 1, 2, 8, n_heads=3)
    with pytest.raises(ValueError, match="n_slices: got 0"):
        Transolver(1, 1, 2, n_slices=0)
    with pytest.raises(ValueError, match=r"dimension: got 2\.5"):
        Transolver(1, 1, 2.5)
    with pytest.raises(ValueError, match="attention: got 'linear'"):
        PointTransformer(1, 1, 2, attention="linear")
    with pytest.raises(ValueError, match="n_basis: got -1"):
        DeepONet(1, 1, 2, n_basis=-1)
    model = DeepONet(1, 1, 2, 8, axis_kinds="node")
    with pytest.raises(ValueError, match=r"queries: got shape \(4,\), wanted \(n, 2\)"):
        model(torch.rand(1, 1, 5, 5), queries=torch.rand(4))


# --- Layers ---------------------------------------------------------------------------------------


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).permute(0, 2, 1, 3)


def field():
    return torch.from_numpy(np.random.default_rng(5).normal(size=(2, 9, 6)))


EQUAL = torch.full((9,), 1 / 9, dtype=torch.float64)
ONES = torch.tensor([2.0, 1, 1, 1, 1, 1, 1, 1, 3], dtype=torch.float64)


def repeated(x):
    """Every point as often as its weight says."""
    return torch.cat([x[:, :1], x, x[:, -1:], x[:, -1:]], 1)


@pytest.mark.parametrize("kind", [SliceAttention, SoftmaxAttention, GalerkinAttention])
def test_a_weight_is_as_good_as_so_many_points(kind):
    torch.manual_seed(0)
    layer = kind(6, 2).double()
    x = field()
    many = layer(repeated(x), torch.full((12,), 1 / 12, dtype=torch.float64))
    assert torch.allclose(many[:, 1:10], layer(x, ONES / 12), atol=1e-13)
    assert not torch.allclose(layer(x, EQUAL), layer(x, ONES / 12), atol=1e-5)


def test_with_equal_weights_softmax_attention_is_that_of_torch():
    torch.manual_seed(0)
    layer, x = SoftmaxAttention(6, 2).double(), field()
    heads = (split(part(x), 2) for part in (layer.query, layer.key, layer.value))
    plain = functional.scaled_dot_product_attention(*heads)
    plain = layer.out(plain.permute(0, 2, 1, 3).reshape(2, 9, 6))
    assert torch.allclose(layer(x, EQUAL), plain, atol=1e-14)


def test_with_equal_weights_slices_are_those_of_the_reference():
    torch.manual_seed(0)
    layer, x = SliceAttention(6, 2, 4).double(), field()
    features, places = split(layer.features(x), 2), split(layer.places(x), 2)
    shares = torch.softmax(layer.slices(places) / layer.temperature, -1)
    tokens = torch.einsum("bhnc,bhng->bhgc", features, shares) / shares.sum(2)[..., None]
    scores = layer.query(tokens) @ layer.key(tokens).transpose(-1, -2) / math.sqrt(3)
    mixed = torch.softmax(scores, -1) @ layer.value(tokens)
    out = torch.einsum("bhgc,bhng->bhnc", mixed, shares)
    plain = layer.out(out.permute(0, 2, 1, 3).reshape(2, 9, 6))
    assert torch.allclose(layer(x, EQUAL), plain, atol=1e-14)


def test_with_equal_weights_galerkin_attention_is_a_mean():
    torch.manual_seed(0)
    layer, x = GalerkinAttention(6, 2).double(), field()
    key, value = (
        norm(split(part(x), 2))
        for norm, part in ((layer.key_norm, layer.key), (layer.value_norm, layer.value))
    )
    mixed = split(layer.query(x), 2) @ (key.transpose(-1, -2) @ value) / 9
    plain = layer.out(mixed.permute(0, 2, 1, 3).reshape(2, 9, 6))
    assert torch.allclose(layer(x, EQUAL), plain, atol=1e-14)


def test_pooling_is_the_integral_mean():
    s = torch.linspace(0, 1, 65, dtype=torch.float64)
    x = (s[:, None] ** 2 * torch.exp(s)).view(1, 1, 65, 65)
    exact = (math.e - 1) / 3
    assert float(GlobalPooling(axis_kinds="node")(x)) == pytest.approx(exact, rel=2e-4)
    assert float(GlobalPooling(axis_kinds="cell")(x)) == pytest.approx(float(x.mean()), rel=1e-14)
    half = GlobalPooling(axis_kinds="node")(x.half())
    assert half.dtype == torch.float16
    assert float(half) == pytest.approx(exact, rel=1e-3)


def test_pooling_takes_weights_of_the_call_and_no_others():
    x = torch.tensor([[[1.0, 3.0]]])
    assert float(GlobalPooling()(x, torch.tensor([3.0, 1.0]))) == 1.5
    with pytest.raises(ValueError, match="weights have shape"):
        GlobalPooling()(x, torch.ones(3))


def test_every_kind_of_mesh_brings_its_points_by_itself_and_in_a_context(make):
    points, cells = graded(4)
    model, x = make().double(), values(points)
    weights = mesh_quadrature_weights((points, cells), cell_type="triangle")
    wanted = model(x, points, weights.full())
    flat = meshio.Mesh(np.column_stack([points, np.zeros(len(points))]), [("triangle", cells)])
    simplices = skfem.MeshTri(points.T.copy(), cells.T.copy())
    for mesh in (flat, simplices, weights):
        assert torch.allclose(model(x, grid=mesh), wanted, atol=1e-12)
        with on_grid(mesh):
            assert torch.allclose(model(x), wanted, atol=1e-12)


def test_a_surface_is_not_flattened_in_silence(make):
    points, cells = graded(4)
    curved = np.column_stack([points, points[:, 0] ** 2])
    surface = mesh_quadrature_weights((curved, cells), cell_type="triangle")
    with pytest.raises(ValueError, match="have 3 that vary: make it with dimension=3"):
        make().double()(values(points), grid=surface)
