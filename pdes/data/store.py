"""Storing recordings without loss: netCDF for one, Zarr for many samples, checksums for both."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ChecksumError, ReadError
from pdes.data.target import check_writable, given_path, target_path

SCHEMA = "pdes-1"
"""Value of the attribute ``schema`` of everything written here."""

_COMPONENT = "component"


def checksum(values: np.ndarray) -> str:
    """Return the SHA-256 of an array over its elements in C order and little-endian bytes.

    Parameters
    ----------
    values
        Numbers of any shape; of text, the characters count, joined by zero bytes.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> checksum(np.array([1.0, 2.0])) == checksum(np.array([1.0, 2.0], dtype=">f8"))
    True
    """
    values = np.asarray(values)
    if values.dtype.kind in "UO":
        return hashlib.sha256("\0".join(map(str, values.flat)).encode()).hexdigest()
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return hashlib.sha256(little.tobytes()).hexdigest()


def save(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a recording so that `load` and `pdes.data.read` give back every bit.

    Parameters
    ----------
    dataset
        Variables of numbers or text; complex ones get a trailing axis ``component`` ("re", "im")
        on disk. Attributes must be text, numbers or vectors of numbers.
    path
        Target with the suffix ``.nc`` (netCDF-4) or ``.zarr``. Something already there is replaced,
        after all has been written.

    Returns
    -------
    pathlib.Path
        The target.

    Raises
    ------
    ValueError
        If the suffix is another, or the dataset has a dimension called ``component``.
    TypeError
        If an attribute cannot be stored, with its name.
    ImportError
        If the target is a Zarr store and zarr is not installed.

    Examples
    --------
    >>> import tempfile
    >>> wave = xr.Dataset({"h": ("x", [1 + 2j, 3 - 4j])}, coords={"x": ("x", [0.0, 1.0])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(load(save(wave, f"{folder}/wave.nc")).h.values)
    [1.+2.j 3.-4.j]
    """
    if not isinstance(dataset, xr.Dataset):
        raise TypeError(
            f"dataset: got {type(dataset).__name__}, wanted an xarray.Dataset"
            + (": data.to_dataset(name='u')" if isinstance(dataset, xr.DataArray) else "")
        )
    path = target_path(path, "path")
    if path.suffix not in (".nc", ".zarr"):
        raise ValueError(f"the suffix of {path.name} is {path.suffix!r}; wanted .nc or .zarr")
    check_writable(path)
    encoded = _encode(dataset)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    # xarray would mark NaN as missing, a change to the attributes that nothing here needs.
    plain = {name: {"_FillValue": None} for name in encoded.variables}
    try:
        if path.suffix == ".nc":
            encoded.to_netcdf(partial, engine="h5netcdf", encoding=plain)
            os.replace(partial, path)
        else:
            from pdes.data.formats.zarr_store import require_zarr

            require_zarr()
            encoded.to_zarr(partial, mode="w-", consolidated=False, zarr_format=2, encoding=plain)
            _replace_folder(partial, path)
    finally:
        if partial.is_dir():
            # Files that zarr still has in its hands may vanish meanwhile.
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
    return path


def load(path: str | Path, *, check: bool = True) -> xr.Dataset:
    """Read what `save` wrote, into memory.

    Parameters
    ----------
    path
        File or folder.
    check
        Whether to compare the checksums.

    Returns
    -------
    xarray.Dataset
        The dataset that was saved; its variables carry their checksum in the attribute ``sha256``.

    Raises
    ------
    ReadError
        If the file is damaged or was not written by `save`.
    ChecksumError
        If a variable differs from what was written.
    """
    path = given_path(path)
    dataset = _open(path)
    if check:
        _compare(dataset, path.name)
    return dataset


def verify(path: str | Path) -> dict[str, str]:
    """Compare every variable of a stored recording with its checksum.

    Parameters
    ----------
    path
        File or folder written by `save`.

    Returns
    -------
    dict of str to str
        The checksum of every variable.

    Raises
    ------
    ChecksumError
        Naming the variables that differ from what was written.
    ReadError
        If the file is damaged or was not written by `save`.
    """
    dataset = load(path, check=True)
    return {str(name): str(v.attrs["sha256"]) for name, v in dataset.variables.items()}


def _encode(dataset: xr.Dataset) -> xr.Dataset:
    if _COMPONENT in dataset.dims:
        raise ValueError(
            f"{_COMPONENT!r} names the parts of complex numbers: rename this dimension"
        )
    encoded = dataset.drop_encoding()
    for name in list(encoded.variables):
        variable = encoded[name].variable
        values = variable.values
        if values.dtype.kind not in "iufcbU":
            raise TypeError(
                f"{name} has dtype {values.dtype}; wanted numbers or text: convert it, dates for "
                "example to seconds"
            )
        attrs = {**variable.attrs, "sha256": checksum(values)}
        dims = variable.dims
        if values.dtype.kind == "c":
            attrs["complex"] = 1
            # A view, not arithmetic: the bits of NaN and of -0.0 survive.
            parts = np.ascontiguousarray(values).reshape((*values.shape, 1))
            values, dims = parts.view(np.real(values).dtype), (*dims, _COMPONENT)
        _check_attributes(attrs, str(name))
        encoded = _with_variable(encoded, name, xr.Variable(dims, values, attrs))
    # Zarr keeps no order, and the order of the fields is that of the equations.
    order = json.dumps([str(name) for name in dataset.data_vars])
    encoded.attrs = {**dataset.attrs, "schema": SCHEMA, "variable_order": order}
    _check_attributes(encoded.attrs, "the dataset")
    return encoded


def _check_attributes(attrs: dict[Any, Any], owner: str) -> None:
    for name, value in attrs.items():
        stored = np.asarray(value) if isinstance(value, (list, tuple)) else value
        if isinstance(stored, bool | np.bool_) or not (
            isinstance(stored, (str, int, float, np.number))
            or (isinstance(stored, np.ndarray) and stored.ndim == 1 and stored.dtype.kind in "iuf")
        ):
            raise TypeError(
                f"the attribute {name!r} of {owner} is {value!r}; wanted text, a number or a "
                "vector of numbers: use 0 or 1 for truth values, json.dumps for anything else"
            )


def _replace_folder(new: Path, path: Path) -> None:
    """Put a folder in place of another one, which is kept until the new one stands."""
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex}.old")
    if path.exists():
        os.replace(path, old)
    try:
        os.replace(new, path)
    except OSError:
        if old.exists():
            os.replace(old, path)
        raise
    if old.is_dir():
        shutil.rmtree(old)
    else:
        old.unlink(missing_ok=True)


def is_own(path: Path, found: str) -> bool:
    """Whether a netCDF-4 file or a Zarr store says that `save` wrote it."""
    if found == "netcdf-4":
        import h5py

        with h5py.File(path, "r") as file:
            return file.attrs.get("schema") == SCHEMA
    if found == "zarr":
        from pdes.data.formats.zarr_store import require_zarr

        return require_zarr().open(str(path), mode="r").attrs.get("schema") == SCHEMA
    return False


def _open(path: Path) -> xr.Dataset:
    if not path.exists():
        raise ReadError(f"no file at {path}: check the path")
    engine = "zarr" if path.is_dir() else "h5netcdf"
    if engine == "zarr":
        from pdes.data.formats.zarr_store import require_zarr

        require_zarr()
    try:
        with xr.open_dataset(
            path,
            engine=engine,
            mask_and_scale=False,
            decode_times=False,
            decode_timedelta=False,
            backend_kwargs={"consolidated": False} if engine == "zarr" else None,
        ) as stored:
            dataset = stored.load()
    except Exception as error:
        # Damage shows as any kind of exception of the libraries below.
        raise ReadError(
            f"{path.name} cannot be read ({error}): it is damaged, write it again"
        ) from error
    if dataset.attrs.get("schema") != SCHEMA:
        raise ReadError(f"{path.name} was not written by pdes.data.save: use pdes.data.read")
    if not dataset.attrs.get("complete", 1):
        raise ReadError(
            f"{path.name} is not complete: make the same call of pdes.generate again to finish it, "
            "or look at it with pdes.data.open_generated"
        )
    return _decode(dataset)


def _decode(dataset: xr.Dataset) -> xr.Dataset:
    decoded = dataset.drop_encoding()
    for name in list(decoded.variables):
        variable = decoded[name].variable
        attrs, dims, values = dict(variable.attrs), variable.dims, variable.values
        # What missing chunks of a Zarr store read as is no property of the data.
        filled = attrs.pop("_FillValue", None) is not None
        if values.dtype == object:
            values = values.astype(str)
        elif attrs.pop("complex", 0):
            kind = np.result_type(values.dtype, np.complex64)
            values = np.ascontiguousarray(values).view(kind).reshape(values.shape[:-1])
            dims = dims[:-1]
        elif not filled:
            continue
        decoded = _with_variable(decoded, name, xr.Variable(dims, values, attrs))
    attrs = dict(dataset.attrs)
    order = json.loads(attrs.pop("variable_order"))
    attrs.pop("schema")
    fields = {name: decoded[name].variable for name in order}
    return xr.Dataset(fields, coords=decoded.coords, attrs=attrs)


def _with_variable(dataset: xr.Dataset, name: Any, variable: xr.Variable) -> xr.Dataset:
    if name in dataset.coords:
        return dataset.assign_coords({name: variable})
    return dataset.assign({name: variable})


def _compare(dataset: xr.Dataset, name: str) -> None:
    wrong = [
        str(key)
        for key, variable in dataset.variables.items()
        if variable.attrs.get("sha256") != checksum(variable.values)
    ]
    if wrong:
        raise ChecksumError(
            f"{name}: {', '.join(wrong)} differ from what was written: the file was changed or "
            "damaged; write or copy it again"
        )
