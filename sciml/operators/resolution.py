"""What a model does on other grids than its own, measured and predicted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from sciml.metrics import relative_l2
from sciml.nn.quadrature import Quadrature, on_grid, quadrature_weights
from sciml.operators.common_nodes import common_nodes
from sciml.operators.layer_watch import NORMALIZATIONS, watched
from sciml.operators.norm_prediction import predicted_mismatch
from sciml.theory.quadrature import transfer_bound

__all__ = ["GridRow", "ResolutionGap", "fitted_order", "resolution_gap"]

_LOOKED_AT = 4
"""Samples from which the share of normalizations is predicted."""


@dataclass(frozen=True, kw_only=True)
class GridRow:
    """What a model does on one grid.

    Attributes
    ----------
    points : tuple of int
        Shape of the grid.
    step : float
        Largest distance of neighboring points over the length.
    error : float
        Mean relative L2 error by quadrature; not-a-number without a truth.
    inconsistency : float
        I, the relative distance from the model on the first grid, on common points.
    predicted_normalization : float
        What normalizations with equal weights add to that, first order in 1/M, all layers together.
    """

    points: tuple[int, ...]
    step: float
    error: float
    inconsistency: float
    predicted_normalization: float


@dataclass(frozen=True, kw_only=True)
class ResolutionGap:
    """Errors and self-inconsistency of a model over grids; `print` it or `plot` it.

    Attributes
    ----------
    rows : tuple of GridRow
        The first is the grid that the others are held against.
    order : float
        Order at which outputs approach that of the finest grid, fitted; not-a-number with fewer
        than three grids.
    layers : mapping of str to float
        Predicted mismatch of every normalization between the coarsest and the finest grid.
    """

    rows: tuple[GridRow, ...]
    order: float
    layers: dict[str, float]

    @property
    def degradation(self) -> float:
        """Error on the finest grid over that on the first."""
        finest = min(self.rows, key=lambda row: row.step)
        return finest.error / self.rows[0].error

    def __str__(self) -> str:
        head = f"{'grid':>14}  {'error':>9}  {'over first':>10}  {'I':>9}  {'predicted norm':>14}"
        lines = [head]
        for row in self.rows:
            grid = " x ".join(map(str, row.points))
            lines.append(
                f"{grid:>14}  {row.error:9.3e}  {row.error / self.rows[0].error:10.3f}  "
                f"{row.inconsistency:9.2e}  {row.predicted_normalization:14.2e}"
            )
        lines.append(f"order of the outputs: {self.order:.2f}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw errors, I and the predicted share of normalizations against the step.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting.resolution import plot_resolution_gap

        return plot_resolution_gap(self, ax)


def resolution_gap(
    model: nn.Module,
    sample_at: Callable[[Any], Any],
    grids: Sequence[Any],
    *,
    axis_kinds: str | Sequence[str] | None = None,
    batch_size: int | None = None,
) -> ResolutionGap:
    """Use a model on several grids and say how far it is from the truth and from itself.

    Parameters
    ----------
    model : Module
        Any model of fields (batch, channels, *points). It is called inside `sciml.nn.on_grid`.
    sample_at : callable
        ``sample_at(grid) -> (inputs, truth)`` or ``-> inputs``: the same samples on each grid.
    grids : sequence
        The first is the one the model was trained on. Shapes (with ``axis_kinds``), `SampleGrid`,
        `pdes.Grid` or `Quadrature` of tensor grids that are nested.
    axis_kinds : str or sequence of str, optional
        For grids that are shapes.
    batch_size : int, optional
        Samples at once, to save memory.

    Returns
    -------
    ResolutionGap

    Raises
    ------
    ValueError
        If there are fewer than two grids, or they share too few points.

    Examples
    --------
    >>> from sciml.operators import FNO
    >>> def sample_at(grid):
    ...     return torch.exp(torch.linspace(0, 1, grid[0], dtype=torch.float64)).view(1, 1, -1)
    >>> grids = [(33,), (65,), (129,), (257,)]
    >>> for norm in ("instance", "quad"):
    ...     model = FNO(1, 1, 8, 8, 2, norm=norm, axis_kinds="node", seed=0).double()
    ...     gap = resolution_gap(model, sample_at, grids, axis_kinds="node")
    ...     print(round(gap.order), gap.rows[-1].predicted_normalization > 0)
    1 True
    2 False
    """
    if len(grids) < 2:
        raise ValueError(f"grids: got {len(grids)}, wanted at least two, the first for training")
    found = [quadrature_weights(grid, axis_kinds=axis_kinds) for grid in grids]
    if any(q.grid is None for q in found):
        raise ValueError("grids: wanted tensor grids, whose points can be compared")
    fields = [_pair(sample_at(grid), q) for grid, q in zip(grids, found, strict=True)]
    was_training = model.training
    model.eval()
    try:
        outputs = [_run(model, x, q, batch_size) for (x, _), q in zip(fields, found, strict=True)]
        finest = min(range(len(found)), key=lambda i: _step(found[i]))
        predicted, layers = _predicted(model, fields[finest][0], found, finest)
    finally:
        model.train(was_training)
    rows = tuple(
        GridRow(
            points=q.shape,
            step=_step(q),
            error=_error(y, truth, q),
            inconsistency=common_nodes(found[0], q).distance(outputs[0], y) if i else 0.0,
            predicted_normalization=predicted[i],
        )
        for i, (q, (_, truth), y) in enumerate(zip(found, fields, outputs, strict=True))
    )
    distances = {
        _step(q): common_nodes(found[finest], q).distance(outputs[finest], y)
        for i, (q, y) in enumerate(zip(found, outputs, strict=True))
        if i != finest
    }
    order = fitted_order(list(distances), list(distances.values()), _step(found[finest]))
    return ResolutionGap(rows=rows, order=order, layers=layers)


def fitted_order(steps: Sequence[float], distances: Sequence[float], finest: float) -> float:
    """Order p of ``distance = C |h^p - h_f^p|``: distances from a grid that has an error itself.

    Parameters
    ----------
    steps, distances : sequence of float
        h of each coarser grid and its distance from the finest.
    finest : float
        h_f.

    Returns
    -------
    float
        Between 0.05 and 8, by least squares of the logarithms; not-a-number if fewer than two
        distances are positive.

    Examples
    --------
    >>> h = [1 / 16, 1 / 32, 1 / 64]
    >>> round(fitted_order(h, [x - 1 / 128 for x in h], 1 / 128), 3)
    1.0
    """
    h, d = np.asarray(steps, float), np.asarray(distances, float)
    usable = (d > 0) & np.isfinite(d) & (h > finest)
    h, d = h[usable], d[usable]
    if len(np.unique(h)) < 2:
        return math.nan
    from scipy.optimize import minimize_scalar

    def misfit(p: float) -> float:
        rest = np.log(d) - np.log(h**p - finest**p)
        return float(np.var(rest))

    tried = np.linspace(0.05, 8.0, 160)
    best = float(tried[int(np.argmin([misfit(p) for p in tried]))])
    bounds = (max(best - 0.05, 0.05), min(best + 0.05, 8.0))
    found: Any = minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(found.x)


def _pair(sample: Any, quadrature: Quadrature) -> tuple[torch.Tensor, torch.Tensor | None]:
    x, truth = sample if isinstance(sample, tuple | list) else (sample, None)
    given: list[tuple[str, Any]] = [("inputs", x)]
    given += [] if truth is None else [("truth", truth)]
    for name, values in given:
        if not isinstance(values, torch.Tensor) or tuple(values.shape[2:]) != quadrature.shape:
            got = tuple(values.shape) if hasattr(values, "shape") else type(values).__name__
            raise ValueError(
                f"sample_at: {name} are {got} for a grid of shape {quadrature.shape}, wanted a "
                "tensor (batch, channels, *points)"
            )
    return x, truth


def _run(
    model: nn.Module, x: torch.Tensor, quadrature: Quadrature, batch_size: int | None
) -> torch.Tensor:
    with torch.no_grad(), on_grid(quadrature):
        parts = [model(part) for part in x.split(batch_size or max(len(x), 1))]
    if tuple(parts[0].shape[2:]) != quadrature.shape:
        raise ValueError(
            f"model: the output has shape {tuple(parts[0].shape)} on a grid of shape "
            f"{quadrature.shape}, wanted (batch, channels, *points)"
        )
    return torch.cat(parts)


def _step(quadrature: Quadrature) -> float:
    assert quadrature.grid is not None
    return max(axis.largest_step for axis in quadrature.grid.axes)


def _error(y: torch.Tensor, truth: torch.Tensor | None, quadrature: Quadrature) -> float:
    if truth is None:
        return math.nan
    error = relative_l2(y, truth, axis=tuple(range(1, y.ndim)), weights=quadrature)
    return float(error.mean())


def _predicted(
    model: nn.Module, x: torch.Tensor, grids: Sequence[Quadrature], finest: int
) -> tuple[list[float], dict[str, float]]:
    """Share of the normalizations between the first grid and each, and of each layer at most."""
    seen: list[tuple[str, nn.Module, torch.Tensor, torch.Tensor]] = []

    def watch(name: str, layer: nn.Module, field: torch.Tensor, run: Any) -> torch.Tensor:
        out = run(field)
        if isinstance(layer, NORMALIZATIONS):
            seen.append((name, layer, field, out))
        return out

    with watched(model, watch), torch.no_grad(), on_grid(grids[finest]):
        model(x[:_LOOKED_AT])
    coarsest = max(range(len(grids)), key=lambda i: _step(grids[i]))

    def between(one: Quadrature, other: Quadrature) -> dict[str, float]:
        return {
            name: predicted_mismatch(layer, field, out, grids[finest], one.shape, other.shape)
            for name, layer, field, out in seen
        }

    shares = []
    for grid in grids:
        each = list(between(grids[0], grid).values())
        # Lipschitz constants of about 1, as after training (`transfer_bound`).
        shares.append(transfer_bound(each, [1.0] * len(each)))
    return shares, between(grids[coarsest], grids[finest])
