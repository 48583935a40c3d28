"""Which layer feels the grid, found by giving it what it would have on a finer one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from sciml.nn.quadrature import Quadrature, on_grid, quadrature_weights
from sciml.operators.common_nodes import CommonNodes, common_nodes, relative_size
from sciml.operators.layer_watch import NORMALIZATIONS, watched
from sciml.operators.norm_prediction import predicted_mismatch

__all__ = ["LayerShare", "ResolutionDiagnosis", "diagnose_resolution"]


@dataclass(frozen=True, kw_only=True)
class LayerShare:
    """What one layer adds to the distance of a model from itself on two grids.

    Attributes
    ----------
    name, kind : str
        Name of the layer in the model, and its class.
    mismatch : float
        Relative distance of its outputs on both grids from the same field.
    predicted : float
        The same in closed form, for normalizations with equal weights; 0 for `QuadNorm` to first
        order; not-a-number where there is no formula.
    moves_output : float
        Relative distance by which the output moves if this layer alone is corrected.
    gap_without : float
        Distance of the model from itself that is left then.
    """

    name: str
    kind: str
    mismatch: float
    predicted: float
    moves_output: float
    gap_without: float


@dataclass(frozen=True, kw_only=True)
class ResolutionDiagnosis:
    """Shares of all layers; `print` it or `plot` it.

    Attributes
    ----------
    coarse, fine : tuple of int
        Shapes of both grids.
    gap : float
        Relative distance of the outputs on common points.
    gap_without_all : float
        What is left with every layer corrected: what layers do that are not looked at, such as
        convolutions over points, and all that lies on levels whose size goes with the grid.
    layers : tuple of LayerShare
        In the order in which the model calls them.
    """

    coarse: tuple[int, ...]
    fine: tuple[int, ...]
    gap: float
    gap_without_all: float
    layers: tuple[LayerShare, ...]

    @property
    def largest(self) -> LayerShare:
        """Layer that moves the output most."""
        return max(self.layers, key=lambda layer: layer.moves_output)

    def __str__(self) -> str:
        shapes = [" x ".join(map(str, shape)) for shape in (self.coarse, self.fine)]
        width = max([len(layer.name) for layer in self.layers] + [5])
        lines = [
            f"{shapes[0]} against {shapes[1]}: outputs differ by {self.gap:.2e}",
            f"{'layer':<{width}}  {'kind':<17}  {'mismatch':>9}  {'predicted':>9}  "
            f"{'moves out':>9}  {'gap left':>9}",
        ]
        lines += [
            f"{layer.name:<{width}}  {layer.kind:<17}  {layer.mismatch:9.2e}  "
            f"{layer.predicted:9.2e}  {layer.moves_output:9.2e}  {layer.gap_without:9.2e}"
            for layer in self.layers
        ]
        lines.append(f"all corrected: {self.gap_without_all:.2e} left")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw how far each layer moves the output.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting.resolution import plot_resolution_diagnosis

        return plot_resolution_diagnosis(self, ax)


def diagnose_resolution(
    model: nn.Module,
    field: Callable[[Any], torch.Tensor] | torch.Tensor,
    grids: Sequence[Any],
    *,
    axis_kinds: str | Sequence[str] | None = None,
) -> ResolutionDiagnosis:
    """Name the share that each layer has in the difference of a model between two grids.

    Every layer that sums over points is given the field that it sees on the fine grid, once on
    each grid: the difference is what it makes of the grid. Then the model runs on the coarse grid
    with this difference added to the layer, as if its statistics were those of the fine grid.

    Parameters
    ----------
    model : Module
        Of fields (batch, channels, *points).
    field : callable or Tensor
        ``field(grid) -> inputs``, or ``-> (inputs, truth)`` as `resolution_gap` takes it; or the
        inputs on the fine grid, from which those of the coarse one are taken.
    grids : sequence of two
        A coarse and a fine grid that holds its points: shapes (with ``axis_kinds``), `SampleGrid`,
        `pdes.Grid` or `Quadrature`.
    axis_kinds : str or sequence of str, optional
        For grids that are shapes.

    Returns
    -------
    ResolutionDiagnosis

    Raises
    ------
    ValueError
        If the fine grid does not hold the points of the coarse one, or a field is on others.

    Examples
    --------
    >>> from sciml.operators import FNO
    >>> s = torch.linspace(0, 1, 129, dtype=torch.float64)
    >>> model = FNO(1, 1, 8, 8, 2, norm="instance", axis_kinds="node", seed=0).double()
    >>> x = torch.exp(s).view(1, 1, -1)
    >>> found = diagnose_resolution(model, x, [33, 129], axis_kinds="node")
    >>> found.largest.kind, found.gap_without_all < 1e-12 < found.gap
    ('InstanceNorm1d', True)
    """
    if len(grids) != 2:
        raise ValueError(f"grids: got {len(grids)}, wanted a coarse and a fine one")
    coarse, fine = (quadrature_weights(grid, axis_kinds=axis_kinds) for grid in grids)
    nodes = common_nodes(coarse, fine)
    if tuple(map(len, nodes.first)) != coarse.shape or coarse.shape == fine.shape:
        raise ValueError(
            f"grids: the points of {coarse.shape} must all be among those of {fine.shape}, the "
            "finer grid, such as 33 and 65 nodes"
        )
    if isinstance(field, torch.Tensor):
        _check_points(field, fine)
        on_fine, on_coarse = field, nodes.of_second(field)
    else:
        on_coarse, on_fine = (_inputs(field(grid)) for grid in grids)
        _check_points(on_coarse, coarse)
        _check_points(on_fine, fine)
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return _Diagnosis(model, nodes, coarse, fine).made(on_coarse, on_fine)
    finally:
        model.train(was_training)


def _inputs(sample: Any) -> Any:
    """Inputs of what `resolution_gap` takes too, which may have a truth beside them."""
    return sample[0] if isinstance(sample, tuple | list) else sample


def _check_points(x: Any, quadrature: Quadrature) -> None:
    if not isinstance(x, torch.Tensor) or tuple(x.shape[2:]) != quadrature.shape:
        got = tuple(x.shape) if hasattr(x, "shape") else type(x).__name__
        raise ValueError(
            f"field: got {got} for a grid of shape {quadrature.shape}, wanted a tensor (batch, "
            "channels, *points); a tensor alone is the field on the fine grid"
        )


class _Diagnosis:
    """Runs of a model on two grids with corrections of its layers."""

    def __init__(
        self, model: nn.Module, nodes: CommonNodes, coarse: Quadrature, fine: Quadrature
    ) -> None:
        self.model, self.nodes, self.coarse, self.fine = model, nodes, coarse, fine
        self.seen: dict[str, tuple[nn.Module, torch.Tensor, torch.Tensor]] = {}
        self.corrections: dict[str, torch.Tensor] = {}
        self.mismatches: dict[str, float] = {}

    def made(self, on_coarse: torch.Tensor, on_fine: torch.Tensor) -> ResolutionDiagnosis:
        with watched(self.model, self._see), on_grid(self.fine):
            wanted = self._on_coarse(self.model(on_fine))
        with watched(self.model, self._compare), on_grid(self.coarse):
            plain = self.model(on_coarse)

        def distance(y: torch.Tensor, other: torch.Tensor = wanted) -> float:
            return relative_size((y - other).double(), wanted.double(), self.nodes.weights)

        layers = []
        for name, (layer, x, y) in self.seen.items():
            corrected = self._corrected(on_coarse, {name})
            predicted = float("nan")
            if isinstance(layer, NORMALIZATIONS):
                shapes = self.coarse.shape, self.fine.shape
                predicted = predicted_mismatch(layer, x, y, self.fine, *shapes)
            layers.append(
                LayerShare(
                    name=name,
                    kind=type(layer).__name__,
                    mismatch=self.mismatches[name],
                    predicted=predicted,
                    moves_output=distance(corrected, plain),
                    gap_without=distance(corrected),
                )
            )
        return ResolutionDiagnosis(
            coarse=self.coarse.shape,
            fine=self.fine.shape,
            gap=distance(plain),
            gap_without_all=distance(self._corrected(on_coarse, set(self.seen))),
            layers=tuple(layers),
        )

    def _see(self, name: str, layer: nn.Module, x: torch.Tensor, run: Any) -> torch.Tensor:
        y = run(x)
        self.seen[name] = layer, x, y
        return y

    def _compare(self, name: str, layer: nn.Module, x: torch.Tensor, run: Any) -> torch.Tensor:
        _, field, wanted = self.seen[name]
        if not self._comparable(field, x):
            del self.seen[name]
            return run(x)
        found = run(self._like(field, x))
        wanted = self._like(wanted, found)
        self.corrections[name] = wanted - found
        flat = (t.flatten(2) if t.ndim > 2 else t.unsqueeze(-1) for t in (wanted, found))
        first, second = (t.double() for t in flat)
        points = first.shape[-1]
        same = points == self.coarse.full().size
        weights = self.coarse.full().reshape(-1) if same else np.full(points, 1.0 / points)
        self.mismatches[name] = relative_size(second - first, first, weights)
        return run(x)

    def _corrected(self, x: torch.Tensor, names: set[str]) -> torch.Tensor:
        def watch(name: str, layer: nn.Module, field: torch.Tensor, run: Any) -> torch.Tensor:
            y = run(field)
            return y + self.corrections[name] if name in names else y

        with watched(self.model, watch), on_grid(self.coarse):
            return self.model(x)

    def _comparable(self, x: torch.Tensor, like: torch.Tensor) -> bool:
        """Whether a field is on the points of the grid, or on cells that are always the same."""
        return x.shape == like.shape or x.shape[2:].numel() == self.fine.full().size

    def _like(self, x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """Values at the coarse points; what is not on the points of a grid stays."""
        if x.shape == like.shape:
            return x
        return self._on_coarse(x).reshape(like.shape)

    def _on_coarse(self, x: torch.Tensor) -> torch.Tensor:
        return self.nodes.of_second(x.reshape(*x.shape[:2], *self.fine.shape))
