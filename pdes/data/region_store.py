"""A Zarr store that is laid out once and then filled block by block.

Every array is cut along ``sample`` at the same places, so that two blocks never share a file and
any number of processes may write at once. A block that is complete says so in
``manifest/000012.json``, written after its data: whatever a killed process left behind is written
again, to the same bytes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data.formats.zarr_store import require_zarr
from pdes.data.store import SCHEMA

MANIFEST = "manifest"
CHUNK_BYTES = 4 * 2**20
"""Aim for the size of a chunk of small samples."""
LARGEST_CHUNK = 16 * 2**20
"""A larger sample is cut along space."""
FEWEST_BLOCKS = 16
"""Cut small datasets at least this often, so that there is something to share and to resume."""

_COMPONENT = "component"
_BUSY = "{path} is being made by another process: wait for it"

_log = logging.getLogger(__name__)


class StoreFullError(OSError):
    """No space left while generating; the store is valid and can be completed later."""


@dataclass(frozen=True, kw_only=True)
class Array:
    """One array of the store.

    Parameters
    ----------
    dims : tuple of str
        ``sample`` first for what differs from sample to sample.
    shape : tuple of int
        Its shape.
    dtype : str
        Name of the type of the elements, complex ones included.
    attrs : mapping
        Attributes.
    values : ndarray, optional
        Of arrays that are the same for all samples.
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    attrs: Mapping[str, Any]
    values: np.ndarray | None = None

    @property
    def sample_bytes(self) -> int:
        """Size of one sample."""
        return int(np.prod(self.shape[1:], dtype=np.int64)) * np.dtype(self.dtype).itemsize


def samples_per_block(arrays: Mapping[str, Array], samples: int) -> int:
    """How many samples are kept in one chunk: a function of the dataset alone.

    Examples
    --------
    >>> small = Array(dims=("sample", "x"), shape=(1000, 256), dtype="float32", attrs={})
    >>> samples_per_block({"u": small}, 1000)
    63
    """
    largest = max(a.sample_bytes for a in arrays.values() if a.values is None)
    return max(1, min(CHUNK_BYTES // max(largest, 1), -(-samples // FEWEST_BLOCKS)))


def create(
    path: Path,
    arrays: Mapping[str, Array],
    attrs: Mapping[str, Any],
    *,
    block: int,
    zarr_format: int = 2,
) -> None:
    """Lay out a store, all at once or not at all.

    Parameters
    ----------
    path : Path
        Folder that does not exist.
    arrays : mapping of str to Array
        What it will hold.
    attrs : mapping
        Attributes of the whole.
    block : int
        Samples in a chunk.
    zarr_format : {2, 3}
        Version of the format.
    """
    zarr = require_zarr()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    try:
        root = zarr.open_group(str(partial), mode="w-", zarr_format=zarr_format)
        for name, array in arrays.items():
            _create_array(root, name, array, block, zarr_format)
        root.create_group(MANIFEST)
        beside = [
            name
            for name, array in arrays.items()
            if (array.values is not None or array.dims == ("sample",)) and array.dims != (name,)
        ]
        about = {"schema": SCHEMA, "block": block, "coordinates": " ".join(beside)}
        # An array that was lost must be missed.
        root.attrs.update({**attrs, **about, "arrays": json.dumps(list(arrays))})
        os.replace(partial, path)
    except OSError as error:
        raise full(error, path, "laying out the store") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def lay_again(path: Path, arrays: Mapping[str, Array]) -> None:
    """Lay out some arrays of a store anew, whatever is left of them."""
    root = require_zarr().open_group(str(path), mode="r+")
    for name, array in arrays.items():
        shutil.rmtree(path / name, ignore_errors=True)
        _create_array(root, name, array, int(root.attrs["block"]), root.metadata.zarr_format)


def _create_array(root: Any, name: str, array: Array, block: int, zarr_format: int) -> None:
    dims, shape, attrs = array.dims, array.shape, dict(array.attrs)
    dtype = np.dtype(array.dtype)
    chunks = list(shape)
    if dims[0] == "sample":
        chunks[0] = min(block, shape[0])
        _cut(chunks, dims, dtype.itemsize)
    if dtype.kind == "c":
        # Other readers and netCDF have no complex numbers: real and imaginary part side by side.
        attrs["complex"] = 1
        dims, shape, chunks = (*dims, _COMPONENT), (*shape, 2), [*chunks, 2]
        dtype = np.dtype(f"f{dtype.itemsize // 2}")
    named: dict[str, Any] = {"dimension_names": dims} if zarr_format == 3 else {}
    if zarr_format == 2:
        attrs["_ARRAY_DIMENSIONS"] = list(dims)
    # What is not there yet reads as NaN; the code 0 of a status means missing.
    missing = dtype.kind == "f" and array.values is None
    made = root.create_array(
        name,
        shape=shape,
        chunks=tuple(max(1, size) for size in chunks),
        dtype=dtype,
        fill_value=np.nan if missing else (None if zarr_format == 2 else 0),
        attributes=attrs,
        **named,
    )
    if array.values is not None:
        made[...] = array.values


def _cut(chunks: list[int], dims: tuple[str, ...], itemsize: int) -> None:
    """Halve the longest space axis until a chunk is small enough."""
    space = [place for place, name in enumerate(dims) if name not in ("sample", "time")]
    while space and np.prod(chunks, dtype=np.int64) * itemsize > LARGEST_CHUNK:
        longest = max(space, key=lambda place: chunks[place])
        if chunks[longest] == 1:
            return
        chunks[longest] = -(-chunks[longest] // 2)


def write_block(
    path: Path, number: int, start: int, values: Mapping[str, np.ndarray], note: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the samples of one block, then its line of the manifest.

    Parameters
    ----------
    path : Path
        The store.
    number, start : int
        Of the block and of its first sample.
    values : mapping of str to ndarray
        Arrays with a leading axis of samples, for every array of the store that has one.
    note : mapping
        What to remember of the block beside its checksums.

    Returns
    -------
    dict
        The line of the manifest.
    """
    root = require_zarr().open_group(str(path), mode="r+")
    entry: dict[str, Any] = {"block": number, "start": start, **note, "sha256": {}}
    for name, array in values.items():
        target = root[name]
        stored = _components(array, target.dtype)
        target[start : start + len(array)] = stored
        entry["sha256"][name] = hashlib.sha256(little(stored)).hexdigest()
    write_text(manifest_file(path, number), json.dumps(entry, sort_keys=True))
    return entry


def _components(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if values.dtype.kind == "c":
        wide = np.ascontiguousarray(values, dtype=f"c{2 * dtype.itemsize}")
        return wide.reshape((*wide.shape, 1)).view(dtype)
    return np.ascontiguousarray(values, dtype=dtype)


def little(values: np.ndarray) -> bytes:
    """Bytes of an array in C order, little-endian: what checksums are taken of."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()


def manifest_file(path: Path, number: int) -> Path:
    """Line of the manifest of one block."""
    return path / MANIFEST / f"{number:06d}.json"


def read_manifest(path: Path) -> dict[int, dict[str, Any]]:
    """Complete blocks by number; a line that cannot be read counts as missing.

    Examples
    --------
    >>> read_manifest(Path("nowhere.zarr"))
    {}
    """
    found = {}
    for file in sorted((path / MANIFEST).glob("[0-9]*.json")):
        try:
            entry = json.loads(file.read_text(encoding="utf-8"))
            found[int(entry["block"])] = {**entry, "sha256": dict(entry["sha256"])}
        except (ValueError, KeyError, TypeError):
            _log.warning("%s cannot be read: the block is made again", file)
    return found


def sweep(path: Path) -> None:
    """Remove the temporary files of processes that were killed."""
    for file in path.rglob("*.partial"):
        file.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a small file that is either whole or not there."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def stream(array: Any) -> Iterator[bytes]:
    """Little-endian bytes of an array in C order, one row of chunks at a time."""
    if array.ndim == 0:
        yield little(np.asarray(array[...]))
        return
    rows = array.chunks[0]
    for start in range(0, array.shape[0], rows):
        yield little(np.asarray(array[start : start + rows]))


def stream_checksum(array: Any) -> str:
    """SHA-256 of an array, in the memory of one row of chunks."""
    digest = hashlib.sha256()
    for part in stream(array):
        digest.update(part)
    return digest.hexdigest()


def seal(path: Path, attrs: Mapping[str, Any]) -> None:
    """Write the checksum of every array and the last attributes: the store is complete."""
    root = require_zarr().open_group(str(path), mode="r+")
    for _, array in sorted(root.arrays()):
        array.attrs.update({"sha256": stream_checksum(array)})
    root.attrs.update({**attrs, "complete": 1})


@contextlib.contextmanager
def laying_out(path: Path) -> Iterator[None]:
    """Keep a second process from laying out the same store, before it has a lock of its own.

    The lock is a file beside the store that is removed at the end; a killed process leaves the file
    behind, but no lock on it.
    """
    try:
        import fcntl
    except ImportError:  # there is no such lock on Windows
        yield
        return
    beside = path.with_name(f".{path.name}.lock")
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = beside.open("w")
        except OSError as error:
            raise full(error, path, "laying out the store") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RuntimeError(_BUSY.format(path=path)) from None
            # Whoever held the lock before has removed the file: only the one in the folder counts.
            if not (beside.exists() and os.path.samestat(os.fstat(file.fileno()), beside.stat())):
                continue
            try:
                yield
            finally:
                beside.unlink(missing_ok=True)
            return


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a second generation away from a store; a killed process leaves no lock behind."""
    try:
        import fcntl
    except ImportError:  # there is no such lock on Windows
        yield
        return
    with (path / MANIFEST / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RuntimeError(_BUSY.format(path=path)) from None
        yield


def full(error: OSError, path: Path, what: str) -> OSError:
    """The error itself, or one that says what to do about a full disk."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return error
    free = shutil.disk_usage(path if path.exists() else path.parent).free
    return StoreFullError(
        error.errno,
        f"no space left on the device while {what} ({free / 2**20:.1f} MiB free). What is complete "
        "stays valid: free some space and make the same call again, and it goes on from there",
        str(path),
    )
