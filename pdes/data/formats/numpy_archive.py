"""Several numpy arrays in one archive, never with pickled objects."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from pdes.data.contents import Contents, Variable, is_numeric
from pdes.data.errors import ReadError
from pdes.data.formats.numpy_stream import read_array

_OTHER_ARCHIVES = {
    "[Content_Types].xml": "an Excel or Office document: export the sheet as CSV",
    "zarr.json": "a zipped Zarr store: unpack it and give the folder",
    ".zgroup": "a zipped Zarr store: unpack it and give the folder",
    "data.pkl": "a PyTorch file, which may hold pickled code: save arrays with numpy.savez",
}


def load(path: Path) -> Contents:
    """Read an ``.npz`` file.

    Parameters
    ----------
    path
        File written by ``numpy.savez`` or ``numpy.savez_compressed``.

    Returns
    -------
    Contents
        Entries with Python objects are refused; the others are read.
    """
    variables: dict[str, Variable] = {}
    refused: dict[str, str] = {}
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ReadError(
            f"{path.name} is a damaged npz file ({error}): it is truncated; copy or write it again"
        ) from error
    with archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        if not entries:
            names = [Path(name).name for name in archive.namelist()]
            what = next((text for mark, text in _OTHER_ARCHIVES.items() if mark in names), None)
            raise ReadError(f"{path.name} is {what or 'a zip archive without numpy arrays'}")
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            data = archive.read(entry)
            try:
                values = read_array(io.BytesIO(data), len(data), name)
            except ReadError as error:
                if "Python objects" not in str(error):
                    raise
                refused[name] = "holds Python objects, which could run code when read"
                continue
            if is_numeric(values):
                variables[name] = Variable(values=values)
            else:
                refused[name] = f"dtype {values.dtype}"
    return Contents(format="npz", variables=variables, refused=refused)
