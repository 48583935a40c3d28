"""Bodies at rest in a staggered flow: cells that are solid, with a staircase for a surface.

A cell is solid when its center is. The surface then runs along faces of cells, which is where it
is for a rectangle that fits the grid and up to half a cell away for anything else: the method is of
first order. What it does, it does exactly: no fluid crosses the surface, and the divergence of
every cell is zero to rounding.

The projection is the one of the box, corrected by forces on the faces of the surface. Those that
stop the fluid there solve a linear system of the size of the surface, which is factorized once
(the capacitance matrix of B. L. Buzbee et al., SIAM J. Numer. Anal. 8 (1971) 722).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pdes.boundary import Obstacle
from pdes.grid import Grid
from pdes.pointwise import pointwise
from pdes.solvers.fast_poisson import FastPoisson
from pdes.solvers.staggered.layers import X, Y, layer
from pdes.solvers.staggered.projection import project_faces
from pdes.solvers.staggered.sides import FIELDS, Side

__all__ = ["LARGEST_SURFACE", "Obstacles", "read_obstacles", "solid_cells"]

Array = Any
State = tuple[Array, Array]

LARGEST_SURFACE = 4000
"""Faces of all surfaces together: the capacitance matrix is dense."""
_CHUNK = 64
# Eigenvalues of the capacitance matrix lie between 0 and 1. A pressure inside a body pushes on its
# surface and moves nothing: one of them is zero for every body, and rounding puts it near 1e-16.
_SMALLEST = 1e-11


def read_obstacles(boundary: Mapping[str, Any]) -> dict[str, Obstacle]:
    """Entries of a boundary that are bodies, not sides.

    Examples
    --------
    >>> import sympy
    >>> from pdes.boundary import NoSlip
    >>> x = sympy.Symbol("x", real=True)
    >>> list(read_obstacles({"x-": NoSlip(), "block": Obstacle(x - 1)}))
    ['block']
    """
    return {name: c for name, c in boundary.items() if isinstance(c, Obstacle)}


def solid_cells(
    obstacles: Mapping[str, Obstacle], grid: Grid, parameters: Mapping[str, float]
) -> np.ndarray:
    """Which cells have their center in a body.

    Parameters
    ----------
    obstacles : mapping of str to Obstacle
        Bodies by name.
    grid : Grid
        Its points are the corners of the cells.
    parameters : mapping of str to float
        Values of the parameters in the levels.

    Returns
    -------
    ndarray of bool, shape (nx, ny)

    Raises
    ------
    ValueError
        If a body holds no center of a cell, or all of them, or its level is not finite.
    """
    centers = []
    for axis in grid.axes:
        cells = axis.points if axis.periodic else axis.points - 1
        edges = np.linspace(axis.start, axis.stop, cells + 1)
        centers.append(0.5 * (edges[1:] + edges[:-1]))
    places = dict(zip(grid.names, np.meshgrid(*centers, indexing="ij"), strict=True))
    solid = np.zeros(places[grid.names[0]].shape, dtype=bool)
    for name, obstacle in obstacles.items():
        level = pointwise(obstacle.level, {**parameters, **places})
        if not np.all(np.isfinite(level)):
            raise ValueError(f"boundary[{name!r}]: the level {obstacle.level} is not finite")
        inside = level < 0.0
        if not inside.any() or inside.all():
            raise ValueError(
                f"boundary[{name!r}]: the level {obstacle.level} is negative at "
                f"{'all' if inside.any() else 'none'} of the {solid.size} centers of cells; "
                "check its sign, or refine the grid"
            )
        solid |= inside
    return solid


class Obstacles:
    """Solid cells of a box, and how the flow goes around them.

    Parameters
    ----------
    solid : ndarray of bool, shape (nx, ny)
        Solid cells.
    grid : Grid
        Box.
    sides : mapping of str to Side
        What holds on its sides.
    kinds : sequence of pairs of str
        Ends of both axes as `pdes.solvers.fast_poisson` names them.
    array : callable
        Makes an array of the namespace from a numpy array.
    xp : module
        Namespace.
    device : object, optional
        Of the namespace.

    Attributes
    ----------
    solid : ndarray of bool
        Solid cells.
    open : tuple of array
        One on faces between two fluid cells, zero on those of solid cells, for each component.

    Raises
    ------
    ValueError
        If a body touches a side through which fluid passes, or the surface has too many faces.
    """

    def __init__(
        self,
        solid: np.ndarray,
        grid: Grid,
        sides: Mapping[str, Side],
        kinds: Sequence[tuple[str, str]],
        array: Callable[[np.ndarray], Array],
        xp: Any,
        device: Any = None,
    ) -> None:
        self.solid, self._xp = solid, xp
        self._spacings, self._kinds = tuple(grid.spacings), tuple(kinds)
        self._solve = FastPoisson(solid.shape, grid.spacings, kinds)
        _check_sides(solid, grid, sides)
        beside = [_beside(solid, place, kinds[place][0] == "periodic") for place in (0, 1)]
        self.open = tuple(array((~(low | high)).astype(float)) for low, high in beside)
        inner = [low & high for low, high in beside]
        self._shear = tuple(
            array(_neighbors(part, 1 - place, kinds[1 - place][0] == "periodic"))
            for place, part in enumerate(inner)
        )
        surface = [low ^ high for low, high in beside]
        self._numbers, self._places, self.surface = _numbered(surface, kinds)
        if self.surface > LARGEST_SURFACE:
            raise ValueError(
                f"the obstacles have {self.surface} faces on their surface, above "
                f"{LARGEST_SURFACE}; use a coarser grid or fewer obstacles"
            )
        self._inverse = array(self._capacitance())
        self._take = [xp.asarray(n.reshape(-1), device=device) for n in self._numbers]
        self._from = [xp.asarray(p, device=device) for p in self._places]
        fluid = (~solid).astype(float)
        count = _around(fluid, kinds, np)
        self._fluid, self._count = array(fluid), array(np.maximum(count, 1.0))
        self._wet = array((_around(1.0 - fluid, kinds, np) == 0.0).astype(float))

    def project(self, state: State, given: State, solve: Callable[[Array], Array]) -> State:
        """Stop the fluid on the surface.

        Parameters
        ----------
        state : tuple of array
            Velocities without divergence in the box.
        given : tuple of array
            Velocities before that projection.
        solve : callable
            Poisson's equation of the box.

        Returns
        -------
        tuple of array
            Zero on faces of solid cells, without divergence.
        """
        pushed = self.pushed(given, state)
        u, v = project_faces(pushed, self._spacings, self._kinds, solve=solve)
        return u * self.open[0], v * self.open[1]

    def pushed(self, given: State, free: State) -> State:
        """State `given` with forces on the surface that stop the fluid there once it is projected.

        Parameters
        ----------
        given : tuple of array
            Any state.
        free : tuple of array
            Its projection in the box without bodies.

        Returns
        -------
        tuple of array
        """
        xp = self._xp
        slip = xp.concat(
            [
                xp.take(xp.reshape(part, (*part.shape[:-2], -1)), place, axis=-1)
                for part, place in zip(free, self._from, strict=True)
            ],
            axis=-1,
        )
        force = -(slip @ self._inverse)
        padded = xp.concat([force, 0.0 * force[..., :1]], axis=-1)
        found = [
            part + xp.reshape(xp.take(padded, numbers, axis=-1), part.shape)
            for part, numbers in zip(given, self._take, strict=True)
        ]
        return found[0], found[1]

    def rates(self, rates: State, state: State, viscosity: Any) -> State:
        """Rates of change with the shear of walls, zero on faces of solid cells.

        Beside a wall the solver saw a velocity of zero a whole cell away, at a face inside the
        body. Its mirror image puts the zero on the wall.
        """
        found = []
        for place in (0, 1):
            shear = viscosity / self._spacings[1 - place] ** 2 * self._shear[place]
            found.append((rates[place] - shear * state[place]) * self.open[place])
        return found[0], found[1]

    def corners(self, fields: Mapping[str, Array], pressure: Array) -> dict[str, Array]:
        """Fields at the corners: at rest on bodies; pressure from the fluid cells around it."""
        near = _around(pressure * self._fluid, self._kinds, self._xp) / self._count
        return {
            **{name: fields[name] * self._wet for name in FIELDS},
            "p": self._wet * fields["p"] + (1.0 - self._wet) * near,
        }

    def _capacitance(self) -> np.ndarray:
        """Inverse of the matrix from forces on the surface to the velocities they leave there."""
        matrix = np.zeros((self.surface, self.surface))
        for first in range(0, self.surface, _CHUNK):
            chosen = np.arange(first, min(first + _CHUNK, self.surface))
            forces = np.zeros((len(chosen), self.surface + 1))
            forces[np.arange(len(chosen)), chosen] = 1.0
            spread = [forces[:, numbers] for numbers in self._numbers]
            moved = project_faces(spread, self._spacings, self._kinds, solve=self._solve)
            parts = [
                part.reshape(len(chosen), -1)[:, place]
                for part, place in zip(moved, self._places, strict=True)
            ]
            matrix[chosen] = np.concatenate(parts, axis=-1)
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        kept = values > _SMALLEST
        return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


def _beside(solid: np.ndarray, place: int, periodic: bool) -> tuple[np.ndarray, np.ndarray]:
    """For the faces across an axis, whether the cell before and the cell after is solid.

    Beyond a side there is what is before it.
    """
    first = np.take(solid, [-1 if periodic else 0], axis=place)
    last = np.take(solid, [0 if periodic else -1], axis=place)
    low = np.concatenate([first, solid], axis=place)
    high = np.concatenate([solid, last], axis=place)
    return low, high


def _neighbors(closed: np.ndarray, axis: int, periodic: bool) -> np.ndarray:
    """Number of neighbors along an axis that are among the faces `closed`."""
    count = np.zeros(closed.shape)
    for step in (1, -1):
        moved = np.roll(closed, step, axis=axis)
        if not periodic:
            edge = [slice(None)] * closed.ndim
            edge[axis] = slice(0, 1) if step == 1 else slice(-1, None)
            moved[tuple(edge)] = False
        count += moved
    return count


def _numbered(
    surface: Sequence[np.ndarray], kinds: Sequence[tuple[str, str]]
) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Number of each face of the surface, the last one for all other faces, and their places."""
    total, numbers, places = 0, [], []
    for place, part in enumerate(surface):
        own = part.copy()
        last = (slice(None),) * place + (-1,)
        if kinds[place][0] == "periodic":
            own[last] = False
        found = np.flatnonzero(own)
        number = np.full(part.shape, -1)
        number.reshape(-1)[found] = total + np.arange(found.size)
        if kinds[place][0] == "periodic":
            number[last] = number[(slice(None),) * place + (0,)]
        total += found.size
        numbers.append(number)
        places.append(found)
    return [np.where(n < 0, total, n) for n in numbers], places, total


def _around(values: Array, kinds: Sequence[tuple[str, str]], xp: Any) -> Array:
    """Sum over the cells that meet at each corner."""
    for (low, _), axis in zip(kinds, (X, Y), strict=True):
        ends = [layer(values, -1, axis), layer(values, 0, axis)]
        if low != "periodic":
            ends = [0.0 * end for end in ends]
        before = xp.concat([ends[0], values], axis=axis)
        values = before + xp.concat([values, ends[1]], axis=axis)
    return values


def _check_sides(solid: np.ndarray, grid: Grid, sides: Mapping[str, Side]) -> None:
    """Refuse bodies where fluid comes in or goes out."""
    for name, side in sides.items():
        place = grid.names.index(name[0])
        touched = np.take(solid, 0 if name.endswith("-") else -1, axis=place).any()
        if touched and (
            side.kind == "outflow" or (side.kind == "velocity" and not _is_zero(side.normal))
        ):
            raise ValueError(
                f"an obstacle touches the side {name!r}, through which fluid passes; move it away"
            )


def _is_zero(value: Any) -> bool:
    return value == 0
