"""Coordinate arrays as they are stored, and which array axis belongs to which of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from pdes.data.names import canonical_axis


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """The values along one axis, and where in the file they came from.

    Parameters
    ----------
    values
        Values along the axis, shape (n,).
    source
        Name of the variable they came from; empty if the caller gave them.
    mesh_shape, mesh_axis
        For values stored as a meshgrid: its shape, and the axis along which it varies.
    attrs
        Attributes stored with the values, such as ``units``.
    """

    values: np.ndarray
    source: str = ""
    mesh_shape: tuple[int, ...] | None = None
    mesh_axis: int | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of points along the axis."""
        return self.values.size


def is_vector(values: np.ndarray) -> bool:
    """Whether an array is one row, one column or one-dimensional, with at least two entries.

    Examples
    --------
    >>> [is_vector(np.zeros(shape)) for shape in ((5,), (1, 5), (5, 1), (5, 5), (1, 1))]
    [True, True, True, False, False]
    """
    return values.size >= 2 and values.size == max(values.shape)


def coordinate_from(values: np.ndarray, **where: Any) -> Coordinate | None:
    """Reduce a stored coordinate array to one axis.

    A row or a column is flattened. An array of more dimensions counts as a meshgrid if it varies
    along exactly one of its axes; its position there tells the axis order of the fields.

    Parameters
    ----------
    values
        Array of numbers of any shape.
    **where
        Further fields of `Coordinate`.

    Returns
    -------
    Coordinate or None
        None if the array is neither a vector nor a meshgrid.

    Examples
    --------
    >>> x, t = np.meshgrid([0.0, 1.0, 2.0], [0.0, 0.5], indexing="ij")
    >>> coordinate_from(t).values, coordinate_from(t).mesh_axis
    (array([0. , 0.5]), 1)
    >>> coordinate_from(x * t) is None
    True
    """
    if is_vector(values):
        return Coordinate(values=values.reshape(-1), **where)
    if values.ndim < 2 or values.size < 2:
        return None
    for axis in range(values.ndim):
        corner = tuple(slice(None) if k == axis else slice(0, 1) for k in range(values.ndim))
        if values.shape[axis] >= 2 and np.array_equal(
            np.broadcast_to(values[corner], values.shape), values
        ):
            line = values[corner].reshape(-1)
            if np.unique(line).size == line.size:
                return Coordinate(values=line, mesh_shape=values.shape, mesh_axis=axis, **where)
    return None


def is_axis(name: str, values: np.ndarray) -> bool:
    """Whether a stored array holds the positions along an axis: by its name, and by its form.

    A variable that is called like an axis but is neither a vector nor a meshgrid is a field:
    ``T`` is time as a vector, and a temperature as an array over time and space.

    Examples
    --------
    >>> line = np.arange(3.0)
    >>> is_axis("T", line), is_axis("T", np.outer(line, line)), is_axis("u", line)
    (True, False, False)
    """
    return canonical_axis(name) is not None and coordinate_from(values) is not None


def orders_that_fit(shape: tuple[int, ...], lengths: Mapping[str, int]) -> list[tuple[str, ...]]:
    """List every way to name the axes of an array so that all lengths agree.

    Parameters
    ----------
    shape
        Shape of the array.
    lengths
        Length of each named axis; more names than array axes are allowed.

    Returns
    -------
    list of tuple of str
        Names in array order. Ways that keep the order of `lengths` come first.

    Examples
    --------
    >>> orders_that_fit((256, 101), {"time": 101, "x": 256})
    [('x', 'time')]
    >>> orders_that_fit((64, 64), {"time": 64, "x": 64})
    [('time', 'x'), ('x', 'time')]
    """
    return [
        names
        for names in permutations(lengths, len(shape))
        if all(lengths[name] == size for name, size in zip(names, shape, strict=True))
    ]


def describe_lengths(lengths: Mapping[str, int]) -> str:
    """Phrase named lengths for a message.

    Examples
    --------
    >>> describe_lengths({"x": 256, "t": 101})
    'x: 256, t: 101'
    """
    return ", ".join(f"{name}: {size}" for name, size in lengths.items())
