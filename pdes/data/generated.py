"""Looking at a generated dataset: how far it is, and opening it without reading it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.recipe import Recipe
from pdes.data.region_store import MANIFEST


@dataclass(frozen=True, kw_only=True)
class State:
    """What a store says of itself.

    Parameters
    ----------
    recipe : Recipe or None
        What it holds; None if `pdes.generate` did not make it.
    block : int
        Samples in a chunk.
    complete : bool
        Whether all samples are there, and their checksums.
    version : str
        Of the package that began it.
    fields : tuple of (name, shape of a sample, dtype)
        Arrays that are filled sample by sample, but for single numbers.
    """

    recipe: Recipe | None
    block: int = 0
    complete: bool = False
    version: str = ""
    fields: tuple[tuple[str, tuple[int, ...], str], ...] = ()


def attributes_of(path: Path) -> Mapping[str, Any]:
    """Attributes of a Zarr store or netCDF file, nothing else is read."""
    if not path.exists():
        raise ReadError(f"no file at {path}: check the path")
    if path.is_dir():
        from pdes.data.formats.zarr_store import require_zarr

        zarr = require_zarr()
        try:
            return dict(zarr.open_group(str(path), mode="r").attrs)
        except (OSError, ValueError, KeyError, TypeError) as error:
            if (path / MANIFEST).is_dir():
                raise ReadError(damaged_root(path)) from error
            raise ReadError(f"{path} is no Zarr store ({error}): choose another name") from error
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return {key: _plain(value) for key, value in file.attrs.items()}
    except OSError as error:
        raise ReadError(f"{path} is no netCDF-4 file ({error}): choose another name") from error


def damaged_root(path: Path) -> str:
    """What to say of a store of `pdes.generate` that no longer says what it holds."""
    return (
        f"{path} is a damaged store of pdes.generate: what it holds cannot be read from its root "
        f"(.zattrs, .zgroup or zarr.json). Remove the folder {path.name} and make the same call "
        "again: it gives the same samples"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    scalar = isinstance(value, np.ndarray | np.generic) and np.size(value) == 1
    return value.item() if scalar else value


def state_of(path: Path) -> State:
    """What a store says of itself."""
    attrs = attributes_of(path)
    if "recipe" not in attrs:
        return State(recipe=None)
    fields = []
    if path.is_dir():
        from pdes.data.formats.zarr_store import require_zarr

        root = require_zarr().open_group(str(path), mode="r")
        for name in json.loads(attrs["variable_order"]):
            try:
                array = root[name]
            except Exception:
                # Damaged: whoever reads it says so, and whoever makes it makes it again.
                continue
            shape, dtype = array.shape[1:], np.dtype(array.dtype)
            if array.attrs.get("complex"):
                shape, dtype = shape[:-1], np.dtype(f"c{2 * dtype.itemsize}")
            fields.append((name, tuple(shape), dtype.name))
    return State(
        recipe=Recipe.from_json(attrs["recipe"]),
        block=int(attrs["block"]),
        complete=bool(attrs["complete"]),
        version=str(attrs.get("version", "")),
        fields=tuple(fields),
    )


def open_generated(path: str | Path) -> xr.Dataset:
    """Open a generated dataset without reading it into memory, complete or not.

    Samples that are not there yet are NaN, with the status 0. Complex fields are read at once, as
    they are put together from their parts.

    Parameters
    ----------
    path : path
        Zarr store or netCDF file made by `pdes.generate`.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ReadError
        If it is none.
    """
    path = Path(path)
    attrs = attributes_of(path)
    if "recipe" not in attrs:
        if (path / MANIFEST).is_dir():
            raise ReadError(damaged_root(path))
        raise ReadError(f"{path} was not made by pdes.generate: use pdes.data.read")
    options: dict[str, Any] = {"engine": "h5netcdf"}
    if path.is_dir():
        options = {"engine": "zarr", "backend_kwargs": {"consolidated": False}}
    data = xr.open_dataset(
        path,
        mask_and_scale=False,
        decode_times=False,
        decode_timedelta=False,
        **options,
    )
    for name in list(data.data_vars):
        variable = data[name]
        if variable.attrs.get("complex"):
            parts = np.ascontiguousarray(variable.values)
            kind = np.result_type(parts.dtype, np.complex64)
            kept = {key: value for key, value in variable.attrs.items() if key != "complex"}
            data[name] = (variable.dims[:-1], parts.view(kind).reshape(parts.shape[:-1]), kept)
    order = [name for name in json.loads(attrs["variable_order"]) if name in data]
    for variable in data.variables.values():
        # What missing chunks read as is no property of the data.
        variable.attrs.pop("_FillValue", None)
    attrs = {key: _plain(value) for key, value in data.attrs.items()}
    found = xr.Dataset(
        {name: data[name].variable for name in order}, coords=data.coords, attrs=attrs
    )
    found.set_close(data.close)
    return found
