"""Incompressible flow in a box with walls, on a staggered grid (marker and cell).

Velocity components live on the faces of cells, the pressure in their centers (Harlow and Welch,
Phys. Fluids 8 (1965) 2182). Central fluxes conserve momentum and, for a field without divergence,
kinetic energy; a projection removes the divergence to rounding.
"""

from __future__ import annotations

from pdes.solvers.staggered.flow import StaggeredFlow
from pdes.solvers.staggered.march import METHODS, FlowMarch
from pdes.solvers.staggered.projection import face_divergence, project_faces
from pdes.solvers.staggered.rollout import staggered_rollout

__all__ = [
    "METHODS",
    "FlowMarch",
    "StaggeredFlow",
    "face_divergence",
    "project_faces",
    "staggered_rollout",
]
