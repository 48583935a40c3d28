"""Elements on a mesh: the basis, the numbers of sides, values of expressions at positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import skfem
import sympy

from pdes.mesh import Mesh
from pdes.pointwise import pointwise
from pdes.steady import SteadyProblem, unknown

ELEMENTS: dict[tuple[str, int], Any] = {
    ("triangle", 1): skfem.ElementTriP1,
    ("triangle", 2): skfem.ElementTriP2,
    ("quad", 1): skfem.ElementQuad1,
    ("quad", 2): skfem.ElementQuad2,
}
_MESHES: dict[tuple[str, int], Any] = {
    ("triangle", 1): skfem.MeshTri1,
    ("triangle", 2): skfem.MeshTri2,
    ("quad", 1): skfem.MeshQuad1,
    ("quad", 2): skfem.MeshQuad2,
}


@dataclass(frozen=True)
class Space:
    """Elements on a mesh: one scalar basis, used by every field."""

    mesh: Mesh
    basis: skfem.Basis
    degree: int
    facets: dict[str, np.ndarray]

    @property
    def size(self) -> int:
        """Number of unknowns of one field."""
        return int(self.basis.N)


def make_space(problem: SteadyProblem, resolution: int, degree: int) -> Space:
    """Elements on the mesh of a problem.

    Parameters
    ----------
    problem : SteadyProblem
        Its domain is a recipe of meshes.
    resolution : int
        For the recipe.
    degree : {1, 2}
        Of the elements; edges of mapped meshes are bent with the same degree.

    Returns
    -------
    Space

    Raises
    ------
    ValueError
        If the recipe makes no mesh, or a part of its boundary is on no side.
    """
    recipe: Any = problem.domain
    mesh = recipe(resolution)
    if not isinstance(mesh, Mesh):
        raise ValueError(f"{problem.name}: the recipe made a {type(mesh).__name__}, wanted a Mesh")
    kind = mesh.cell_type
    straight = mesh.points if mesh.reference is None else mesh.reference
    built = _MESHES[kind, 1](np.ascontiguousarray(straight.T), np.ascontiguousarray(mesh.cells.T))
    facets = {name: facet_numbers(built, edges) for name, edges in mesh.sides.items()}
    if mesh.mapping is not None:
        built = _MESHES[kind, degree].from_mesh(built)
        bent = np.ascontiguousarray(mesh.mapping(built.doflocs.T).T)
        built = type(built)(bent, built.t)
    missing = np.setdiff1d(built.boundary_facets(), np.concatenate(list(facets.values())))
    if missing.size:
        raise ValueError(f"{problem.name}: {missing.size} edges of the boundary are on no side")
    basis = skfem.Basis(built, ELEMENTS[kind, degree](), intorder=2 * degree + 2)
    # Not through the map of a cell, which loses the sign of zero: it tells the faces of a slit.
    positions: Any = basis.doflocs
    corners: Any = basis.nodal_dofs
    positions[:, corners[0]] = mesh.points.T
    return Space(mesh, basis, degree, facets)


def facet_numbers(mesh: Any, edges: np.ndarray) -> np.ndarray:
    """Numbers that scikit-fem gives to edges, which it keeps as sorted pairs of points."""
    size = mesh.p.shape[1]
    keys = mesh.facets[0].astype(np.int64) * size + mesh.facets[1]
    low, high = np.sort(np.asarray(edges, np.int64), axis=1).T
    order = np.argsort(keys)
    wanted = low * size + high
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)
    found = order[place]
    if not np.array_equal(keys[found], wanted):
        raise ValueError("sides: an edge of a side is not an edge of a cell")
    return found


def sampler(problem: SteadyProblem, positions: np.ndarray) -> Callable[[Any], np.ndarray]:
    """Function from an expression to its values at positions ``(2, ...)``."""
    places = dict(zip(problem.coordinates, positions, strict=True))
    given: dict[str, Any] = {**places, **problem.parameters}
    named = {}
    for name, value in problem.coefficients.items():
        symbol = unknown(name, problem.coordinates)
        label = f"coefficient {name}"
        where = {**places, **problem.parameters}
        given[label] = value(**places) if callable(value) else pointwise(value, where)
        named[symbol] = sympy.Symbol(label, real=True)

    def sample(expression: Any) -> np.ndarray:
        plain = expression.xreplace(named) if hasattr(expression, "xreplace") else expression
        return np.broadcast_to(pointwise(plain, given), positions.shape[1:])

    return sample
