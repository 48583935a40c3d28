"""Discover the equation behind a recording, with evidence.

``sciml.discover(data)`` is the front door; the estimators follow scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sciml.discovery.baselines import WeakLasso, WeakMSTLS, WeakSTLSQ
from sciml.discovery.best_subset import WhitenedBestSubset
from sciml.discovery.eqod import EqOD
from sciml.discovery.front_door import discover
from sciml.discovery.library import Library
from sciml.discovery.pysindy_adapter import PySINDyWeak
from sciml.discovery.pysindy_covariance import WeakRowCovariance
from sciml.discovery.recording import DiscoveryWarning

__all__ = [
    "DiscoveryWarning",
    "EqOD",
    "Library",
    "PySINDyWeak",
    "WeakLasso",
    "WeakMSTLS",
    "WeakRowCovariance",
    "WeakSTLSQ",
    "WhitenedBestSubset",
    "WhitenedBestSubsetOptimizer",
    "discover",
]

if TYPE_CHECKING:
    from sciml.discovery.pysindy_optimizer import WhitenedBestSubsetOptimizer


def __getattr__(name: str) -> Any:
    if name == "WhitenedBestSubsetOptimizer":
        from sciml.discovery import pysindy_optimizer

        return pysindy_optimizer.WhitenedBestSubsetOptimizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Everything that is here, lazy names included."""
    return sorted({*globals(), *__all__})
