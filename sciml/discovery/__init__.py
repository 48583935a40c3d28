"""Discover the equation behind a recording, with evidence.

``sciml.discover(data)`` is the front door; the estimators follow scikit-learn.
"""

from __future__ import annotations

from sciml.discovery.best_subset import WhitenedBestSubset
from sciml.discovery.front_door import discover
from sciml.discovery.library import Library
from sciml.discovery.recording import DiscoveryWarning

__all__ = ["DiscoveryWarning", "Library", "WhitenedBestSubset", "discover"]
