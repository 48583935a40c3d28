"""Keep the measurements of long cases, under a key made of everything that they depend on."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import logging
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from sciml import _atomic
from sciml.theory.prediction import finite_or_text

_log = logging.getLogger(__name__)

_LIBRARIES = ("numpy", "scipy", "sympy", "scikit-learn", "torch", "xarray", "pysindy")


@dataclass(frozen=True, kw_only=True)
class Record:
    """Measurements of one case, as kept: plain data only."""

    values: Mapping[str, float]
    seconds: float
    table: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    figure: bytes | None = None


@dataclass(frozen=True)
class Cache:
    """A folder of records.

    Parameters
    ----------
    folder
        Where they lie; made when the first record is kept.
    """

    folder: Path

    @classmethod
    def default(cls) -> Cache:
        """Return the cache in ``$SCIML_CACHE``, or in ``.sciml_cache`` of the current folder."""
        root = Path(os.environ.get("SCIML_CACHE") or ".sciml_cache")
        return cls(root / "validation")

    def read(self, name: str, key: str) -> Record | None:
        """Return the record of a case, or None if there is none or it cannot be read."""
        path = self._path(name, key)
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            return Record(
                values={name: float(value) for name, value in plain["values"].items()},
                seconds=float(plain["seconds"]),
                table=tuple(plain["table"]),
                note=str(plain["note"]),
                figure=None if plain["figure"] is None else base64.b64decode(plain["figure"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s is unreadable (%s): the case runs again", path, error)
            return None

    def write(self, name: str, key: str, record: Record) -> None:
        """Keep a record; a folder that cannot be written is reported in the log only."""
        plain = {
            "name": name,
            "values": {name: finite_or_text(value) for name, value in record.values.items()},
            "seconds": record.seconds,
            "table": [dict(row) for row in record.table],
            "note": record.note,
            "figure": None
            if record.figure is None
            else base64.b64encode(record.figure).decode("ascii"),
        }
        path = self._path(name, key)
        try:
            _atomic.write(path, json.dumps(plain, indent=1, allow_nan=False))
        except OSError as error:
            _log.warning("the measurements of %s could not be kept in %s: %s", name, path, error)

    def _path(self, name: str, key: str) -> Path:
        return self.folder / f"{name.replace('/', '-')}-{key[:20]}.json"


def content_key(name: str, sources: Iterable[Path]) -> str:
    """Return a key that changes with anything that the measurements depend on.

    Parameters
    ----------
    name
        Full name of the case.
    sources
        The files that the case is written in.

    Returns
    -------
    str
        SHA-256 over the name, the sources, every source file of the installed ``pdes`` and
        ``sciml``, and the versions of Python and of the numerical libraries.
    """
    digest = hashlib.sha256(f"{name}\n{_installation()}\n".encode())
    for path in sources:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _installation() -> str:
    digest = hashlib.sha256(platform.python_version().encode())
    for library in _LIBRARIES:
        try:
            version = metadata.version(library)
        except metadata.PackageNotFoundError:
            version = "absent"
        digest.update(f"{library}={version};".encode())
    packages = Path(__file__).resolve().parents[2]
    for package in ("pdes", "sciml"):
        for path in sorted((packages / package).rglob("*.py")):
            digest.update(path.relative_to(packages).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
