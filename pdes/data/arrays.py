"""Arrays and xarray objects in memory, brought into the common form of a recording."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.axes import coordinate_from, describe_lengths, orders_that_fit
from pdes.data.dates import warn_of_dates
from pdes.data.errors import AxisOrderWarning, DataError
from pdes.data.names import DIMENSIONS, SPACE, canonical_axis
from pdes.data.schema import tidy


def from_array(
    array: Any,
    coords: Mapping[str, Any],
    dims: Sequence[str] | None = None,
    *,
    name: str = "u",
) -> xr.Dataset:
    """Label an array with its coordinates.

    Parameters
    ----------
    array
        Numbers on a tensor grid, one array axis per coordinate: a numpy array, anything that
        ``numpy.asarray`` takes, a torch tensor; or a mapping of field names to such arrays of
        equal shape.
    coords
        Coordinate values by axis name: ``t`` or ``time``, ``x``, ``y``, ``z``, and ``sample`` for
        independent runs. Each is a vector, or a meshgrid.
    dims
        Axis names in array order. By default the order of `coords` if the lengths fit, else the
        only order in which they do.
    name
        Name of the field, if `array` is a single array.

    Returns
    -------
    xarray.Dataset
        Fields over ``(sample, time, x, y, z)``, those that there are, in this order.

    Raises
    ------
    DataError
        If lengths disagree, an axis has an unknown name, or values are not numbers.

    Warns
    -----
    AxisOrderWarning
        If two axes are equally long and `dims` is not given.
    AssumptionWarning
        If dates were converted to seconds since the first.

    Examples
    --------
    >>> x, t = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 3)
    >>> data = from_array(np.outer(t, x), {"x": x, "t": t})
    >>> dict(data.sizes), float(data.u.sel(time=2.0, x=0.5))
    ({'time': 3, 'x': 5}, 1.0)
    """
    if not isinstance(coords, Mapping):
        raise DataError(
            f"coords is a {type(coords).__name__}, wanted a mapping of axis names to values, "
            'e.g. coords={"x": x, "t": t}'
        )
    fields = array if isinstance(array, Mapping) else {name: array}
    arrays = {str(key): _as_numpy(value, str(key)) for key, value in fields.items()}
    shapes = {key: value.shape for key, value in arrays.items()}
    if len(set(shapes.values())) != 1:
        raise DataError(f"fields must have one shape, got {shapes or 'no fields'}")
    axes = {axis_name(key): _axis_values(values, key) for key, values in coords.items()}
    if len(axes) != len(coords):
        raise DataError(f"coords names an axis twice: {', '.join(map(str, coords))}")
    record: list[str] = []
    shape = next(iter(shapes.values()))
    order = _order(shape, {key: values.size for key, values in axes.items()}, dims, record)
    variables = {key: (order, value) for key, value in arrays.items()}
    raw = xr.Dataset(variables, coords={key: (key, axes[key]) for key in order})
    dataset = tidy(raw, record)
    warn_of_dates(None, dataset, stacklevel=2)
    return dataset


def as_dataset(data: Any, coords: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Bring data in memory into the common form of a space-time recording.

    Parameters
    ----------
    data
        A `xarray.Dataset` (its variables are the fields of one system), a `xarray.DataArray`, an
        array or tensor, or a mapping of field names to arrays.
    coords
        Coordinate values by axis name for arrays, e.g. ``{"x": x, "t": t}``, see `from_array`.
        For xarray objects, values for dimensions that have none.

    Returns
    -------
    xarray.Dataset
        Fields over ``(sample, time, x, y, z)``, those that there are, in this order; the attribute
        ``assumed`` says what was changed. The given object is left as it is.

    Raises
    ------
    DataError
        If an axis has an unknown name, no values or values that are not monotonic; if there is
        no time axis or no space axis; if lengths disagree.

    Warns
    -----
    AxisOrderWarning
        If two array axes are equally long, so that the order of `coords` had to be trusted.
    AssumptionWarning
        If dates were converted to seconds since the first.

    Examples
    --------
    >>> field = xr.DataArray(np.eye(3), dims=("x", "t"),
    ...                      coords={"x": [0.0, 1.0, 2.0], "t": [0.0, 0.1, 0.2]}, name="h")
    >>> as_dataset(field).h.dims
    ('time', 'x')
    """
    if isinstance(data, xr.DataArray):
        data = data.to_dataset(name=data.name or "u") if data.name not in data.dims else data
        if isinstance(data, xr.DataArray):
            raise DataError(f"the field and its axis are both called {data.name!r}: rename one")
    if isinstance(data, xr.Dataset):
        dataset = tidy(_rename(data, coords))
        warn_of_dates(data, dataset, stacklevel=2)
    elif coords is None:
        raise DataError(
            f"data of type {type(data).__name__} carry no coordinates: pass coords, "
            'e.g. coords={"x": x, "t": t} in the order of the array axes'
        )
    else:
        dataset = from_array(data, coords)
    if not dataset.data_vars:
        raise DataError("the dataset has no field over time and space")
    for name, variable in dataset.data_vars.items():
        if "time" not in variable.dims or not set(variable.dims) & set(SPACE):
            raise DataError(
                f"{name} has the axes {variable.dims}; wanted time and at least one of x, y, z. "
                "Rename the axes if they have other names, or drop the variable"
            )
    return dataset


def axis_name(name: Any) -> str:
    """Return the dimension that an axis name stands for, or raise `DataError` with a hint.

    Examples
    --------
    >>> axis_name("t"), axis_name("x")
    ('time', 'x')
    """
    if name == "t":
        return "time"
    if name in DIMENSIONS:
        return str(name)
    guess = canonical_axis(str(name)) or "x"
    raise DataError(
        f"unknown axis {name!r}; wanted t (or time), x, y, z or sample. "
        f"Rename it, e.g. data.rename({{{name!r}: {guess!r}}}) or coords={{{guess!r}: values}}"
    )


def _rename(dataset: xr.Dataset, coords: Mapping[str, Any] | None) -> xr.Dataset:
    dataset = dataset.rename(
        {name: axis_name(name) for name in dataset.dims if axis_name(name) != name}
    )
    for key, values in (coords or {}).items():
        name, line = axis_name(key), _axis_values(values, key)
        if name not in dataset.dims:
            raise DataError(f"coords has {key!r}, but the data have the axes {tuple(dataset.dims)}")
        if line.size != dataset.sizes[name]:
            raise DataError(
                f"coords[{key!r}] has {line.size} values, but the axis {name} of the data has "
                f"{dataset.sizes[name]}"
            )
        dataset = dataset.assign_coords({name: (name, line)})
    return dataset


def _as_numpy(array: Any, name: str) -> np.ndarray:
    # Tensors on a device or with a gradient do not convert by themselves; torch isn't imported.
    for method in ("detach", "cpu"):
        array = getattr(array, method)() if hasattr(array, method) else array
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.result_type(array.dtype, np.float64)), np.nan)
    try:
        values = np.asarray(array)
    except ValueError as error:  # rows of different lengths
        raise DataError(f"{name} is no array ({error}); wanted numbers on a full grid") from error
    if values.dtype.kind not in "iufcb":
        raise DataError(
            f"{name} has dtype {values.dtype}, wanted numbers in a rectangular array: "
            "convert it with numpy.asarray(..., dtype=float)"
        )
    return values


def _axis_values(values: Any, name: Any) -> np.ndarray:
    line = np.asarray(values if isinstance(values, xr.DataArray) else _as_coordinate(values, name))
    if line.ndim <= 1:
        return line.reshape(-1)
    coordinate = coordinate_from(line)
    if coordinate is None:
        raise DataError(
            f"coords[{name!r}] has shape {line.shape} and is neither a vector nor a meshgrid: "
            "pass the values along one axis"
        )
    return coordinate.values


def _as_coordinate(values: Any, name: Any) -> np.ndarray:
    stored = np.asarray(values) if not hasattr(values, "detach") else values
    if isinstance(stored, np.ndarray) and stored.dtype.kind in "mMU":
        return stored
    return _as_numpy(stored, f"coords[{name!r}]")


def _order(
    shape: tuple[int, ...],
    lengths: dict[str, int],
    dims: Sequence[str] | None,
    record: list[str],
) -> tuple[str, ...]:
    if dims is not None:
        names = tuple(axis_name(name) for name in dims)
        if sorted(names) != sorted(lengths):
            raise DataError(f"dims names {names}, but coords has {tuple(lengths)}: name the same")
        _check_lengths(shape, lengths, names)
        return names
    if len(shape) != len(lengths):
        hint = (
            "; for independent runs along a leading axis add 'sample': range(n) to coords"
            if len(shape) == len(lengths) + 1 and "sample" not in lengths
            else ": pass one coordinate per array axis"
        )
        raise DataError(
            f"the array has {len(shape)} axes (shape {shape}), but coords has {len(lengths)} "
            f"({describe_lengths(lengths)}){hint}"
        )
    fitting = orders_that_fit(shape, lengths)
    if not fitting:
        _check_lengths(shape, lengths, tuple(lengths))
    chosen = tuple(lengths) if tuple(lengths) in fitting else fitting[0]
    if chosen != tuple(lengths):
        record.append(
            f"axis order ({', '.join(chosen)}) read off the lengths {shape}, "
            f"not ({', '.join(lengths)}) as coords lists them"
        )
    if len(fitting) > 1:
        message = (
            f"axes of equal length in {shape}: the order ({', '.join(chosen)}) of coords is "
            "trusted. Name the order to be sure: "
            f"pdes.data.from_array(array, coords, dims={chosen})"
        )
        warnings.warn(message, AxisOrderWarning, stacklevel=3)
        record.append(f"axis order ({', '.join(chosen)}) trusted, since lengths are equal")
    return chosen


def _check_lengths(
    shape: tuple[int, ...], lengths: Mapping[str, int], names: tuple[str, ...]
) -> None:
    named = {name: lengths[name] for name in names}
    if tuple(named.values()) == shape:
        return
    other = len(shape) == len(names) and orders_that_fit(shape, named)
    remedy = f"the order {other[0]} would fit" if other else "no order of them fits"
    raise DataError(
        f"the array has shape {shape}, but the axes have the lengths {describe_lengths(named)}: "
        f"{remedy}"
    )
