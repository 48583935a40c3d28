"""Slices, means and differences along one of the last three axes of an array."""

from __future__ import annotations

from typing import Any

Array = Any

X, Y = -2, -1

# Slices of the axes after one that is counted from the end.
_REST: dict[int, tuple[slice, ...]] = {-k: (slice(None),) * (k - 1) for k in (1, 2, 3)}


def inner(values: Array, low: int, high: int | None, axis: int) -> Array:
    """Entries from `low` to `high` (as in a slice) along an axis counted from the end.

    Examples
    --------
    >>> import numpy as np
    >>> inner(np.eye(3), 0, -1, X)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    return values[(..., slice(low, high), *_REST[axis])]


def layer(values: Array, position: int, axis: int) -> Array:
    """Slice of thickness one, counted from the end if negative."""
    return inner(values, position, position + 1 or None, axis)


def between(values: Array, axis: int) -> Array:
    """Mean of neighbors: one entry less."""
    return 0.5 * (inner(values, 1, None, axis) + inner(values, 0, -1, axis))


def difference(values: Array, spacing: float, axis: int) -> Array:
    """Difference of neighbors over their distance: one entry less."""
    return (inner(values, 1, None, axis) - inner(values, 0, -1, axis)) * (1.0 / spacing)


def second(values: Array, spacing: float, axis: int) -> Array:
    """Second difference: two entries less."""
    neighbors = inner(values, 2, None, axis) + inner(values, 0, -2, axis)
    return (neighbors - 2.0 * inner(values, 1, -1, axis)) * (1.0 / spacing**2)


def replace_ends(
    values: Array, ends: tuple[Array | None, Array | None], axis: int, xp: Any
) -> Array:
    """Array with its first and last layer replaced where a new one is given.

    Examples
    --------
    >>> import numpy as np
    >>> replace_ends(np.zeros((1, 3)), (None, np.array([[5.0]])), Y, np)
    array([[0., 0., 5.]])
    """
    layers = [inner(values, 1, -1, axis)]
    for place, (new, position) in enumerate(zip(ends, (0, -1), strict=True)):
        old = layer(values, position, axis)
        found = old if new is None else xp.broadcast_to(new, old.shape)
        layers.insert(0 if place == 0 else len(layers), found)
    return xp.concat(layers, axis=axis)
