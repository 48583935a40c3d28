"""Difference stencils for the Laplacian on a box, and what the sides contribute to them.

With second differences ``D_i`` the 5-point stencil is ``sum D_i u = -f``. The compact stencil of
fourth order (L. Collatz, *The Numerical Treatment of Differential Equations*, 1960, "Mehrstellen")

    ``(sum D_i + sum_{i<j} (h_i^2 + h_j^2)/12 D_i D_j) u = -(1 + sum h_i^2/12 D_i) f``

has 9 points in the plane. A side with a given flux is a mirror: the node behind it has the value of
the node before it, plus ``2 h u_n + h^3/3 u_nnn``, where the equation turns the third derivative
into derivatives of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pdes.solvers.box_modes import BoxAxis

__all__ = [
    "ORDERS",
    "apply_stencil",
    "average_source",
    "operator_values",
    "pad",
    "pad_source",
    "side_slope",
]

ORDERS = (2, 4)


def pad(
    values: np.ndarray, axes: Sequence[BoxAxis], ghost: Mapping[str, np.ndarray] | None = None
) -> np.ndarray:
    """Field with one layer behind every side: wrapped, mirrored, or zero behind Dirichlet sides.

    Parameters
    ----------
    values : ndarray
        On the nodes, perhaps with leading axes.
    axes : sequence of BoxAxis
        Of the box.
    ghost : mapping of str to ndarray, optional
        Neumann side to what the node behind it exceeds its mirror image by; the dimension across
        the side has length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from pdes.grid import Axis
    >>> axes = [BoxAxis(Axis("x", 0.0, 1.0, 4, periodic=False), "neumann", "dirichlet")]
    >>> pad(np.array([1.0, 2.0, 3.0, 4.0]), axes, {"x-": np.array([10.0])})
    array([12.,  1.,  2.,  3.,  4.,  0.])
    """
    lead = values.ndim - len(axes)
    for k, axis in enumerate(axes):
        place = lead + k
        if axis.low == "periodic":
            values = _wrapped(values, place)
            continue
        layers = []
        for kind, end, before in ((axis.low, "-", 1), (axis.high, "+", -2)):
            layer = _layer(values, place, before)
            side = f"{axis.axis.name}{end}"
            if kind == "dirichlet":
                layer = np.zeros_like(layer)
            elif ghost is not None and side in ghost:
                layer = layer + _longer(ghost[side], axes, k)
            layers.append(layer)
        values = np.concatenate((layers[0], values, layers[1]), axis=place)
    return values


def pad_source(values: np.ndarray, axes: Sequence[BoxAxis]) -> np.ndarray:
    """Source with one layer behind every side: wrapped, or continued by a cubic."""
    return _longer(values, axes, len(axes))


def _longer(values: np.ndarray, axes: Sequence[BoxAxis], stop: int) -> np.ndarray:
    """Data continued by one node at both ends of the axes before `stop`."""
    lead = values.ndim - len(axes)
    for k, axis in enumerate(axes[:stop]):
        step = _wrapped if axis.low == "periodic" else continued
        values = step(values, lead + k)
    return values


def _wrapped(values: np.ndarray, place: int) -> np.ndarray:
    return np.concatenate((_layer(values, place, -1), values, _layer(values, place, 0)), axis=place)


def continued(values: np.ndarray, place: int) -> np.ndarray:
    """Values with one more at each end, by cubic extrapolation."""
    weights = (4.0, -6.0, 4.0, -1.0)
    if values.shape[place] < 4:
        raise ValueError(f"{values.shape[place]} nodes along a side, wanted 4 or more")
    low, high = np.zeros(()), np.zeros(())
    for i, weight in enumerate(weights):
        low = low + weight * _layer(values, place, i)
        high = high + weight * _layer(values, place, -1 - i)
    return np.concatenate((low, values, high), axis=place)


def second_difference(padded: np.ndarray, place: int, spacing: float) -> np.ndarray:
    """Second difference along one dimension, which loses its two ends."""
    inner = np.take(padded, range(1, padded.shape[place] - 1), axis=place)
    above = np.take(padded, range(2, padded.shape[place]), axis=place)
    below = np.take(padded, range(padded.shape[place] - 2), axis=place)
    return (above - 2.0 * inner + below) / spacing**2


def apply_stencil(padded: np.ndarray, axes: Sequence[BoxAxis], order: int) -> np.ndarray:
    """Discrete Laplacian at the nodes of a field with one layer behind every side."""
    lead = padded.ndim - len(axes)
    spacings = [axis.axis.spacing for axis in axes]
    total = np.zeros(())
    for i, h in enumerate(spacings):
        along = second_difference(padded, lead + i, h)
        total = total + _inner(along, [lead + j for j in range(len(axes)) if j != i])
        if order == 2:
            continue
        for j in range(i + 1, len(axes)):
            both = second_difference(along, lead + j, spacings[j])
            rest = [lead + m for m in range(len(axes)) if m not in (i, j)]
            total = total + (h**2 + spacings[j] ** 2) / 12.0 * _inner(both, rest)
    return np.asarray(total)


def average_source(padded: np.ndarray, axes: Sequence[BoxAxis], order: int) -> np.ndarray:
    """What the stencil has on its right: the source, for order 4 with its second differences."""
    lead = padded.ndim - len(axes)
    total = _inner(padded, [lead + j for j in range(len(axes))])
    for k, axis in enumerate(axes if order == 4 else ()):
        h = axis.axis.spacing
        along = second_difference(padded, lead + k, h)
        total = total + h**2 / 12.0 * _inner(along, [lead + j for j in range(len(axes)) if j != k])
    return total


def side_slope(values: np.ndarray, place: int, spacing: float, end: str) -> np.ndarray:
    """Outward derivative at a side from four nodes, of third order; length 1 across the side.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 5)
    >>> side_slope(x**3, 0, 0.25, "+")
    array([3.])
    """
    weights = (11.0, -18.0, 9.0, -2.0)
    first, step = (0, 1) if end == "-" else (-1, -1)
    found = np.zeros(())
    for i, weight in enumerate(weights):
        found = found + weight / (6.0 * spacing) * _layer(values, place, first + step * i)
    return found


def operator_values(axes: Sequence[BoxAxis], order: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of the stencil, and of what it does to the right-hand side."""
    grids = np.meshgrid(*[axis.eigenvalues for axis in axes], indexing="ij", sparse=True)
    spacings = [axis.axis.spacing for axis in axes]
    shape = tuple(axis.count for axis in axes)
    laplacian, right = np.zeros(shape), np.ones(shape)
    for i, h in enumerate(spacings):
        laplacian = laplacian + grids[i]
        if order == 4:
            right = right + h**2 / 12.0 * grids[i]
            for j in range(i + 1, len(axes)):
                laplacian = laplacian + (h**2 + spacings[j] ** 2) / 12.0 * grids[i] * grids[j]
    return laplacian, right


def _inner(values: np.ndarray, places: Sequence[int]) -> np.ndarray:
    for place in places:
        values = np.take(values, range(1, values.shape[place] - 1), axis=place)
    return values


def _layer(values: np.ndarray, place: int, index: int) -> np.ndarray:
    return np.take(values, [index % values.shape[place]], axis=place)
