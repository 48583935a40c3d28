"""Readers of file formats, one per file, each with a function ``load(path) -> Contents``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pdes.data.contents import Contents
from pdes.data.errors import ReadError

READERS = {
    "mat": "matlab",
    "mat-7.3": "matlab_hdf5",
    "npy": "numpy_array",
    "npz": "numpy_archive",
    "netcdf-3": "netcdf",
    "netcdf-4": "netcdf",
    "hdf5": "hdf5",
    "zarr": "zarr_store",
    "text": "text_table",
}
"""Module of this package that reads a format; a new format joins by being listed here."""


def load(path: Path, found: str) -> Contents:
    """Read everything numeric in a file whose format is known.

    Parameters
    ----------
    path
        File, or folder of a Zarr store.
    found
        Format, as `pdes.data.signature.identify` names it.

    Returns
    -------
    Contents
        Arrays by name.

    Raises
    ------
    ReadError
        If the file is damaged or holds nothing that can be read.
    """
    reader = import_module(f"pdes.data.formats.{READERS[found]}")
    try:
        return reader.load(path)
    except ImportError:
        raise
    except ReadError as error:
        if path.name in str(error):
            raise
        raise ReadError(f"{path.name}: {error}") from error
    except Exception as error:
        # A damaged file can make a format library fail in any way; the user needs one kind.
        reason = str(error) or type(error).__name__
        raise ReadError(
            f"{path.name} is a damaged {found} file ({reason}): it is truncated or its bytes were "
            "changed; copy, download or write it again"
        ) from error
