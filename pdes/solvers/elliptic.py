"""Poisson's equation on boxes by fast transforms: 5-point stencil, or compact of fourth order.

Sides are Dirichlet, Neumann or periodic in any combination of pairs, in one to three dimensions;
a constant multiple of the field may be added: ``-a lap u + c u = f``. The discrete equations are
solved exactly, in ``N log N`` operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pdes.solvers.box_balance import check_balance, mean
from pdes.solvers.box_modes import BoxAxis
from pdes.solvers.box_problem import BoxProblem, box_problem
from pdes.solvers.box_sides import ghosts, given_values
from pdes.solvers.box_stencil import (
    ORDERS,
    apply_stencil,
    average_source,
    operator_values,
    pad,
    pad_source,
)
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.grid_sampling import grid_errors
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["ORDERS", "RESONANCE", "solve_box", "solve_sampled"]

# Distance to an eigenvalue, relative to the shift, below which a solution would be noise.
RESONANCE = 1e-8


def solve_box(problem: SteadyProblem, *, order: int = 2) -> SteadyState:
    """Solve ``-a lap u + c u = f`` with constant ``a > 0`` and ``c`` on a box.

    Parameters
    ----------
    problem : SteadyProblem
        One field on a grid of one to three axes. The source may be an array on the grid, with a
        leading axis for many samples.
    order : {2, 4}, default 2
        Of the stencil: 5-point, or compact with 9 points (in the plane).

    Returns
    -------
    SteadyState
        Field at all nodes; of mean zero if only fluxes are given.

    Raises
    ------
    ValueError
        If the equation or a side does not fit, if only fluxes are given and they do not balance the
        source, or if ``-c/a`` is an eigenvalue.

    Examples
    --------
    >>> import pdes
    >>> solve_box(pdes.get("poisson_box"), order=4).errors["u"]["max"] < 1e-5
    True
    """
    return solve_sampled(box_problem(problem), order)


def solve_sampled(box: BoxProblem, order: int) -> SteadyState:
    """Solve a problem whose data are sampled; see `solve_box`."""
    if order not in ORDERS:
        raise ValueError(f"{box.problem.name}: order={order!r}, wanted one of {ORDERS}")
    if box.floating:
        check_balance(box.problem, box.grid, box.conditions, box.load, np.real(box.source))
    shift = box.reaction / box.diffusivity
    source = pad_source(box.source / box.diffusivity, box.axes)
    ghost = ghosts(box, order, shift)
    given = np.broadcast_to(given_values(box), box.source.shape)
    lift = pad(given, box.axes, ghost)
    inside = (..., *[axis.unknowns for axis in box.axes])
    right = average_source(source, box.axes, order)
    load = -right - apply_stencil(lift, box.axes, order)
    load = (load + shift * average_source(lift, box.axes, order))[inside]
    values = np.broadcast_to(given, right.shape).astype(np.result_type(given, load))
    values[inside] = _divided(box, load, order, shift)
    if box.floating:
        values = values - mean(values, box.grid)
    padded = pad(values, box.axes, ghost)
    rest = apply_stencil(padded, box.axes, order) + right
    rest = (rest - shift * average_source(padded, box.axes, order))[inside]
    if box.floating:
        # Discrete data balance up to the order only: what is left is constant.
        rest = rest - _zero_mode(rest, box.axes)
    norm = _relative(rest, padded, box, shift)
    return SteadyState(
        fields={box.problem.fields[0]: values},
        residual_norm=norm,
        errors=grid_errors(box.problem, box.grid.mesh(), values, math.prod(box.grid.spacings)),
        record={
            "order": order,
            "stencil": "5-point" if order == 2 else "compact (Mehrstellen)",
            "points": list(box.grid.shape),
            "linear_solver": "fast transforms",
        },
    )


def _divided(box: BoxProblem, load: np.ndarray, order: int, shift: float) -> np.ndarray:
    """Solution of the stencil's equations with homogeneous sides."""
    laplacian, right = operator_values(box.axes, order)
    values = laplacian - shift * right
    scale = abs(shift) if shift < 0.0 else float(np.max(np.abs(values)))
    tiny = np.abs(values) <= (RESONANCE if shift < 0.0 else 1e-14) * scale
    if box.floating:
        tiny[(0,) * len(box.axes)] = False
        values[(0,) * len(box.axes)] = np.inf
    if np.any(tiny):
        nearest = float(laplacian[tiny][0] / right[tiny][0])
        raise ValueError(
            f"{box.problem.name}: -c/a = {-shift:.12g} is an eigenvalue of the box "
            f"({-nearest:.12g}): there is no unique solution; change it or the box"
        )
    real, lead = not np.iscomplexobj(load), load.ndim - len(box.axes)
    for k, axis in enumerate(box.axes):
        load = axis.analyze(load, lead + k)
    load = load / values
    for k, axis in reversed(list(enumerate(box.axes))):
        load = axis.synthesize(load, lead + k)
    return np.real(load) if real else load


def _zero_mode(values: np.ndarray, axes: Sequence[BoxAxis]) -> np.ndarray:
    """Mean in the weights that make the stencil symmetric."""
    for k, axis in enumerate(axes):
        weights = np.ones(axis.count)
        if axis.low == "neumann":
            weights[[0, -1]] = 0.5
        place = values.ndim - len(axes) + k
        shape = [-1 if i == place else 1 for i in range(values.ndim)]
        weights = (weights / weights.sum()).reshape(shape)
        values = np.sum(weights * values, axis=place, keepdims=True)
    return values


def _relative(rest: np.ndarray, padded: np.ndarray, box: BoxProblem, shift: float) -> float:
    """Size of a residual relative to the terms that cancel in it."""
    terms = sum(4.0 / axis.axis.spacing**2 for axis in box.axes) + abs(shift)
    scale = terms * float(np.max(np.abs(padded))) + float(np.max(np.abs(box.source)))
    norm = float(np.max(np.abs(rest))) / (scale or 1.0)
    if not norm <= 1e-10:
        raise ConvergenceError("fast transforms", history=[norm], tolerance=1e-10)
    return norm
