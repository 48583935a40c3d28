"""Zarr stores, if zarr is installed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.contents import Contents, Variable, is_numeric
from pdes.data.formats.hdf5 import plain_attributes
from pdes.data.formats.netcdf import from_dataset


def load(path: Path) -> Contents:
    """Read all arrays of numbers of a Zarr store.

    Parameters
    ----------
    path
        Folder of the store, of version 2 or 3.

    Returns
    -------
    Contents
        With the names of the axes, if the store has them.
    """
    zarr = require_zarr()
    root = zarr.open(str(path), mode="r")
    if isinstance(root, zarr.Array):
        return Contents(
            format="zarr", variables={"u": Variable(values=np.asarray(root[...]))}, unnamed=True
        )
    arrays = dict(root.arrays())
    if arrays and all(_has_names(array) for array in arrays.values()):
        with xr.open_zarr(
            path, decode_times=False, decode_timedelta=False, consolidated=False, chunks=None
        ) as dataset:
            return from_dataset(dataset.load(), "zarr")
    variables: dict[str, Variable] = {}
    refused: dict[str, str] = {}
    for name, array in arrays.items():
        if is_numeric(np.empty(0, array.dtype)):
            attrs = plain_attributes(dict(array.attrs))
            variables[name] = Variable(values=np.asarray(array[...]), attrs=attrs)
        else:
            refused[name] = f"dtype {array.dtype}"
    attrs = plain_attributes(dict(root.attrs))
    return Contents(format="zarr", variables=variables, refused=refused, attrs=attrs)


def require_zarr() -> ModuleType:
    """Return the module zarr, or raise ImportError that says how to install it."""
    try:
        import zarr
    except ImportError as error:
        raise ImportError(
            "Zarr stores need the package zarr: pip install 'sciml-pdes[zarr]'"
        ) from error
    return zarr


def _has_names(array: Any) -> bool:
    names = array.attrs.get("_ARRAY_DIMENSIONS") or getattr(array.metadata, "dimension_names", None)
    return array.ndim == 0 or (names is not None and all(names))
