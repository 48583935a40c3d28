"""A physics-informed network with weights from the tangent kernel, for advection.

S. Wang, X. Yu and P. Perdikaris, J. Comput. Phys. 449, 110768 (2022): every part of the loss is
weighted by the trace of the whole kernel over that of its own block, here every 500 steps. The
network is that of the learned propagators.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from sciml.propagators.features import Inputs
from sciml.propagators.gated_mlp import GatedMLP

_EVERY = 500
_SAMPLED = 64


class AdvectionPINN(torch.nn.Module):
    """u(t, x) of u_t + c u_x = 0 as a network."""

    def __init__(
        self, speed: float, box: tuple[float, float], final_time: float, periodic: bool, seed: int
    ) -> None:
        super().__init__()
        self.speed, self.box, self.final_time = speed, box, final_time
        self.periodic = periodic
        self.inputs = Inputs([box], ("x",), periodic=periodic, final_time=final_time)
        self.network = GatedMLP(self.inputs.count, 1, 64, 4, seed=seed)

    def jet(self, t: torch.Tensor, x: torch.Tensor, words: tuple[str, ...]):
        """Values and derivatives."""
        found = self.network.jet(self.inputs.jet(t, x[:, None], None, words))
        return {w: v[:, 0] for w, v in found.items()}

    def residual(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """u_t + c u_x."""
        jet = self.jet(t, x, ("", "t", "x"))
        return jet["t"] + self.speed * jet["x"]

    def value(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Field."""
        return self.jet(t, x, ("",))[""]


class BalancedLoss:
    """Residual, initial values and inflow, weighted by traces of the tangent kernel."""

    def __init__(self, start: Any) -> None:
        self.start, self.step = start, 0
        self.weights: dict[str, float] = {}

    def parts(self, model: AdvectionPINN, batch: Any) -> dict[str, torch.Tensor]:
        """Errors at the points of a batch."""
        t, x, u0 = batch
        zero = torch.zeros_like(t)
        errors = {
            "residual": model.residual(t, x),
            "initial": model.value(zero, x) - u0,
        }
        if not model.periodic:
            errors["inflow"] = model.value(t, torch.full_like(t, model.box[0]))
        return errors

    def __call__(self, model: Any, batch: Any):
        if self.step % _EVERY == 0:
            self._balance(model, batch)
        self.step += 1
        squares = {n: e.square().mean() for n, e in self.parts(model, batch).items()}
        total = torch.stack([self.weights[n] * s for n, s in squares.items()]).sum()
        return total, {n: s.detach() for n, s in squares.items()}

    def _balance(self, model: AdvectionPINN, batch: Any) -> None:
        few = tuple(v[:_SAMPLED] for v in batch)
        parameters = list(model.parameters())
        traces = {}
        for name, errors in self.parts(model, few).items():
            total = 0.0
            for error in errors:
                found = torch.autograd.grad(error, parameters, retain_graph=True, allow_unused=True)
                total += sum(float(g.square().sum()) for g in found if g is not None)
            traces[name] = total / len(errors)
        whole = sum(traces.values())
        self.weights = {n: whole / max(v, 1e-12) for n, v in traces.items()}


def train_pinn(
    field: Any,
    speed: float,
    box: tuple[float, float],
    final_time: float,
    *,
    periodic: bool,
    steps: int,
    batch_size: int = 512,
    seed: int = 0,
) -> AdvectionPINN:
    """Train on the box; the initial field is sampled at random points."""
    from sciml.training import train

    model = AdvectionPINN(speed, box, final_time, periodic, seed)
    start, stop = box

    def batch(step: int, generator: torch.Generator):
        t, x = torch.rand((2, batch_size), generator=generator)
        x = start + (stop - start) * x
        u0 = torch.as_tensor(np.asarray(field.value(x.double().numpy())), dtype=torch.float32)
        return final_time * t, x, u0

    train(
        model,
        batch,
        BalancedLoss(field),
        steps=steps,
        seed=seed,
        optimizer={"name": "adam", "lr": 1e-3},
        scheduler={"name": "one_cycle", "max_lr": 1e-3},
        device="cpu",
        progress=False,
    )
    return model


def pinn_errors(model: AdvectionPINN, field: Any, times: tuple[float, ...]) -> list[float]:
    """Relative errors at several times on 4,001 staggered nodes."""
    start, stop = model.box
    x = start + (np.arange(4001) + 0.37) * (stop - start) / 4001
    found = []
    for t in times:
        with torch.no_grad():
            here = torch.as_tensor(x, dtype=torch.float32)
            u = model.value(torch.full_like(here, t), here).double().numpy()
        back = x - model.speed * t
        if model.periodic:
            back = start + np.mod(back - start, stop - start)
        exact = field.value(back)
        found.append(float(np.linalg.norm(u - exact) / np.linalg.norm(exact)))
    return found


def mean_error(errors: list[float]) -> float:
    """Mean over the times."""
    return math.fsum(errors) / len(errors)
