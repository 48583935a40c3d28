"""Second differences on a box with sides that absorb: ``a du/dn + z u = g`` with complex ``z``.

The node behind a side has the value of the node before it plus ``2 h du/dn``, where the condition
gives the slope: of second order, as the inner equations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.boundary import Condition, Dirichlet, Neumann, Periodic, Robin
from pdes.grid import Axis, Grid
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.grid_sampling import GridSampler, grid_errors
from pdes.solvers.linear_form import linear_form
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["ORDER", "solve_impedance"]

ORDER = 2
# Of the residual, relative to the terms that cancel in it.
TOLERANCE = 1e-12


def solve_impedance(
    problem: SteadyProblem, grid: Grid, diffusivity: float, reaction: float
) -> SteadyState:
    """Solve ``-a lap u + c u = f`` on a box whose sides may be of Robin's kind.

    Parameters
    ----------
    problem : SteadyProblem
        One field; source and data may be complex.
    grid : Grid
        Nodes.
    diffusivity, reaction : float
        The constants ``a`` and ``c``.

    Returns
    -------
    SteadyState

    Raises
    ------
    ValueError
        If a side is of another kind.
    ConvergenceError
        If the equations are singular.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("helmholtz_interval")
    >>> state = solve_impedance(problem, problem.domain, 1.0, -400.0)
    >>> state.fields["u"].dtype
    dtype('complex128')
    """
    sample = GridSampler(problem, grid.mesh())
    load_expression = linear_form(problem).load.get((0,), 0.0)
    load = np.broadcast_to(sample(load_expression), grid.shape).astype(complex).reshape(-1)
    size = math.prod(grid.shape)
    matrix: Any = sparse.diags_array(np.full(size, reaction, dtype=complex))
    fixed, values = np.zeros(size, dtype=bool), np.zeros(size, dtype=complex)
    names = [f"{name}{end}" for name in grid.names for end in "-+"]
    conditions = {s: row[problem.fields[0]] for s, row in problem.conditions(names).items()}
    numbers = np.arange(size).reshape(grid.shape)
    for k, axis in enumerate(grid.axes):
        line = _second_difference(axis)
        before, after = math.prod(grid.shape[:k]), math.prod(grid.shape[k + 1 :])
        along = sparse.kron(sparse.eye_array(before), sparse.kron(line, sparse.eye_array(after)))
        matrix = matrix - diffusivity * along
        for end, index in (("-", 0), ("+", -1)):
            condition = conditions[axis.name + end]
            rows = np.take(numbers, index, axis=k).reshape(-1)
            data = _side_data(problem, grid, axis.name + end, condition, rows)
            if isinstance(condition, Dirichlet):
                fixed[rows], values[rows] = True, data["value"]
            elif isinstance(condition, Neumann | Robin):
                load[rows] += 2.0 / axis.spacing * data.get("flux", data.get("value", 0.0))
                extra = np.zeros(size, dtype=complex)
                extra[rows] = 2.0 / axis.spacing * data.get("coefficient", 0.0)
                matrix = matrix + sparse.diags_array(extra)
    values[~fixed] = _factorized(matrix.tocsr(), load, fixed, values)
    rest = (matrix @ values - load)[~fixed]
    scale = abs(matrix).max() * float(np.max(np.abs(values))) + float(np.max(np.abs(load)))
    norm = float(np.max(np.abs(rest))) / (scale or 1.0)
    if not norm <= TOLERANCE:
        raise ConvergenceError("factorization", history=[norm], tolerance=TOLERANCE)
    field = values.reshape(grid.shape)
    return SteadyState(
        fields={problem.fields[0]: field},
        residual_norm=norm,
        errors=grid_errors(problem, grid.mesh(), field, math.prod(grid.spacings)),
        record={
            "order": ORDER,
            "stencil": "5-point",
            "points": list(grid.shape),
            "linear_solver": "direct",
        },
    )


def _second_difference(axis: Axis) -> Any:
    """Of one axis, with mirrors at its ends unless it is periodic."""
    n, h = axis.points, axis.spacing
    ones = np.ones(n - 1)
    middle = sparse.diags_array(np.full(n, -2.0))
    beside = sparse.diags_array(ones, offsets=1, shape=(n, n))
    matrix = (middle + beside + beside.T).tolil()
    if axis.periodic:
        matrix[0, n - 1] = matrix[n - 1, 0] = 1.0
    else:
        matrix[0, 1] = matrix[n - 1, n - 2] = 2.0
    return (matrix / h**2).tocsr()


def _side_data(
    problem: SteadyProblem, grid: Grid, side: str, condition: Condition, rows: np.ndarray
) -> dict[str, np.ndarray]:
    """Data of a condition at the nodes of its side."""
    axis = grid.axes[grid.names.index(side[:-1])]
    if isinstance(condition, Periodic) != axis.periodic:
        raise ValueError(
            f"{problem.name}: boundary[{side!r}] is {condition.kind!r}, but the axis {axis.name!r} "
            f"is {'periodic' if axis.periodic else 'not periodic'}; change one of them"
        )
    if not isinstance(condition, Periodic | Dirichlet | Neumann | Robin):
        raise ValueError(
            f"{problem.name}: boundary[{side!r}] is {condition.kind!r}; wanted Dirichlet, Neumann, "
            "Robin or Periodic"
        )
    places = {n: np.broadcast_to(p, grid.shape).reshape(-1)[rows] for n, p in grid.mesh().items()}
    data = condition.values(**places, **problem.parameters)
    if not all(np.all(np.isfinite(values)) for values in data.values()):
        raise ValueError(f"{problem.name}: data on the side {side!r} are not finite")
    return data


def _factorized(matrix: Any, load: np.ndarray, fixed: np.ndarray, values: np.ndarray) -> np.ndarray:
    inner = matrix[~fixed][:, ~fixed]
    rest = (load - matrix @ np.where(fixed, values, 0.0))[~fixed]
    try:
        # The pattern is symmetric: a third of the fill of the default ordering.
        return splu(
            sparse.csc_matrix(inner),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.1,
            options={"SymmetricMode": True},
        ).solve(rest)
    except RuntimeError as error:
        raise ConvergenceError(
            f"the matrix is singular ({error})", history=[], tolerance=0.0
        ) from error
