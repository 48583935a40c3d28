"""Darcy flow with jumps of permeability, on nodes of nested grids, and operators trained on it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import pdes
from pdes.initial.gaussian_random_field import gaussian_random_field

HIGH, LOW = 12.0, 3.0


def samples(count: int, cells: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Permeability and pressure at the nodes of ``cells`` cells a side.

    The random field is drawn on nodes and centers at once. The equation is solved by finite volumes
    with the permeability at the centers; the pressure at a node is the mean of the cells around it,
    and 0 on the boundary.

    Returns
    -------
    pair of ndarray, shape (count, cells + 1, cells + 1)
    """
    rng = np.random.default_rng(seed)
    fields = np.stack(
        [
            gaussian_random_field(
                (2 * cells + 1,) * 2, tau=3.0, alpha=2.0, boundary="neumann", rng=rng
            )
            for _ in range(count)
        ]
    )
    permeability = np.where(fields >= 0.0, HIGH, LOW)
    problem: Any = dataclasses.replace(
        pdes.get("darcy", cells=cells), coefficients={"a": permeability[:, 1::2, 1::2]}
    )
    inside = pdes.solve(problem)["u"].values
    pressure = np.zeros((count, cells + 1, cells + 1))
    pressure[:, 1:-1, 1:-1] = 0.25 * (
        inside[:, 1:, 1:] + inside[:, :-1, 1:] + inside[:, 1:, :-1] + inside[:, :-1, :-1]
    )
    return permeability[:, ::2, ::2], pressure


def tensors(a: np.ndarray, u: np.ndarray, points: int) -> tuple[Any, Any]:
    """Every so many nodes, scaled, as (sample, channel, x, y) in single precision."""
    import torch

    step = (a.shape[1] - 1) // (points - 1)
    scaled = (a[:, None, ::step, ::step] - 0.5 * (HIGH + LOW)) / (0.5 * (HIGH - LOW))
    # About the root mean square of the pressure.
    return torch.tensor(scaled).float(), torch.tensor(u[:, None, ::step, ::step] / 0.008).float()


def train(model: Any, x: Any, y: Any, *, steps: int, batch: int, seed: int, weights: Any) -> None:
    """AdamW, one cycle up to 4e-3, relative error in the norm of functions as the loss."""
    import torch

    from sciml.metrics import relative_l2

    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        chosen = torch.randint(len(x), (batch,), generator=generator)
        optimizer.zero_grad()
        error = relative_l2(model(x[chosen]), y[chosen], axis=(1, 2, 3), weights=weights)
        error.mean().backward()
        optimizer.step()
        schedule.step()


def errors(model: Any, a: np.ndarray, u: np.ndarray, grids: tuple[int, int]) -> dict[str, float]:
    """Mean relative errors on two nested grids, and the distance of the model from itself."""
    import torch

    from sciml.metrics import relative_l2
    from sciml.nn import quadrature_weights

    outputs, found = [], {}
    for points in grids:
        x, y = tensors(a, u, points)
        weights = quadrature_weights((points, points), axis_kinds="node").full()
        with torch.no_grad():
            outputs.append(torch.cat([model(part) for part in x.split(4)]))
        error = relative_l2(outputs[-1], y, axis=(1, 2, 3), weights=weights)
        found[f"E({points})"] = float(error.mean())
    coarse, fine = grids
    step = (fine - 1) // (coarse - 1)
    weights = quadrature_weights((coarse, coarse), axis_kinds="node").full()
    gap = relative_l2(outputs[1][..., ::step, ::step], outputs[0], axis=(1, 2, 3), weights=weights)
    return found | {"I": float(gap.mean()), "ratio": found[f"E({fine})"] / found[f"E({coarse})"]}
