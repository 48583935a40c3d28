"""The front door for files: one call for every format."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from pdes.data import formats
from pdes.data.errors import DataError, ReadError
from pdes.data.finding import arrange_columns, find_fields
from pdes.data.labeled import label_fields, names_dimensions
from pdes.data.request import Request
from pdes.data.schema import tidy
from pdes.data.signature import identify, mismatch


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
    path = Path(path)
    request = Request.from_arguments(field, time, space, axes)
    found = identify(path)
    contents = formats.load(path, found)
    wrong_suffix = mismatch(path, contents.format)
    record = [wrong_suffix] if wrong_suffix else []
    try:
        contents = arrange_columns(contents, request, record)
        find = label_fields if names_dimensions(contents) else find_fields
        dataset = tidy(find(contents, request, record), record)
    except DataError as error:
        raise type(error)(f"{path.name}: {error}") from error
    dataset.attrs["source_file"] = path.name
    dataset.attrs["source_sha256"] = file_checksum(path)
    dataset.attrs["source_format"] = contents.format
    return dataset


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
