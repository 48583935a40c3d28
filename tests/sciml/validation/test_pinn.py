"""The baselines that learned propagators are held against."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.func import functional_call, jacrev

from sciml.propagators import Box, Gaussian

pinn: Any = importlib.import_module("validation._pinn")
baselines: Any = importlib.import_module("validation.propagators_baselines")

LINE, CIRCLE = (-3.0, 3.0), (0.0, 2 * math.pi)


def network(*, periodic: bool = False, kind: str = "gated", **options: Any) -> Any:
    sizes = {"hidden_channels": 5, "n_layers": 2} | options
    box = CIRCLE if periodic else LINE
    return pinn.AdvectionPINN(2.0, box, 1.5, periodic=periodic, seed=0, kind=kind, **sizes)


def points(count: int = 7) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    t, x, u0 = torch.rand((3, count), generator=torch.Generator().manual_seed(3)).double()
    return 1.5 * t, 6.0 * x - 3.0, u0


@pytest.mark.parametrize(("kind", "weights"), [("gated", 13_121), ("plain", 12_737)])
def test_sizes_are_those_that_are_reported(kind, weights):
    model = network(kind=kind, hidden_channels=64, n_layers=4)
    assert model.n_parameters == sum(p.numel() for p in model.parameters()) == weights


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("kind", ["gated", "plain"])
def test_the_residual_is_that_of_advection(kind, periodic):
    model = network(kind=kind, periodic=periodic).double()
    t, x, _ = points()
    t.requires_grad_()
    x.requires_grad_()
    u_t, u_x = torch.autograd.grad(model.value(t, x).sum(), (t, x))
    torch.testing.assert_close(model.residual(t, x), u_t + 2.0 * u_x, rtol=1e-11, atol=1e-12)
    assert u_x.abs().min() > 1e-6


def test_a_periodic_network_has_the_period():
    model = network(periodic=True).double()
    t, x, _ = points()
    torch.testing.assert_close(model.value(t, x), model.value(t, x + 2 * math.pi))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("kind", ["gated", "plain"])
def test_traces_are_those_of_the_whole_kernel(kind, periodic):
    """Against ``K = J J^T`` with J of every error by every weight, in one piece."""
    model = network(kind=kind, periodic=periodic).double()
    batch = points()
    weights = {n: p.detach() for n, p in model.named_parameters()}

    class Errors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self) -> dict[str, torch.Tensor]:
            return pinn.errors_at(self.inner, batch)

    def errors(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return functional_call(Errors(), {f"inner.{n}": w for n, w in weights.items()}, ())

    blocks: Any = jacrev(errors)(weights)
    wanted = {}
    for name, slopes in blocks.items():
        jacobian = torch.cat([s.flatten(1) for s in slopes.values()], dim=1)
        wanted[name] = float(torch.trace(jacobian @ jacobian.T)) / len(jacobian)
    found = pinn.kernel_traces(model, batch)
    assert found == pytest.approx(wanted, rel=1e-10)
    assert sorted(found) == sorted(["residual", "initial", *([] if periodic else ["inflow"])])
    assert min(found.values()) > 0.0


def test_weights_balance_the_traces_every_500_steps():
    model, loss, batch = network().double(), pinn.BalancedLoss(), points()
    traces = pinn.kernel_traces(model, batch)
    total, parts = loss(model, batch)
    weighted = {n: loss.weights[n] * traces[n] for n in traces}
    assert weighted == pytest.approx(dict.fromkeys(traces, sum(traces.values())))
    assert total.item() == pytest.approx(sum(loss.weights[n] * parts[n].item() for n in parts))
    first = loss.weights
    with torch.no_grad():
        model.network.output.weight.mul_(3.0)
    for _ in range(499):
        loss(model, batch)
    assert loss.weights is first
    loss(model, batch)
    assert len(loss.history) == 2
    after = pinn.kernel_traces(model, batch)
    whole = sum(after.values())
    assert loss.weights == pytest.approx({n: whole / v for n, v in after.items()})
    assert loss.weights["residual"] != pytest.approx(first["residual"], rel=1e-2)


@pytest.mark.parametrize("periodic", [False, True])
def test_errors_are_zero_for_the_exact_field_and_one_for_none(periodic, monkeypatch):
    model = network(periodic=periodic)
    # Seven turns of the circle, so that feet have to be brought back into it.
    model.speed, times = (30.0, (0.25, 1.0)) if periodic else (1.0, (0.375, 1.5))
    field = Box(2.0, 3.5) if periodic else Box(-1.5, -0.5)
    edges = np.array([2.0, 3.5]) if periodic else np.array([-1.5, -0.5])

    def exact(t, x):
        here = (x.double() - model.speed * t.double()).numpy()
        if periodic:
            here = here % (2 * np.pi)
        return torch.as_tensor(((here > edges[0]) & (here < edges[1])).astype(float))

    monkeypatch.setattr(model, "value", exact)
    assert pinn.pinn_errors(model, field, times) == [0.0, 0.0]
    monkeypatch.setattr(model, "value", lambda t, x: torch.zeros_like(x))
    assert pinn.pinn_errors(model, field, times) == [1.0, 1.0]
    monkeypatch.setattr(model, "value", lambda t, x: 1.1 * exact(t, x))
    assert pinn.pinn_errors(model, field, times) == pytest.approx([0.1, 0.1])


def trained(steps: int, seed: int = 0) -> Any:
    model = pinn.AdvectionPINN(
        1.0, LINE, 0.5, periodic=False, seed=seed, hidden_channels=24, n_layers=2
    )
    return pinn.train_pinn(
        Gaussian(-1.0, 0.6), model, steps=steps, times=(0.25, 0.5), batch_size=128, watched=(100,),
        seed=seed,
    )  # fmt: skip


def test_training_moves_a_smooth_field():
    found = trained(800)
    assert list(found.curve) == [0, 100]
    assert found.curve[0] > 0.9
    error = pinn.mean_error(pinn.pinn_errors(found.model, Gaussian(-1.0, 0.6), (0.25, 0.5)))
    assert error < 0.5 * found.curve[100]
    assert len(found.weights) == 2


def test_training_repeats_with_its_seed():
    one, two, other = trained(20), trained(20), trained(20, seed=1)
    for a, b, c in zip(*(m.model.parameters() for m in (one, two, other)), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)


def test_trajectories_of_the_operator_are_exact():
    x = np.linspace(-3.0, 3.0, 50)
    given, wanted = baselines.gaussian_trajectories(x, 3, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    centers, widths = rng.uniform(-1.6, -0.4, 3), rng.uniform(0.15, 0.35, 3)
    for n, field in enumerate(map(Gaussian, centers, widths)):
        np.testing.assert_allclose(given[n, 0], field.value(x), atol=1e-14)
        for i, t in enumerate((0.375, 0.75, 1.125, 1.5)):
            np.testing.assert_allclose(wanted[n, i], field.value(x - t), atol=1e-14)


def test_errors_of_an_operator_are_relative_norms():
    _, wanted = baselines.gaussian_trajectories(np.linspace(-3, 3, 50), 2, np.random.default_rng(0))
    given = np.zeros((2, 1, 50))
    found = baselines.operator_errors(lambda u: torch.as_tensor(0.75 * wanted), given, wanted)
    np.testing.assert_allclose(found, np.full((2, 4), 0.25))
