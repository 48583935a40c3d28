"""Which variables of a file are fields, and which of their array axes is time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from pdes.data.axes import Coordinate, describe_lengths, is_axis, is_vector, orders_that_fit
from pdes.data.cells import expand_cells
from pdes.data.contents import Contents, Variable
from pdes.data.coordinates import find_coordinates
from pdes.data.errors import ReadError
from pdes.data.names import DIMENSIONS, canonical_axis, closest
from pdes.data.request import Request
from pdes.data.table import pivot


def find_fields(contents: Contents, request: Request, record: list[str]) -> xr.Dataset:
    """Find fields and axes in a file whose format does not name array axes.

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
    xarray.Dataset
        Fields with named dimensions and their coordinates, values as stored.

    Raises
    ------
    ReadError
        If there is no field, more than one without a choice, or an axis order that the lengths
        leave open.
    """
    contents = expand_cells(contents)
    record.extend(contents.assumed)
    coordinates = find_coordinates(contents, request, record)
    names = _chosen(contents, request, coordinates)
    _require_axes(contents, request, coordinates, names)
    if names is None:
        lone = contents.unnamed and len(contents.variables) == 1
        names = ("u",) if lone else _candidates(contents, request, coordinates)
    for cell, group in contents.groups.items():
        if set(group) & set(names):
            record.append(f"{cell}: cell array of fields, called {', '.join(group)}")
    dataset = xr.Dataset(attrs=dict(contents.attrs))
    for name in names:
        variable = contents.variables[name]
        values, dims = _labeled(name, variable, request, coordinates, record)
        called = request.fields[0] if contents.unnamed and request.fields else name
        dataset[label_for(called, dataset)] = (dims, values, dict(variable.attrs))
    for dim in dataset.dims:
        if dim in coordinates:
            attrs = dict(coordinates[str(dim)].attrs)
            dataset = dataset.assign_coords({dim: (dim, coordinates[str(dim)].values, attrs)})
    return dataset


def arrange_columns(
    contents: Contents, request: Request, record: list[str]
) -> tuple[Contents, Request]:
    """Arrange vectors of one length, one entry per grid point, as arrays over named axes.

    Contents without such vectors come back as they are, and so does the request; otherwise the
    coordinates that it names have found their place.
    """
    if request.axes is not None or contents.cells:
        return contents, request
    told = {name: axis for axis, name in request.coordinates.items() if isinstance(name, str)}
    if len(told) != len(request.coordinates):
        return contents, request
    columns = {
        key: v.values.reshape(-1) for key, v in contents.variables.items() if is_vector(v.values)
    }
    axes: dict[str, str] = {}
    # Lower case first, as everywhere: beside `t`, a column `T` is a temperature.
    for key in sorted(columns, key=str.isupper):
        axis = told.get(key) or canonical_axis(key)
        if axis is not None and axis not in axes:
            axes[axis] = key
    lengths = {columns[key].size for key in axes.values()}
    repeated = all(np.unique(columns[key]).size < columns[key].size for key in axes.values())
    if not {"time", "x"} <= set(axes) or len(lengths) != 1 or not repeated:
        return contents, request
    size = lengths.pop()
    fields = {
        key: values
        for key, values in columns.items()
        if values.size == size and key not in axes.values()
    }
    if not fields:
        return contents, request
    record.append(f"{', '.join(fields)}: one value per point, arranged on the grid of the points")
    variables = pivot({axis: columns[key] for axis, key in axes.items()}, fields)
    stored = {axis: contents.variables[key] for axis, key in axes.items()} | dict(
        contents.variables
    )
    labeled = {
        name: replace(variable, attrs=stored[name].attrs) for name, variable in variables.items()
    }
    return replace(contents, variables=labeled), replace(request, coordinates={})


def label_for(name: str, dataset: xr.Dataset) -> str:
    """Name a field in the dataset like the variable in the file, without its folders if possible.

    Examples
    --------
    >>> label_for("run/u", xr.Dataset()), label_for("run/u", xr.Dataset({"u": 0.0}))
    ('u', 'run_u')
    """
    short = name.rsplit("/", 1)[-1]
    if short in DIMENSIONS:
        raise ReadError(f"the field {name!r} is called like an axis: rename it in the file")
    return short if short not in dataset else name.replace("/", "_")


def check_names(contents: Contents, names: tuple[str, ...]) -> None:
    """Raise `ReadError` with the closest name if a field is not in the file."""
    for name in names:
        if name in contents.refused:
            raise ReadError(
                f"{name} is not an array of numbers: {contents.refused[name]}. Save it as one"
            )
        if name not in contents.variables and name not in contents.groups:
            known = [*contents.variables, *contents.groups]
            raise ReadError(
                f"no variable {name!r} in the file{closest(name, known)} "
                f"It holds {contents.listing()}"
            )


def several_fields(contents: Contents, names: tuple[str, ...]) -> ReadError:
    """Make the error for a file with more than one possible field."""
    shapes = ", ".join(f"{name} {contents.variables[name].values.shape}" for name in names)
    return ReadError(
        f"{len(names)} variables could be the field: {shapes}. Choose one, e.g. "
        f"field={names[0]!r}, or several that belong together, e.g. field={list(names[:2])!r}"
    )


def _chosen(
    contents: Contents, request: Request, coordinates: Mapping[str, Coordinate]
) -> tuple[str, ...] | None:
    if request.fields is None:
        return None
    if (
        contents.unnamed
        and len(request.fields) == 1
        and request.fields[0] not in contents.variables
    ):
        return ("u",)
    check_names(contents, request.fields)
    names: list[str] = []
    for name in request.fields:
        names.extend(contents.groups.get(name, (name,)))
    axes = {coordinate.source for coordinate in coordinates.values()} & set(names)
    if axes:
        raise ReadError(f"{axes.pop()!r} cannot be the field and an axis: choose another field")
    return tuple(names)


def _require_axes(
    contents: Contents,
    request: Request,
    coordinates: Mapping[str, Coordinate],
    names: tuple[str, ...] | None,
) -> None:
    needed = [axis for axis in request.axes or ("time", "x") if axis != "sample"]
    missing = [axis for axis in needed if axis not in coordinates]
    if not missing:
        return
    if contents.unnamed and len(contents.variables) == 1:
        shape = contents.variables["u"].values.shape
        header = " For columns, add a header line such as t,x,u" * (contents.format == "text")
        raise ReadError(
            f"the file holds one array of shape {shape} alone, without coordinates: pass them, "
            "e.g. time=np.linspace(0, 1, nt), space=np.linspace(0, 1, nx), axes=('t', 'x')."
            f"{header}"
        )
    arrays = [name for name in contents.variables if not is_vector(contents.variables[name].values)]
    if names is None and not arrays and not contents.variables:
        raise ReadError(f"no array of numbers in the file. It holds {contents.listing()}")
    argument = "time" if missing[0] == "time" else "space"
    raise ReadError(
        f"no {missing[0]} axis found. The file holds {contents.listing()}: say which variable it "
        f"is, e.g. {argument}='name', or pass its values, {argument}=array"
    )


def _candidates(
    contents: Contents, request: Request, coordinates: Mapping[str, Coordinate]
) -> tuple[str, ...]:
    sources = {coordinate.source for coordinate in coordinates.values()}
    names = tuple(
        name
        for name, variable in contents.variables.items()
        if name not in sources
        and not (canonical_axis(name) in coordinates and is_axis(name, variable.values))
        and _orders(variable.values, request, coordinates)
    )
    if len(names) == 1 or names in contents.groups.values():
        return names
    if names:
        raise several_fields(contents, names)
    lengths = describe_lengths({name: each.size for name, each in coordinates.items()})
    for name, variable in contents.variables.items():
        if (hint := _samples_hint(name, variable.values, request, coordinates)) is not None:
            raise ReadError(
                f"no variable fits the axes ({lengths}) alone. {hint}. The file holds "
                f"{contents.listing()}"
            )
    raise ReadError(
        f"no variable fits the axes ({lengths}). The file holds {contents.listing()}: name the "
        "field with field=, and axes with time=, space= and axes= if they were found wrongly"
    )


def _orders(
    values: np.ndarray, request: Request, coordinates: Mapping[str, Coordinate]
) -> list[tuple[str, ...]]:
    """List the ways to name the axes of an array that lengths, meshgrids and caller allow."""
    lengths = {name: each.size for name, each in coordinates.items()}
    if request.axes is not None:
        if "sample" in request.axes and len(request.axes) == values.ndim:
            lengths["sample"] = values.shape[request.axes.index("sample")]
        return [each for each in orders_that_fit(values.shape, lengths) if each == request.axes]
    shape = tuple(size for size in values.shape if size > 1)
    if len(shape) < 2:
        return []
    orders = [each for each in orders_that_fit(shape, lengths) if "time" in each]
    for name, each in coordinates.items():
        if each.mesh_axis is not None and each.mesh_shape == values.shape:
            orders = [order for order in orders if order.index(name) == each.mesh_axis]
    return orders


def _labeled(
    name: str,
    variable: Variable,
    request: Request,
    coordinates: Mapping[str, Coordinate],
    record: list[str],
) -> tuple[np.ndarray, tuple[str, ...]]:
    values = variable.values
    orders = _orders(values, request, coordinates)
    lengths = describe_lengths({key: each.size for key, each in coordinates.items()})
    if not orders:
        hint = _samples_hint(name, values, request, coordinates)
        if hint is not None:
            raise ReadError(f"the axes have the lengths {lengths}. {hint}")
        wanted = f"axes={request.axes} and " if request.axes else ""
        raise ReadError(
            f"{name} has shape {values.shape}, which does not fit {wanted}the lengths of the axes "
            f"({lengths}): check axes=, time= and space=, or choose another field"
        )
    if len(orders) > 1:
        raise ReadError(
            f"{name} has shape {values.shape} and the axes have the lengths {lengths}: the order "
            f"cannot be told from lengths. Say it, e.g. axes={_short(orders[0])} or "
            f"axes={_short(orders[1])}"
        )
    if request.axes is None:
        how = (
            "meshgrid"
            if any(each.mesh_axis is not None for each in coordinates.values())
            else "lengths"
        )
        record.append(f"{name}: axis order ({', '.join(_short(orders[0]))}) read off the {how}")
        values = values.squeeze()
    return values, orders[0]


def _samples_hint(
    name: str, values: np.ndarray, request: Request, coordinates: Mapping[str, Coordinate]
) -> str | None:
    """Phrase the axes of an array that has one more than there are coordinates, if they fit."""
    if request.axes is not None or values.ndim != len(coordinates) + 1:
        return None
    lengths = {key: each.size for key, each in coordinates.items()}
    for place in (0, values.ndim - 1):
        rest = values.shape[:place] + values.shape[place + 1 :]
        for order in orders_that_fit(rest, lengths):
            axes = _short((*order[:place], "sample", *order[place:]))
            where = "first" if place == 0 else "last"
            return (
                f"{name} has shape {values.shape}: if its {where} axis counts independent runs, "
                f"say so with axes={axes}"
            )
    return None


def _short(order: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("t" if name == "time" else name for name in order)
