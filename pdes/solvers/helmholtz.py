"""Helmholtz' equation on boxes by finite differences that say beforehand how wrong the phase is.

A wave on a grid of spacing ``h`` has the wave number ``k_h`` instead of ``k``. Along an axis
``k_h - k = k (k h)^2/24`` for second differences and ``k (k h)^4/480`` for the compact stencil of
fourth order, to leading order (F. Ihlenburg and I. Babuska, Comput. Math. Appl. 30, 9 (1995),
for elements of degree 1): the error grows with the length of the path at any fixed
number of points in a wave. This pollution is predicted, and refused if it is above the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pdes.boundary import Robin
from pdes.grid import Grid
from pdes.solvers.box_modes import BoxAxis
from pdes.solvers.box_problem import box_problem, constant_coefficients
from pdes.solvers.elliptic import RESONANCE, solve_sampled
from pdes.solvers.grid_sampling import grid_of
from pdes.solvers.impedance import solve_impedance
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["POLLUTION", "phase_error", "predicted_pollution", "solve_helmholtz"]

# Order to the number under ``k (k h)^order``.
POLLUTION = {2: 24.0, 4: 480.0}


def phase_error(wavenumber: float, spacing: float, order: int = 2) -> float:
    """Predicted error of the phase along an axis, in radians per unit length.

    Parameters
    ----------
    wavenumber : float
        The ``k`` of ``lap u + k^2 u = 0``.
    spacing : float
        Of the grid.
    order : {2, 4}
        Of the stencil.

    Returns
    -------
    float
        ``k (k h)^2/24`` or ``k (k h)^4/480``.

    Examples
    --------
    >>> round(phase_error(20.0, 0.025), 4), round(phase_error(80.0, 0.00625), 4)
    (0.2083, 0.8333)
    """
    if order not in POLLUTION:
        raise ValueError(f"order={order!r}, wanted one of {sorted(POLLUTION)}")
    return wavenumber * (wavenumber * spacing) ** order / POLLUTION[order]


def predicted_pollution(grid: Grid, wavenumber: float, order: int = 2) -> float:
    """Predicted error of the phase across a grid, along the axis where it is largest.

    Examples
    --------
    >>> from pdes import Axis
    >>> grid = Grid((Axis("x", 0.0, 1.0, 41, periodic=False),))
    >>> round(predicted_pollution(grid, 20.0), 4)
    0.2083
    """
    return max(phase_error(wavenumber, a.spacing, order) * a.length for a in grid.axes)


def solve_helmholtz(
    problem: SteadyProblem, *, order: int | None = None, tolerance: float = 0.1
) -> SteadyState:
    """Solve ``-a lap u - c u = f`` with constant ``a, c > 0``: waves of wave number ``sqrt(c/a)``.

    Parameters
    ----------
    problem : SteadyProblem
        One field on a grid, real or complex.
    order : {2, 4}, optional
        Of the stencil. 4 by default, and 2 if a side is of Robin's kind (an impedance).
    tolerance : float, default 0.1
        Largest predicted error of the phase across the grid, in radians: about the relative error
        of the field far from resonance.

    Returns
    -------
    SteadyState
        Its record holds the wave number, the predicted pollution and, between sides that reflect
        all, the distance of ``k^2`` to the nearest eigenvalue relative to ``k^2``.

    Raises
    ------
    ValueError
        If the grid is too coarse for the tolerance, ``k^2`` is an eigenvalue of the box (within
        1e-8), or the problem does not fit.

    Examples
    --------
    >>> import pdes
    >>> state = solve_helmholtz(pdes.get("helmholtz_box"))
    >>> state.record["pollution"] < 0.01
    True
    """
    grid = grid_of(problem, "helmholtz")
    a, c, _ = constant_coefficients(problem, "helmholtz")
    if not c < 0.0:
        raise ValueError(
            f"{problem.name}: -a lap u + c u = f with c={c:g} has no waves; use 'fast_poisson'"
        )
    sides = [f"{name}{end}" for name in grid.names for end in "-+"]
    open_sides = any(isinstance(r[problem.fields[0]], Robin) for r in
                     problem.conditions(sides).values())  # fmt: skip
    chosen = (2 if open_sides else 4) if order is None else order
    if chosen not in POLLUTION or (open_sides and chosen != 2):
        raise ValueError(
            f"{problem.name}: order={order!r}, wanted 2 or 4, and 2 with Robin (impedance) sides"
        )
    wavenumber = math.sqrt(-c / a)
    pollution = _check_pollution(problem, grid, wavenumber, chosen, tolerance)
    record: dict[str, Any] = {"wavenumber": wavenumber, "pollution": pollution}
    if open_sides:
        state = solve_impedance(problem, grid, a, c)
    else:
        box = box_problem(problem, "helmholtz")
        record["resonance_gap"] = _check_resonance(problem, box.axes, wavenumber)
        state = solve_sampled(box, chosen)
    return SteadyState(
        fields=state.fields,
        residual_norm=state.residual_norm,
        errors=state.errors,
        record={**state.record, **record},
    )


def _check_pollution(
    problem: SteadyProblem, grid: Grid, wavenumber: float, order: int, tolerance: float
) -> float:
    """Predicted pollution, or an error that says how many points the tolerance takes."""
    if not (math.isfinite(tolerance) and tolerance > 0.0):
        raise ValueError(f"{problem.name}: tolerance={tolerance!r}, wanted a positive number")
    found = predicted_pollution(grid, wavenumber, order)
    if found > tolerance:
        finer = (found / tolerance) ** (1.0 / order)
        needed = [math.ceil(axis.length / axis.spacing * finer) + 1 for axis in grid.axes]
        raise ValueError(
            f"{problem.name}: at k={wavenumber:g} the grid of {grid.shape} points turns the phase "
            f"by {found:.3g} radians on the way, above tolerance={tolerance:g}; take "
            f"{needed} points or more, "
            "or a larger tolerance"
        )
    return found


def _check_resonance(problem: SteadyProblem, axes: Sequence[BoxAxis], wavenumber: float) -> float:
    """Distance to the nearest eigenvalue of the box, relative; an error if there is none."""
    waves = np.meshgrid(*[axis.waves**2 for axis in axes], indexing="ij", sparse=True)
    squares = np.zeros(())
    for square in waves:
        squares = squares + square
    gaps = np.abs(squares / wavenumber**2 - 1.0)
    if float(gaps.min()) <= RESONANCE:
        nearest = float(squares.reshape(-1)[int(np.argmin(gaps))])
        raise ValueError(
            f"{problem.name}: k^2={wavenumber**2:.12g} is within 1e-8 of the eigenvalue "
            f"{nearest:.12g} of the box: it resonates and has no unique solution; change the wave "
            "number or the box"
        )
    return float(gaps.min())
