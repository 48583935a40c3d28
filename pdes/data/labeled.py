"""Fields of formats that name their array axes: netCDF, Zarr, tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pdes.data.axes import Coordinate, is_axis
from pdes.data.contents import Contents, Variable
from pdes.data.coordinates import told_coordinate
from pdes.data.errors import ReadError
from pdes.data.finding import check_names, label_for, several_fields
from pdes.data.names import SPACE, canonical_axis
from pdes.data.request import Request

_EXAMPLES = {3: ("sample", "t", "x"), 4: ("sample", "t", "x", "y")}


def names_dimensions(contents: Contents) -> bool:
    """Whether every array of two or more axes comes with the names of its axes."""
    arrays = [v for v in contents.variables.values() if v.values.ndim >= 2]
    return not contents.cells and bool(arrays) and all(v.dims is not None for v in arrays)


def label_fields(contents: Contents, request: Request, record: list[str]) -> xr.Dataset:
    """Find fields and axes by the dimension names in the file.

    Parameters
    ----------
    contents
        Variables of the file.
    request
        What the caller said; its axes rename the dimensions.
    record
        Receives a sentence for every assumption.

    Returns
    -------
    xarray.Dataset
        Fields with dimensions named as everywhere here, and their coordinates, values as stored.

    Raises
    ------
    ReadError
        If there is no field or more than one without a choice, or a dimension cannot be
        interpreted.
    """
    record.extend(contents.assumed)
    names = request.fields or _candidates(contents, request)
    check_names(contents, names)
    dataset = xr.Dataset(attrs=dict(contents.attrs))
    for name in names:
        variable = contents.variables[name]
        values, stored = _without_single_points(name, variable, request, record)
        dims = _dimensions(name, stored, values, contents, request, record)
        for dim, original in zip(dims, stored, strict=True):
            if dim not in dataset.coords and dim != "sample":
                line = _coordinate(dim, original, contents, request)
                if line.size != values.shape[dims.index(dim)]:
                    raise ReadError(
                        f"{name} has {values.shape[dims.index(dim)]} points along {dim}, but "
                        f"{line.size} coordinate values are given"
                    )
                dataset = dataset.assign_coords({dim: (dim, line.values, dict(line.attrs))})
        dataset[label_for(name, dataset)] = (dims, values, dict(variable.attrs))
    return dataset


def _candidates(contents: Contents, request: Request) -> tuple[str, ...]:
    told = {name for name in request.coordinates.values() if isinstance(name, str)}
    names = tuple(
        name
        for name, variable in contents.variables.items()
        if variable.values.ndim >= 2
        and name not in told
        and not is_axis(name, variable.values)
        and (request.axes is None or len(request.axes) == variable.values.ndim)
    )
    # Bounds of cells and the like span fewer axes than the field does.
    most = max((contents.variables[name].values.ndim for name in names), default=0)
    names = tuple(name for name in names if contents.variables[name].values.ndim == most)
    if not names:
        raise ReadError(
            f"no variable over time and space. The file holds {contents.listing()}: "
            "name the field with field="
        )
    if len(names) > 1:
        raise several_fields(contents, names)
    return names


def _without_single_points(
    name: str, variable: Variable, request: Request, record: list[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    values, dims = variable.values, variable.dims
    if dims is None:
        raise ReadError(f"{name} has no dimension names: name its axes with axes=")
    if request.axes is not None:
        return values, dims
    single = [
        dim
        for dim, size in zip(dims, values.shape, strict=True)
        if size == 1 and canonical_axis(dim) is None
    ]
    if single:
        record.append(f"{name}: axes of one point left out ({', '.join(single)})")
        values = values.squeeze(tuple(dims.index(dim) for dim in single))
    return values, tuple(dim for dim in dims if dim not in single)


def _dimensions(
    name: str,
    stored: tuple[str, ...],
    values: np.ndarray,
    contents: Contents,
    request: Request,
    record: list[str],
) -> tuple[str, ...]:
    if request.axes is not None:
        if len(request.axes) != values.ndim:
            raise ReadError(
                f"axes names {len(request.axes)} axes, but {name} has {values.ndim}: "
                f"{dict(zip(stored, values.shape, strict=True))}"
            )
        return request.axes
    told = {key: axis for axis, key in request.coordinates.items() if isinstance(key, str)}
    dims: list[str] = []
    for original in stored:
        dim = told.get(original) or canonical_axis(original)
        if dim is None:
            dim = _from_variable_along(original, contents.variables, told)
        if dim is None:
            raise ReadError(
                f"{name} has the axes {stored}, and {original!r} is not known as an axis: name "
                f"them in this order with axes=, e.g. axes={_EXAMPLES.get(len(stored), ('t', 'x'))}"
            )
        if dim != original and not (dim == "time" and original == "t"):
            record.append(f"{original} taken as the {dim} axis")
        dims.append(dim)
    if len(set(dims)) != len(dims) or "time" not in dims or not set(dims) & set(SPACE):
        raise ReadError(
            f"{name} has the axes {stored}; wanted time and at least one of x, y, z: "
            "name them in this order with axes=, e.g. axes=('t', 'x')"
        )
    return tuple(dims)


def _from_variable_along(
    dim: str, variables: Mapping[str, Variable], told: Mapping[str, str]
) -> str | None:
    """Interpret a dimension such as ``nx`` by the vector called ``x`` that lies along it."""
    for key, variable in variables.items():
        if variable.dims == (dim,) and (told.get(key) or canonical_axis(key)):
            return told.get(key) or canonical_axis(key)
    return None


def _coordinate(dim: str, original: str, contents: Contents, request: Request) -> Coordinate:
    if dim in request.coordinates:
        return told_coordinate(contents, dim, request.coordinates[dim])
    along = {
        key: variable
        for key, variable in contents.variables.items()
        if variable.values.ndim == 1 and variable.dims in ((original,), None)
    }
    ranked = sorted(along, key=lambda key: (key != original, canonical_axis(key) != dim, key))
    for key in ranked:
        if key == original or canonical_axis(key) == dim:
            return Coordinate(values=along[key].values, source=key, attrs=along[key].attrs)
    argument = "time" if dim == "time" else "space"
    raise ReadError(
        f"the dimension {original!r} has no coordinate values: pass them, {argument}=array"
    )
