"""Travel times by fast sweeping: Gauss-Seidel over the grid in four alternating directions.

``c |grad T| = 1`` is solved at each node from the smaller neighbor along each axis, the upwind
difference of S. K. Godunov; information travels along characteristics, and each sweep carries all
those of one quadrant to their end (H. Zhao, Math. Comp. 74, 603 (2005)). Nodes on a diagonal do not
depend on each other and are updated at once, which leaves the order of updates as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdes.solvers.convergence import ConvergenceError

__all__ = ["sweep"]

# The four directions: axes along which indices fall.
_DIRECTIONS = ((), (0,), (0, 1), (1,))


def sweep(
    slowness: np.ndarray,
    start: np.ndarray,
    spacings: Sequence[float],
    *,
    frozen: np.ndarray,
    shifts: Sequence[np.ndarray] | None = None,
    tolerance: float = 1e-13,
    max_sweeps: int = 200,
) -> tuple[np.ndarray, int, list[float]]:
    """Travel times from starting values by repeated sweeps.

    Parameters
    ----------
    slowness : ndarray, shape (n, m)
        ``1/c`` at the nodes.
    start : ndarray, shape (n, m)
        Times at frozen nodes; infinite elsewhere.
    spacings : pair of float
        Of the grid.
    frozen : ndarray of bool, shape (n, m)
        Nodes whose time is given.
    shifts : sequence of four ndarray, optional
        Added to the times of the neighbors at ``-x, +x, -y, +y`` of each node before they are used:
        the curvature of a known part of the times; see `pdes.solvers.eikonal`.
    tolerance : float
        Change in a sweep, relative to the largest time, below which nothing changes any more.
    max_sweeps : int
        Limit.

    Returns
    -------
    times : ndarray, shape (n, m)
    count : int
        Number of the last sweep that changed something.
    history : list of float
        Largest relative change in each sweep.

    Raises
    ------
    ConvergenceError
        If times still change after `max_sweeps`, or nodes are not reached.

    Examples
    --------
    >>> start = np.full((5, 5), np.inf)
    >>> start[0, 0] = 0.0
    >>> times, count, _ = sweep(np.ones((5, 5)), start, (0.25, 0.25), frozen=start == 0.0)
    >>> float(times[4, 0]), count <= 4
    (1.0, True)
    """
    n, m = start.shape
    times = np.full((n + 2, m + 2), np.inf)
    times[1:-1, 1:-1] = start
    layers = [np.zeros_like(times) for _ in range(4)]
    for layer, shift in zip(layers, shifts or (), strict=False):
        layer[1:-1, 1:-1] = shift
    known = np.ones_like(times)
    known[1:-1, 1:-1] = slowness
    flat = [a.reshape(-1) for a in (times, known, *layers)]
    diagonals = [_diagonals(n, m, direction, frozen) for direction in _DIRECTIONS]
    history: list[float] = []
    count, quiet = 0, 0
    while quiet < len(_DIRECTIONS):
        if len(history) >= max_sweeps:
            raise ConvergenceError("fast sweeping", history=history, tolerance=tolerance)
        before = times.copy()
        for nodes in diagonals[len(history) % 4]:
            _update(flat, nodes, m + 2, spacings)
        change = _change(before, times)
        history.append(change)
        quiet = quiet + 1 if change <= tolerance else 0
        count = len(history) if change > tolerance else count
    found = times[1:-1, 1:-1]
    if not np.all(np.isfinite(found)):
        raise ConvergenceError(
            f"fast sweeping left {int(np.sum(~np.isfinite(found)))} nodes without a time",
            history=history,
            tolerance=tolerance,
        )
    return found, count, history


def _update(
    flat: Sequence[np.ndarray], nodes: np.ndarray, width: int, spacings: Sequence[float]
) -> None:
    """Godunov's solution at nodes that do not depend on each other; times never rise."""
    times, slowness, west, east, south, north = flat
    a = np.minimum(times[nodes - width] + west[nodes], times[nodes + width] + east[nodes])
    b = np.minimum(times[nodes - 1] + south[nodes], times[nodes + 1] + north[nodes])
    h, k = spacings
    s = slowness[nodes]
    with np.errstate(invalid="ignore", over="ignore"):
        one = np.minimum(a + h * s, b + k * s)
        # ((T - a)/h)^2 + ((T - b)/k)^2 = s^2 where its solution lies above both a and b.
        total = h**2 + k**2
        inside = total * s**2 - (a - b) ** 2
        both = (k**2 * a + h**2 * b + h * k * np.sqrt(np.maximum(inside, 0.0))) / total
        valid = (inside >= 0.0) & (both >= np.maximum(a, b))
    times[nodes] = np.minimum(times[nodes], np.where(valid, both, one))


def _change(before: np.ndarray, after: np.ndarray) -> float:
    """Largest change relative to the largest time; infinite while nodes are being reached."""
    reached = np.isfinite(after)
    if not np.array_equal(reached, np.isfinite(before)):
        return float("inf")
    scale = float(np.max(after[reached], initial=0.0)) or 1.0
    return float(np.max(np.abs(before[reached] - after[reached]), initial=0.0)) / scale


def _diagonals(n: int, m: int, direction: tuple[int, ...], frozen: np.ndarray) -> list[np.ndarray]:
    """Places of the free nodes on each diagonal, in the order of a sweep."""
    i, j = np.nonzero(~frozen)
    first = n - 1 - i if 0 in direction else i
    second = m - 1 - j if 1 in direction else j
    place = (i + 1) * (m + 2) + j + 1
    height = first + second
    order = np.argsort(height, kind="stable")
    cuts = np.flatnonzero(np.diff(height[order])) + 1
    return np.split(place[order], cuts)
