"""Solve an equation on an interval whose outermost points follow a recording.

A recording of part of a larger system has no boundary condition that one could write down, but it
holds the values themselves. They are prescribed on as many points at each end as the difference
stencils reach; in between the method of lines integrates with an implicit, variable-order method.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from pdes.equation import Equation
from pdes.solvers.errors import SolverDivergence
from pdes.term import parse_derivative

ORDER = 4
"""Order of the central differences."""


def difference_weights(derivative: int, reach: int) -> NDArray:
    """Central difference weights of a derivative on ``2 reach + 1`` points, unit spacing.

    Parameters
    ----------
    derivative : int
        Order of the derivative.
    reach : int
        Points on each side.

    Returns
    -------
    ndarray, shape (2 reach + 1,)

    Examples
    --------
    >>> difference_weights(2, 1).round(12)
    array([ 1., -2.,  1.])
    """
    offsets = np.arange(-reach, reach + 1, dtype=float)
    powers = np.vander(offsets, increasing=True).T
    moments = np.zeros(len(offsets))
    moments[derivative] = np.prod(np.arange(1, derivative + 1), dtype=float)
    return np.linalg.solve(powers, moments)


def solve_with_recorded_boundary(
    equation: Equation,
    x: NDArray,
    initial: Mapping[str, NDArray],
    times: NDArray,
    boundary: Mapping[str, NDArray],
    boundary_times: NDArray,
    rtol: float = 1e-6,
) -> dict[str, NDArray]:
    """Integrate a one-dimensional equation between recorded edges.

    Parameters
    ----------
    equation : Equation
        Real fields on one space axis.
    x : ndarray, shape (n,)
        Uniform grid.
    initial : mapping of str to ndarray, shape (n,)
        Fields at ``times[0]``.
    times : ndarray, shape (m,)
        Output times, increasing.
    boundary : mapping of str to ndarray, shape (n, k)
        Recorded fields at ``boundary_times``; only the outermost points are used.
    boundary_times : ndarray, shape (k,)
        They must cover ``times``.
    rtol : float
        Relative tolerance of the time integration.

    Returns
    -------
    dict of str to ndarray, shape (m, n)

    Raises
    ------
    ValueError
        If the equation has more than one axis, or the recording does not cover the times.
    SolverDivergence
        If the integration fails.
    """
    if len(equation.coordinates) != 1 or equation.complex_fields:
        raise ValueError(
            "a recorded boundary works for real fields on one space axis; use a periodic grid "
            f"for {equation.coordinates} with complex fields {sorted(equation.complex_fields)}"
        )
    slack = 1e-9 * max(1.0, abs(times[-1] - times[0]))
    if times[0] < boundary_times[0] - slack or times[-1] > boundary_times[-1] + slack:
        raise ValueError(
            f"boundary covers times {boundary_times[0]:g} to {boundary_times[-1]:g}, the output "
            f"needs {times[0]:g} to {times[-1]:g}: record longer or ask for less"
        )
    fields = equation.fields
    orders = {name: parse_derivative(name, fields, equation.coordinates) for name in equation.jets}
    highest = max([item[1][0] for item in orders.values()] + [1])
    reach = (highest - 1) // 2 + ORDER // 2
    if len(x) < 4 * reach + 8:
        raise ValueError(f"{len(x)} points are too few for derivatives of order {highest}")
    spacing = (x[-1] - x[0]) / (len(x) - 1)
    weights = {
        k: difference_weights(k, reach) / spacing**k
        for k in {item[1][0] for item in orders.values()}
        if k
    }
    edges = {name: _edges(boundary[name], boundary_times, reach) for name in fields}
    inner = slice(reach, len(x) - reach)
    count = len(x) - 2 * reach
    rate = equation.compile("numpy")

    def right_side(time: float, state: NDArray) -> NDArray:
        jets = {}
        whole = _with_edges(state, time, edges, fields, count)
        for name, (field, (order,)) in orders.items():
            values = whole[field]
            jets[name] = (
                values[inner] if order == 0 else np.correlate(values, weights[order], mode="valid")
            )
        rates = rate(jets, {"x": x[inner], "t": time} | {equation.coordinates[0]: x[inner]})
        out = np.empty((count, len(fields)))
        for column, field in enumerate(fields):
            out[:, column] = rates[field]
        return out.reshape(-1)

    state = np.stack([np.asarray(initial[name], float)[inner] for name in fields], axis=1)
    band = reach * len(fields) + len(fields) - 1
    scale = max(float(np.max(np.abs(state))), 1e-300)
    with np.errstate(over="ignore", invalid="ignore"):
        solution = solve_ivp(
            right_side,
            (times[0], times[-1]),
            state.reshape(-1),
            method="LSODA",
            t_eval=times,
            rtol=rtol,
            atol=rtol * 1e-2 * scale,
            lband=band,
            uband=band,
        )
    if not solution.success or not np.isfinite(solution.y).all():
        reached = float(solution.t[-1]) if len(solution.t) else float(times[0])
        raise SolverDivergence(
            f"the integration stopped at time {reached:g}: {solution.message}",
            step=len(solution.t),
            time=reached,
            last_good=None,
        )
    out = {name: np.empty((len(times), len(x))) for name in fields}
    for row, (time, column) in enumerate(zip(times, solution.y.T, strict=True)):
        for name, values in _with_edges(column, time, edges, fields, count).items():
            out[name][row] = values
    return out


def _edges(values: NDArray, times: NDArray, reach: int) -> CubicSpline:
    """The outermost points as a function of time."""
    outer = np.concatenate([values[:reach], values[-reach:]])
    return CubicSpline(times, outer, axis=1)


def _with_edges(
    state: NDArray,
    time: float,
    edges: Mapping[str, CubicSpline],
    fields: tuple[str, ...],
    count: int,
) -> dict[str, NDArray]:
    inside = state.reshape(count, len(fields))
    out = {}
    for column, name in enumerate(fields):
        outer = edges[name](time)
        half = len(outer) // 2
        out[name] = np.concatenate([outer[:half], inside[:, column], outer[half:]])
    return out
