"""Plain HDF5: arrays in nested groups, with or without names for their axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pdes.data.contents import Contents, Variable, is_numeric
from pdes.data.errors import ReadError
from pdes.memory import machine_memory, size_text


def load(path: Path) -> Contents:
    """Read all arrays of numbers.

    Parameters
    ----------
    path
        An HDF5 file.

    Returns
    -------
    Contents
        An array in a group is called ``group/array``. Dimension labels and scales are taken as
        names of the axes where every axis of an array has one.
    """
    variables: dict[str, Variable] = {}
    refused: dict[str, str] = {}

    def visit(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if not isinstance(item, h5py.Dataset) or not isinstance(name, str):
            return  # names that are no text come as bytes, from damaged files
        values = np.asarray(item[()]) if item.dtype.kind in "iufc" else np.empty(0, item.dtype)
        if is_numeric(values):
            dims = _dimension_names(item)
            variables[name] = Variable(values=values, dims=dims, attrs=plain_attributes(item.attrs))
        else:
            refused[name] = f"dtype {item.dtype}"

    with h5py.File(path, "r") as file:
        _check_fits(file)
        file.visititems(visit)
        attrs = plain_attributes(file.attrs)
    return Contents(format="hdf5", variables=variables, refused=refused, attrs=attrs)


def _check_fits(file: h5py.File) -> None:
    """Refuse what is larger than the memory of this machine, before any of it is read."""
    sizes: list[float] = []

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "iufc":
            sizes.append(float(item.size or 0) * item.dtype.itemsize)

    file.visititems(visit)
    wanted, whole = sum(sizes), machine_memory()
    if whole is not None and wanted > whole:
        raise ReadError(
            f"its arrays need about {size_text(wanted)} of memory, this machine has "
            f"{size_text(whole)}: read a part with h5py and label it by pdes.data.as_dataset; "
            "readers of pdes.data.layouts take samples=..."
        )


def plain_attributes(attrs: Any) -> dict[str, Any]:
    """Keep the attributes that are text, numbers or vectors of numbers.

    Examples
    --------
    >>> plain_attributes({"units": b"m/s", "scale": 2.0, "CLASS": b"DIMENSION_SCALE"})
    {'units': 'm/s', 'scale': 2.0}
    """
    machinery = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}
    plain: dict[str, Any] = {}
    for name, value in attrs.items():
        if name in machinery or name.startswith("_Netcdf4"):
            continue
        if isinstance(value, bytes):
            plain[name] = value.decode("utf-8", errors="replace")
        elif isinstance(value, (str, int, float, np.number)) or (
            isinstance(value, np.ndarray) and value.ndim <= 1 and is_numeric(value)
        ):
            plain[name] = value
    return plain


def _dimension_names(item: h5py.Dataset) -> tuple[str, ...] | None:
    names = []
    for dimension in item.dims:
        scale = str(dimension[0].name).rsplit("/", 1)[-1] if len(dimension) else ""
        names.append(dimension.label or scale)
    return tuple(names) if names and all(names) and len(set(names)) == len(names) else None
