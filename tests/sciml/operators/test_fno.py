import numpy as np
import pytest
import torch

from sciml.nn import on_grid, quadrature_weights
from sciml.operators import FNO, QuadNorm, SpectralConv
from sciml.operators.fno import NORMS


def peer_state(in_channels=2, width=4, n_modes=(4, 6), layers=2, generator=None):
    """State in the layout of neuraloperator 2.0: dense complex weights, zero mode in the middle."""
    g = generator or torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=g)  # noqa: E731
    kept = (*n_modes[:-1], n_modes[-1] // 2 + 1)
    state = {}
    for i in range(layers):
        state[f"fno_blocks.convs.{i}.bias"] = draw(width, *(1,) * len(n_modes))
        state[f"fno_blocks.convs.{i}.weight.tensor"] = torch.complex(
            draw(width, width, *kept), draw(width, width, *kept)
        )
        state[f"fno_blocks.fno_skips.{i}.conv.weight"] = draw(width, width, 1)
        state[f"fno_blocks.channel_mlp.{i}.fcs.0.weight"] = draw(width // 2, width, 1)
        state[f"fno_blocks.channel_mlp.{i}.fcs.0.bias"] = draw(width // 2)
        state[f"fno_blocks.channel_mlp.{i}.fcs.1.weight"] = draw(width, width // 2, 1)
        state[f"fno_blocks.channel_mlp.{i}.fcs.1.bias"] = draw(width)
        state[f"fno_blocks.channel_mlp_skips.{i}.weight"] = draw(1, width, *(1,) * len(n_modes))
    for name, sizes in (
        ("lifting", (in_channels + len(n_modes), 2 * width, width)),
        ("projection", (width, 2 * width, 1)),
    ):
        for j in range(2):
            state[f"{name}.fcs.{j}.weight"] = draw(sizes[j + 1], sizes[j], 1)
            state[f"{name}.fcs.{j}.bias"] = draw(sizes[j + 1])
    return state


def peer_forward(state, x, layers=2):
    """What neuraloperator computes with these weights, written with plain fast transforms."""
    gelu = torch.nn.functional.gelu
    axes = range(2, x.ndim)
    places = torch.meshgrid(*[torch.arange(n) / n for n in x.shape[2:]], indexing="ij")
    h = torch.cat([x, torch.stack(places)[None].expand(len(x), -1, *x.shape[2:])], 1)

    def pointwise(name, h, middle=True):
        for j in range(2):
            weight, bias = state[f"{name}.fcs.{j}.weight"][..., 0], state[f"{name}.fcs.{j}.bias"]
            h = torch.einsum("oi,bi...->bo...", weight, h) + bias.view(1, -1, *(1,) * len(axes))
            h = gelu(h) if j == 0 else h
        return h

    h = pointwise("lifting", h)
    for i in range(layers):
        weight = state[f"fno_blocks.convs.{i}.weight.tensor"]
        c = torch.fft.fftshift(torch.fft.rfftn(h, dim=list(axes), norm="forward"), list(axes)[:-1])
        out = torch.zeros_like(c)
        at = [slice(None), slice(None)]
        for axis, n in zip(list(axes)[:-1], weight.shape[2:-1], strict=True):
            at.append(slice(c.shape[axis] // 2 - n // 2, c.shape[axis] // 2 - n // 2 + n))
        at.append(slice(0, weight.shape[-1]))
        out[tuple(at)] = torch.einsum("bi...,io...->bo...", c[tuple(at)], weight)
        out = torch.fft.ifftshift(out, list(axes)[:-1])
        y = torch.fft.irfftn(out, s=h.shape[2:], dim=list(axes), norm="forward")
        y = y + state[f"fno_blocks.convs.{i}.bias"]
        y = y + torch.einsum(
            "oi,bi...->bo...", state[f"fno_blocks.fno_skips.{i}.conv.weight"][..., 0], h
        )
        y = gelu(y) if i < layers - 1 else y
        y = pointwise(f"fno_blocks.channel_mlp.{i}", y)
        y = y + state[f"fno_blocks.channel_mlp_skips.{i}.weight"] * h
        h = gelu(y) if i < layers - 1 else y
    return pointwise("projection", h)


def field(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("shape", "modes"), [((16, 16), (4, 6)), ((7, 10), (4, 6)), ((8, 8), (3, 5))]
)
def test_weights_of_neuraloperator_give_its_outputs(shape, modes):
    state = peer_state(n_modes=modes)
    x = field(3, 2, *shape, dtype=torch.float32)
    model = FNO.from_neuraloperator(state, axis_kinds="periodic")
    wanted = peer_forward(state, x)
    found = model(x)
    assert torch.linalg.norm(found - wanted) <= 1e-5 * torch.linalg.norm(wanted)
    assert model.n_modes == (*modes[:-1], 2 * (modes[-1] // 2))


def test_weights_that_do_not_fit_are_refused():
    state = peer_state()
    with pytest.raises(ValueError, match=r"no place.*extra"):
        FNO.from_neuraloperator(state | {"extra": torch.ones(2)}, axis_kinds="periodic")
    factored = {k.replace("weight.tensor", "weight.core"): v for k, v in state.items()}
    with pytest.raises(ValueError, match="factorized"):
        FNO.from_neuraloperator(factored, axis_kinds="periodic")
    with pytest.raises(ValueError, match="domain_padding"):
        FNO.from_neuraloperator(state | {"_metadata": {"domain_padding": 0.1}})


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(9,), (8, 9), (6, 7, 8)])
def test_gradients(norm, shape):
    model = FNO(1, 2, 4, (3,) * len(shape), 2, norm=norm, axis_kinds="node", seed=0).double()
    x = field(2, 1, *shape).requires_grad_()
    out = model(x)
    assert out.shape == (2, 2, *shape)
    direction, g = field(*x.shape, seed=1), field(*out.shape, seed=2)
    (slope,) = torch.autograd.grad(out, x, g)
    step = 1e-6
    with torch.no_grad():
        change = (model(x + step * direction) - model(x - step * direction)) / (2 * step)
    assert (slope * direction).sum().item() == pytest.approx((g * change).sum().item(), rel=1e-6)


def test_seed_leaves_the_global_generator_alone():
    before = torch.random.get_rng_state()
    one, two = FNO(1, 1, 4, 4, seed=5), FNO(1, 1, 4, 4, seed=5)
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_grid_from_a_context_and_from_the_call():
    model = FNO(1, 1, 4, (4, 4), norm="quad", seed=0)
    x = field(1, 1, 8, 9, dtype=torch.float32)
    with pytest.raises(ValueError, match=r"axis_kinds.*never guessed"):
        model(x)
    with on_grid((8, 9), axis_kinds=("periodic", "node")) as grid:
        inside = model(x)
    assert torch.equal(inside, model(x, grid))
    other = FNO(1, 1, 4, (4, 4), norm="quad", seed=0, axis_kinds=("periodic", "node"))
    assert torch.equal(inside, other(x))


@pytest.mark.parametrize("norm", [None, "quad_layer"])
def test_transfer_between_grids_is_of_second_order(norm):
    model = FNO(1, 1, 8, 8, 4, norm=norm, axis_kinds="node", channel_mlp=False, seed=0).double()

    def at(points):
        s = torch.linspace(0, 1, points, dtype=torch.float64)
        return (torch.exp(s) * torch.cos(3 * s)).view(1, 1, -1)

    with torch.no_grad():
        fine = model(at(513))
        errors = [
            float((model(at(m)) - fine[..., :: 512 // (m - 1)]).norm() / (m - 1) ** 0.5)
            for m in (33, 65, 129)
        ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 1.9)


def test_plain_fast_transform_is_the_periodic_choice():
    layer = SpectralConv(2, 3, (4, 6), axis_kinds="node", fourier="periodic").double()
    twin = SpectralConv(2, 3, (4, 6), axis_kinds="periodic").double()
    twin.load_state_dict(layer.state_dict())
    x = field(2, 2, 9, 12)
    assert torch.equal(layer(x), twin(x))


def test_state_holds_no_weights_of_the_grid():
    model = FNO(1, 1, 4, (4, 4), norm="quad", axis_kinds="node", seed=0)
    before = set(model.state_dict())
    model(field(1, 1, 8, 9, dtype=torch.float32))
    assert set(model.state_dict()) == before
    assert not any("grid" in name or "quadrature" in name for name in before)


def test_bad_arguments_and_inputs():
    with pytest.raises(ValueError, match="hidden_channels: got 0"):
        FNO(1, 1, 0, 4)
    with pytest.raises(ValueError, match="norm: got 'batch'"):
        FNO(1, 1, 4, 4, norm="batch")  # type: ignore[arg-type]
    model = FNO(1, 1, 4, (8, 8), axis_kinds="periodic")
    with pytest.raises(ValueError, match=r"n_modes: 8 along axis 0 .*at most 7"):
        model(torch.rand(1, 1, 6, 16))
    with pytest.raises(TypeError, match="complex"):
        model(torch.rand(1, 1, 16, 16, dtype=torch.complex64))
    with pytest.raises(TypeError, match=r"model\.to\(x\.dtype\)"):
        model(torch.rand(1, 1, 16, 16, dtype=torch.float64))
    with pytest.raises(ValueError, match="got 2 channels"):
        model(torch.rand(1, 2, 16, 16))
    with pytest.raises(ValueError, match="with 2 axes"):
        model(torch.rand(1, 1, 16))
    with pytest.raises(ValueError, match="tensor grid"):
        model(torch.rand(1, 1, 16, 16), np.ones((16, 16)))


def test_half_precision_empty_batch_and_strides():
    model = FNO(1, 1, 4, (4, 4), norm="quad_layer", axis_kinds="node", seed=0)
    x = field(2, 1, 10, 9, dtype=torch.float32)
    assert model(x[:0]).shape == (0, 1, 10, 9)
    strided = x.transpose(2, 3).contiguous().transpose(2, 3)
    assert torch.allclose(model(strided), model(x), atol=1e-6)
    assert torch.allclose(model(x.bfloat16()), model(x), atol=0.05)
    assert torch.allclose(model(x[:1]), model(x)[:1], atol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_autocast_leaves_integrals_in_single_precision(norm):
    model = FNO(1, 1, 8, (4, 4), 2, norm=norm, axis_kinds="node", seed=0)
    x = field(2, 1, 17, 17, dtype=torch.float32)
    wanted = model(x)
    with torch.autocast("cpu", torch.bfloat16):
        found = model(x)
        layer = QuadNorm(1, axis_kinds="node")(100 + x)
    assert (found.float() - wanted).norm() < 0.03 * wanted.norm()
    found.float().square().mean().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    assert torch.allclose(layer, QuadNorm(1, axis_kinds="node")(x), atol=1e-4)


def test_solids_are_left_out_of_the_integrals():
    weights = quadrature_weights((12, 9), axis_kinds=("periodic", "node"))
    mask = np.ones((12, 9))
    mask[3:6, 2:5] = 0
    masked = weights.masked(mask)
    layer = SpectralConv(1, 1, (4, 4)).double()
    x = field(1, 1, 12, 9)
    solid = torch.from_numpy(mask == 0)
    other = torch.where(solid, 100.0 + x, x)
    assert torch.allclose(layer(x, masked), layer(other, masked), atol=1e-10)
    assert not torch.allclose(layer(x, weights), layer(other, weights), atol=1e-3)
