"""Putting names on the arrays of a layout."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.reader import file_checksum
from pdes.data.schema import check_axis
from pdes.memory import machine_memory, size_text


def label(
    fields: Mapping[str, tuple[Sequence[str], np.ndarray]],
    coords: Mapping[str, Any],
    *,
    path: Path,
    layout: str,
    assumed: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
    periodic: Sequence[str] = (),
) -> xr.Dataset:
    """Dataset of the common form.

    Parameters
    ----------
    fields : mapping of str to (dims, values)
        What was measured or computed.
    coords : mapping of str to array or (dims, array)
        Coordinates; ``sample`` is added if it is missing.
    path : Path
        Where it was read from.
    layout : str
        Name of the layout.
    assumed : sequence of str
        What the file does not say.
    parameters : mapping, optional
        Physical parameters of the whole file.
    attrs : mapping, optional
        Further attributes.
    periodic : sequence of str
        Axes that wrap around, if that is known.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ReadError
        If an axis is as long as no array or not monotonic, times decrease, or a field is empty.
    """
    found = {}
    for name, values in coords.items():
        dims, array = values if isinstance(values, tuple) else ((name,), values)
        array = np.asarray(array)
        if array.ndim == 1 and (name,) == tuple(dims):
            array = array.astype(np.float64)
            check_axis(array, name)
            if name == "time" and array[0:1] > array[-1:]:
                raise ReadError(
                    f"{path.name}: the times decrease, from {array[0]:g} to {array[-1]:g}; wanted "
                    "increasing ones: turn the times round, and the frames too if they run backward"
                )
        found[name] = (tuple(dims), array)
    sizes = {}
    for name, (dims, values) in fields.items():
        if values.ndim != len(dims):
            raise ReadError(f"{path.name}: {name} has shape {values.shape}, wanted axes {dims}")
        if not values.size:
            raise ReadError(
                f"{path.name}: {name} has shape {values.shape} and holds no values: download or "
                "write the file again"
            )
        for dim, size in zip(dims, values.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ReadError(f"{path.name}: {name} has {size} points along {dim}, {sizes[dim]}?")
    for name, (dims, values) in found.items():
        wanted = tuple(sizes.get(dim, size) for dim, size in zip(dims, values.shape, strict=True))
        if wanted != values.shape:
            raise ReadError(
                f"{path.name}: the coordinate {name} has shape {values.shape}, the fields {wanted}"
            )
    if "sample" in sizes and "sample" not in found:
        found["sample"] = (("sample",), np.arange(sizes["sample"]))
    data = xr.Dataset({n: (tuple(d), v) for n, (d, v) in fields.items()}, coords=found)
    for axis in periodic:
        data[axis].attrs["periodic"] = 1
    checksums = {"source_sha256": file_checksum(path)} if path.is_file() else {}
    return data.assign_attrs(
        source_file=path.name,
        layout=layout,
        assumed=json.dumps(list(assumed)),
        parameters=json.dumps(dict(parameters or {})),
        **checksums,
        **(attrs or {}),
    )


@contextlib.contextmanager
def hdf5(path: Path, layout: str) -> Iterator[Any]:
    """Open file of HDF5, or an error that says what is wrong with it."""
    import h5py

    if not path.is_file():
        raise ReadError(f"no file at {path}: check the path")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ReadError(
            f"{path.name} is no HDF5 file, or damaged ({error}); wanted the layout of {layout}"
        ) from error
    with file:
        try:
            yield file
        except ReadError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError) as error:
            reason = str(error).strip("'\"") or type(error).__name__
            raise ReadError(
                f"{path.name} is damaged, or not of the layout of {layout} ({reason})"
            ) from error


def part(stored: Any, chosen: Any, *, arrays: int = 1) -> np.ndarray:
    """Read the chosen samples of an array of a file, if they fit into memory.

    Parameters
    ----------
    stored : h5py.Dataset
        With samples along the first axis.
    chosen : slice or (Ellipsis, slice)
        Samples along the first or the last axis.
    arrays : int, default 1
        Arrays of this size that are wanted together.

    Raises
    ------
    ReadError
        If this machine has less memory than that.
    """
    axis, cut = (-1, chosen[-1]) if isinstance(chosen, tuple) else (0, chosen)
    count = max(int(stored.shape[axis]), 1)
    taken = len(range(*cut.indices(count)))
    check_fits(arrays * float(stored.size) * stored.dtype.itemsize * taken / count, taken)
    return stored[chosen]


def check_fits(wanted: float, count: int) -> None:
    """Refuse to read more than the memory of this machine holds."""
    whole = machine_memory()
    if whole is None or wanted <= whole:
        return
    few = int(0.25 * whole * count / wanted)
    remedy = (
        f"read fewer at once, such as samples={few}"
        if few
        else "not one fits: read parts of it with h5py and label them by pdes.data.as_dataset"
    )
    raise ReadError(
        f"{count} samples need about {size_text(wanted)} of memory, this machine has "
        f"{size_text(whole)}: {remedy}"
    )


def selection(samples: int | slice | None, count: int) -> slice:
    """Samples to read: the first so many, or a slice.

    Examples
    --------
    >>> selection(3, 10), selection(None, 10), selection(slice(2, 20), 10)
    (slice(0, 3, 1), slice(0, 10, 1), slice(2, 10, 1))
    """
    if samples is None:
        return slice(0, count, 1)
    wanted = slice(samples) if isinstance(samples, int) else samples
    start, stop, step = wanted.indices(count)
    if step < 1 or stop <= start:
        raise ReadError(f"samples={samples} selects none of the {count} samples")
    return slice(start, stop, step)


def number(value: Any) -> Any:
    """Attribute as a plain number or text.

    Examples
    --------
    >>> number(np.array([0.5])), number(b"walls")
    (0.5, 'walls')
    """
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray | np.generic):
        return value.item() if np.size(value) == 1 else value.tolist()
    return value


def cell_centers(count: int, start: float = 0.0, stop: float = 1.0) -> np.ndarray:
    """Centers of equal cells.

    Examples
    --------
    >>> cell_centers(2)
    array([0.25, 0.75])
    """
    return start + (stop - start) * (np.arange(count) + 0.5) / count
