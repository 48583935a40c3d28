"""The box that a flow lives in: data of its sides as arrays, at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pdes.boundary import Boundary
from pdes.grid import Axis, Grid
from pdes.solvers.staggered.layers import X, Y, replace_ends
from pdes.solvers.staggered.momentum import Ends
from pdes.solvers.staggered.sides import FIELDS, read_sides, side_values

Array = Any
SideData = Mapping[str, tuple[Array, Array]]

_FLUX_MISMATCH = 1e-6
_KINDS = {"periodic": "periodic", "velocity": "fixed", "outflow": "free"}
_PRESSURE = {"periodic": "periodic", "velocity": "neumann", "outflow": "dirichlet"}


class Box:
    """Cells, sides and their velocities.

    Parameters
    ----------
    grid : Grid
        Its points are the corners of the cells.
    boundary : mapping
        See `pdes.solvers.staggered.sides.read_sides`.
    parameters : mapping of str to float
        Values of the parameters in the boundary data.
    array : callable
        Makes an array of the namespace from a numpy array.
    xp : module
        Namespace.

    Examples
    --------
    >>> from pdes.boundary import NoSlip
    >>> grid = Grid((Axis("x", 0.0, 1.0, 8), Axis("y", 0.0, 1.0, 9, False)))
    >>> box = Box(grid, {"y-": NoSlip(), "y+": NoSlip((2.0, 0.0))}, {}, np.asarray, np)
    >>> box.cells, box.pressure_kinds[1], box.wall_speeds(0.0)
    ((8, 8), ('neumann', 'neumann'), {'u': 2.0, 'v': 0.0})
    """

    def __init__(
        self,
        grid: Grid,
        boundary: Boundary,
        parameters: Mapping[str, float],
        array: Callable[[np.ndarray], Array],
        xp: Any,
    ) -> None:
        self.grid, self._parameters, self._array, self._xp = grid, parameters, array, xp
        self.sides = read_sides(boundary, grid)
        self.cells = tuple(a.points if a.periodic else a.points - 1 for a in grid.axes)
        for axis, cells in zip(grid.axes, self.cells, strict=True):
            if cells < 4:
                raise ValueError(f"axis {axis.name}: {cells} cells, wanted at least 4")
        self.moves = any(side.moves for side in self.sides.values())
        self.closed = not any(side.kind == "outflow" for side in self.sides.values())
        self._still = self._read(0.0) if not self.moves else None
        self.masks = tuple(self._mask(place) for place in (0, 1))

    @property
    def pressure_kinds(self) -> tuple[tuple[str, str], ...]:
        """Ends of both axes as `pdes.solvers.fast_poisson` names them."""
        return tuple(
            (_PRESSURE[self.sides[f"{name}-"].kind], _PRESSURE[self.sides[f"{name}+"].kind])
            for name in self.grid.names
        )

    @property
    def has_walls(self) -> tuple[bool, bool]:
        """For both axes, whether a side across it holds the tangential velocity."""
        pairs = [[self.sides[f"{name}{end}"] for end in "-+"] for name in self.grid.names]
        found = [any(side.kind == "velocity" and not side.slips for side in p) for p in pairs]
        return found[0], found[1]

    def data(self, time: float) -> SideData:
        """Normal and tangential velocity by side, shaped to broadcast against a layer of faces."""
        return self._read(time) if self._still is None else self._still

    def accelerations(self, time: float) -> SideData:
        """Their time derivatives."""
        return self._read(time, rates=True)

    def ends(self, time: float) -> dict[str, Ends]:
        """What each component sees beyond the ends of both axes."""
        data = self.data(time)
        along, across = [], []
        for name in self.grid.names:
            pair = [self.sides[f"{name}{end}"] for end in "-+"]
            own = [_KINDS[side.kind] for side in pair]
            shear = ["free" if side.slips else _KINDS[side.kind] for side in pair]
            values = [data[side.name][1] if side.name in data else None for side in pair]
            along.append(Ends((own[0], own[1]), (None, None)))
            across.append(Ends((shear[0], shear[1]), (values[0], values[1])))
        return {
            "u along": along[0],
            "u across": across[1],
            "v along": along[1],
            "v across": across[0],
        }

    def with_normal(self, state: tuple[Array, Array], data: SideData) -> tuple[Array, Array]:
        """State whose faces on the sides carry the normal entries of `data`."""
        found = []
        for component, name, axis in zip(state, self.grid.names, (X, Y), strict=True):
            ends = [data[f"{name}{e}"][0] if f"{name}{e}" in data else None for e in "-+"]
            given = any(end is not None for end in ends)
            new = replace_ends(component, (ends[0], ends[1]), axis, self._xp)
            found.append(new if given else component)
        return found[0], found[1]

    def wall_speeds(self, time: float) -> dict[str, float]:
        """Largest tangential speed of the sides for each component."""
        speeds: dict[str, float] = dict.fromkeys(FIELDS, 0.0)
        for name, (_, tangential) in self.data(time).items():
            component = FIELDS[1 - self.grid.names.index(name[0])]
            fastest = float(self._xp.max(self._xp.abs(tangential)))
            speeds[component] = max(speeds[component], fastest)
        return speeds

    def face_grid(self, place: int) -> Grid:
        """Grid of the faces on which a component lives (0 for u, 1 for v)."""
        axes = []
        for position, axis in enumerate(self.grid.axes):
            half = 0.0 if position == place else 0.5 * axis.spacing
            stop = axis.stop + half if axis.periodic else axis.stop - half
            points = axis.points if position == place or axis.periodic else axis.points - 1
            axes.append(Axis(axis.name, axis.start + half, stop, points, axis.periodic))
        return Grid(tuple(axes))

    def face_coordinates(self, place: int) -> dict[str, np.ndarray]:
        """Coordinates of all faces of a component, both ends included, shaped to broadcast."""
        found = {}
        for position, (axis, cells) in enumerate(zip(self.grid.axes, self.cells, strict=True)):
            edges = np.linspace(axis.start, axis.stop, cells + 1)
            values = edges if position == place else 0.5 * (edges[1:] + edges[:-1])
            found[axis.name] = values[:, None] if position == 0 else values
        return found

    def _mask(self, place: int) -> Array | None:
        """Zero on faces whose velocity is given; None where there are none."""
        mask = np.ones(self.cells[place] + 1)
        for end, position in (("-", 0), ("+", -1)):
            if self.sides[f"{self.grid.names[place]}{end}"].kind == "velocity":
                mask[position] = 0.0
        if np.all(mask == 1.0):
            return None
        return self._array(mask[:, None] if place == 0 else mask)

    def _read(self, time: float, *, rates: bool = False) -> SideData:
        raw = {}
        for name, side in self.sides.items():
            if side.kind == "velocity":
                chosen = side.accelerated() if rates else side
                raw[name] = side_values(chosen, self.grid, self._parameters, time)
        if self.closed and raw:
            self._balance(raw)
        found = {}
        for name, (normal, tangential, _) in raw.items():
            across = name[0] == self.grid.names[0]
            shaped = [v[None, :] if across else v[:, None] for v in (normal, tangential)]
            found[name] = (self._array(shaped[0]), self._array(shaped[1]))
        return found

    def _balance(self, raw: dict[str, tuple[np.ndarray, np.ndarray, float]]) -> None:
        """Remove the net flux that sampling leaves, or refuse data that do not balance."""
        signs = {name: 1.0 if name.endswith("+") else -1.0 for name in raw}
        net = sum(signs[name] * flux for name, (_, _, flux) in raw.items())
        faces = {n: self.grid.spacings[1 - self.grid.names.index(n[0])] for n in raw}
        gross = sum(faces[n] * float(np.sum(np.abs(normal))) for n, (normal, _, _) in raw.items())
        if abs(net) > _FLUX_MISMATCH * gross:
            raise ValueError(
                f"boundary: the volume flux through the sides is {net:.6g}, but an incompressible "
                "flow in a closed box needs zero; balance the velocities, or open a side with "
                "Outflow()"
            )
        sampled = sum(signs[n] * faces[n] * float(np.sum(u)) for n, (u, _, _) in raw.items())
        passed = [n for n, (normal, _, _) in raw.items() if np.any(normal)]
        length = sum(faces[n] * len(raw[n][0]) for n in passed)
        for name in passed:
            normal, tangential, flux = raw[name]
            raw[name] = (normal - signs[name] * sampled / length, tangential, flux)
