"""Whether a source and the flux through all sides of a box cancel, and means over its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Condition
from pdes.grid import Grid
from pdes.solvers.grid_sampling import GridSampler
from pdes.steady import SteadyProblem, unknown

__all__ = ["check_balance", "mean", "sum_error"]

TOLERANCE = 1e-6
_GAUSS_POINTS = 48


def check_balance(
    problem: SteadyProblem,
    grid: Grid,
    conditions: Mapping[str, Condition],
    load: Any,
    source: np.ndarray,
) -> None:
    """Refuse a source that does not balance the flux through the sides.

    Parameters
    ----------
    problem : SteadyProblem
        With no value given anywhere.
    grid : Grid
        Its nodes.
    conditions : mapping of str to Condition
        Side to condition; Neumann or periodic.
    load : sympy.Expr
        Source.
    source : ndarray
        Source at the nodes; used where it cannot be evaluated elsewhere.

    Raises
    ------
    ValueError
        If source plus inflow is not zero: then no solution exists.
    """
    fluxes = [_side_flux(problem, grid, side, c) for side, c in conditions.items()]
    error = sum_error(problem, grid, load)
    if error is not None:
        weights = _weights(grid)
        axes = tuple(range(source.ndim - len(grid.axes), source.ndim))
        total = np.sum(weights * source, axis=axes)
        size = np.sum(weights * np.abs(source), axis=axes)
        slack = TOLERANCE + error
    else:
        places, weights = _gauss(grid.axes)
        values = np.real(GridSampler(problem, places)(load))
        total, size, slack = (
            np.sum(weights * values), np.sum(weights * np.abs(values)), TOLERANCE
        )  # fmt: skip
    balance = np.asarray(total) + sum(flux for flux, _ in fluxes)
    scale = np.asarray(size) + sum(amount for _, amount in fluxes)
    if np.any(np.abs(balance) > slack * np.maximum(scale, 1e-300)):
        worst = float(balance.reshape(-1)[np.argmax(np.abs(balance))])
        raise ValueError(
            f"{problem.name}: only fluxes are prescribed, and source plus inflow is {worst:.6g} "
            "instead of 0: no steady solution exists; correct the data or fix a value"
        )


def sum_error(problem: SteadyProblem, grid: Grid, load: Any) -> float | None:
    """Relative error to expect of the sum over points, for a source that has no better integral.

    Parameters
    ----------
    problem : SteadyProblem
        Whose coefficients may be arrays.
    grid : Grid
        Where the points are.
    load : sympy.Expr
        The source.

    Returns
    -------
    float or None
        The spacing over the length for a source that jumps, its square for an array, and None for
        a smooth expression, which quadrature integrates.

    Examples
    --------
    >>> import pdes
    >>> box = pdes.get("poisson_box", points=11)
    >>> sum_error(box, box.domain, sympy.sign(sympy.Symbol("x")))
    0.1
    """
    expression = sympy.S.Zero + load
    arrays = {
        unknown(name, problem.coordinates)
        for name, value in problem.coefficients.items()
        if not isinstance(value, sympy.Basic | float | int)
    }
    kinked = (sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Max, sympy.Min, sympy.Abs)
    step = max((0.0 if a.periodic else a.spacing / a.length) for a in grid.axes)
    if expression.atoms(*kinked):
        return max(step, *(a.spacing / a.length for a in grid.axes))
    return step**2 if any(expression.has(array) for array in arrays) else None


def mean(values: np.ndarray, grid: Grid) -> np.ndarray:
    """Mean over the box, of fourth order, with the grid's dimensions kept.

    Examples
    --------
    >>> from pdes import Axis
    >>> grid = Grid((Axis("x", 0.0, 1.0, 9, periodic=False),))
    >>> mean(grid.mesh()["x"] ** 2, grid)
    array([0.3333])
    """
    axes = tuple(range(values.ndim - len(grid.axes), values.ndim))
    weights = _weights(grid)
    return np.sum(weights * values, axis=axes, keepdims=True) / np.sum(weights)


def _weights(grid: Grid) -> np.ndarray:
    """Of the trapezoidal rule, with Gregory's correction at ends that are not periodic."""
    total = np.ones((1,) * len(grid.axes))
    for k, axis in enumerate(grid.axes):
        line = np.full(axis.points, axis.spacing)
        if not axis.periodic and axis.points >= 6:
            for i, factor in enumerate((3 / 8, 7 / 6, 23 / 24)):
                line[[i, -1 - i]] *= factor
        elif not axis.periodic:
            line[[0, -1]] *= 0.5
        total = total * line.reshape([-1 if i == k else 1 for i in range(len(grid.axes))])
    return total


def _side_flux(
    problem: SteadyProblem, grid: Grid, side: str, condition: Condition
) -> tuple[float, float]:
    """Integral of the prescribed flux over a side, and of its size."""
    if condition.kind != "neumann":
        return 0.0, 0.0
    across = next(k for k, axis in enumerate(grid.axes) if axis.name == side[:-1])
    places, weights = _gauss([a for k, a in enumerate(grid.axes) if k != across])
    end = grid.axes[across].start if side.endswith("-") else grid.axes[across].stop
    values = condition.values(**places, **{side[:-1]: np.array(end)}, **problem.parameters)["flux"]
    return float(np.sum(weights * values)), float(np.sum(weights * np.abs(values)))


def _gauss(axes: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Points and weights of Gauss and Legendre's rule in a box."""
    nodes, weights = np.polynomial.legendre.leggauss(_GAUSS_POINTS)
    lines = [axis.start + 0.5 * axis.length * (nodes + 1.0) for axis in axes]
    shares = [0.5 * axis.length * weights for axis in axes]
    grids = np.meshgrid(*lines, indexing="ij", sparse=True)
    total = np.ones(())
    for share in np.meshgrid(*shares, indexing="ij", sparse=True):
        total = total * share
    return dict(zip([a.name for a in axes], grids, strict=True)), total
