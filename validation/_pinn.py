"""A physics-informed network with weights from the tangent kernel, for advection.

S. Wang, X. Yu and P. Perdikaris, J. Comput. Phys. 449, 110768 (2022): every part of the loss is
weighted by the trace of the whole kernel over that of its own block. Here the traces are taken
every 500 steps, over 64 points of the batch. The gated network is that of the learned propagators.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from sciml.nn.seeding import seeded
from sciml.propagators.features import Inputs
from sciml.propagators.gated_mlp import GatedMLP, Jet

Kind = Literal["gated", "plain"]
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

_EVERY = 500
_SAMPLED = 64
_NODES = 4001


class PlainMLP(nn.Module):
    """Perceptron with tanh and Xavier's weights, with first derivatives by forward tangents."""

    def __init__(self, in_features: int, hidden_channels: int, n_layers: int, *, seed: int) -> None:
        super().__init__()
        widths = [in_features, *[hidden_channels] * n_layers, 1]
        self.layers = nn.ModuleList(map(nn.Linear, widths[:-1], widths[1:]))
        with seeded(seed), torch.no_grad():
            for layer in self.layers:
                nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def jet(self, inputs: Mapping[str, torch.Tensor]) -> Jet:
        """Values and first derivatives from those of the inputs."""
        *hidden, last = self.layers
        found = dict(inputs)
        for layer in hidden:
            found = _affine(layer, found)
            value = torch.tanh(found[""])
            slope = 1.0 - value.square()
            found = {w: value if w == "" else slope * z for w, z in found.items()}
        return _affine(last, found)


def _affine(layer: Any, jet: Mapping[str, torch.Tensor]) -> Jet:
    return {
        w: nn.functional.linear(z, layer.weight, layer.bias if w == "" else None)
        for w, z in jet.items()
    }


class AdvectionPINN(nn.Module):
    """u(t, x) of u_t + c u_x = 0 as a network.

    Parameters
    ----------
    speed : float
        c; positive on the line, where the field enters through the left end.
    box : (start, stop)
        Where it is trained; one period if ``periodic``.
    final_time : float
        Longest time.
    periodic : bool
        Whether positions enter by sine and cosine.
    seed : int
        Of the weights.
    kind : {"gated", "plain"}
        Network.
    hidden_channels, n_layers : int
        Width and number of hidden layers.
    """

    def __init__(
        self,
        speed: float,
        box: tuple[float, float],
        final_time: float,
        *,
        periodic: bool,
        seed: int,
        kind: Kind = "gated",
        hidden_channels: int = 64,
        n_layers: int = 4,
    ) -> None:
        super().__init__()
        self.speed, self.box, self.final_time = speed, box, final_time
        self.periodic = periodic
        self.inputs = Inputs([box], ("x",), periodic=periodic, final_time=final_time)
        count = self.inputs.count
        self.network: GatedMLP | PlainMLP = (
            GatedMLP(count, 1, hidden_channels, n_layers, seed=seed)
            if kind == "gated"
            else PlainMLP(count, hidden_channels, n_layers, seed=seed)
        )

    def jet(self, t: torch.Tensor, x: torch.Tensor, words: Iterable[str]) -> Jet:
        """Values and derivatives, shapes (n,)."""
        found = self.network.jet(self.inputs.jet(t, x[:, None], None, words))
        return {w: v[:, 0] for w, v in found.items()}

    def residual(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """u_t + c u_x."""
        jet = self.jet(t, x, ("", "t", "x"))
        return jet["t"] + self.speed * jet["x"]

    def value(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Field."""
        return self.jet(t, x, ("",))[""]

    @property
    def n_parameters(self) -> int:
        """Number of weights."""
        return sum(p.numel() for p in self.parameters())


def errors_at(model: AdvectionPINN, batch: Batch) -> dict[str, torch.Tensor]:
    """Errors of the residual, the initial values and the inflow at the points of a batch."""
    t, x, u0 = batch
    zero = torch.zeros_like(t)
    if model.periodic:
        return {"residual": model.residual(t, x), "initial": model.value(zero, x) - u0}
    # Nothing enters: all fields here vanish left of the box. One call for both sets of points.
    left = torch.full_like(t, model.box[0])
    first, inflow = model.value(torch.cat([zero, t]), torch.cat([x, left])).chunk(2)
    return {"residual": model.residual(t, x), "initial": first - u0, "inflow": inflow}


def kernel_traces(model: AdvectionPINN, batch: Batch) -> dict[str, float]:
    """Trace of every diagonal block of the tangent kernel, over its number of points.

    That of ``K = J J^T`` with ``J`` the derivatives of the errors by the weights: the sum of their
    squares. All blocks have as many points, so that ratios of traces are ratios of these.
    """
    parameters = list(model.parameters())
    traces = {}
    for name, errors in errors_at(model, batch).items():
        total = 0.0
        for error in errors:
            # The residual does not see the last bias, which has no derivative then.
            slopes = torch.autograd.grad(error, parameters, retain_graph=True, allow_unused=True)
            total += math.fsum(float(g.square().sum()) for g in slopes if g is not None)
        traces[name] = total / len(errors)
    return traces


class BalancedLoss:
    """Residual, initial values and inflow, weighted by traces of the tangent kernel.

    Attributes
    ----------
    weights : dict of str to float
        In use: trace of the whole kernel over that of the block.
    history : list of dict
        All weights so far, one every 500 steps.
    """

    def __init__(self) -> None:
        self.step = 0
        self.weights: dict[str, float] = {}
        self.history: list[dict[str, float]] = []

    def __call__(self, model: Any, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Weighted sum of mean squares, and these."""
        if self.step % _EVERY == 0:
            traces = kernel_traces(model, tuple(v[:_SAMPLED] for v in batch))  # type: ignore[arg-type]
            whole = math.fsum(traces.values())
            self.weights = {n: whole / max(v, 1e-12) for n, v in traces.items()}
            self.history.append(self.weights)
        self.step += 1
        squares = {n: e.square().mean() for n, e in errors_at(model, batch).items()}
        total = torch.stack([self.weights[n] * s for n, s in squares.items()]).sum()
        return total, {n: s.detach() for n, s in squares.items()}


@dataclass
class Trained:
    """A trained network and how it came to be.

    Attributes
    ----------
    model : AdvectionPINN
    curve : dict of int to float
        Mean relative error over the times after so many steps, 0 included.
    weights : list of dict
        See `BalancedLoss`.
    """

    model: AdvectionPINN
    curve: dict[int, float] = field(default_factory=dict)
    weights: list[dict[str, float]] = field(default_factory=list)


def train_pinn(
    u0: Any,
    model: AdvectionPINN,
    *,
    steps: int,
    times: Sequence[float],
    batch_size: int = 512,
    seed: int = 0,
    watched: Sequence[int] = (),
) -> Trained:
    """Train on fresh uniform points; the initial field is sampled at the places of the batch.

    Adam with a one-cycle rate of peak 1e-3, as the learned propagators have.

    Parameters
    ----------
    u0 : AbstractField
        Initial field.
    model : AdvectionPINN
        Trained in place.
    steps, batch_size, seed : int
        Of the training.
    times : sequence of float
        Where errors are watched.
    watched : sequence of int
        After how many steps the error is noted, besides 0.
    """
    from sciml.training import train

    start, stop = model.box
    found, loss = Trained(model), BalancedLoss()

    def note(step: int) -> None:
        found.curve[step] = mean_error(pinn_errors(model, u0, times))

    def look(state: Any) -> None:
        if state.step in watched:
            note(state.step)

    def batch(step: int, generator: torch.Generator) -> Batch:
        t, x = torch.rand((2, batch_size), generator=generator)
        x = start + (stop - start) * x
        values = torch.as_tensor(np.asarray(u0.value(x.double().numpy())), dtype=torch.float32)
        return model.final_time * t, x, values

    note(0)
    train(
        model,
        batch,
        loss,
        steps=steps,
        seed=seed,
        optimizer={"name": "adam", "lr": 1e-3},
        scheduler={"name": "one_cycle", "max_lr": 1e-3},
        callbacks=[look],
        device="cpu",
        progress=False,
    )
    found.weights = loss.history
    return found


def staggered_nodes(box: tuple[float, float], count: int = _NODES) -> np.ndarray:
    """Points of which none is where a jump usually is."""
    start, stop = box
    return start + (np.arange(count) + 0.37) * (stop - start) / count


def carried(u0: Any, model: AdvectionPINN, t: float, x: np.ndarray) -> np.ndarray:
    """Exact field at a time: the initial one at the feet."""
    foot = x - model.speed * t
    if model.periodic:
        start, stop = model.box
        foot = start + np.mod(foot - start, stop - start)
    return u0.value(foot)


def pinn_errors(
    model: AdvectionPINN, u0: Any, times: Sequence[float], count: int = _NODES
) -> list[float]:
    """Relative L2 errors at several times on staggered nodes."""
    x = staggered_nodes(model.box, count)
    here = torch.as_tensor(x, dtype=torch.float32)
    found = []
    for t in times:
        with torch.no_grad():
            u = model.value(torch.full_like(here, t), here).double().numpy()
        exact = carried(u0, model, t, x)
        found.append(float(np.linalg.norm(u - exact) / np.linalg.norm(exact)))
    return found


def mean_error(errors: Sequence[float]) -> float:
    """Mean over the times."""
    return math.fsum(errors) / len(errors)
