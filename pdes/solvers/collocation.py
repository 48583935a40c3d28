"""Linear equations by collocation at Chebyshev's points: one dense system, exponential accuracy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg

from pdes.boundary import Condition, Dirichlet, Neumann, Robin
from pdes.grid import Grid
from pdes.solvers.chebyshev import chebyshev_points, differentiation_matrix
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.grid_sampling import GridSampler, grid_errors, grid_of
from pdes.solvers.strong_form import strong_form
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["LARGEST", "ORDER", "solve_chebyshev"]

ORDER = "spectral"
# Dense systems beyond this many unknowns take minutes.
LARGEST = 2500


def solve_chebyshev(problem: SteadyProblem) -> SteadyState:
    """Solve a linear second-order equation by collocation.

    Parameters
    ----------
    problem : SteadyProblem
        One field on a grid without periodic axes; coefficients may vary. The number of points of
        each axis is kept, their places are Chebyshev's. Coefficients cannot be arrays.

    Returns
    -------
    SteadyState
        Field at the product of Chebyshev's points.

    Raises
    ------
    ValueError
        If the problem does not fit, or has too many unknowns for a dense system.
    ConvergenceError
        If the equations are singular.

    Examples
    --------
    >>> import pdes
    >>> solve_chebyshev(pdes.get("poisson_interval", points=17)).errors["u"]["max"] < 1e-10
    True
    """
    grid = grid_of(problem, "chebyshev")
    size = math.prod(grid.shape)
    if any(axis.periodic for axis in grid.axes) or size > LARGEST:
        raise ValueError(
            f"{problem.name}: solver 'chebyshev' takes axes that are not periodic and at most "
            f"{LARGEST} points in all, got {grid.shape}; use 'fast_poisson' or fewer points"
        )
    arrays = [name for name, value in problem.coefficients.items() if isinstance(value, np.ndarray)]
    if arrays:
        raise ValueError(
            f"{problem.name}: coefficients {arrays} are arrays on a uniform grid, and collocation "
            "needs values at Chebyshev's points; give expressions or functions"
        )
    lines = [chebyshev_points(a.points - 1, a.start, a.stop) for a in grid.axes]
    meshes = np.meshgrid(*lines, indexing="ij", sparse=True)
    places = dict(zip(grid.names, meshes, strict=True))
    sample = GridSampler(problem, places)
    derivatives = [_along(grid, k, differentiation_matrix(x)) for k, x in enumerate(lines)]
    matrix, load = np.zeros((size, size)), np.zeros(size)
    terms, source = strong_form(problem)
    for orders, coefficient in terms.items():
        operator = np.eye(size)
        for k, order in enumerate(orders):
            operator = np.linalg.matrix_power(derivatives[k], order) @ operator
        matrix = matrix + sample(coefficient).reshape(-1, 1) * operator
    load = load + sample(source).reshape(-1)
    matrix, load = _with_sides(problem, grid, places, (matrix, load), derivatives, terms, sample)
    values, norm = _solved(matrix, load)
    values = values.reshape(grid.shape)
    cell = math.prod(axis.spacing for axis in grid.axes)
    return SteadyState(
        fields={problem.fields[0]: values},
        coordinates=dict(zip(grid.names, lines, strict=True)),
        residual_norm=norm,
        errors=grid_errors(problem, places, values, cell),
        record={"order": ORDER, "points": list(grid.shape), "linear_solver": "dense"},
    )


def _along(grid: Grid, place: int, matrix: np.ndarray) -> np.ndarray:
    """Matrix of one axis as an operator on all points."""
    before = math.prod(grid.shape[:place])
    after = math.prod(grid.shape[place + 1 :])
    return np.kron(np.eye(before), np.kron(matrix, np.eye(after)))


def _with_sides(
    problem: SteadyProblem,
    grid: Grid,
    places: Mapping[str, np.ndarray],
    system: tuple[np.ndarray, np.ndarray],
    derivatives: list[np.ndarray],
    terms: Mapping[tuple[int, ...], Any],
    sample: GridSampler,
) -> tuple[np.ndarray, np.ndarray]:
    """Equations in which the rows of boundary points say what the boundary prescribes."""
    matrix, load = system
    names = [f"{name}{end}" for name in grid.names for end in "-+"]
    field = problem.fields[0]
    conditions = {side: row[field] for side, row in problem.conditions(names).items()}
    numbers = np.arange(load.size).reshape(grid.shape)
    constant = (0,) * len(grid.axes)
    if all(isinstance(each, Neumann) for each in conditions.values()) and constant not in terms:
        raise ValueError(
            f"{problem.name}: the fluxes are given at all sides ({', '.join(names)}), so that "
            f"{field!r} is known up to a constant only, or not at all: give its value at one side, "
            "such as boundary={'x-': Dirichlet(0.0), ...}, or use solver='fast_poisson', which "
            "takes the mean to be zero"
        )
    # Values win over fluxes at points that two sides share.
    ordered = sorted(conditions, key=lambda side: isinstance(conditions[side], Dirichlet))
    full = {n: np.broadcast_to(p, grid.shape).reshape(-1) for n, p in places.items()}
    for side in ordered:
        k, sign = grid.names.index(side[:-1]), 1.0 if side.endswith("+") else -1.0
        rows = np.take(numbers, -1 if sign > 0 else 0, axis=k).reshape(-1)
        here = {n: p[rows] for n, p in full.items()}
        data = conditions[side].values(**here, **problem.parameters)
        across = tuple(2 if j == k else 0 for j in range(len(grid.axes)))
        flux = -np.broadcast_to(sample(terms[across]), grid.shape).reshape(-1)
        normal = sign * flux[rows, None] * derivatives[k][rows]
        matrix[rows], load[rows] = _row(problem, side, conditions[side], data, normal, rows)
    return matrix, load


def _row(
    problem: SteadyProblem,
    side: str,
    condition: Condition,
    data: Mapping[str, np.ndarray],
    normal: np.ndarray,
    rows: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    identity: Any = np.zeros_like(normal)
    identity[np.arange(rows.size), rows] = 1.0
    if isinstance(condition, Dirichlet):
        return identity, data["value"]
    if isinstance(condition, Neumann):
        return normal, data["flux"]
    if isinstance(condition, Robin):
        return normal + data["coefficient"][:, None] * identity, data["value"]
    raise ValueError(
        f"{problem.name}: boundary[{side!r}] is {condition.kind!r}; collocation takes Dirichlet, "
        "Neumann and Robin sides"
    )


def _solved(matrix: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, float]:
    """Solution of a dense system and its backward error."""
    # Rows of boundary points are smaller by n^4: equilibrate them before pivoting.
    scale = np.max(np.abs(matrix), axis=1)
    matrix, load = matrix / scale[:, None], load / scale
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            values = scipy.linalg.solve(matrix, load)
    except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning) as error:
        raise ConvergenceError(
            f"the collocation matrix is singular ({error}): no condition holds the field in "
            "place, or the problem is at an eigenvalue",
            history=[],
            tolerance=0.0,
        ) from error
    size = float(np.max(np.abs(values))) + float(np.max(np.abs(load))) or 1.0
    return values, float(np.max(np.abs(matrix @ values - load))) / size
