"""Repair of forecasts that break a physical rule: exact projections, and whether to use them.

Names load on first use, because they need torch.

Examples
--------
>>> import torch
>>> from sciml.repair import LerayProjection
>>> project = LerayProjection((1.0, 1.0))
>>> flow = torch.randn(3, 2, 16, 16, dtype=torch.float64, generator=torch.manual_seed(0))
>>> bool(project.defect(project(flow)).max() < 1e-12)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "AbstractProjection": "projection",
    "LerayProjection": "leray",
    "Relaxed": "relaxed",
    "idempotence": "measures",
    "mean_square": "measures",
    "optimal_strength": "measures",
    "removable_error": "measures",
    "symmetry": "measures",
    "target_distortion": "measures",
}

__all__ = [
    "AbstractProjection",
    "LerayProjection",
    "Relaxed",
    "idempotence",
    "mean_square",
    "optimal_strength",
    "removable_error",
    "symmetry",
    "target_distortion",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.repair.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.repair' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.repair.leray import LerayProjection
    from sciml.repair.measures import (
        idempotence,
        mean_square,
        optimal_strength,
        removable_error,
        symmetry,
        target_distortion,
    )
    from sciml.repair.projection import AbstractProjection
    from sciml.repair.relaxed import Relaxed
