"""Finite elements of degree 1 and 2 on triangles and quadrilaterals, through scikit-fem.

Smooth solutions converge in the mean square with order ``degree + 1`` and their derivatives with
order ``degree``. At a corner of angle ``omega`` on a uniform mesh the derivatives converge with
order ``a = pi/omega`` at most, and values with ``2 a``.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import skfem

from pdes.boundary import Condition, Dirichlet, Robin
from pdes.solvers.errors import ResolutionWarning
from pdes.solvers.finite_element_assembly import assemble, essential, natural
from pdes.solvers.finite_element_errors import error_norms
from pdes.solvers.finite_element_space import Space, make_space, sampler
from pdes.solvers.linear_form import LinearForm, linear_form
from pdes.solvers.sparse_system import solve_sparse
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["ORDERS", "LockingWarning", "solve_finite_element"]

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
    space = make_space(problem, resolution, degree)
    conditions = problem.conditions(sorted(space.facets))
    form = linear_form(problem)
    _warn(problem, form, space)
    matrix, load = assemble(problem, form, space)
    boundary_matrix, boundary_load = natural(problem, conditions, space)
    matrix, load = (matrix + boundary_matrix).tocsr(), load + boundary_load
    fixed, values = essential(problem, conditions, space)
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
    sample = sampler(problem, center[:, None])
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
        peclet = math.hypot(*speed) * size / abs(float(sample(shear)[0]))
        if peclet > 2.0 * space.degree:
            warnings.warn(
                f"{problem.name}: the cell Peclet number is {peclet:.3g}, above "
                f"{2 * space.degree}: layers are not resolved and may oscillate; refine the mesh",
                ResolutionWarning,
                stacklevel=4,
            )
