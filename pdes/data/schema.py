"""The form that every recording is brought into before anything else looks at it.

Dimensions are called ``sample``, ``time``, ``x``, ``y``, ``z`` and come in this order; every
coordinate is a finite, strictly increasing vector of floats; fields are floats, complex only if
an imaginary part is different from zero. Whatever had to be changed is said in the attribute
``assumed``, a JSON list of sentences.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

import numpy as np
import xarray as xr

from pdes.data.dates import seconds_since_first
from pdes.data.errors import DataError
from pdes.data.names import DIMENSIONS, SPACE

logger = logging.getLogger(__name__)

NEGLIGIBLE_IMAGINARY = 1e-5
"""Imaginary parts below this, relative to the largest real part, are rounding left by an FFT."""


def assumptions(dataset: xr.Dataset | xr.DataArray) -> list[str]:
    """Return what was assumed when a recording was read or converted.

    Examples
    --------
    >>> assumptions(xr.Dataset(attrs={"assumed": '["u: integers read as floats"]'}))
    ['u: integers read as floats']
    """
    return list(json.loads(dataset.attrs.get("assumed", "[]")))


def tidy(dataset: xr.Dataset, assumed: Iterable[str] = ()) -> xr.Dataset:
    """Bring a recording with known dimension names into the common form.

    Parameters
    ----------
    dataset
        Fields over some of the dimensions ``sample``, ``time``, ``x``, ``y``, ``z``; all variables
        of the dataset that span time and space count as fields of one system.
    assumed
        Sentences to put on record before those of this function.

    Returns
    -------
    xarray.Dataset
        A new dataset; the arrays are shared with the given one where nothing had to be changed.

    Raises
    ------
    DataError
        If an axis has no coordinate values, or values that are not finite and monotonic.

    Examples
    --------
    >>> raw = xr.Dataset({"u": (("x", "time"), [[1, 2], [3, 4], [5, 6]])},
    ...                  coords={"x": [2.0, 1.0, 0.0], "time": [0.0, 1.0]})
    >>> tidy(raw).u.dims, tidy(raw).x.values, tidy(raw).u.dtype.name
    (('time', 'x'), array([0., 1., 2.]), 'float64')
    >>> assumptions(tidy(raw))
    ['x: descending axis flipped', 'u: integers (int64) read as float64']
    """
    record = [*assumptions(dataset), *assumed]
    # A dataset that carries its equation says itself which fields are complex.
    negligible = 0.0 if "equation" in dataset.attrs else NEGLIGIBLE_IMAGINARY
    dataset = dataset.copy()
    for name in dataset.dims:
        dataset = _tidy_axis(dataset, str(name), record)
    for name in list(dataset.data_vars):
        variable = dataset[name]
        if not set(variable.dims) & {"time", *SPACE}:
            # A number per sample is a property of the run, not a field to be differentiated.
            dataset = dataset.set_coords(name)
            record.append(f"{name}: has no time or space axis, kept as a coordinate")
            continue
        values = as_floats(variable.values, str(name), record, negligible)
        dataset[name] = (variable.dims, values, variable.attrs)
    order = [name for name in DIMENSIONS if name in dataset.dims]
    coords = {name: dataset.coords[name] for name in (*order, *dataset.coords)}
    fields = {
        name: variable.transpose(*order, missing_dims="ignore").variable
        for name, variable in dataset.data_vars.items()
    }
    attrs = {**dataset.attrs, "assumed": json.dumps(record)}
    dataset = xr.Dataset(fields, coords=coords, attrs=attrs)
    for sentence in record:
        logger.debug("assumed: %s", sentence)
    return dataset


def as_floats(
    values: np.ndarray, name: str, record: list[str], negligible: float = 0.0
) -> np.ndarray:
    """Convert numbers to floats in native byte order, and to reals where nothing is lost.

    Parameters
    ----------
    values
        Numbers of any kind.
    name
        Name for the record and for messages.
    record
        Receives a sentence for every change that a reader of the result should know.
    negligible
        Imaginary parts up to this, relative to the largest real part, are dropped.

    Returns
    -------
    numpy.ndarray
        float32, float64, complex64 or complex128; NaN stays.

    Examples
    --------
    >>> record = []
    >>> as_floats(np.array([1 + 0j, 2 + 0j]), "u", record), record
    (array([1., 2.]), ['u: complex numbers with zero imaginary part read as real'])
    """
    if values.dtype.kind not in "iufcb":
        raise DataError(
            f"{name} has dtype {values.dtype}, wanted numbers: convert it, "
            f"e.g. with numpy.asarray({name}, dtype=float)"
        )
    if values.dtype.kind in "iub":
        record.append(f"{name}: integers ({values.dtype.name}) read as float64")
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        values = _real_if_close(values, name, record, negligible)
    wanted = _EXACT_DTYPES[values.dtype.kind].get(values.dtype.itemsize)
    if wanted is not None:
        record.append(f"{name}: {values.dtype.name} read as {np.dtype(wanted).name}")
        return values.astype(wanted)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


# Half precision is too coarse to differentiate; extended precision cannot be stored portably.
_EXACT_DTYPES = {
    "f": {2: np.float64, 12: np.float64, 16: np.float64},
    "c": {24: np.complex128, 32: np.complex128},
}


def _real_if_close(
    values: np.ndarray, name: str, record: list[str], negligible: float
) -> np.ndarray:
    finite = np.isfinite(values)
    imaginary = float(np.max(np.abs(np.imag(values)), where=finite, initial=0.0))
    if imaginary == 0.0:
        record.append(f"{name}: complex numbers with zero imaginary part read as real")
        return np.real(values)
    real = float(np.max(np.abs(np.real(values)), where=finite, initial=0.0))
    if imaginary > negligible * real:
        return values
    record.append(
        f"{name}: imaginary part dropped, at most {imaginary / real:.1e} of the largest real part"
    )
    return np.real(values)


def _tidy_axis(dataset: xr.Dataset, name: str, record: list[str]) -> xr.Dataset:
    size = dataset.sizes[name]
    if name not in dataset.coords:
        if name == "sample":
            return dataset.assign_coords(sample=np.arange(size))
        raise DataError(
            f"the dimension {name} ({size} points) has no coordinate values: "
            f"give them, e.g. data.assign_coords({name}=values) or coords={{{name!r}: values}}"
        )
    if name == "sample":
        return dataset
    coordinate = dataset[name]
    values, attrs = seconds_since_first(coordinate.values, coordinate.attrs, name, record)
    values = as_floats(values, name, record)
    check_axis(values, name)
    dataset = dataset.assign_coords({name: (name, values, attrs)})
    if size > 1 and values[0] > values[-1]:
        record.append(f"{name}: descending axis flipped")
        dataset = dataset.isel({name: slice(None, None, -1)})
    return dataset


def check_axis(values: np.ndarray, name: str) -> None:
    """Raise `DataError` unless coordinate values are real, finite and strictly monotonic."""
    if np.iscomplexobj(values):
        raise DataError(f"the axis {name} is complex; wanted real coordinate values")
    if not np.all(np.isfinite(values)):
        where = int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(
            f"the axis {name} has the value {values[where]} at index {where}; wanted finite "
            "coordinate values: repair the axis, or cut these points from axis and field"
        )
    steps = np.diff(values)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        direction = 1.0 if np.sum(steps > 0) >= np.sum(steps < 0) else -1.0
        where = int(np.flatnonzero(direction * steps <= 0)[0])
        raise DataError(
            f"the axis {name} is not monotonic: {values[where]} is followed by {values[where + 1]} "
            f"at index {where + 1}; sort the axis together with the field, and drop repeated points"
        )
