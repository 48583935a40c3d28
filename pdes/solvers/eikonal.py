"""The eikonal equation ``c |grad T| = 1``: first times of arrival from points.

The scheme is of first order, but around a point the curvature of the fronts is infinite and the
error becomes ``h log h``. Exact times in a ball of fixed radius restore the order, and so does the
factored form ``T = T_0 + tau`` with the time ``T_0 = r/c_0`` of a uniform medium, whose derivatives
are known (S. Fomel, S. Luo and H. Zhao, J. Comput. Phys. 228, 6440 (2009); here with a sum).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Outflow
from pdes.grid import Grid
from pdes.solvers.fast_sweeping import sweep
from pdes.solvers.grid_sampling import GridSampler, grid_errors, grid_of
from pdes.solvers.point_sources import Point, starting_times, uniform_shifts
from pdes.steady import SteadyProblem, SteadyState, unknown
from pdes.symbols import coordinate

__all__ = ["ORDER", "solve_eikonal"]

# Declared order in the mean, with a ball or factored; at a bare point 0.7 to 0.8 on usual grids.
ORDER = 1


def solve_eikonal(
    problem: SteadyProblem,
    *,
    sources: Sequence[Point],
    ball: float = 0.0,
    factored: bool = False,
    max_sweeps: int = 200,
) -> SteadyState:
    """First times of arrival from point sources in the plane.

    Parameters
    ----------
    problem : SteadyProblem
        Of the equation ``c^2 |grad T|^2 = 1`` with a coefficient ``c``: an expression, a number,
        an array on the grid or a function; on a grid of two axes that are not periodic.
    sources : sequence of pairs of float
        Where the signal starts at time 0, inside the grid.
    ball : float, default 0
        Radius around each source in which times are set beforehand, exactly where the problem has
        a closed form or the speed is linear. 0 for the nodes around the source only.
    factored : bool, default False
        Solve for the difference to the times of a uniform medium.
    max_sweeps : int
        Limit of the iteration.

    Returns
    -------
    SteadyState
        Its `iterations` is the number of the last sweep that changed a time.

    Raises
    ------
    ValueError
        If the speed is not positive everywhere, a source lies outside, or an argument is wrong.
    ConvergenceError
        If times still change after `max_sweeps`.

    Examples
    --------
    >>> import pdes
    >>> solve_eikonal(pdes.get("eikonal_distance"), sources=[(0.5, 0.5)], ball=0.15).iterations <= 4
    True
    """
    grid = _plane_of(problem)
    places = grid.mesh()
    speed = np.broadcast_to(GridSampler(problem, places)(_speed(problem)), grid.shape)
    _check_speed(problem, speed, places)
    points = _check_sources(problem, grid, sources)
    if not (math.isfinite(ball) and ball >= 0.0):
        raise ValueError(f"{problem.name}: ball={ball!r}, wanted a radius of at least 0")
    groups = [[point] for point in points] if factored else [points]
    found, count, last = np.full(grid.shape, np.inf), 0, 0.0
    for group in groups:
        start, frozen = starting_times(problem, grid, speed, group, ball)
        shifts = uniform_shifts(grid, speed, group[0]) if factored else None
        times, sweeps, history = sweep(
            1.0 / speed, start, grid.spacings, frozen=frozen, shifts=shifts, max_sweeps=max_sweeps
        )
        # The first arrival of several signals is the smallest of their times.
        found, count, last = np.minimum(found, times), max(count, sweeps), history[-1]
    return SteadyState(
        fields={problem.fields[0]: found},
        residual_norm=last,
        iterations=count,
        errors=grid_errors(problem, places, found, math.prod(grid.spacings)),
        record={
            "order": ORDER,
            "points": list(grid.shape),
            "sources": [list(point) for point in points],
            "ball": float(ball),
            "factored": bool(factored),
        },
    )


def _plane_of(problem: SteadyProblem) -> Grid:
    grid = grid_of(problem, "fast_sweeping")
    if len(grid.axes) != 2 or any(axis.periodic for axis in grid.axes):
        raise ValueError(
            f"{problem.name}: solver 'fast_sweeping' takes two axes that are not periodic, got "
            f"{grid.axes}"
        )
    for side, condition in problem.boundary.items():
        if not isinstance(condition, Outflow):
            raise ValueError(
                f"{problem.name}: boundary[{side!r}] is {condition!r}; fronts leave through every "
                "side: use Outflow()"
            )
    return grid


def _speed(problem: SteadyProblem) -> Any:
    """The speed, after checking that the equation is the eikonal one."""
    names = problem.coordinates
    time = unknown(problem.fields[0], names)
    if list(problem.coefficients) != ["c"]:
        raise ValueError(
            f"{problem.name}: coefficients are {sorted(problem.coefficients)}, wanted the speed "
            "under the name 'c'"
        )
    speed = unknown("c", names)
    wanted = speed**2 * sum(time.diff(coordinate(n)) ** 2 for n in names) - 1
    (residual,) = problem.residual.values()
    if sympy.expand(residual - wanted) != 0:
        raise ValueError(
            f"{problem.name}: solver 'fast_sweeping' solves {wanted} = 0, got {residual} = 0"
        )
    return speed


def _check_speed(
    problem: SteadyProblem, speed: np.ndarray, places: Mapping[str, np.ndarray]
) -> None:
    if np.iscomplexobj(speed) or not np.all(speed > 0.0):
        index = np.unravel_index(int(np.argmin(np.real(speed))), speed.shape)
        there = [float(np.broadcast_to(p, speed.shape)[index]) for p in places.values()]
        spot = ", ".join(f"{n}={v:.6g}" for n, v in zip(places, there, strict=True))
        raise ValueError(
            f"{problem.name}: the speed c is {speed[index]:.6g} at {spot}, wanted it positive "
            "everywhere: no signal would arrive"
        )


def _check_sources(problem: SteadyProblem, grid: Grid, sources: Sequence[Point]) -> list[Point]:
    points = [tuple(float(v) for v in point) for point in sources]
    if not points or any(len(point) != 2 for point in points):
        raise ValueError(
            f"{problem.name}: sources={sources!r}, wanted at least one pair of coordinates"
        )
    for point in points:
        for value, axis in zip(point, grid.axes, strict=True):
            if not axis.start <= value <= axis.stop:
                raise ValueError(
                    f"{problem.name}: source {point} lies outside [{axis.start:g}, {axis.stop:g}] "
                    f"along {axis.name}; move it in"
                )
    return [(point[0], point[1]) for point in points]
