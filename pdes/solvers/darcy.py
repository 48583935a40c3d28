"""Diffusion with a coefficient that jumps, by cell-centered finite volumes.

The flux through a face between two cells is the difference of their values times the harmonic mean
of their coefficients over the distance (S. V. Patankar, *Numerical Heat Transfer and Fluid Flow*,
1980, section 4.2): exact for one coefficient on each side. What leaves a cell enters its neighbor,
and the fluxes of each cell add up to its source. Order 2 for smooth coefficients and for jumps on
faces; a jump inside cells costs one order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from scipy import sparse

from pdes.boundary import Condition, Dirichlet, Neumann, Periodic
from pdes.grid import Grid
from pdes.solvers.box_balance import TOLERANCE, check_balance, sum_error
from pdes.solvers.cell_faces import Faces, assemble_faces, cell_centers, cell_shape
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.grid_sampling import GridSampler, grid_errors, grid_of
from pdes.solvers.linear_form import linear_form
from pdes.solvers.sparse_system import solve_sparse
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["BALANCE", "ORDER", "solve_darcy"]

# Declared order for smooth coefficients, and for jumps on faces.
ORDER = 2
# Largest imbalance of a cell, relative to the largest flux through a face or source of a cell.
BALANCE = 1e-10


def solve_darcy(
    problem: SteadyProblem, *, linear_solver: str = "auto", tolerance: float = 1e-12
) -> SteadyState:
    """Solve ``-div(a grad u) + c u = f`` by finite volumes.

    Parameters
    ----------
    problem : SteadyProblem
        One field on a grid. Cells lie between its nodes: one fewer than nodes along an axis that is
        not periodic. Coefficients given as arrays have one value for each cell; with a leading
        axis for many samples.
    linear_solver : {"auto", "direct", "multigrid"}
        Sparse factorization below about 150^2 cells, algebraic multigrid with conjugate gradients
        above.
    tolerance : float
        Of multigrid, relative to the right-hand side.

    Returns
    -------
    SteadyState
        Values at the centers of the cells.

    Raises
    ------
    ValueError
        If the coefficient is not positive everywhere, the equation has other terms, a side is
        neither Dirichlet, Neumann nor periodic, or fluxes do not balance the source.
    ConvergenceError
        If the fluxes of some cell do not add up to its source within `BALANCE`.

    Examples
    --------
    >>> import pdes
    >>> state = solve_darcy(pdes.get("darcy_layered", cells=16))
    >>> state.record["flux_balance"] < 1e-12
    True
    """
    grid = grid_of(problem, "cell_centered")
    conditions = _conditions(problem, grid)
    shape = cell_shape(grid)
    places = cell_centers(grid)
    sample = GridSampler(problem, places)
    diffusivity, reaction, load = _coefficients(problem)
    samples = [sample(e) for e in (*diffusivity, reaction, load)]
    closed = not any(isinstance(condition, Dirichlet) for condition in conditions.values())
    error = sum_error(problem, grid, load)
    if closed and not np.any(samples[-2]) and error is None:
        check_balance(problem, grid, conditions, load, samples[-1])
    slack = math.inf if error is None else TOLERANCE + error
    for values in samples[: len(shape)]:
        _check_positive(problem, values, places)
    count = max([v.shape[0] for v in samples if v.ndim > len(shape)], default=0)
    solved = []
    for i in range(max(count, 1)):
        one = [v[i] if v.ndim > len(shape) else v for v in samples]
        solved.append(_solve_one(problem, grid, conditions, one, slack, linear_solver, tolerance))
    fields = np.stack([s[0] for s in solved]) if count else solved[0][0]
    volume = math.prod(axis.spacing for axis in grid.axes)
    return SteadyState(
        fields={problem.fields[0]: fields},
        coordinates={name: values.reshape(-1) for name, values in places.items()},
        residual_norm=max(s[1].residual_norm for s in solved),
        iterations=max(s[1].iterations for s in solved),
        errors=grid_errors(problem, places, fields, volume),
        record={
            "order": ORDER,
            "cells": list(shape),
            "linear_solver": solved[0][1].method,
            "flux_balance": max(s[2] for s in solved),
        },
    )


def _solve_one(
    problem: SteadyProblem,
    grid: Grid,
    conditions: Mapping[str, Condition],
    samples: Sequence[np.ndarray],
    slack: float,
    method: str,
    tolerance: float,
) -> tuple[np.ndarray, Any, float]:
    """Values, the linear solution and the imbalance of one sample."""
    *diffusivity, reaction, source = samples
    volume = math.prod(axis.spacing for axis in grid.axes)
    faces = assemble_faces(problem, grid, conditions, diffusivity)
    matrix = (faces.matrix + sparse.diags_array(volume * reaction.reshape(-1))).tocsr()
    load = faces.load + volume * source.reshape(-1)
    floating = faces.floating and not np.any(reaction)
    if floating:
        load = _balanced(problem, faces, load, volume * source.reshape(-1), slack)
    fixed = np.array([0] if floating else [], dtype=int)
    solved = solve_sparse(
        matrix,
        load,
        fixed,
        np.zeros(fixed.size),
        symmetric=not np.any(reaction < 0.0),
        method=method,
        tolerance=tolerance,
    )
    values = solved.values - solved.values.mean() if floating else solved.values
    scale = max(float(np.max(np.abs(load))), float(np.max(_exchange(matrix, values))), 1e-300)
    balance = float(np.max(np.abs(matrix @ values - load))) / scale
    if not balance <= BALANCE:
        raise ConvergenceError("flux balance of the cells", history=[balance], tolerance=BALANCE)
    return values.reshape(cell_shape(grid)), solved, balance


def _exchange(matrix: Any, values: np.ndarray) -> np.ndarray:
    """Largest flux between each cell and a neighbor."""
    entries = matrix.tocoo()
    flux = np.abs(entries.data * (values[entries.row] - values[entries.col]))
    found = np.zeros(len(values))
    np.maximum.at(found, entries.row, flux)
    return found


def _balanced(
    problem: SteadyProblem, faces: Faces, load: np.ndarray, source: np.ndarray, slack: float
) -> np.ndarray:
    """Load without the part that the order of the midpoint rule leaves, or an error."""
    total = float(np.sum(load))
    scale = float(np.sum(np.abs(faces.load)) + np.sum(np.abs(source)))
    if abs(total) > slack * max(scale, 1e-300):
        raise ValueError(
            f"{problem.name}: only fluxes are prescribed, and source plus inflow is {total:.6g} "
            "instead of 0: no steady solution exists; correct the data or fix a value"
        )
    return load - total / load.size


def _conditions(problem: SteadyProblem, grid: Grid) -> dict[str, Condition]:
    names = [f"{name}{end}" for name in grid.names for end in "-+"]
    field = problem.fields[0]
    conditions = {side: row[field] for side, row in problem.conditions(names).items()}
    for side, condition in conditions.items():
        if not isinstance(condition, Dirichlet | Neumann | Periodic):
            raise ValueError(
                f"{problem.name}: boundary[{side!r}] is {condition.kind!r}; cell-centered finite "
                "volumes take Dirichlet, Neumann and Periodic sides"
            )
        axis = grid.axes[grid.names.index(side[:-1])]
        if isinstance(condition, Periodic) != axis.periodic:
            raise ValueError(
                f"{problem.name}: boundary[{side!r}] is {condition.kind!r}, but the axis "
                f"{axis.name!r} is {'periodic' if axis.periodic else 'not periodic'}"
            )
    return conditions


def _coefficients(problem: SteadyProblem) -> tuple[list[Any], Any, Any]:
    """Diffusivity along each axis, reaction and source."""
    form = linear_form(problem)
    straight = [(0, k, 0, k) for k in range(len(problem.coordinates))]
    if form.first or form.drift or form.prestress or set(form.second) != set(straight):
        raise ValueError(
            f"{problem.name}: solver 'cell_centered' takes -div(a grad u) + c u = f, got "
            f"{problem.equation}; use a mesh with 'finite_element' for other terms"
        )
    zero = sympy.S.Zero
    return (
        [form.second[s] for s in straight],
        form.zeroth.get((0, 0), zero),
        form.load.get((0,), zero),
    )


def _check_positive(
    problem: SteadyProblem, values: np.ndarray, places: Mapping[str, np.ndarray]
) -> None:
    if np.iscomplexobj(values) or not np.all(values > 0.0):
        index = np.unravel_index(int(np.argmin(np.real(values))), values.shape)
        shape = values.shape[values.ndim - len(places) :]
        there = [float(np.broadcast_to(p, shape)[index[-len(places) :]]) for p in places.values()]
        spots = ", ".join(f"{n}={v:.6g}" for n, v in zip(places, there, strict=True))
        raise ValueError(
            f"{problem.name}: the diffusivity is {values[index]:.6g} at {spots}, wanted it "
            "positive everywhere: the equation is not elliptic there"
        )
