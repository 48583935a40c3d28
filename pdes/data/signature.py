"""Which format a file has, from its first bytes; its suffix is only compared afterwards."""

from __future__ import annotations

from pathlib import Path

from pdes.data.errors import ReadError

FORMATS_BY_SUFFIX = {
    ".mat": ("mat", "mat-7.3"),
    ".npy": ("npy",),
    ".npz": ("npz",),
    ".nc": ("netcdf-3", "netcdf-4"),
    ".nc3": ("netcdf-3",),
    ".nc4": ("netcdf-4",),
    ".cdf": ("netcdf-3", "netcdf-4"),
    ".h5": ("hdf5", "netcdf-4"),
    ".hdf5": ("hdf5", "netcdf-4"),
    ".zarr": ("zarr",),
    ".csv": ("text",),
    ".tsv": ("text",),
    ".txt": ("text",),
    ".dat": ("text",),
}
"""Formats that a suffix promises."""

_HDF5 = b"\x89HDF\r\n\x1a\n"
_ZARR_MARKS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")

# What people have on disk by mistake, and the way out.
_UNREADABLE = {
    b"\x80\x02": "a Python pickle, which runs code when it is opened",
    b"\x80\x03": "a Python pickle, which runs code when it is opened",
    b"\x80\x04": "a Python pickle, which runs code when it is opened",
    b"\x80\x05": "a Python pickle, which runs code when it is opened",
    b"\x1f\x8b": "gzip-compressed",
    b"BZh": "bzip2-compressed",
    b"\xfd7zXZ\x00": "xz-compressed",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"CDF\x05": "a netCDF file of the CDF-5 variant",
    b"\x0e\x03\x13\x01": "an HDF4 file",
    b"\xd0\xcf\x11\xe0": "an old Excel or Office document",
    b"PAR1": "a Parquet file",
    b"version https://git-lfs": "a Git LFS pointer, not the data",
    b"<!doctype html": "an HTML page: the download went wrong",
    b"<html": "an HTML page: the download went wrong",
}
_REMEDIES = {
    b"\x80": "open it where you trust its origin and save the arrays with "
    "numpy.savez('data.npz', u=u, x=x, t=t)",
    b"\x1f\x8b": "decompress it first (gunzip)",
    b"BZh": "decompress it first (bunzip2)",
    b"\xfd7z": "decompress it first (unxz)",
    b"7z": "unpack it first",
    b"CDF\x05": "convert it with 'nccopy -k nc4 old.nc new.nc'",
    b"\x0e\x03": "convert it with h4toh5",
    b"version": "fetch the data with 'git lfs pull'",
    b"<": "download it again",
}


def identify(path: Path) -> str:
    """Recognize the format of a file or folder by its content.

    Parameters
    ----------
    path
        An existing file, or the folder of a Zarr store.

    Returns
    -------
    str
        ``mat``, ``mat-7.3``, ``npy``, ``npz``, ``netcdf-3``, ``netcdf-4``, ``hdf5``, ``zarr`` or
        ``text``.

    Raises
    ------
    ReadError
        If the path is missing, empty, or nothing that can be read.
    """
    if not path.exists():
        raise ReadError(f"no file at {path}: check the path")
    if path.is_dir():
        if any((path / mark).exists() for mark in _ZARR_MARKS):
            return "zarr"
        raise ReadError(f"{path} is a folder but no Zarr store: give the path of one file")
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        raise ReadError(f"{path.name} is empty (0 bytes): copy or download it again")
    found = _by_first_bytes(path, head)
    if found is not None:
        return found
    for mark, what in _UNREADABLE.items():
        if head.lstrip().lower().startswith(mark.lower()):
            remedy = next((r for m, r in _REMEDIES.items() if mark.startswith(m)), "export numbers")
            raise ReadError(f"{path.name} is {what}: {remedy}")
    if _looks_like_text(head):
        return "text"
    if path.suffix.lower() in (".csv", ".txt", ".dat", ".tsv") and _is_printable(head):
        raise ReadError(
            f"{path.name} is text without any number, such as a header line alone: write the rows "
            "of numbers below it"
        )
    raise ReadError(
        f"{path.name} is in no known format (first bytes {head[:8]!r}); known are MATLAB 5 to 7.3, "
        "numpy, netCDF, HDF5, Zarr and text tables. If it comes from MATLAB 4, save it again "
        "with save(..., '-v7'); if it was copied, the copy may be damaged"
    )


def mismatch(path: Path, found: str) -> str | None:
    """Say so if a suffix promises another format than the content has, else return None.

    Examples
    --------
    >>> mismatch(Path("run.npz"), "mat")
    "the suffix '.npz' promises npz, the content is mat"
    >>> mismatch(Path("run.mat"), "mat") is None
    True
    """
    promised = FORMATS_BY_SUFFIX.get(path.suffix.lower())
    if promised is None or found in promised:
        return None
    return f"the suffix {path.suffix!r} promises {' or '.join(promised)}, the content is {found}"


def _by_first_bytes(path: Path, head: bytes) -> str | None:
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return "npz"
    if head[:4] in (b"CDF\x01", b"CDF\x02"):
        return "netcdf-3"
    # The version of a MATLAB file stands in bytes 124 to 126, in the byte order named after it.
    version = {b"IM": head[124:126][::-1], b"MI": head[124:126]}.get(head[126:128])
    if version == b"\x01\x00":
        return "mat"
    if head.startswith(_HDF5):
        return "netcdf-4" if _has_dimensions(path) else "hdf5"
    if head[512:520] == _HDF5 or head[1024:1032] == _HDF5 or head[2048:2056] == _HDF5:
        return "mat-7.3" if version == b"\x02\x00" or b"MATLAB 7.3" in head[:124] else "hdf5"
    if head.startswith(b"MATLAB 7.3") or head.startswith(b"MATLAB 5.0"):
        raise ReadError(
            f"{path.name} begins like a MATLAB file, but its header is incomplete "
            f"({path.stat().st_size} bytes): it is truncated or damaged, copy it again"
        )
    return None


def _has_dimensions(path: Path) -> bool:
    """Whether an HDF5 file follows netCDF-4: every array has named dimensions."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "_NCProperties" in file.attrs:
                return True
            arrays = [
                item for item in file.values() if isinstance(item, h5py.Dataset) and item.ndim
            ]
            return bool(arrays) and all(
                "DIMENSION_LIST" in item.attrs or item.is_scale for item in arrays
            )
    except Exception as error:
        # A damaged file can make the library fail in any way.
        raise ReadError(
            f"{path.name} is a damaged HDF5 file ({error}): it is truncated or was not closed; "
            "copy or write it again"
        ) from error


def _is_printable(head: bytes) -> bool:
    return all(byte >= 32 or byte in b"\t\n\r" for byte in head)


def _looks_like_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # the mark of UTF-16
        return True
    control = sum(byte < 32 and byte not in b"\t\n\r\x0b\x0c\x1a" for byte in head)
    return control == 0 and any(chr(byte).isdigit() for byte in head)
