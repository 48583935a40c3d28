"""Faces of a box of cells: which are free, which are given, and how open they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pdes.tokens import closest
from sciml.repair.arguments import numbers, real_array, whole
from sciml.repair.face_layout import FaceLayout

__all__ = ["SIDES", "BoxFaces", "box_faces"]

SIDES = {"periodic": "periodic", "wall": "neumann", "inlet": "neumann", "open": "dirichlet"}
"""What a side may be, and the condition of the pressure there."""

Sides = Sequence[str | tuple[str, str]]


@dataclass(frozen=True)
class BoxFaces:
    """Geometry of the velocities on the faces of a box.

    Arrays over faces are tuples with one array per component, both ends included, as
    `FaceLayout.unpack` makes them.

    Attributes
    ----------
    layout : FaceLayout
        How states are stored.
    spacings : tuple of float
        Size of the cells along each axis.
    sides : tuple of pair of str
        Low and high side of each axis: "periodic", "wall" (the normal velocity is known), "inlet"
        (it is taken from the state as it comes) or "open" (it is free).
    fluid : ndarray of bool, shape cells
        Cells that hold fluid.
    openings : tuple of ndarray
        Open share of each face in [0, 1].
    free : tuple of ndarray of bool
        Faces whose velocity a projection may change.
    given : tuple of ndarray
        Velocity of the faces that are neither free nor inlets.
    kept : tuple of ndarray of bool
        Faces of inlets.
    weights : tuple of ndarray
        Inner product: openings, and half at open sides, whose faces stand for half a cell.
    """

    layout: FaceLayout
    spacings: tuple[float, ...]
    sides: tuple[tuple[str, str], ...]
    fluid: np.ndarray
    openings: tuple[np.ndarray, ...]
    free: tuple[np.ndarray, ...]
    given: tuple[np.ndarray, ...]
    kept: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Ends of each axis as `pdes.solvers.fast_poisson` names them."""
        return tuple((SIDES[low], SIDES[high]) for low, high in self.sides)

    @property
    def plain(self) -> bool:
        """No bodies and no partly open faces: fast transforms apply."""
        return bool(self.fluid.all()) and all(bool((a == 1.0).all()) for a in self.openings)

    @property
    def closed(self) -> bool:
        """No side is open: what flows in must flow out."""
        return not any(end == "open" for pair in self.sides for end in pair)

    def divergence_matrix(self) -> tuple[sp.csr_matrix, list[np.ndarray]]:
        """Divergence of the free faces in the fluid cells, and where each face has its column.

        Returns
        -------
        matrix : csr_matrix, shape (fluid cells, free faces)
            Openings included.
        columns : list of ndarray of int
            Column of each face of a component, -1 where it is not free.
        """
        cell = np.full(self.fluid.shape, -1)
        cell[self.fluid] = np.arange(int(self.fluid.sum()))
        rows, cols, values, columns, count = [], [], [], [], 0
        for axis, (free, opening, h) in enumerate(
            zip(self.free, self.openings, self.spacings, strict=True)
        ):
            own = free.copy()
            periodic = self.layout.periodic[axis]
            if periodic:  # the last layer repeats the first
                own[(slice(None),) * axis + (-1,)] = False
            column = np.full(free.shape, -1)
            column[own] = count + np.arange(int(own.sum()))
            count += int(own.sum())
            if periodic:
                first = column[(slice(None),) * axis + (0,)]
                column[(slice(None),) * axis + (-1,)] = first
            columns.append(column)
            n = self.fluid.shape[axis]
            for start, sign in ((0, -1.0), (1, 1.0)):
                part = (slice(None),) * axis + (slice(start, start + n),)
                used = (cell >= 0) & (column[part] >= 0)
                rows.append(cell[used])
                cols.append(column[part][used])
                values.append(sign / h * opening[part][used])
        matrix = sp.csr_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))),
            shape=(int(self.fluid.sum()), count),
        )
        return matrix, columns


def box_faces(
    cells: Sequence[int],
    spacings: Sequence[float],
    sides: Sides,
    *,
    normal_velocity: Mapping[str, Any] | None = None,
    fluid: Any = None,
    openings: Sequence[Any] | None = None,
) -> BoxFaces:
    """Read the geometry of a box, or say what does not fit.

    Parameters
    ----------
    cells : sequence of int
        Cells along each axis, two or three axes.
    spacings : sequence of float
        Their sizes.
    sides : sequence of str or pair of str
        For each axis "periodic", "wall", "inlet" or "open", or a pair of the last three for its low
        and its high side.
    normal_velocity : mapping, optional
        Velocity through walls, ``{"x-": profile}``: a number, or an array over the faces of that
        side. Sides are named after the axes ``x, y, z``. Zero where nothing is given.
    fluid : array_like of bool, shape cells, optional
        False inside bodies: their faces are closed.
    openings : sequence of array_like, optional
        Open share of every face, one array for each component with both ends included.

    Returns
    -------
    BoxFaces

    Raises
    ------
    ValueError
        If an argument does not fit the others.
    """
    cells = tuple(whole("cells", n, 2) for n in cells) if np.ndim(cells) else ()
    d = len(cells)
    spacings = numbers("spacings", spacings, (1, 2, 3), "a positive size of cells for each axis")
    if isinstance(sides, str) or d not in (2, 3) or not len(spacings) == len(sides) == d:
        raise ValueError(
            f"got {d} numbers of cells, {len(spacings)} spacings and {len(sides)} sides: wanted "
            "one of each for two or three axes"
        )
    pairs = tuple(_pair(axis, side) for axis, side in zip("xyz"[:d], sides, strict=True))
    layout = FaceLayout(cells, tuple(low == "periodic" for low, _ in pairs))
    inside = np.ones(cells, dtype=bool) if fluid is None else _fluid(fluid, cells)
    shares = [_inner_openings(inside, axis, layout.periodic[axis]) for axis in range(d)]
    if openings is not None:
        shares = [a * b for a, b in zip(shares, _openings(openings, layout), strict=True)]
    given = [np.zeros(a.shape) for a in shares]
    kept = [np.zeros(a.shape, dtype=bool) for a in shares]
    free = [a > 0.0 for a in shares]
    weights = [a.copy() for a in shares]
    velocities = dict(normal_velocity or {})
    for axis, pair in enumerate(pairs):
        for end, kind, place in zip("-+", pair, (0, -1), strict=True):
            at, name = (slice(None),) * axis + (place,), f"{'xyz'[axis]}{end}"
            if kind == "open":
                weights[axis][at] *= 0.5
            elif kind != "periodic":
                free[axis][at] = False
                kept[axis][at] = kind == "inlet"
                weights[axis][at] = np.maximum(weights[axis][at], 0.0)
            if name in velocities:
                given[axis][at] = _profile(name, kind, velocities.pop(name), given[axis][at].shape)
    if velocities:
        known = [f"{axis}{end}" for axis in "xyz"[:d] for end in "-+"]
        unknown = next(iter(velocities))
        raise ValueError(
            f"normal_velocity: no side {unknown!r}.{closest(str(unknown), known)} Sides are "
            f"{', '.join(known)}"
        )
    # Closed faces have no weight of their own; they are set, and count like any other entry.
    metric = [np.where(w > 0.0, w, 1.0) for w in weights]
    return BoxFaces(
        layout,
        spacings,
        pairs,
        inside,
        *(tuple(part) for part in (shares, free, given, kept)),
        weights=tuple(metric),
    )


def _pair(axis: str, side: str | tuple[str, str]) -> tuple[str, str]:
    whole_axis = side is None or isinstance(side, str)
    pair: tuple[Any, ...] = (side, side) if whole_axis else tuple(side)
    for end in pair:
        if end not in SIDES:
            raise ValueError(
                f"sides of {axis}: unknown kind {end!r}.{closest(str(end), SIDES)} A side is "
                f"{', '.join(map(repr, SIDES))}"
            )
    if len(pair) != 2 or pair.count("periodic") == 1:
        raise ValueError(f"sides of {axis}: got {side!r}, wanted both or none periodic")
    return pair[0], pair[1]


def _fluid(fluid: Any, cells: tuple[int, ...]) -> np.ndarray:
    found = np.asarray(fluid)
    if found.shape != cells or found.dtype != bool:
        raise ValueError(
            f"fluid has shape {found.shape} and dtype {found.dtype}: wanted booleans of shape "
            f"{cells}, one for each cell"
        )
    if not found.any():
        raise ValueError("fluid is False everywhere: no cell is left to flow through")
    return found


def _inner_openings(fluid: np.ndarray, axis: int, periodic: bool) -> np.ndarray:
    """1 on faces with fluid on both sides; ends count the one cell that they have."""
    first, last = fluid.take([0], axis), fluid.take([-1], axis)
    low = np.concatenate([last if periodic else first, fluid], axis)
    high = np.concatenate([fluid, first if periodic else last], axis)
    return (low & high).astype(float)


def _openings(openings: Sequence[Any], layout: FaceLayout) -> list[np.ndarray]:
    wanted_each = "the open share of each face"
    if not isinstance(openings, Sequence):
        raise ValueError(
            f"openings is of type {type(openings).__name__}: wanted one array for each component"
        )
    found = [real_array(f"openings[{i}]", a, wanted_each) for i, a in enumerate(openings)]
    for axis in range(layout.dimension):
        wanted = tuple(n + (place == axis) for place, n in enumerate(layout.cells))
        if len(found) != layout.dimension or found[axis].shape != wanted:
            raise ValueError(
                f"openings: got shapes {[a.shape for a in found]}, wanted {wanted} for component "
                f"{axis}, both ends included"
            )
        if not ((found[axis] >= 0.0) & (found[axis] <= 1.0)).all():
            raise ValueError(f"openings[{axis}] leaves [0, 1]: wanted the open share of each face")
        if layout.periodic[axis] and not np.array_equal(
            found[axis].take(0, axis), found[axis].take(-1, axis)
        ):
            raise ValueError(f"openings[{axis}]: the two ends of a periodic axis must be equal")
    return found


def _profile(name: str, kind: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    if kind != "wall":
        raise ValueError(
            f"normal_velocity[{name!r}]: the side is {kind!r}; only the velocity through a 'wall' "
            "can be given"
        )
    profile = real_array(f"normal_velocity[{name!r}]", values, "a number, or one for each face")
    if (profile.ndim and profile.shape != shape) or not np.isfinite(profile).all():
        raise ValueError(
            f"normal_velocity[{name!r}] has shape {profile.shape}: wanted a finite number, or one "
            f"for each face, shape {shape}"
        )
    return np.broadcast_to(profile, shape)
