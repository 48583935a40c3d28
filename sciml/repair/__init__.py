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
    "AffineProjection": "affine",
    "BlendedTopDown": "hierarchy",
    "BoundsProjection": "nonlinear",
    "EnergyProjection": "nonlinear",
    "EnstrophyProjection": "nonlinear",
    "ErrorSplit": "measures",
    "FaceLayout": "face_layout",
    "GatedRepair": "gated",
    "Intersection": "intersection",
    "LerayProjection": "leray",
    "MeshProjection": "mesh",
    "MismatchedLeray": "mismatched",
    "PoissonCleanup": "poisson_cleanup",
    "RangeProjection": "collocated",
    "Reconciliation": "hierarchy",
    "Relaxed": "relaxed",
    "RepairReport": "report",
    "SimplexProjection": "nonlinear",
    "StaggeredProjection": "staggered",
    "TopDown": "hierarchy",
    "boundary_projection": "affine",
    "end_points_projection": "affine",
    "error_split": "measures",
    "idempotence": "measures",
    "mean_square": "measures",
    "mirror_projection": "affine",
    "off_manifold_gain": "off_manifold",
    "optimal_strength": "measures",
    "recommend": "recommendation",
    "removable_error": "measures",
    "rollout": "rollouts",
    "shrunk_covariance": "hierarchy",
    "summing_matrix": "hierarchy",
    "symmetry": "measures",
    "target_distortion": "measures",
    "total_projection": "affine",
    "velocity_states": "states",
}

__all__ = [
    "AbstractProjection",
    "AffineProjection",
    "BlendedTopDown",
    "BoundsProjection",
    "EnergyProjection",
    "EnstrophyProjection",
    "ErrorSplit",
    "FaceLayout",
    "GatedRepair",
    "Intersection",
    "LerayProjection",
    "MeshProjection",
    "MismatchedLeray",
    "PoissonCleanup",
    "RangeProjection",
    "Reconciliation",
    "Relaxed",
    "RepairReport",
    "SimplexProjection",
    "StaggeredProjection",
    "TopDown",
    "boundary_projection",
    "end_points_projection",
    "error_split",
    "idempotence",
    "mean_square",
    "mirror_projection",
    "off_manifold_gain",
    "optimal_strength",
    "recommend",
    "removable_error",
    "rollout",
    "shrunk_covariance",
    "summing_matrix",
    "symmetry",
    "target_distortion",
    "total_projection",
    "velocity_states",
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
    from sciml.repair.affine import (
        AffineProjection,
        boundary_projection,
        end_points_projection,
        mirror_projection,
        total_projection,
    )
    from sciml.repair.collocated import RangeProjection
    from sciml.repair.face_layout import FaceLayout
    from sciml.repair.gated import GatedRepair
    from sciml.repair.hierarchy import (
        BlendedTopDown,
        Reconciliation,
        TopDown,
        shrunk_covariance,
        summing_matrix,
    )
    from sciml.repair.intersection import Intersection
    from sciml.repair.leray import LerayProjection
    from sciml.repair.measures import (
        ErrorSplit,
        error_split,
        idempotence,
        mean_square,
        optimal_strength,
        removable_error,
        symmetry,
        target_distortion,
    )
    from sciml.repair.mesh import MeshProjection
    from sciml.repair.mismatched import MismatchedLeray
    from sciml.repair.nonlinear import (
        BoundsProjection,
        EnergyProjection,
        EnstrophyProjection,
        SimplexProjection,
    )
    from sciml.repair.off_manifold import off_manifold_gain
    from sciml.repair.poisson_cleanup import PoissonCleanup
    from sciml.repair.projection import AbstractProjection
    from sciml.repair.recommendation import recommend
    from sciml.repair.relaxed import Relaxed
    from sciml.repair.report import RepairReport
    from sciml.repair.rollouts import rollout
    from sciml.repair.staggered import StaggeredProjection
    from sciml.repair.states import velocity_states
