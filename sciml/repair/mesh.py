"""Flows on triangle meshes: circulations along edges made free of divergence."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from sciml.repair.arguments import real_array
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.sparse_solve import SymmetricSystem

__all__ = ["MeshProjection"]

_SMALLEST_WEIGHT = 1e-12


class MeshProjection(AbstractProjection):
    """Nearest circulations along the edges of a mesh whose flux leaves no vertex with a source.

    A flow is stored as its integral along each edge. The flux across the dual of an edge is that
    integral times the cotangent weight; what leaves a vertex is the sum over its edges, also on the
    boundary, which nothing crosses. The part taken away is the difference of a potential at the
    vertices: orthogonal in the weighted inner product, hence exact.

    Parameters
    ----------
    points : array_like, shape (n, 2) or (n, 3)
        Vertices, in the plane or on a surface.
    triangles : array_like of int, shape (m, 3)
        Their corners.

    Attributes
    ----------
    edges : ndarray of int, shape (k, 2)
        Ends of the edges, the smaller number first; a circulation counts from the first to the
        second.

    Raises
    ------
    ValueError
        If shapes do not fit, a triangle is degenerate, a vertex belongs to none, or an edge has no
        positive weight: then the mesh is not a Delaunay triangulation, and no inner product.

    References
    ----------
    M. Desbrun, E. Kanso and Y. Tong, Discrete differential forms for computational modeling, in
    Discrete Differential Geometry, Birkhaeuser 2008.

    Examples
    --------
    >>> corners = [[0, 0], [1, 0], [0.4, 0.8], [1.4, 0.8]]
    >>> project = MeshProjection(corners, [[0, 1, 2], [1, 3, 2]])
    >>> flow = torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    >>> bool(project.defect(project(flow)) < 1e-12)
    True
    """

    _weights: Tensor
    _ends: Tensor

    def __init__(self, points: Any, triangles: Any) -> None:
        super().__init__()
        x = real_array("points", points, "vertices of shape (n, 2) or (n, 3)")
        t = np.asarray(triangles)
        _check_mesh(x, t)
        self.edges, weights = _edges(x, t)
        if (bad := np.flatnonzero(weights <= _SMALLEST_WEIGHT)).size:
            raise ValueError(
                f"triangles: {bad.size} edges have no positive cotangent weight, first between "
                f"vertices {self.edges[bad[0]].tolist()}: the two angles opposite to an edge must "
                "add up to less than 180 degrees, and one alone, on the boundary, to less than 90; "
                "triangulate these points by scipy.spatial.Delaunay, or refine the boundary"
            )
        count = len(self.edges)
        at = np.arange(count)
        difference = sp.csr_matrix(
            (np.r_[-np.ones(count), np.ones(count)], (np.r_[at, at], self.edges.T.ravel())),
            shape=(count, len(x)),
        )
        self._system = SymmetricSystem(difference.T @ sp.diags(weights) @ difference)
        self._points = x
        self.register_buffer("_weights", torch.from_numpy(weights), persistent=False)
        self.register_buffer("_ends", torch.from_numpy(self.edges.copy()), persistent=False)

    def forward(self, u: Tensor) -> Tensor:
        """Circulations without divergence, shape ``(*batch, edges)``."""
        self._check(u)
        potential = self._system(self._outflow(u))
        return u - (potential[..., self._ends[:, 1]] - potential[..., self._ends[:, 0]])

    def defect(self, u: Tensor) -> Tensor:
        """Largest net flux out of a vertex, relative to the largest flux of an edge."""
        self._check(u)
        scale = (self._weights.to(u) * u).abs().amax(-1).clamp_min(torch.finfo(u.dtype).tiny)
        return self._outflow(u).abs().amax(-1) / scale

    def metric(self, u: Tensor) -> Tensor | None:
        """Cotangent weights of the edges."""
        return self._weights.to(u)

    def from_vectors(self, vectors: Tensor) -> Tensor:
        """Circulations of a field of vectors at the vertices, by the mean of both ends.

        Parameters
        ----------
        vectors : Tensor, shape (*batch, n, 2) or (*batch, n, 3)
            At the vertices.

        Returns
        -------
        Tensor, shape (*batch, edges)
        """
        if tuple(vectors.shape[-2:]) != self._points.shape:
            raise ValueError(
                f"vectors have shape {tuple(vectors.shape)}: wanted (*batch, "
                f"{', '.join(map(str, self._points.shape))})"
            )
        tangent = self._points[self.edges[:, 1]] - self._points[self.edges[:, 0]]
        mean = 0.5 * (vectors[..., self._ends[:, 0], :] + vectors[..., self._ends[:, 1], :])
        return (mean * torch.from_numpy(tangent).to(vectors)).sum(-1)

    def _outflow(self, u: Tensor) -> Tensor:
        flux = u * self._weights.to(u)
        found = torch.zeros(*u.shape[:-1], len(self._points), dtype=u.dtype, device=u.device)
        return found.index_add(-1, self._ends[:, 1], flux).index_add(-1, self._ends[:, 0], -flux)

    def _check(self, u: Tensor) -> None:
        count = len(self.edges)
        check_fields("u", u, 1, f"(*batch, {count})")
        if u.shape[-1] != count:
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted (*batch, {count}), one circulation for each "
                "of the edges; from_vectors makes them"
            )


def _check_mesh(x: np.ndarray, t: np.ndarray) -> None:
    if x.ndim != 2 or x.shape[1] not in (2, 3) or not np.isfinite(x).all():
        raise ValueError(f"points have shape {x.shape}: wanted (n, 2) or (n, 3), finite")
    if t.ndim != 2 or t.shape[1] != 3 or not np.issubdtype(t.dtype, np.integer) or not len(t):
        raise ValueError(
            f"triangles have shape {t.shape} and dtype {t.dtype}: wanted integers of shape (m, 3)"
        )
    if t.min() < 0 or t.max() >= len(x):
        worst = int(t.min() if t.min() < 0 else t.max())
        raise ValueError(f"triangles name vertex {worst}, but there are {len(x)} points, from 0")
    if (lost := np.setdiff1d(np.arange(len(x)), t)).size:
        raise ValueError(
            f"{lost.size} points belong to no triangle, first {lost[0]}: leave them out"
        )


def _edges(x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges, and half the sum of the cotangents of the angles opposite to each."""
    pairs, halves = [], []
    for corner in range(3):
        a, b, c = t[:, corner], t[:, (corner + 1) % 3], t[:, (corner + 2) % 3]
        p, q = x[b] - x[a], x[c] - x[a]
        dot = (p * q).sum(1)
        doubled = np.sqrt(np.maximum((p**2).sum(1) * (q**2).sum(1) - dot**2, 0.0))
        flat = doubled <= 1e-12 * (p**2).sum(1).max()
        if flat.any():
            first = t[np.flatnonzero(flat)[0]].tolist()
            raise ValueError(f"triangles: {int(flat.sum())} have no area, first {first}")
        pairs.append(np.sort(np.stack([b, c], axis=1), axis=1))
        halves.append(0.5 * dot / doubled)
    edges, place, counts = np.unique(
        np.concatenate(pairs), axis=0, return_inverse=True, return_counts=True
    )
    if counts.max() > 2:
        shared = edges[np.argmax(counts)].tolist()
        raise ValueError(
            f"triangles: the edge {shared} belongs to {counts.max()} of them, wanted 2"
        )
    weights = np.zeros(len(edges))
    np.add.at(weights, place.ravel(), np.concatenate(halves))
    return edges, weights
