"""Times near the points where signals start, which a difference scheme cannot resolve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pdes.grid import Grid
from pdes.steady import SteadyProblem

__all__ = ["Point", "linear_speed_time", "local_speed", "starting_times", "uniform_shifts"]

Point = tuple[float, float]


def linear_speed_time(
    distance: np.ndarray, speed: np.ndarray | float, start_speed: float, slope: float
) -> np.ndarray:
    """Time between two points where the speed is linear in space.

    Parameters
    ----------
    distance : ndarray
        Between the points.
    speed : ndarray or float
        At the far point.
    start_speed : float
        At the near point.
    slope : float
        Length of the gradient of the speed.

    Returns
    -------
    ndarray
        ``acosh(1 + g^2 d^2/(2 c c_0))/g``, or ``d/c_0`` in a uniform medium.

    Examples
    --------
    >>> round(float(linear_speed_time(np.array(1.0), 2.0, 1.0, 1.0)), 6)    # along the gradient
    0.693147
    """
    if slope == 0.0:
        return np.asarray(distance) / start_speed
    # acosh(1 + z) loses the digits of a small z; this form keeps them.
    root = slope * np.asarray(distance) / np.sqrt(4.0 * np.asarray(speed) * start_speed)
    return np.asarray(2.0 * np.arcsinh(root) / slope)


def starting_times(
    problem: SteadyProblem, grid: Grid, speed: np.ndarray, points: Sequence[Point], ball: float
) -> tuple[np.ndarray, np.ndarray]:
    """Times set beforehand around the sources, infinite elsewhere, and where they are set."""
    places = grid.mesh()
    start = np.full(grid.shape, np.inf)
    for point in points:
        distance = np.hypot(*[p - c for p, c in zip(places.values(), point, strict=True)])
        near = distance <= ball
        near[np.ix_(*_corners(grid, point))] = True
        here, slope = local_speed(grid, speed, point)
        times = linear_speed_time(distance, speed, here, slope)
        start = np.where(near, np.minimum(start, times), start)
    frozen = np.isfinite(start)
    own = list(points) == [tuple(point) for point in problem.options.get("sources", ())]
    if problem.exact_name is not None and own:
        exact = problem.exact[problem.exact_name].evaluate(**places)[problem.fields[0]]
        start = np.where(frozen, exact, start)
    return start, frozen


def _corners(grid: Grid, point: Point) -> list[list[int]]:
    """Indices of the nodes of the cell around a point; one along an axis on which it lies."""
    found = []
    for value, axis in zip(point, grid.axes, strict=True):
        place = (value - axis.start) / axis.spacing
        nearest = round(place)
        on_node = abs(place - nearest) < 1e-9
        low = min(math.floor(place), axis.points - 2)
        found.append([nearest] if on_node else [low, low + 1])
    return found


def local_speed(grid: Grid, speed: np.ndarray, point: Point) -> tuple[float, float]:
    """Speed at a point and the length of its gradient, from the nodes of the cell around it."""
    index, rest = [], []
    for value, axis in zip(point, grid.axes, strict=True):
        place = (value - axis.start) / axis.spacing
        low = min(math.floor(place), axis.points - 2)
        index.append(slice(low, low + 2))
        rest.append(place - low)
    cell = speed[index[0], index[1]]
    x, y = rest
    weights = np.outer([1.0 - x, x], [1.0 - y, y])
    gradient = (
        float(np.array([-1.0, 1.0]) @ cell @ np.array([1.0 - y, y])) / grid.spacings[0],
        float(np.array([1.0 - x, x]) @ cell @ np.array([-1.0, 1.0])) / grid.spacings[1],
    )
    slope = math.hypot(*gradient)
    here = float(np.sum(weights * cell))
    # Rounding must not look like a gradient.
    return here, slope if slope * max(grid.lengths) > 1e-9 * here else 0.0


def uniform_shifts(grid: Grid, speed: np.ndarray, point: Point) -> list[np.ndarray]:
    """What the one-sided difference of ``T_0 = r/c_0`` misses of its derivative, for 4 neighbors.

    A neighbor at ``-x`` with ``T = T_0 + tau`` acts like one with ``T_0(here) - h dT_0/dx + tau``.
    """
    here, _ = local_speed(grid, speed, point)
    x, y = [p - c for p, c in zip(grid.mesh().values(), point, strict=True)]
    h, k = grid.spacings
    radius = np.hypot(x, y)
    safe = np.where(radius > 0.0, radius, 1.0)
    found = []
    for along, step, shifted in (
        (x, -h, np.hypot(x - h, y)),
        (x, h, np.hypot(x + h, y)),
        (y, -k, np.hypot(x, y - k)),
        (y, k, np.hypot(x, y + k)),
    ):
        found.append((radius + step * along / safe - shifted) / here)
    return found
