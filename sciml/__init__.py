"""Learned components for PDEs that predict their own error in closed form.

Public names load on first use: ``import sciml`` loads neither torch nor PySINDy.

Examples
--------
>>> import pdes, sciml
>>> recording = pdes.simulate(pdes.get("burgers"))
>>> print(sciml.discover(recording).equations()[0])
u_t = -1.000*u*u_x + 0.1000*u_xx
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "discover": "sciml.discovery",
    "EqOD": "sciml.discovery",
    "Library": "sciml.discovery",
    "WhitenedBestSubset": "sciml.discovery",
    "Prediction": "sciml.theory",
    "Verdict": "sciml.theory",
}
_ROOMS = (
    "datasets",
    "discovery",
    "metrics",
    "nn",
    "noise",
    "operators",
    "plotting",
    "propagators",
    "theory",
    "validation",
)

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"sciml.{name}")
    raise AttributeError(f"module 'sciml' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])


if TYPE_CHECKING:
    from sciml.discovery import EqOD, Library, WhitenedBestSubset, discover
    from sciml.theory import Prediction, Verdict
