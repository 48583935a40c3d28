"""Quadrature weights of the vertices or cells of a mesh."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from sciml.nn.quadrature import Quadrature

__all__ = ["CELL_TYPES", "mesh_quadrature_weights"]

_GAUSS = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
# Corners of the unit square and cube in the order of meshio and VTK.
_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
_CUBE = np.vstack([np.column_stack([_SQUARE, np.full(4, z)]) for z in (0.0, 1.0)])

# Share of a simplex of second degree that each of its points stands for. On lines and triangles the
# integrals of the shape functions; on tetrahedra those at corners are negative, so there the
# shares are in proportion to the integrals of their squares, exact for linear functions too.
_SECOND_DEGREE: dict[str, list[float]] = {
    "line3": [1 / 6] * 2 + [2 / 3],
    "triangle6": [0.0] * 3 + [1 / 3] * 3,
    "tetra10": [1 / 36] * 4 + [4 / 27] * 6,
}
CELL_TYPES: dict[str, tuple[int, int]] = {
    "line": (1, 2),
    "line3": (1, 3),
    "triangle": (2, 3),
    "triangle6": (2, 6),
    "quad": (2, 4),
    "tetra": (3, 4),
    "tetra10": (3, 10),
    "hexahedron": (3, 8),
}
"""Kinds of cells in meshio's words, with their dimension and number of points."""


def mesh_quadrature_weights(
    mesh: Any,
    data: Literal["vertex", "cell"] = "vertex",
    *,
    cell_type: str | None = None,
    check_orientation: bool | None = None,
) -> Quadrature:
    """Weights of values at the vertices, or in the cells, of a mesh.

    A vertex stands for its share of the cells around it: an equal one of simplices (the lumped mass
    matrix), the integral of its shape function by two Gauss points a direction on quadrilaterals
    and hexahedra. Triangles of second degree put all weight on the middles of their edges. Surfaces
    in space count by area. Errors are of second order in the size of the cells.

    Parameters
    ----------
    mesh : pdes.Mesh, meshio.Mesh, skfem.Mesh or pair of arrays
        A pair is ``(points, cells)`` of shapes (n, d) and (m, corners), with ``cell_type``. Of
        files with several kinds of cells those of the highest dimension count.
    data : {"vertex", "cell"}
        Where the values are.
    cell_type : str, optional
        One of `CELL_TYPES`, for a pair of arrays.
    check_orientation : bool, optional
        Refuse cells that are turned over against the others: a sign of a broken mesh. By default
        for all but scikit-fem's meshes, which sort the corners of a cell.

    Returns
    -------
    Quadrature
        Of shape (n,) or (m,), with the positions of the vertices, or the centers of the cells.

    Raises
    ------
    ValueError
        With counts and first indices, for cells that have no measure, are turned over or listed
        twice, for vertices of no cell, and for kinds of cells without a rule.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> cells = np.array([[0, 1, 2], [1, 3, 2]])
    >>> mesh_quadrature_weights((points, cells), cell_type="triangle").full() * 6
    array([1., 2., 2., 1.])
    """
    if data not in ("vertex", "cell"):
        raise ValueError(f"data: got {data!r}, wanted 'vertex' or 'cell'")
    points, blocks = _read(mesh, cell_type)
    if check_orientation is None:
        check_orientation = not hasattr(mesh, "t")
    _check_indices(points, blocks)
    weights = np.zeros(len(points))
    of_cells, centers = [], []
    for kind, cells in blocks:
        shares, signed = _shares(kind, points[cells])
        measures = shares.sum(1)
        _check_cells(kind, cells, measures, signed if check_orientation else None)
        of_cells.append(measures)
        centers.append(points[cells].mean(1))
        np.add.at(weights, cells, shares)
    if data == "vertex":
        return Quadrature([weights], positions=points)
    return Quadrature([np.concatenate(of_cells)], positions=np.concatenate(centers))


def _read(mesh: Any, cell_type: str | None) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    points: Any
    found: list[tuple[str, Any]]
    if type(mesh) in (tuple, list) and len(mesh) == 2:
        if cell_type is None:
            raise ValueError(f"cell_type: wanted one of {', '.join(CELL_TYPES)}")
        points, found = mesh[0], [(cell_type, mesh[1])]
    elif hasattr(mesh, "p") and hasattr(mesh, "t"):
        points, found = np.asarray(mesh.p).T, [(_skfem_kind(mesh), np.asarray(mesh.t).T)]
    elif hasattr(mesh, "cell_type"):
        points, found = mesh.points, [(mesh.cell_type, mesh.cells)]
    elif hasattr(mesh, "points") and hasattr(mesh, "cells"):
        points, found = mesh.points, [(block.type, block.data) for block in mesh.cells]
    else:
        raise TypeError(
            f"mesh: got {type(mesh).__name__}, wanted a pdes.Mesh, meshio.Mesh, skfem.Mesh or "
            "(points, cells) with cell_type"
        )
    points = np.asarray(points, float)
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3 or not np.all(np.isfinite(points)):
        raise ValueError(f"points: got shape {points.shape}, wanted finite (n, 1 to 3)")
    kinds = [kind for kind, _ in found if kind != "vertex"]
    unknown = sorted(set(kinds) - set(CELL_TYPES))
    if unknown or not kinds:
        raise ValueError(
            f"cells of kind {', '.join(unknown) or 'none'} have no quadrature rule here; wanted "
            f"{', '.join(CELL_TYPES)}"
        )
    top = max(CELL_TYPES[kind][0] for kind in kinds)
    blocks = [(k, _indices(c)) for k, c in found if k != "vertex" and CELL_TYPES[k][0] == top]
    if points.shape[1] < top:
        raise ValueError(f"points: got {points.shape[1]} coordinates for cells of dimension {top}")
    return points, blocks


def _indices(cells: Any) -> np.ndarray:
    given = np.asarray(cells)
    if given.dtype.kind not in "iu":
        raise ValueError(f"cells: got numbers of type {given.dtype}, wanted integers from 0")
    return given.astype(int)


def _skfem_kind(mesh: Any) -> str:
    corners = {"Line": "line", "Tri": "triangle", "Quad": "quad", "Tet": "tetra"}
    name = type(mesh).__name__
    for word, kind in corners.items():
        if name.startswith(f"Mesh{word}") and not name.endswith("2"):
            return kind
    raise ValueError(
        f"mesh: no rule for scikit-fem's {name}; wanted first-degree lines, triangles, "
        "quadrilaterals or tetrahedra, or a meshio.Mesh"
    )


def _shares(kind: str, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Measure that each point of a cell stands for; signed measures of cells that fill space."""
    if kind in ("quad", "hexahedron"):
        return _gauss_shares(corners, _SQUARE if kind == "quad" else _CUBE)
    dimension, count = CELL_TYPES[kind]
    edges = corners[:, 1 : dimension + 1] - corners[:, :1]
    factorial = (1.0, 1.0, 2.0, 6.0)[dimension]
    signed = None
    if corners.shape[2] == dimension:
        signed = np.linalg.det(edges) / factorial
        measures = np.abs(signed)
    else:
        measures = _root_of_gram(edges) / factorial
    part = np.array(_SECOND_DEGREE.get(kind, [1.0 / count] * count))
    return measures[:, None] * part, signed


def _root_of_gram(rows: np.ndarray) -> np.ndarray:
    """Area spanned by the rows of each matrix."""
    gram = rows @ np.swapaxes(rows, -1, -2)
    return np.sqrt(np.maximum(np.linalg.det(gram), 0.0))


def _gauss_shares(
    corners: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    dimension = reference.shape[1]
    grid = np.stack(np.meshgrid(*[_GAUSS] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    shares = np.zeros(corners.shape[:2])
    flat = corners.shape[2] == dimension
    signed = np.full(len(corners), np.inf) if flat else None
    for place in grid:
        factors = np.where(reference == 1.0, place, 1.0 - place)
        shape = factors.prod(1)
        slopes = np.stack(
            [
                np.where(reference[:, k] == 1.0, 1.0, -1.0) * np.delete(factors, k, axis=1).prod(1)
                for k in range(dimension)
            ]
        )
        jacobian = slopes @ corners
        if signed is not None:
            size = np.linalg.det(jacobian)
            # A cell that folds over itself has both signs; the smallest in size tells.
            signed = np.where(np.abs(size) < np.abs(signed), size, signed)
            share = np.abs(size)
        else:
            share = _root_of_gram(jacobian)
        shares += share[:, None] * shape / len(grid)
    return shares, signed


def _check_indices(points: np.ndarray, blocks: Iterable[tuple[str, np.ndarray]]) -> None:
    seen = np.zeros(len(points), bool)
    for kind, cells in blocks:
        corners = CELL_TYPES[kind][1]
        if cells.ndim != 2 or cells.shape[1] != corners or not len(cells):
            raise ValueError(f"cells: got shape {cells.shape}, a {kind} has {corners} points")
        if cells.min() < 0 or cells.max() >= len(points):
            raise ValueError(f"cells: an index is outside the {len(points)} points")
        seen[cells] = True
    _refuse("vertices belong to no cell", ~seen, "drop them and their values")


def _check_cells(
    kind: str, cells: np.ndarray, measures: np.ndarray, signed: np.ndarray | None
) -> None:
    tiny = measures <= 1e-12 * np.max(measures, initial=0.0)
    _refuse(f"{kind} cells have no measure", tiny, "remove them or move their points")
    if signed is not None:
        turned = np.sign(signed) != (1.0 if np.median(np.sign(signed)) >= 0 else -1.0)
        _refuse(
            f"{kind} cells are turned over against the others",
            turned,
            "repair the mesh, or reverse the order of their points; check_orientation=False if "
            "the order means nothing",
        )
    _, first, counts = np.unique(np.sort(cells, 1), axis=0, return_index=True, return_counts=True)
    twice = np.zeros(len(cells), bool)
    twice[first[counts > 1]] = True
    _refuse(f"{kind} cells are listed more than once", twice, "keep each once")


def _refuse(what: str, bad: np.ndarray, remedy: str) -> None:
    if np.any(bad):
        where = np.flatnonzero(bad)
        first = ", ".join(map(str, where[:5].tolist()))
        raise ValueError(f"mesh: {len(where)} {what}, the first {first}: {remedy}")
