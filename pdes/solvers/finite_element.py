"""Finite elements of degree 1 and 2 on triangles and quadrilaterals, through scikit-fem.

Smooth solutions converge in the mean square with order ``degree + 1`` and their derivatives with
order ``degree``. At a corner of angle ``omega`` on a uniform mesh the derivatives converge with
order ``a = pi/omega`` at most, and values with ``2 a``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import skfem
import sympy
from scipy import sparse

from pdes.boundary import Condition, Dirichlet, Neumann, Outflow, Robin
from pdes.mesh import Mesh
from pdes.pointwise import pointwise
from pdes.solvers.errors import ResolutionWarning
from pdes.solvers.finite_element_errors import error_norms
from pdes.solvers.linear_form import LinearForm, Slot, linear_form
from pdes.solvers.sparse_system import solve_sparse
from pdes.steady import SteadyProblem, SteadyState, unknown

__all__ = ["ORDERS", "LockingWarning", "solve_finite_element"]

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
_CELLS = {
    ("triangle", 1): "triangle",
    ("triangle", 2): "triangle6",
    ("quad", 1): "quad",
    ("quad", 2): "quad9",
}
# Degree to the declared orders for smooth solutions: of values and of derivatives.
ORDERS = {1: {"l2": 2.0, "h1": 1.0}, 2: {"l2": 3.0, "h1": 2.0}}
# (lambda + 2 mu) / mu at Poisson's ratio 0.49 in plane strain.
_LOCKING = 51.0


class LockingWarning(UserWarning):
    """Elements of degree 1 are too stiff for a nearly incompressible material."""


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


def solve_finite_element(
    problem: SteadyProblem,
    *,
    resolution: int,
    degree: int = 1,
    linear_solver: str = "auto",
    tolerance: float = 1e-10,
) -> SteadyState:
    """Solve a linear steady problem by finite elements.

    Parameters
    ----------
    problem : SteadyProblem
        Linear, of second order, on a mesh.
    resolution : int
        Handed to the problem's mesh recipe.
    degree : {1, 2}
        Of the elements.
    linear_solver : {"auto", "direct", "multigrid"}
        Sparse factorization, or conjugate gradients with algebraic multigrid, which is faster
        for more than about 150^2 unknowns of a symmetric system.
    tolerance : float
        Of the linear equations, relative to their right-hand side.

    Returns
    -------
    SteadyState
        Fields at all nodes of the elements: the points of the mesh, and for degree 2 the middles
        of its edges (and quadrilaterals).

    Raises
    ------
    ValueError
        If the boundary does not fit the mesh, the data of a pure Neumann problem do not balance,
        or an option is unknown.
    ConvergenceError
        If the linear solver does not reach its tolerance.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("poisson_polynomial")
    >>> coarse = solve_finite_element(problem, resolution=8, degree=2)
    >>> fine = solve_finite_element(problem, resolution=16, degree=2)
    >>> round(float(np.log2(coarse.errors["u"]["l2"] / fine.errors["u"]["l2"]))) >= 3
    True
    """
    if degree not in ORDERS:
        raise ValueError(f"{problem.name}: degree={degree!r}, wanted 1 or 2")
    space = _space(problem, resolution, degree)
    conditions = problem.conditions(sorted(space.facets))
    form = linear_form(problem)
    _warn(problem, form, space)
    matrix, load = _assemble(problem, form, space)
    boundary_matrix, boundary_load = _natural(problem, conditions, space)
    matrix, load = (matrix + boundary_matrix).tocsr(), load + boundary_load
    fixed, values = _essential(problem, conditions, space)
    pinned = not fixed.size and _floating(form, conditions)
    if pinned:
        _check_balance(problem, load)
        fixed, values = np.array([0]), np.array([0.0])
    solved = solve_sparse(
        matrix,
        load,
        fixed,
        values,
        blocks=len(problem.fields),
        symmetric=form.symmetric,
        method=linear_solver,
        tolerance=tolerance,
    )
    fields = dict(zip(problem.fields, solved.values.reshape(len(problem.fields), -1), strict=True))
    if pinned:
        fields = {name: _without_mean(space, values) for name, values in fields.items()}
    cell_type = _CELLS[space.mesh.cell_type, degree]
    return SteadyState(
        fields=fields,
        points=np.ascontiguousarray(space.basis.doflocs.T),
        cells=np.ascontiguousarray(space.basis.element_dofs.T),
        cell_type=cell_type,
        residual_norm=solved.residual_norm,
        iterations=solved.iterations,
        errors=error_norms(problem, space.basis, fields),
        record={
            "order": ORDERS[degree],
            "degree": degree,
            "cells": cell_type,
            "resolution": int(resolution),
            "unknowns": int(matrix.shape[0]),
            "linear_solver": solved.method,
        },
    )


def _space(problem: SteadyProblem, resolution: int, degree: int) -> Space:
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
    basis.doflocs[:, basis.nodal_dofs[0]] = mesh.points.T
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


def _sampler(problem: SteadyProblem, positions: np.ndarray) -> Any:
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


def _assemble(problem: SteadyProblem, form: LinearForm, space: Space) -> tuple[Any, np.ndarray]:
    """Matrix and load of the interior, one block for each pair of fields."""
    sample = _sampler(problem, np.asarray(space.basis.global_coordinates()))
    count, size = len(problem.fields), space.size
    blocks: list[list[Any]] = [[None] * count for _ in range(count)]
    load = np.zeros((count, size))
    for i in range(count):
        for j in range(count):
            weights = _weights(form, i, j, sample)
            if weights is None:
                blocks[i][j] = sparse.csr_matrix((size, size))
                continue
            blocks[i][j] = skfem.BilinearForm(_bilinear).assemble(space.basis, **weights)
        source: dict[str, Any] = {"f": sample(form.load.get((i,), 0.0))}
        source |= {f"g{k}": sample(form.prestress.get((i, k), 0.0)) for k in (0, 1)}
        load[i] = skfem.LinearForm(_linear).assemble(space.basis, **source)
    return sparse.bmat(blocks, format="csr"), load.ravel()


def _weights(form: LinearForm, i: int, j: int, sample: Any) -> dict[str, Any] | None:
    """Arrays of the coefficients of one block, or None if all of them are zero."""
    wanted: dict[str, Any] = {}
    groups: list[tuple[str, Any, list[tuple[str, Slot]]]] = [
        ("a", form.second, [(f"{k}{m}", (i, k, j, m)) for k in (0, 1) for m in (0, 1)]),
        ("d", form.drift, [(f"{k}", (i, k, j)) for k in (0, 1)]),
        ("b", form.first, [(f"{k}", (i, j, k)) for k in (0, 1)]),
        ("c", form.zeroth, [("", (i, j))]),
    ]
    for letter, group, slots in groups:
        for label, slot in slots:
            if slot in group:
                wanted[letter + label] = sample(group[slot])
    return wanted or None


def _bilinear(u: Any, v: Any, w: Any) -> Any:
    total = 0.0
    for name, values in w.items():
        match tuple(name):
            case ("a", k, m):
                total = total + values * u.grad[int(m)] * v.grad[int(k)]
            case ("d", k):
                total = total + values * u * v.grad[int(k)]
            case ("b", k):
                total = total + values * u.grad[int(k)] * v
            case ("c",):
                total = total + values * u * v
            case _:  # what scikit-fem adds: position, size of the cells, normal
                continue
    return total


def _linear(v: Any, w: Any) -> Any:
    return w["f"] * v - w["g0"] * v.grad[0] - w["g1"] * v.grad[1]


def _natural(
    problem: SteadyProblem, conditions: dict[str, dict[str, Condition]], space: Space
) -> tuple[Any, np.ndarray]:
    """What Neumann and Robin conditions add to the matrix and the load."""
    count, size = len(problem.fields), space.size
    load = np.zeros((count, size))
    mass = [sparse.csr_matrix((size, size)) for _ in range(count)]
    for side, row in conditions.items():
        for i, condition in enumerate(row.values()):
            if isinstance(condition, Dirichlet | Outflow):
                continue
            if not isinstance(condition, Neumann | Robin):
                raise ValueError(
                    f"{problem.name}: boundary[{side!r}] is {condition}; finite elements take "
                    "Dirichlet, Neumann, Robin and Outflow"
                )
            basis = skfem.FacetBasis(
                space.basis.mesh,
                space.basis.elem,
                facets=space.facets[side],
                intorder=2 * space.degree + 4,
            )
            sample = _sampler(problem, np.asarray(basis.global_coordinates()))
            flux = condition.flux if isinstance(condition, Neumann) else condition.value
            load[i] += skfem.LinearForm(lambda v, w: w["f"] * v).assemble(basis, f=sample(flux))
            if isinstance(condition, Robin):
                mass[i] = mass[i] + skfem.BilinearForm(lambda u, v, w: w["c"] * u * v).assemble(
                    basis, c=sample(condition.coefficient)
                )
    return sparse.block_diag(mass, format="csr"), load.ravel()


def _essential(
    problem: SteadyProblem, conditions: dict[str, dict[str, Condition]], space: Space
) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns that Dirichlet conditions fix, and their values."""
    fixed: dict[int, float] = {}
    for side, row in conditions.items():
        for i, condition in enumerate(row.values()):
            if not isinstance(condition, Dirichlet):
                continue
            dofs = space.basis.get_dofs(space.facets[side]).all()
            values = _sampler(problem, space.basis.doflocs[:, dofs])(condition.value)
            if not np.all(np.isfinite(values)):
                raise ValueError(
                    f"{problem.name}: boundary[{side!r}] has {int(np.sum(~np.isfinite(values)))} "
                    f"values that are not finite; {condition.value} is singular there"
                )
            fixed |= dict(zip((dofs + i * space.size).tolist(), values.tolist(), strict=True))
    order = sorted(fixed)
    return np.array(order, dtype=np.int64), np.array([fixed[d] for d in order])


def _floating(form: LinearForm, conditions: dict[str, dict[str, Condition]]) -> bool:
    """Whether a constant can be added to the solution."""
    tied = any(
        isinstance(c, Robin | Dirichlet) for row in conditions.values() for c in row.values()
    )
    return not tied and not form.zeroth


def _check_balance(problem: SteadyProblem, load: np.ndarray) -> None:
    if len(problem.fields) > 1:
        raise ValueError(
            f"{problem.name}: no condition holds {list(problem.fields)} in place; fix them on some "
            "side, by symmetry if the body is free"
        )
    total, scale = float(np.sum(load)), float(np.sum(np.abs(load)))
    if abs(total) > 1e-6 * max(scale, 1e-300):
        raise ValueError(
            f"{problem.name}: only fluxes are prescribed, and source plus inflow is {total:.6g} "
            "instead of 0: no steady solution exists; correct the data or fix a value"
        )


def _without_mean(space: Space, values: np.ndarray) -> np.ndarray:
    one = skfem.LinearForm(lambda v, w: v).assemble(space.basis)
    return values - (one @ values) / one.sum()


def _warn(problem: SteadyProblem, form: LinearForm, space: Space) -> None:
    """Say what elements of degree 1 are known to do badly."""
    center = space.mesh.points.mean(axis=0)
    sample = _sampler(problem, center[:, None])
    axial, shear = form.second.get((0, 0, 0, 0)), form.second.get((0, 1, 0, 1))
    coupled = len(problem.fields) > 1 and (0, 0, 1, 1) in form.second
    if coupled and space.degree == 1 and axial is not None and shear is not None:
        ratio = abs(float(sample(axial)[0] / sample(shear)[0]))
        if ratio > _LOCKING:
            poisson = (ratio - 2.0) / (2.0 * (ratio - 1.0))
            warnings.warn(
                f"{problem.name}: Poisson's ratio is {poisson:.4f}, above 0.49, and the elements "
                "have degree 1: they lock, displacements come out too small; use degree=2",
                LockingWarning,
                stacklevel=4,
            )
    speed = [float(sample(form.first.get((0, 0, k), 0.0))[0]) for k in (0, 1)]
    if any(speed) and shear is not None:
        edges = space.mesh.points[space.mesh.cells[:, :2]]
        size = float(np.max(np.linalg.norm(edges[:, 0] - edges[:, 1], axis=1)))
        peclet = float(np.hypot(*speed)) * size / abs(float(sample(shear)[0]))
        if peclet > 2.0 * space.degree:
            warnings.warn(
                f"{problem.name}: the cell Peclet number is {peclet:.3g}, above "
                f"{2 * space.degree}: layers are not resolved and may oscillate; refine the mesh",
                ResolutionWarning,
                stacklevel=4,
            )
