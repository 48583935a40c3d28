"""Recordings of fields over space and time: read from disk, labeled in memory, stored.

Examples
--------
>>> import numpy as np
>>> from pdes.data import as_dataset
>>> x, t = np.linspace(0.0, 1.0, 4), np.linspace(0.0, 1.0, 3)
>>> as_dataset(np.outer(x, t), {"x": x, "t": t}).u.dims
('time', 'x')
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "AssumptionWarning": "pdes.data.errors",
    "AxisOrderWarning": "pdes.data.errors",
    "ChecksumError": "pdes.data.errors",
    "DataError": "pdes.data.errors",
    "ReadError": "pdes.data.errors",
    "as_dataset": "pdes.data.arrays",
    "assumptions": "pdes.data.schema",
    "checksum": "pdes.data.store",
    "from_array": "pdes.data.arrays",
    "Recipe": "pdes.data.recipe",
    "StoreFullError": "pdes.data.region_store",
    "load": "pdes.data.store",
    "open_generated": "pdes.data.generated",
    "read": "pdes.data.reader",
    "save": "pdes.data.store",
    "verify": "pdes.data.verification",
}

__all__ = [
    "AssumptionWarning",
    "AxisOrderWarning",
    "ChecksumError",
    "DataError",
    "ReadError",
    "Recipe",
    "StoreFullError",
    "as_dataset",
    "assumptions",
    "checksum",
    "from_array",
    "load",
    "open_generated",
    "read",
    "save",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    # Modules as well: messages and pages name `pdes.data.layouts` and others in full.
    if not name.startswith("_") and find_spec(f"pdes.data.{name}") is not None:
        return import_module(f"pdes.data.{name}")
    raise AttributeError(f"module 'pdes.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "layouts"])


if TYPE_CHECKING:
    from pdes.data.arrays import as_dataset, from_array
    from pdes.data.errors import (
        AssumptionWarning,
        AxisOrderWarning,
        ChecksumError,
        DataError,
        ReadError,
    )
    from pdes.data.generated import open_generated
    from pdes.data.reader import read
    from pdes.data.recipe import Recipe
    from pdes.data.region_store import StoreFullError
    from pdes.data.schema import assumptions
    from pdes.data.store import checksum, load, save
    from pdes.data.verification import verify
