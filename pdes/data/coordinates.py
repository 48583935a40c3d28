"""Which variables of a file are its axes: as told, by name, or because only one length fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pdes.data.axes import Coordinate, coordinate_from, is_vector
from pdes.data.contents import Contents
from pdes.data.errors import ReadError
from pdes.data.names import SPACE, canonical_axis, closest
from pdes.data.request import Request


def find_coordinates(
    contents: Contents, request: Request, record: list[str]
) -> dict[str, Coordinate]:
    """Find the axes among variables whose format does not name array axes.

    Parameters
    ----------
    contents
        Variables of the file.
    request
        What the caller said.
    record
        Receives a sentence for every assumption.

    Returns
    -------
    dict of str to Coordinate
        By dimension, time first. Dimensions that could not be found are missing.
    """
    found = {
        name: told_coordinate(contents, name, told) for name, told in request.coordinates.items()
    }
    taken = {coordinate.source for coordinate in found.values()} | set(request.fields or ())
    for name in ("time", *SPACE):
        if name not in found:
            coordinate = _by_name(contents, name, taken, record)
            if coordinate is not None:
                found[name] = coordinate
                taken.add(coordinate.source)
    if ("time" in found) != ("x" in found):
        _by_elimination(contents, found, taken, record)
    return {name: found[name] for name in ("time", *SPACE) if name in found}


def told_coordinate(contents: Contents, name: str, told: Any) -> Coordinate:
    """Return the coordinate that the caller named or gave as an array.

    Raises
    ------
    ReadError
        If the name is unknown, or the values are neither a vector nor a meshgrid.
    """
    argument = "time" if name == "time" else "space"
    if isinstance(told, str):
        if told not in contents.variables:
            raise ReadError(
                f"{argument} names {told!r}, which is not in the file"
                f"{closest(told, contents.variables)} It holds {contents.listing()}"
            )
        variable = contents.variables[told]
        values, where = variable.values, {"source": told, "attrs": variable.attrs}
    else:
        values, where = np.asarray(told), {}
    coordinate = coordinate_from(values, **where)
    if coordinate is None:
        raise ReadError(
            f"{argument} for the axis {name} has shape {values.shape}; wanted the values along "
            "the axis as a vector of at least two, or a meshgrid"
        )
    return coordinate


def _by_name(
    contents: Contents, name: str, taken: Iterable[str], record: list[str]
) -> Coordinate | None:
    lengths = {
        size
        for key, variable in contents.variables.items()
        if not is_vector(variable.values) and key not in taken
        for size in variable.values.shape
    }
    candidates = []
    # Short names and lower case first: `t` is time more surely than `T`, which may be temperature.
    for key in sorted(contents.variables, key=lambda key: (len(key), key.isupper(), key)):
        if canonical_axis(key) == name and key not in taken:
            variable = contents.variables[key]
            coordinate = coordinate_from(variable.values, source=key, attrs=variable.attrs)
            if coordinate is not None:
                candidates.append(coordinate)
    if not candidates:
        return None
    best = next((each for each in candidates if each.size in lengths), candidates[0])
    for other in candidates:
        if other.mesh_axis is not None and np.array_equal(other.values, best.values):
            best = other
    others = [each.source for each in candidates if not np.array_equal(each.values, best.values)]
    if others:
        record.append(f"{best.source} taken as the {name} axis, not {', '.join(others)}")
    return best


def _by_elimination(
    contents: Contents, found: dict[str, Coordinate], taken: Iterable[str], record: list[str]
) -> None:
    known, wanted = ("time", "x") if "time" in found else ("x", "time")
    vectors = {
        key: variable.values.size
        for key, variable in contents.variables.items()
        if key not in taken and is_vector(variable.values)
    }
    shapes = {
        tuple(sorted(variable.values.shape))
        for variable in contents.variables.values()
        if variable.values.ndim == 2 and not is_vector(variable.values)
    }
    fitting = [
        key for key, size in vectors.items() if tuple(sorted((size, found[known].size))) in shapes
    ]
    if len(fitting) == 1:
        key = fitting[0]
        variable = contents.variables[key]
        coordinate = coordinate_from(variable.values, source=key, attrs=variable.attrs)
        if coordinate is not None:
            found[wanted] = coordinate
            record.append(f"{key} taken as the {wanted} axis, the only vector of fitting length")
