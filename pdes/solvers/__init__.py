"""Solvers: the Fourier pseudo-spectral method in any namespace of the array API."""

from __future__ import annotations

from pdes.solvers.errors import ResolutionWarning, SolverDivergence, StabilityError
from pdes.solvers.rollout import rollout
from pdes.solvers.spectral import PseudoSpectral

__all__ = ["PseudoSpectral", "ResolutionWarning", "SolverDivergence", "StabilityError", "rollout"]
