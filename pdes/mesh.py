"""Meshes of the plane and the recipes that make them.

A recipe is a function of one number, ``resolution -> Mesh``, so that a problem can be refined. Any
callable will do. Those here are structured; `pdes.fan` has corners, slits and graded meshes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

__all__ = ["Annulus", "CellType", "Mesh", "Rectangle", "tensor_mesh"]

CellType = Literal["triangle", "quad"]
CORNERS: dict[str, int] = {"triangle": 3, "quad": 4}


@dataclass(frozen=True, kw_only=True)
class Mesh:
    """Points, cells of one kind, and named sides.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        Coordinates. Two points at one place are two points: that is how a slit is made.
    cells : ndarray of int, shape (m, 3) or (m, 4)
        Corners of each cell, in order around it.
    sides : mapping of str to ndarray of int, shape (k, 2)
        Edges of each named part of the boundary, as pairs of points.
    cell_type : {"triangle", "quad"}
        Kind of the cells.
    mapping : callable, optional
        Function ``(n, 2) -> (n, 2)`` that maps `reference` to `points`; elements of higher degree
        bend their edges by it.
    reference : ndarray, shape (n, 2), optional
        The points before the mapping.

    Raises
    ------
    ValueError
        If shapes do not fit, an index is out of range, or a cell has no area.

    Examples
    --------
    >>> Rectangle()(2).points.shape
    (9, 2)
    """

    points: np.ndarray
    cells: np.ndarray
    sides: Mapping[str, np.ndarray] = field(default_factory=dict)
    cell_type: CellType = "triangle"
    mapping: Callable[[np.ndarray], np.ndarray] | None = None
    reference: np.ndarray | None = None

    def __post_init__(self) -> None:
        points, cells = np.asarray(self.points, float), np.asarray(self.cells, int)
        if points.ndim != 2 or points.shape[1] != 2 or not np.all(np.isfinite(points)):
            raise ValueError(f"points: got shape {points.shape}, wanted finite (n, 2)")
        if self.cell_type not in CORNERS:
            raise ValueError(f"cell_type: got {self.cell_type!r}, wanted {sorted(CORNERS)}")
        if cells.ndim != 2 or cells.shape[1] != CORNERS[self.cell_type]:
            raise ValueError(
                f"cells: got shape {cells.shape}, a {self.cell_type} has "
                f"{CORNERS[self.cell_type]} corners"
            )
        for name, indices in {"cells": cells, **self.sides}.items():
            if np.size(indices) and not 0 <= np.min(indices) <= np.max(indices) < len(points):
                raise ValueError(f"{name}: an index is outside the {len(points)} points")
        flat = np.flatnonzero(np.abs(_areas(points, cells)) <= 0.0)
        if flat.size:
            raise ValueError(f"cells: cell {flat[0]} has no area; remove it or move its corners")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", cells)

    @property
    def area(self) -> float:
        """Area of all cells, edges taken as straight.

        Examples
        --------
        >>> Rectangle(x=(0.0, 3.0))(4).area
        3.0
        """
        return float(np.sum(np.abs(_areas(self.points, self.cells))))

    def write(self, path: str | Path, **fields: np.ndarray) -> None:
        """Write to any format that meshio knows by its extension (``.vtu``, ``.msh``, ``.xdmf``).

        Parameters
        ----------
        path : path
            Where to; `read` finds the names of the sides again in Gmsh's format.
        **fields : ndarray, shape (n, ...)
            Values at the points.
        """
        from pdes.mesh_files import write_mesh

        write_mesh(self, path, fields)

    @classmethod
    def read(cls, path: str | Path) -> Mesh:
        """Mesh from a file in any format that meshio knows.

        Physical groups of edges become sides; edges without a group become ``"boundary"``.
        """
        from pdes.mesh_files import read_mesh

        return read_mesh(path)


def _areas(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Signed areas by the shoelace formula."""
    corners = points[cells]
    following = np.roll(corners, -1, axis=1)
    cross = corners[..., 0] * following[..., 1] - corners[..., 1] * following[..., 0]
    return 0.5 * np.sum(cross, axis=1)


@dataclass(frozen=True)
class Rectangle:
    """Recipe of a rectangle with sides ``"x-"``, ``"x+"``, ``"y-"``, ``"y+"``.

    Parameters
    ----------
    x, y : pair of float
        Extent.
    cell_type : {"triangle", "quad"}
        Kind of the cells; triangles halve the quadrilaterals.

    Examples
    --------
    >>> Rectangle(x=(0.0, 2.0))(4).cells.shape
    (64, 3)
    """

    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    cell_type: CellType = "triangle"

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many cells along the shorter side, and square ones if that is possible."""
        lengths = self.x[1] - self.x[0], self.y[1] - self.y[0]
        counts = [max(1, round(resolution * length / min(lengths))) for length in lengths]
        return tensor_mesh(
            np.linspace(*self.x, counts[0] + 1), np.linspace(*self.y, counts[1] + 1), self.cell_type
        )


def tensor_mesh(x: np.ndarray, y: np.ndarray, cell_type: CellType = "triangle") -> Mesh:
    """Mesh of a rectangle from the positions of its grid lines.

    Parameters
    ----------
    x, y : ndarray, shapes (n,) and (m,)
        Increasing.
    cell_type : {"triangle", "quad"}
        Kind of the cells.

    Returns
    -------
    Mesh

    Examples
    --------
    >>> tensor_mesh(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0]), "quad").area
    3.0
    """
    n, m = len(x), len(y)
    index = np.arange(n * m).reshape(n, m)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    quads = np.stack([a, b, c, d], axis=-1).reshape(-1, 4)
    cells = quads if cell_type == "quad" else np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    lines = {"x-": index[0], "x+": index[-1], "y-": index[:, 0], "y+": index[:, -1]}
    return Mesh(
        points=np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2),
        cells=cells,
        sides={name: np.stack([line[:-1], line[1:]], axis=1) for name, line in lines.items()},
        cell_type=cell_type,
    )


@dataclass(frozen=True)
class Annulus:
    """Recipe of a sector of a ring: sides ``"inner"``, ``"outer"``, ``"start"``, ``"end"``.

    Parameters
    ----------
    inner, outer : float
        Radii.
    angle : float, default pi/2
        Opening, counted from the x axis.
    cell_type : {"triangle", "quad"}
        Kind of the cells.

    Examples
    --------
    >>> mesh = Annulus(inner=1.0, outer=2.0)(16)
    >>> abs(mesh.area - 0.75 * math.pi) < 0.01
    True
    """

    inner: float = 1.0
    outer: float = 2.0
    angle: float = math.pi / 2
    cell_type: CellType = "quad"

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many cells along the radius and about as long ones around."""
        around = 0.5 * self.angle * (self.inner + self.outer) / (self.outer - self.inner)
        flat = tensor_mesh(
            np.linspace(self.inner, self.outer, resolution + 1),
            np.linspace(0.0, self.angle, max(2, round(resolution * around)) + 1),
            self.cell_type,
        )
        names = {"x-": "inner", "x+": "outer", "y-": "start", "y+": "end"}
        return Mesh(
            points=_from_polar(flat.points),
            cells=flat.cells,
            sides={names[side]: edges for side, edges in flat.sides.items()},
            cell_type=self.cell_type,
            mapping=_from_polar,
            reference=flat.points,
        )


def _from_polar(points: np.ndarray) -> np.ndarray:
    radius, angle = points[:, 0], points[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
