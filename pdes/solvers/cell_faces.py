"""Cells of a grid and the fluxes through their faces, with harmonic means of the diffusivity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pdes.boundary import Condition, Dirichlet, Periodic
from pdes.grid import Axis, Grid
from pdes.steady import SteadyProblem

__all__ = ["Faces", "assemble_faces", "cell_centers", "cell_shape"]


@dataclass(frozen=True)
class Faces:
    """Conductances between cells, and what the sides of the box add.

    Parameters
    ----------
    matrix : sparse matrix, shape (n, n)
        Fluxes out of each cell from the values of all cells.
    load : ndarray, shape (n,)
        Inflow through the sides that does not depend on the values.
    floating : bool
        Whether no value is given anywhere.
    """

    matrix: Any
    load: np.ndarray
    floating: bool


def cell_shape(grid: Grid) -> tuple[int, ...]:
    """Number of cells along each axis.

    Examples
    --------
    >>> cell_shape(Grid((Axis("x", 0.0, 1.0, 9, periodic=False),)))
    (8,)
    """
    return tuple(axis.points - (not axis.periodic) for axis in grid.axes)


def cell_centers(grid: Grid) -> dict[str, np.ndarray]:
    """Coordinates of the centers of the cells, shaped so that they broadcast.

    Examples
    --------
    >>> cell_centers(Grid((Axis("x", 0.0, 1.0, 5, periodic=False),)))["x"]
    array([0.125, 0.375, 0.625, 0.875])
    """
    lines = [
        axis.start + axis.spacing * (np.arange(n) + 0.5)
        for axis, n in zip(grid.axes, cell_shape(grid), strict=True)
    ]
    grids = np.meshgrid(*lines, indexing="ij", sparse=True)
    return dict(zip(grid.names, grids, strict=True))


def assemble_faces(
    problem: SteadyProblem,
    grid: Grid,
    conditions: Mapping[str, Condition],
    diffusivity: Sequence[np.ndarray],
) -> Faces:
    """Fluxes of every cell through its faces, and what the sides of the box add to them."""
    shape = cell_shape(grid)
    numbers = np.arange(math.prod(shape)).reshape(shape)
    volume = math.prod(axis.spacing for axis in grid.axes)
    rows, cols, data = [], [], []
    diagonal, load = np.zeros(numbers.size), np.zeros(numbers.size)
    floating = True
    for k, axis in enumerate(grid.axes):
        a, scale = np.broadcast_to(diffusivity[k], shape), volume / axis.spacing**2
        here, there = _pairs(numbers, k, axis)
        flat = a.reshape(-1)
        conductance = scale * 2.0 * flat[here] * flat[there] / (flat[here] + flat[there])
        rows += [here, there]
        cols += [there, here]
        data += [-conductance, -conductance]
        np.add.at(diagonal, here, conductance)
        np.add.at(diagonal, there, conductance)
        for end, index, place in (("-", 0, axis.start), ("+", -1, axis.stop)):
            condition = conditions[axis.name + end]
            if isinstance(condition, Periodic):
                continue
            cells = np.take(numbers, [index], axis=k)
            given = _side_values(problem, grid, condition, k, place).reshape(-1)
            cells = cells.reshape(-1)
            if isinstance(condition, Dirichlet):
                floating = False
                # Half a cell lies between the center and the side.
                half = 2.0 * scale * flat[cells]
                diagonal[cells] += half
                load[cells] += half * given
            else:
                load[cells] += volume / axis.spacing * given
    size = (numbers.size, numbers.size)
    parts = [np.concatenate(p) for p in (data, rows, cols)]
    matrix = sparse.coo_array((parts[0], (parts[1], parts[2])), shape=size)
    return Faces(matrix + sparse.diags_array(diagonal), load, floating)


def _pairs(numbers: np.ndarray, place: int, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the cells on the two sides of each inner face across an axis."""
    if axis.periodic:
        return numbers.reshape(-1), np.roll(numbers, -1, axis=place).reshape(-1)
    n = numbers.shape[place]
    low = np.take(numbers, range(n - 1), axis=place)
    high = np.take(numbers, range(1, n), axis=place)
    return low.reshape(-1), high.reshape(-1)


def _side_values(
    problem: SteadyProblem, grid: Grid, condition: Condition, across: int, place: float
) -> np.ndarray:
    """Data of a side at the centers of its faces."""
    places = cell_centers(grid)
    name = grid.names[across]
    places[name] = np.full([1] * len(grid.axes), place)
    (values,) = condition.values(**places, **problem.parameters).values()
    if not np.all(np.isfinite(values)):
        raise ValueError(
            f"{problem.name}: data of {condition} at {name}={place:g} are not finite; check the "
            "expression there"
        )
    return values
