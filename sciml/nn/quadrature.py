"""Quadrature weights of grids, meshes and point sets, and the grid that a model stands on.

A mean over grid points is a mean of the function only if every point counts as much as the space
around it. Every layer that sums over points takes its weights from here.
"""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from sciml.nn.axis_kind import AXIS_KINDS, SampleAxis, SampleGrid, spread_kinds
from sciml.nn.axis_rules import QuadratureWarning, axis_weights

if TYPE_CHECKING:
    import torch

__all__ = ["Quadrature", "current_quadrature", "on_grid", "quadrature_weights", "weights_for"]


class Quadrature:
    """Weights of the points of a grid, a mesh or a cloud: positive or zero, with sum 1.

    Parameters
    ----------
    factors : sequence of ndarray
        One vector for each axis of a tensor grid, whose product is the weight of a point; or a
        single array with the weight of every point, with a leading axis if every sample of a batch
        has its own points.
    grid : SampleGrid, optional
        The axes behind the factors.
    per_sample : bool, default False
        The single factor has one row for each sample.
    positions : array, shape (points, d), optional
        Where the points of a mesh or cloud are.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or all are zero.

    Examples
    --------
    >>> weights = quadrature_weights((3, 4), axis_kinds=("node", "periodic"))
    >>> weights.factors[0], weights.shape
    (array([0.25, 0.5 , 0.25]), (3, 4))
    """

    def __init__(
        self,
        factors: Sequence[Any],
        grid: SampleGrid | None = None,
        *,
        per_sample: bool = False,
        positions: Any = None,
    ) -> None:
        self.factors: tuple[np.ndarray, ...] = tuple(
            _normalized(factor, per_sample) for factor in factors
        )
        self.grid = grid
        self.per_sample = per_sample
        self.positions: np.ndarray | None = None if positions is None else np.array(positions)
        if self.positions is not None and len(self.positions) != self.shape[0]:
            raise ValueError(
                f"positions: got {len(self.positions)} for weights of shape {self.shape}, wanted "
                "one for each point"
            )
        self.cache: dict[Any, Any] = {}
        """What layers derive from the weights, by a key of their own."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the points, without the samples."""
        first, *others = self.factors
        if others:
            return tuple(len(factor) for factor in self.factors)
        return first.shape[1:] if self.per_sample else first.shape

    @property
    def tensor_product(self) -> bool:
        """Whether the weight of a point is the product of one factor for each axis."""
        first, *others = self.factors
        return bool(others) or (self.grid is not None and first.ndim == 1)

    @property
    def equal(self) -> bool:
        """Whether all points weigh the same."""
        return all(bool(np.ptp(f) <= 1e-14 * np.max(f)) for f in self.factors)

    def full(self) -> np.ndarray:
        """Weight of every point, float64, of `shape` (behind the samples, if they differ)."""
        return functools.reduce(np.multiply.outer, self.factors)

    def tensors(self, like: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Factors as tensors of the type and on the device of ``like``, made once."""
        import torch

        key = ("factors", like.dtype, like.device)
        if key not in self.cache:
            self.cache[key] = tuple(
                torch.tensor(f, dtype=like.dtype, device=like.device) for f in self.factors
            )
        return self.cache[key]

    def flat_tensor(self, like: torch.Tensor) -> torch.Tensor:
        """Weight of every point, shape (points,) or (batch, points), made once."""
        import torch

        key = ("flat", like.dtype, like.device)
        if key not in self.cache:
            full = self.full()
            shape = (full.shape[0], -1) if self.per_sample else (-1,)
            self.cache[key] = torch.tensor(
                full.reshape(shape), dtype=like.dtype, device=like.device
            )
        return self.cache[key]

    def masked(self, mask: Any) -> Quadrature:
        """Weights of a domain with solids: times the fluid fraction of each point, sum 1 again.

        Parameters
        ----------
        mask : array, shape of the points
            True or 1 in the fluid, False or 0 in solids, or the fraction between.

        Examples
        --------
        >>> quadrature_weights((4,), axis_kinds="cell").masked([1, 1, 0, 0]).full()
        array([0.5, 0.5, 0. , 0. ])
        """
        part = np.asarray(mask, dtype=float)
        if part.shape != self.shape:
            raise ValueError(f"mask: got shape {part.shape}, wanted {self.shape}")
        if not np.all((part >= 0.0) & (part <= 1.0)):
            raise ValueError("mask: wanted fractions between 0 (solid) and 1 (fluid)")
        kept = {"per_sample": self.per_sample, "positions": self.positions}
        return Quadrature([self.full() * part], self.grid, **kept)

    def __repr__(self) -> str:
        kinds = f", kinds {self.grid.kinds}" if self.grid is not None else ""
        return f"Quadrature(shape {self.shape}{kinds})"


def quadrature_weights(
    grid: Any, rule: str = "auto", *, axis_kinds: str | Sequence[str] | None = None
) -> Quadrature:
    """Weights of the points of a grid.

    Parameters
    ----------
    grid : SampleGrid, SampleAxis, pdes.Grid, pdes.Mesh, meshio or scikit-fem mesh, or tuple of int
        The points. A shape alone needs ``axis_kinds``.
    rule : str, default "auto"
        Standard rule of each axis kind, or ``"gregory4"`` or ``"simpson"`` for ``"node"`` axes, or
        ``"equal"`` for the plain mean. Only for tensor grids.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes, if ``grid`` does not know them (`AXIS_KINDS`).

    Returns
    -------
    Quadrature

    Raises
    ------
    ValueError
        If no kind is known: kinds are never guessed.

    Examples
    --------
    >>> quadrature_weights(SampleGrid.of_shape((5,), "left")).full()
    array([0.1, 0.2, 0.2, 0.1, 0.4])
    """
    if isinstance(grid, Quadrature):
        return grid
    if hasattr(grid, "cells") or (hasattr(grid, "p") and hasattr(grid, "t")):
        from sciml.nn.mesh_quadrature import mesh_quadrature_weights

        return mesh_quadrature_weights(grid)
    return _tensor_quadrature(sample_grid(grid, axis_kinds), rule)


@functools.lru_cache(maxsize=512)
def _tensor_quadrature(grid: SampleGrid, rule: str) -> Quadrature:
    return Quadrature([axis_weights(axis, rule) for axis in grid.axes], grid)


def sample_grid(grid: Any, axis_kinds: str | Sequence[str] | None = None) -> SampleGrid:
    """Read what describes a tensor grid: `SampleGrid`, `SampleAxis`, `pdes.Grid` or a shape."""
    if isinstance(grid, SampleGrid):
        return grid
    if isinstance(grid, SampleAxis):
        return SampleGrid((grid,))
    if hasattr(grid, "axes") and hasattr(grid, "kinds"):
        return SampleGrid(tuple(SampleAxis(a.kind, a.points, a.start, a.stop) for a in grid.axes))
    try:
        shape = tuple(int(n) for n in ((grid,) if isinstance(grid, int) else grid))
    except (TypeError, ValueError):
        raise TypeError(
            f"grid: got {type(grid).__name__}, wanted a SampleGrid, a pdes.Grid, a mesh, "
            "Quadrature or a shape with axis_kinds"
        ) from None
    if axis_kinds is None:
        raise ValueError(missing_kind(f"a grid of shape {shape}"))
    return SampleGrid.of_shape(shape, axis_kinds)


def missing_kind(what: str) -> str:
    """Message for points without a kind: the kinds, and how to give one."""
    kinds = "; ".join(f"{name}: {meaning}" for name, meaning in AXIS_KINDS.items())
    return (
        f"axis_kinds of {what} are not known, and they are never guessed. Give axis_kinds= or "
        f"grid= at construction, weights= in the call, or `with on_grid(grid):` around it. {kinds}"
    )


# --- The grid that a model stands on --------------------------------------------------------------

_CURRENT: ContextVar[Quadrature | None] = ContextVar("quadrature", default=None)


@contextlib.contextmanager
def on_grid(
    grid: Any, rule: str = "auto", *, axis_kinds: str | Sequence[str] | None = None
) -> Iterator[Quadrature]:
    """Tell every quadrature-aware layer inside on which points its input is given.

    Parameters
    ----------
    grid, rule, axis_kinds
        As `quadrature_weights` takes them; or a `Quadrature`, or an array with the weight of every
        point.

    Examples
    --------
    >>> import torch
    >>> from sciml.operators import QuadNorm
    >>> layer = QuadNorm(2)
    >>> with on_grid((8, 9), axis_kinds=("periodic", "node")):
    ...     y = layer(torch.rand(1, 2, 8, 9))
    """
    made = as_quadrature(grid, rule, axis_kinds)
    token = _CURRENT.set(made)
    try:
        yield made
    finally:
        _CURRENT.reset(token)


def current_quadrature() -> Quadrature | None:
    """Weights of the innermost `on_grid`, if there is one."""
    return _CURRENT.get()


def as_quadrature(
    given: Any, rule: str = "auto", axis_kinds: str | Sequence[str] | None = None
) -> Quadrature:
    """Read weights or what they follow from."""
    if isinstance(given, Quadrature):
        return given
    if hasattr(given, "detach"):
        return Quadrature([_numbers_of(given)])
    if isinstance(given, np.ndarray):
        return Quadrature([given])
    return quadrature_weights(given, rule, axis_kinds=axis_kinds)


def weights_for(
    x: torch.Tensor,
    *,
    weights: Any = None,
    grid: Any = None,
    axis_kinds: str | Sequence[str] | None = None,
    layer: str = "layer",
) -> Quadrature:
    """Weights of the points of ``x``, shape (batch, channels, *points), for a layer.

    The first of these that is given counts: ``weights`` of the call, the innermost `on_grid`, the
    ``grid`` of the constructor, its ``axis_kinds``.

    Parameters
    ----------
    x : Tensor, shape (batch, channels, *points)
        What is to be summed.
    weights : Quadrature, tensor or array, optional
        Of the call; a tensor of the points' shape, or of (batch, *points) for samples on points of
        their own.
    grid, axis_kinds
        Of the constructor.
    layer : str
        Who asks, for messages.

    Returns
    -------
    Quadrature

    Raises
    ------
    ValueError
        If nothing is given, or what is given does not fit ``x``.
    """
    points = tuple(x.shape[2:])
    if weights is not None:
        found = _given_weights(x, weights, layer)
    elif (current := _CURRENT.get()) is not None:
        found = current
    elif grid is not None:
        found = as_quadrature(grid)
    elif axis_kinds is not None:
        grid = SampleGrid.of_shape(points, spread_kinds(axis_kinds, len(points)))
        return _tensor_quadrature(grid, "auto")
    else:
        raise ValueError(f"{layer}: " + missing_kind(f"points of shape {points}"))
    if found.shape != points:
        raise ValueError(
            f"{layer}: the input has points of shape {points}, and the weights are for "
            f"{found.shape}; give the grid of this input: on_grid(grid) or weights="
        )
    if found.per_sample and len(found.factors[0]) not in (1, x.shape[0]):
        raise ValueError(
            f"{layer}: weights for {len(found.factors[0])} samples, the batch has {x.shape[0]}"
        )
    _warn_of_twins(x, found)
    return found


def _warn_of_twins(x: torch.Tensor, quadrature: Quadrature) -> None:
    """Warn once if a periodic axis of given coordinates seems to hold its end point twice."""
    if quadrature.grid is None or "twins" in quadrature.cache or x.numel() == 0:
        return
    quadrature.cache["twins"] = True
    for place, axis in enumerate(quadrature.grid.axes):
        if axis.kind != "periodic" or axis.coordinates is None or axis.points < 3:
            continue
        ends = x.detach().select(place + 2, 0) - x.detach().select(place + 2, -1)
        neighbors = x.detach().select(place + 2, 1) - x.detach().select(place + 2, 0)
        if float(ends.abs().max()) <= 1e-3 * float(neighbors.abs().max()):
            warnings.warn(
                f"the first and last samples along axis {place} are the same in every channel: an "
                "axis of kind 'periodic' leaves its end point out; drop the last one, or the mean "
                "counts it twice",
                QuadratureWarning,
                stacklevel=4,
            )


def _given_weights(x: torch.Tensor, weights: Any, layer: str) -> Quadrature:
    if hasattr(weights, "detach"):
        if weights.device != x.device:
            raise ValueError(
                f"{layer}: weights of shape {tuple(weights.shape)} are on {weights.device}, the "
                f"input is on {x.device}: weights.to(x.device)"
            )
        weights = _numbers_of(weights)
    if isinstance(weights, np.ndarray):
        points = tuple(x.shape[2:])
        if weights.shape not in (points, (x.shape[0], *points), (1, *points)):
            raise ValueError(
                f"{layer}: weights have shape {weights.shape}, wanted {points}, or "
                f"{(x.shape[0], *points)} for samples on points of their own"
            )
        return Quadrature([weights], per_sample=weights.ndim > len(points))
    return as_quadrature(weights)


def _numbers_of(weights: torch.Tensor) -> np.ndarray:
    plain = weights.detach().cpu()
    # Half precision of the brain-float kind has no NumPy type; complex numbers are refused later.
    return plain.numpy() if plain.is_complex() else plain.double().numpy()


def _normalized(factor: Any, per_sample: bool) -> np.ndarray:
    values = np.asarray(factor)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"weights: got numbers of type {values.dtype}, wanted real ones >= 0")
    values = values.astype(float)
    if values.ndim == 0 or values.size == 0:
        raise ValueError(f"weights: got shape {values.shape}, wanted one weight for each point")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if bad.size:
        i = int(bad[0])
        raise ValueError(
            f"weights: {bad.size} of {values.size} are negative or not finite, the first is number "
            f"{i}: {values.reshape(-1)[i]}; wanted weights >= 0"
        )
    axes = tuple(range(1, values.ndim)) if per_sample else None
    total = values.sum(axis=axes, keepdims=True)
    if not np.all(total > 0.0) or not math.isfinite(float(np.sum(total))):
        raise ValueError("weights: their sum is zero; wanted at least one positive weight")
    made = values / total
    made.setflags(write=False)
    return made
