"""Exact projection of velocities that were interpolated from faces to the centers of cells."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from sciml.repair.arguments import shape_hint
from sciml.repair.box_faces import BoxFaces, Sides, box_faces
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.sparse_solve import Factors, apply_symmetric
from sciml.repair.stream_functions import StreamFunctions, has_stream_functions

__all__ = ["RangeProjection"]

_REGULARIZATION = 1e-9
_REFINEMENTS = 2


class RangeProjection(AbstractProjection):
    """Nearest velocities at centers that are averages of faces without divergence.

    Public collections of flows store velocities interpolated to the centers of cells. No stencil
    of differences vanishes on those, so that cleaning them by a Poisson equation distorts the
    truth. But if the truth is ``A f`` with the average ``A`` of the two faces of a cell, and faces
    ``f`` without divergence, then all such states are a linear (or affine) space, and this is the
    orthogonal projection onto it.

    In plane boxes between walls or periodic sides stream functions do it, by a few products with
    small matrices. Elsewhere the nearest faces are found by a saddle-point system, factored once.
    The average forgets an alternating part of the faces; a small regularization, whose effect is
    refined away, chooses the smallest.

    Parameters
    ----------
    cells : sequence of int
        Cells along each axis, two or three axes.
    spacings : sequence of float
        Their sizes.
    sides : sequence of str or pair of str
        For each axis "periodic", or "wall" (the normal velocity is known) or "open" for its low
        and high side.
    normal_velocity : mapping, optional
        Velocity through walls that is not zero, ``{"x-": profile}``.
    fluid : array_like of bool, shape cells, optional
        False inside bodies, whose faces are closed.

    Raises
    ------
    ValueError
        If arguments do not fit each other.

    Examples
    --------
    >>> project = RangeProjection((8, 8), (0.125, 0.125), ("wall", "wall"))
    >>> flow = torch.randn(2, 8, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> once = project(flow)
    >>> bool((project(once) - once).abs().max() < 1e-12)
    True
    """

    _offset: Tensor

    def __init__(
        self,
        cells: Sequence[int],
        spacings: Sequence[float],
        sides: Sides,
        *,
        normal_velocity: Mapping[str, Any] | None = None,
        fluid: Any = None,
    ) -> None:
        super().__init__()
        self.faces = box_faces(cells, spacings, sides, normal_velocity=normal_velocity, fluid=fluid)
        if any(end == "inlet" for pair in self.faces.sides for end in pair):
            raise ValueError(
                f"sides={sides!r}: centers do not hold the velocity of an inlet; use 'wall' with "
                "normal_velocity, or 'open'"
            )
        self.cells = self.faces.layout.cells
        self.sample_axes = len(self.cells) + 1
        self._streams = StreamFunctions(self.faces) if has_stream_functions(self.faces) else None
        moved = any(bool(given.any()) for given in self.faces.given)
        offset = self._system.offset if moved else np.zeros(len(self.cells) * prod(self.cells))
        offset = torch.from_numpy(offset.reshape(len(self.cells), *self.cells))
        self.register_buffer("_offset", offset, persistent=False)

    def forward(self, u: Tensor) -> Tensor:
        """Velocities at centers that come from faces without divergence."""
        self._check(u)
        offset = self._offset.to(u)
        if self._streams is not None:
            return self._streams(u - offset) + offset
        flat = (u - offset).flatten(-self.sample_axes)
        return apply_symmetric(self._system.project, flat).reshape(u.shape) + offset

    def defect(self, u: Tensor) -> Tensor:
        """Largest change by the projection, relative to the largest velocity.

        There is no stencil whose result would vanish.
        """
        axes = tuple(range(-self.sample_axes, 0))
        scale = u.abs().amax(axes).clamp_min(torch.finfo(u.dtype).tiny)
        return (self(u) - u).abs().amax(axes) / scale

    @functools.cached_property
    def _system(self) -> _NearestFaces:
        return _NearestFaces(self.faces)

    def _check(self, u: Tensor) -> None:
        shape = (len(self.cells), *self.cells)
        wanted = f"(*batch, {', '.join(map(str, shape))})"
        check_fields("u", u, self.sample_axes, wanted)
        if tuple(u.shape[-self.sample_axes :]) != shape:
            hint = ""
            if tuple(u.shape[-self.sample_axes :]) == self.faces.layout.shape:
                hint = "; these look like velocities on faces: StaggeredProjection takes them"
            hint = hint or shape_hint(u.shape, shape)
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted {wanted}, one component for each axis at "
                f"the centers of the cells{hint}"
            )


class _NearestFaces:
    """Faces without divergence whose averages are nearest to velocities at centers."""

    def __init__(self, faces: BoxFaces) -> None:
        matrix, columns = faces.divergence_matrix()
        divergence: Any = matrix
        count = int(divergence.shape[1])
        self._average, averaged_given = _averages(faces, columns, count)
        rows = _independent_rows(divergence)
        self._constraint = divergence[rows]
        self._normal = (self._average.T @ self._average).tocsc()
        shifted = self._normal + _REGULARIZATION * sp.identity(count, format="csc")
        saddle = sp.bmat([[shifted, self._constraint.T], [self._constraint, None]], format="csc")
        self._count, self._factors = count, Factors(saddle)
        # A flow that has the given velocities: the smallest correction of them that balances.
        given = _given_divergence(faces)
        right = np.concatenate([-(self._average.T @ averaged_given), -given[rows]])
        flow = self._factors.solve(right)[:count]
        residual = float(np.abs(divergence @ flow + given).max(initial=0.0))
        scale = float(np.abs(given).max(initial=0.0))
        if residual > 1e-6 * scale:
            raise ValueError(
                "normal_velocity lets more out of the closed box than in (a cell keeps a "
                f"divergence of {residual:.3g}): balance the velocities, or make one side 'open'"
            )
        # Only what the linear projection leaves alone may move the set, so that it stays the
        # nearest point.
        base = self._average @ flow + averaged_given
        self.offset = base - self.project(base[:, None])[:, 0]

    def project(self, right: np.ndarray) -> np.ndarray:
        """Orthogonal projection of columns of velocities at centers."""
        found = np.zeros((self._count, right.shape[1]))
        zeros = np.zeros((self._constraint.shape[0], right.shape[1]))
        for _ in range(1 + _REFINEMENTS):
            # Each pass takes the error of the regularized problem down by its relative size.
            remaining = self._average.T @ (right - self._average @ found)
            found += self._factors.solve(np.concatenate([remaining, zeros]))[: self._count]
        return self._average @ found


def _averages(
    faces: BoxFaces, columns: list[np.ndarray], count: int
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Average of the faces of each cell as a matrix on free faces, and that of the given ones."""
    shape, rows, cols, values = faces.fluid.shape, [], [], []
    size = int(np.prod(shape))
    given = np.zeros(len(shape) * size)
    for axis, column in enumerate(columns):
        for start in (0, 1):
            part = (slice(None),) * axis + (slice(start, start + shape[axis]),)
            index, used = column[part].ravel(), column[part].ravel() >= 0
            rows.append(axis * size + np.flatnonzero(used))
            cols.append(index[used])
            values.append(np.full(int(used.sum()), 0.5))
            given[axis * size : (axis + 1) * size] += 0.5 * faces.given[axis][part].ravel()
    matrix = sp.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))),
        shape=(len(shape) * size, count),
    )
    return matrix, given


def _given_divergence(faces: BoxFaces) -> np.ndarray:
    """Divergence of the given velocities in the fluid cells."""
    total = np.zeros(faces.fluid.shape)
    for axis, (values, opening, h) in enumerate(
        zip(faces.given, faces.openings, faces.spacings, strict=True)
    ):
        total += np.diff(values * opening, axis=axis) / h
    return total[faces.fluid]


def _independent_rows(divergence: Any) -> np.ndarray:
    """Rows of the divergence without one of each closed part, which follows from the others."""
    graph = divergence @ divergence.T
    count, part = sp.csgraph.connected_components(graph, directed=False)
    # The rows of a closed part add up to zero in every column.
    indicator: Any = sp.csr_matrix(
        (np.ones(part.size), (part, np.arange(part.size))), (count, part.size)
    )
    sums = np.asarray(np.abs(indicator @ divergence).max(axis=1).todense()).ravel()
    scale = float(np.abs(divergence).max())
    first = np.unique(part, return_index=True)[1]
    return np.setdiff1d(np.arange(part.size), first[sums <= 1e-12 * scale])
