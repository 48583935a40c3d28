"""Velocities at the centers of a plain box that come from a stream function at its corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sciml.repair.box_faces import BoxFaces

__all__ = ["StreamFunctions", "has_stream_functions"]

_NULL = 1e-12


def has_stream_functions(faces: BoxFaces) -> bool:
    """Whether a box is plane, without bodies, between walls or periodic sides alone."""
    ends = {end for pair in faces.sides for end in pair}
    return faces.plain and faces.layout.dimension == 2 and ends <= {"wall", "periodic"}


class StreamFunctions:
    """Orthogonal projection onto averages of faces that a stream function gives.

    With averages ``a`` and differences ``d`` from corners to cells along each axis the velocities
    are ``u = (a_x x d_y) psi`` and ``v = -(d_x x a_y) psi``, where psi vanishes on walls. Since
    ``a^T a = 1 - h^2 d^T d/4``, both have one set of eigenvectors on each axis, and the normal
    equations are diagonal: a few products with small matrices project a field. Along a periodic
    axis a uniform flow has no periodic stream function; it is orthogonal to the others, and kept.

    Parameters
    ----------
    faces : BoxFaces
        For which `has_stream_functions` holds.

    Examples
    --------
    >>> from sciml.repair.box_faces import box_faces
    >>> project = StreamFunctions(box_faces((8, 8), (0.1, 0.1), ("wall", "periodic")))
    >>> u = torch.randn(2, 8, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> bool(torch.allclose(project(project(u)), project(u)))
    True
    """

    def __init__(self, faces: BoxFaces) -> None:
        parts = [
            _along(n, h, periodic)
            for n, h, periodic in zip(
                faces.layout.cells, faces.spacings, faces.layout.periodic, strict=True
            )
        ]
        (ax, dx, lx, wx), (ay, dy, ly, wy) = parts
        size = wx[:, None] * ly + lx[:, None] * wy
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > _NULL * size.max())
        self._periodic = faces.layout.periodic
        self._made = tuple(torch.from_numpy(part) for part in (ax, dx, ay, dy, inverse))
        self._kept: dict[tuple[torch.dtype, torch.device], tuple[Tensor, ...]] = {}

    def __call__(self, u: Tensor) -> Tensor:
        """Projected velocities, shape ``(*batch, 2, n_x, n_y)``."""
        found = self._project(u)
        # What is left has no part in the range but the rounding of the first pass.
        return found + self._project(u - found)

    def _project(self, u: Tensor) -> Tensor:
        ax, dx, ay, dy, inverse = self._as(u)
        along, across = u.unbind(-3)
        stream = (ax.T @ along @ dy - dx.T @ across @ ay) * inverse
        found = torch.stack([ax @ stream @ dy.T, -(dx @ stream @ ay.T)], dim=-3)
        if not any(self._periodic):
            return found
        uniform = torch.tensor(self._periodic, dtype=u.dtype, device=u.device)
        return found + u.mean((-2, -1), keepdim=True) * uniform[:, None, None]

    def _as(self, u: Tensor) -> tuple[Tensor, ...]:
        key = (u.dtype, u.device)
        if key not in self._kept:
            self._kept[key] = tuple(part.to(u) for part in self._made)
        return self._kept[key]


def _along(n: int, h: float, periodic: bool) -> tuple[Any, Any, Any, Any]:
    """Averages and differences in the eigenvectors of an axis, with the squares of their sizes."""
    corners = np.eye(n + 1)
    if periodic:
        corners = corners[:, :n]
        corners[n, 0] = 1.0  # the last corner repeats the first
    else:
        corners = corners[:, 1:n]  # none on the walls
    difference = np.diff(corners, axis=0) / h
    average = 0.5 * (corners[1:] + corners[:-1])
    sizes, vectors = np.linalg.eigh(difference.T @ difference)
    sizes = np.clip(sizes, 0.0, None)
    return average @ vectors, difference @ vectors, sizes, 1.0 - 0.25 * h**2 * sizes
