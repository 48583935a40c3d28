"""Columns of numbers, one row per point, arranged on the grid that the points form."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pdes.data.contents import Variable
from pdes.data.errors import ReadError


def pivot(axes: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]) -> dict[str, Variable]:
    """Arrange rows of the long form (one row per grid point, in any order) as arrays.

    Parameters
    ----------
    axes
        Coordinates of every row by axis name, each of shape (rows,).
    columns
        Field values of every row by name, each of shape (rows,).

    Returns
    -------
    dict of str to Variable
        Axes as sorted vectors, fields as arrays over the axes in the order given.

    Raises
    ------
    ReadError
        If a point occurs twice, or the points do not fill a tensor grid.

    Examples
    --------
    >>> table = pivot({"t": np.array([0, 0, 1, 1]), "x": np.array([5, 6, 6, 5])},
    ...               {"u": np.array([1.0, 2.0, 4.0, 3.0])})
    >>> table["u"].values.tolist(), table["u"].dims
    ([[1.0, 2.0], [3.0, 4.0]], ('t', 'x'))
    """
    for name, values in axes.items():
        if not np.all(np.isfinite(values)):
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ReadError(f"the coordinate {name} is {values[row]} in data row {row + 1}")
    lines, places = {}, []
    for name, values in axes.items():
        lines[name], place = np.unique(values, return_inverse=True)
        places.append(place.reshape(-1))
    shape = tuple(line.size for line in lines.values())
    grid = " x ".join(f"{line.size} {name}" for name, line in lines.items())
    rows = places[0].size
    # Compared before anything of the size of the grid is made: scattered points make it huge.
    points = int(np.prod([float(size) for size in shape]))
    if points > rows:
        raise ReadError(
            f"{rows} rows do not fill the grid of {grid} = {points} points: wanted one row per "
            "point of a tensor grid. Scattered points must be interpolated to one first; for "
            "missing measurements add rows with nan"
        )
    index = np.ravel_multi_index(tuple(places), shape)
    counts = np.bincount(index, minlength=points)
    if counts.max() > 1:
        twice = np.unravel_index(int(np.argmax(counts)), shape)
        where = ", ".join(
            f"{name} = {line[k]:g}" for (name, line), k in zip(lines.items(), twice, strict=True)
        )
        raise ReadError(
            f"the point {where} occurs {counts.max()} times: average or drop repeated rows, "
            "or leave one run per file"
        )
    order = np.argsort(index)
    variables = {name: Variable(values=line, dims=(name,)) for name, line in lines.items()}
    dims = tuple(lines)
    for name, values in columns.items():
        variables[name] = Variable(values=values[order].reshape(shape), dims=dims)
    return variables
