import numpy as np
import pytest
import torch

from sciml.nn import Quadrature, on_grid, quadrature_weights, save_model
from sciml.operators import BlendQuadNorm, QuadNorm, SpectralConv
from sciml.operators.weighted_norm import weighted_moments, weighted_norm, weighted_norm_plain

SHAPES = [
    ("node", (9,)),
    (("left", "periodic"), (6, 5)),
    ("chebyshev", (4, 5)),
    ("node", (4, 3, 5)),
]


def field(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def parameters(channels, dtype=torch.float64):
    return [field(channels, seed=s, dtype=dtype).requires_grad_() for s in (1, 2)]


@pytest.mark.parametrize(("kinds", "shape"), SHAPES)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_values_and_gradients_against_plain_operations(kinds, shape, groups, rms, last):
    weights = quadrature_weights(shape, axis_kinds=kinds)
    x = field(3, 4, *shape)
    x = x.movedim(1, -1).contiguous().movedim(-1, 1) if last else x
    inputs = [x.requires_grad_(), *parameters(4)]
    own = weighted_norm(*inputs, weights, groups, 1e-5, rms)
    plain = weighted_norm_plain(*inputs, weights, groups, 1e-5, rms)
    assert torch.allclose(own, plain, rtol=1e-12, atol=1e-12)
    assert own.movedim(1, -1).is_contiguous() == last
    g = field(*own.shape, seed=3)
    for one, other in zip(
        torch.autograd.grad(own, inputs, g), torch.autograd.grad(plain, inputs, g), strict=True
    ):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_gradcheck_and_statistics():
    weights = quadrature_weights((5, 6), axis_kinds=("node", "left"))
    x = field(2, 2, 5, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda *t: weighted_norm(*t, weights, 2), (x, *parameters(2)))
    layer = QuadNorm(2, 1, grid=weights, differentiable_twice=True).double()
    assert torch.autograd.gradgradcheck(layer, x)
    y = QuadNorm(2, grid=weights, eps=0.0).double()(x).detach()
    full = torch.from_numpy(weights.full())
    assert (y * full).sum((2, 3)).abs().max() < 1e-14
    assert ((y**2 * full).sum((2, 3)) - 1).abs().max() < 1e-13


def test_first_derivative_only():
    layer = QuadNorm(1, axis_kinds="node")
    x = torch.rand(1, 1, 5, requires_grad=True)
    (slope,) = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


@pytest.mark.parametrize("kind", ["periodic", "cell"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_known_layers_where_points_count_alike(kind, dtype):
    tolerance = 1e-6 if dtype is torch.float32 else 1e-12
    x = field(3, 8, 6, 7, dtype=dtype)
    instance = torch.nn.functional.instance_norm(x)
    assert (QuadNorm(8, axis_kinds=kind).to(dtype)(x) - instance).abs().max() <= tolerance
    layer = torch.nn.functional.group_norm(x, 2)
    assert (QuadNorm(8, 2, axis_kinds=kind).to(dtype)(x) - layer).abs().max() <= tolerance


def test_permuted_points_and_points_of_each_sample():
    order = torch.randperm(20, generator=torch.Generator().manual_seed(0))
    x, w = field(2, 3, 20), field(20).abs()
    layer = QuadNorm(3).double()
    assert torch.allclose(layer(x[..., order], w[order]), layer(x, w)[..., order], atol=1e-13)
    own = field(2, 20, seed=4).abs()
    both = layer(x, own)
    for i in range(2):
        assert torch.allclose(both[i], layer(x[i : i + 1], own[i])[0], atol=1e-13)
    grown = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(layer(grown, own).pow(3).sum(), grown)
    plain = QuadNorm(3, differentiable_twice=True).double()
    (wanted,) = torch.autograd.grad(plain(grown, own).pow(3).sum(), grown)
    assert torch.allclose(slope, wanted, atol=1e-12)


def test_blend_ends_at_both_layers():
    x = field(2, 4, 9)
    weights = quadrature_weights((9,), axis_kinds="node")
    for alpha, wanted in (
        (0.0, torch.nn.functional.group_norm(x, 1)),
        (1.0, QuadNorm(4, grid=weights).double()(x)),
    ):
        found = BlendQuadNorm(4, alpha, grid=weights).double()(x)
        assert torch.allclose(found, wanted, atol=1e-12)
    with pytest.raises(ValueError, match=r"alpha: got 1\.5"):
        BlendQuadNorm(4, 1.5)


def test_constant_channel_gives_beta_and_a_finite_gradient():
    layer = QuadNorm(2, axis_kinds="node")
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([0.5, -2.0]))
    x = torch.full((1, 2, 9, 9), 3.7, requires_grad=True)
    y = layer(x)
    assert torch.allclose(y, layer.bias.view(1, 2, 1, 1).expand_as(y), atol=1e-3)
    y.square().sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sums_in_single(dtype):
    s = torch.linspace(0, 1, 513, dtype=torch.float64)
    x = (20 + torch.sin(3 * s)).view(1, 1, -1).to(dtype)
    weights = quadrature_weights((513,), axis_kinds="node")
    for low, high in zip(
        weighted_moments(x, weights, 1), weighted_moments(x.double(), weights, 1), strict=True
    ):
        assert low.dtype == torch.float32
        assert low.item() == pytest.approx(high.item(), rel=1e-3)
    assert QuadNorm(1, grid=weights)(x).dtype == dtype


def test_memory_orders_batch_of_one_and_empty_batch():
    layer = QuadNorm(3, axis_kinds="node")
    x = field(2, 3, 6, 5, dtype=torch.float32)
    wanted = layer(x)
    for other in (
        x.to(memory_format=torch.channels_last),
        x.transpose(2, 3).contiguous().transpose(2, 3),
        x.repeat_interleave(2, 0)[::2],
    ):
        assert torch.allclose(layer(other), wanted, atol=1e-6)
    assert torch.allclose(layer(x[:1]), wanted[:1], atol=1e-6)
    assert layer(x[:0]).shape == (0, 3, 6, 5)


def test_bad_input():
    layer = QuadNorm(3)
    with pytest.raises(ValueError, match=r"QuadNorm: axis_kinds.*periodic"):
        layer(torch.rand(1, 3, 8))
    with pytest.raises(TypeError, match="complex"):
        layer(torch.rand(1, 3, 8, dtype=torch.complex64))
    with pytest.raises(TypeError, match=r"x\.float"):
        layer(torch.ones(1, 3, 8, dtype=torch.int64))
    with pytest.raises(ValueError, match="got 4 channels"):
        layer(torch.rand(1, 4, 8), np.ones(8))
    with pytest.raises(ValueError, match="one or more axes"):
        layer(torch.rand(1, 3))
    with pytest.raises(TypeError, match=r"wanted a torch\.Tensor"):
        layer(np.ones((1, 3, 8)))
    with pytest.raises(ValueError, match="groups: got 2"):
        QuadNorm(3, 2)
    per_sample = Quadrature([np.ones((2, 8))], per_sample=True)
    with pytest.raises(ValueError, match="2 samples, the batch has 3"):
        layer(torch.rand(3, 3, 8), per_sample)
    with (
        on_grid((9,), axis_kinds="node"),
        pytest.raises(ValueError, match=r"weights are for \(9,\)"),
    ):
        layer(torch.rand(1, 3, 8))


# --- With a Fourier layer ------------------------------------------------------------------------


@pytest.mark.parametrize("fourier", ["quadrature", "periodic"])
@pytest.mark.parametrize("method", ["matmul", "fft"])
@pytest.mark.parametrize(("groups", "rms"), [(4, False), (1, False), (2, True)])
def test_norm_from_modes_is_the_norm_of_the_field(fourier, method, groups, rms):
    weights = quadrature_weights((9, 13), axis_kinds="node")
    conv = SpectralConv(3, 4, (3, 4), fourier=fourier, method=method, bias=groups != 4).double()
    norm = QuadNorm(4, groups, rms=rms).double()
    skip = field(4, 3, seed=9).requires_grad_()
    x = field(2, 9, 13, 3).requires_grad_()
    inputs = [x, skip, *conv.parameters(), *norm.parameters()]
    own = conv.channels_last(x, weights, skip, norm)
    plain = norm(conv.channels_last(x, weights).movedim(-1, 1), weights).movedim(1, -1) + x @ skip.T
    assert torch.allclose(own, plain, atol=1e-12)
    g = field(*own.shape, seed=3)
    for one, other in zip(
        torch.autograd.grad(own, inputs, g), torch.autograd.grad(plain, inputs, g), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-10)


@pytest.mark.parametrize(
    ("kinds", "shape", "modes"),
    [
        ("periodic", (16,), (16,)),
        ("periodic", (8, 12), (5, 6)),
        (("cell", "node"), (16, 17), (6, 7)),
        (("left", "periodic", "cell"), (8, 6, 12), (4, 5, 6)),
    ],
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_fast_transform_gives_the_same_numbers(kinds, shape, modes, dtype, tolerance):
    layers = [
        SpectralConv(2, 3, modes, axis_kinds=kinds, method=m).to(dtype) for m in ("matmul", "fft")
    ]
    layers[1].load_state_dict(layers[0].state_dict())
    x = field(2, 2, *shape, dtype=dtype)
    one, other = (layer(x) for layer in layers)
    assert (one - other).abs().max() <= tolerance * one.abs().max()


def test_fast_transform_is_refused_where_it_cannot_be():
    layer = SpectralConv(1, 1, 4, axis_kinds="node", period=1.3, method="fft")
    with pytest.raises(ValueError, match="method 'fft' needs equal distances"):
        layer(torch.rand(1, 1, 18))
    with pytest.raises(ValueError, match=r"period: got 0\.5"):
        SpectralConv(1, 1, 4, period=0.5)
    with pytest.raises(ValueError, match="n_modes: got"):
        SpectralConv(1, 1, (4, 4, 4, 4))


def test_coefficients_are_integrals_on_any_points():
    """A wave of the period on graded points: its coefficient is 1, whatever the points."""
    from sciml.nn import SampleGrid

    layer = SpectralConv(1, 1, 4, period=1.0, bias=False).double()
    with torch.no_grad():
        layer.weight.zero_()
        layer.weight[1, 0, 0] = 1.0  # keep mode 1 alone
    errors = []
    for n in (65, 129):
        s = np.linspace(0, 1, n) ** 1.5
        grid = SampleGrid.of_coordinates([s], "nonuniform")
        x = torch.from_numpy(3 + np.cos(2 * np.pi * s) + np.sin(4 * np.pi * s)).view(1, 1, -1)
        kept = layer(x, grid).view(-1).detach().numpy()
        errors.append(np.abs(kept - np.cos(2 * np.pi * s)).max())
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)


def test_layers_are_written_and_read(tmp_path):
    from sciml.nn import load_model
    from sciml.operators import FNO

    model = FNO(1, 1, 4, (4, 4), 2, norm="quad", axis_kinds=("node", "left"), seed=0)
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    again = again[0] if isinstance(again, tuple) else again
    x = field(1, 1, 9, 8, dtype=torch.float32)
    assert torch.equal(model(x), again(x))


def test_blend_takes_double_precision_as_quad_norm_does():
    layer, x = BlendQuadNorm(3, axis_kinds="node"), torch.rand(2, 3, 9, dtype=torch.float64)
    y = layer(x)
    assert y.dtype == torch.float64
    assert torch.allclose(y, BlendQuadNorm(3, axis_kinds="node").double()(x), atol=1e-12)
    assert QuadNorm(3, axis_kinds="node")(x).dtype == torch.float64


@pytest.mark.parametrize("layer", [QuadNorm, BlendQuadNorm])
def test_misspelled_kinds_are_refused_at_once(layer):
    with pytest.raises(ValueError, match="Did you mean 'node'"):
        layer(2, axis_kinds="nodes")
    with pytest.raises(ValueError, match="Did you mean 'periodic'"):
        layer(2, axis_kinds=("node", "periodical"))
