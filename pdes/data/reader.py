"""The front door for files: one call for every format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from pdes.data import formats
from pdes.data.errors import DataError, ReadError
from pdes.data.finding import arrange_columns, find_fields
from pdes.data.labeled import label_fields, names_dimensions
from pdes.data.names import closest
from pdes.data.recognized_layout import layout_hint
from pdes.data.request import Request
from pdes.data.schema import tidy
from pdes.data.signature import identify, mismatch
from pdes.data.store import is_own, load
from pdes.data.target import given_path


def read(
    path: str | Path,
    *,
    field: str | Sequence[str] | None = None,
    time: Any = None,
    space: Any = None,
    axes: Sequence[str] | None = None,
) -> xr.Dataset:
    """Read a space-time recording from a file.

    The format is recognized by content: MATLAB (5 to 7.3), numpy (``.npy``, ``.npz``), netCDF (3
    and 4), HDF5, Zarr, tables as text. Fields and axes are found by name and by length; where the
    file leaves a choice, an error asks for it. No format is read in a way that could run code.

    Parameters
    ----------
    path
        The file, or the folder of a Zarr store.
    field
        Name of the variable to read, or names of several that form one system. By default the
        only variable that fits the axes.
    time
        Name of the time variable, or its values, shape (nt,).
    space
        Name of the variable with the positions along x, or its values, shape (nx,). For more
        dimensions a list of such, or a mapping ``{"x": ..., "y": ...}``.
    axes
        Names of the array axes in the order in which the file has them, e.g. ``("x", "t")``.

    Returns
    -------
    xarray.Dataset
        Fields over ``(sample, time, x, y, z)``, those that there are, in this order. Attributes:
        ``source_file``, ``source_sha256``, ``source_format``, and ``assumed``, a JSON list of
        sentences on what had to be assumed or was changed (see `pdes.data.assumptions`).

    Raises
    ------
    ReadError
        If the file is damaged, in no known format, or leaves open what is meant; the message says
        what to do.
    ImportError
        If the file is a Zarr store and zarr is not installed.

    Notes
    -----
    Descending axes are flipped, integers become floats, complex numbers without imaginary part
    become real, meshgrids become vectors, NaN stays. Axes need not be uniform. A square array
    whose axis order nothing tells is refused.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> x, t = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/run.npz", usol=np.outer(x, t), x=x, t=t)
    ...     data = read(f"{folder}/run.npz")
    >>> dict(data.sizes), float(data.usol.sel(time=2.0, x=0.5)), data.attrs["source_format"]
    ({'time': 3, 'x': 5}, 1.0, 'npz')
    """
    path = given_path(path)
    request = Request.from_arguments(field, time, space, axes)
    try:
        return _read(path, request)
    except ReadError as error:
        hint = layout_hint(path)
        if not hint:
            raise
        raise type(error)(f"{error}. {hint}") from error


def _read(path: Path, request: Request) -> xr.Dataset:
    found = identify(path)
    record = [sentence for sentence in [mismatch(path, found)] if sentence]
    if _own(path, found):
        dataset = _read_own(path, request)
        dataset.attrs.setdefault("assumed", json.dumps(record))
    else:
        dataset = _read_foreign(path, found, request, record)
    # What a stored recording says about its first origin is kept.
    dataset.attrs.setdefault("source_file", path.name)
    dataset.attrs.setdefault("source_sha256", file_checksum(path))
    dataset.attrs.setdefault("source_format", found)
    return dataset


def _own(path: Path, found: str) -> bool:
    try:
        return is_own(path, found)
    except ImportError:
        raise
    except Exception as error:
        # Whatever the format library stumbles over, the file is what is wrong.
        raise ReadError(
            f"{path.name} is a damaged {found} file ({error}): copy or write it again"
        ) from error


def _read_own(path: Path, request: Request) -> xr.Dataset:
    if request.coordinates or request.axes:
        raise ReadError(
            f"{path.name} was written by pdes.data.save and names its axes: leave out time=, "
            "space= and axes="
        )
    dataset = load(path)
    if request.fields is None:
        return dataset
    for name in request.fields:
        if name not in dataset.data_vars:
            known = [str(key) for key in dataset.data_vars]
            raise ReadError(
                f"{path.name}: no variable {name!r}{closest(name, known)} It holds {known}"
            )
    return dataset[list(request.fields)]


def _read_foreign(path: Path, found: str, request: Request, record: list[str]) -> xr.Dataset:
    contents = formats.load(path, found)
    try:
        contents, request = arrange_columns(contents, request, record)
        find = label_fields if names_dimensions(contents) else find_fields
        dataset = find(contents, request, record)
        # Provenance and assumptions of another file that came along as attributes do not count.
        for name in ("assumed", "source_file", "source_sha256", "source_format"):
            dataset.attrs.pop(name, None)
        return tidy(dataset, record)
    except DataError as error:
        raise ReadError(f"{path.name}: {error}") from error


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of the names and contents of its files."""
    digest = hashlib.sha256()
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    for part in sorted(path.rglob("*")):
        if part.is_file():
            digest.update(part.relative_to(path).as_posix().encode() + b"\0")
            digest.update(part.read_bytes())
    return digest.hexdigest()
