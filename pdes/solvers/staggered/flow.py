"""Right-hand side, projection and pressure of a flow on a staggered grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
from array_api_compat import is_torch_namespace

from pdes.boundary import Boundary
from pdes.grid import Grid
from pdes.incompressible import VelocityEquation
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.fast_poisson import FastPoisson
from pdes.solvers.lowering import lower
from pdes.solvers.staggered.box import Box
from pdes.solvers.staggered.layers import X, Y, layer
from pdes.solvers.staggered.momentum import momentum_rates
from pdes.solvers.staggered.nodes import (
    corners_from_centers,
    corners_from_faces,
    faces_from_corners,
)
from pdes.solvers.staggered.obstacles import Obstacles, read_obstacles, solid_cells
from pdes.solvers.staggered.projection import face_divergence, pressure_gradient, project_faces
from pdes.solvers.staggered.sides import FIELDS
from pdes.symbols import TIME

Array = Any
State = tuple[Array, Array]


class StaggeredFlow:
    """Incompressible flow in a box, written over an array namespace.

    A state is ``(u, v)`` with shapes ``(*batch, nx + 1, ny)`` and ``(*batch, nx, ny + 1)``: normal
    velocities on the faces of the cells, both ends included (on a periodic axis the last entry
    repeats the first).

    Parameters
    ----------
    equation : VelocityEquation
        Gives viscosity, drag and force.
    grid : Grid
        Its points are the corners of the cells.
    boundary : mapping
        See `pdes.solvers.staggered.sides.read_sides`.
    xp : module, optional
        Namespace of the array API, numpy by default.
    dtype : {"float64", "float32"}
        Precision.
    device : optional
        Device of the namespace.
    parameters : mapping, optional
        Values that replace those of the equation; scalars of the namespace keep their gradient.

    Attributes
    ----------
    box : Box
        Cells and sides.
    solve : FastPoisson
        Poisson's equation of the cells.
    obstacles : Obstacles or None
        Bodies inside.

    Raises
    ------
    ValueError
        If the boundary does not fit the grid, or more flows in than out.

    Examples
    --------
    >>> from pdes.boundary import NoSlip
    >>> from pdes.grid import Axis
    >>> grid = Grid((Axis("x", 0.0, 1.0, 17, False), Axis("y", 0.0, 1.0, 17, False)))
    >>> still = dict.fromkeys(("x-", "x+", "y-"), NoSlip())
    >>> lid = {**still, "y+": NoSlip((1.0, 0.0))}
    >>> flow = StaggeredFlow(VelocityEquation.of(viscosity=0.1), grid, lid)
    >>> rng = np.random.default_rng(0)
    >>> state = flow.from_nodes({"u": rng.normal(size=(17, 17)), "v": np.zeros((17, 17))})
    >>> flow.largest_divergence(state) < 1e-12
    True
    """

    def __init__(
        self,
        equation: VelocityEquation,
        grid: Grid,
        boundary: Boundary,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(equation, VelocityEquation):
            raise ValueError(f"equation {equation.name!r}: the staggered solver wants velocities")
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
        self.equation, self.grid, self.device = equation, grid, device
        self.xp: Any = xnp if xp is None else xp
        self.dtype = getattr(self.xp, dtype)
        self.values = {**equation.parameters, **(parameters or {})}
        numbers = {
            n: float(v.detach() if hasattr(v, "detach") else v) for n, v in self.values.items()
        }
        self.numbers = numbers
        self.box = Box(grid, boundary, numbers, self._array, self.xp)
        self.solve = FastPoisson(
            self.box.cells,
            grid.spacings,
            self.box.pressure_kinds,
            xp=self.xp,
            dtype=self.dtype,
            device=device,
        )
        bodies = read_obstacles(boundary)
        self.obstacles = (
            Obstacles(
                solid_cells(bodies, grid, numbers),
                grid,
                self.box.sides,
                self.box.pressure_kinds,
                self._array,
                self.xp,
                device,
            )
            if bodies
            else None
        )
        self._force = [self._force_on(place) for place in (0, 1)]

    def _array(self, values: np.ndarray) -> Array:
        return self.xp.asarray(values, dtype=self.dtype, device=self.device)

    # -- right-hand side ---------------------------------------------------------------------

    def rates(self, state: State, time: float) -> State:
        """Rate of change without pressure; zero on faces whose velocity is given."""
        u, v = state
        viscosity = self.values["viscosity"]
        ends = self.box.ends(time)
        found = list(momentum_rates(u, v, self.grid.spacings, viscosity, ends, self.xp))
        for place, (component, mask) in enumerate(zip(state, self.box.masks, strict=True)):
            if "drag" in self.values:
                found[place] = found[place] - self.values["drag"] * component
            force = self.force(place, time)
            if force is not None:
                found[place] = found[place] + force
            if mask is not None:
                found[place] = found[place] * mask
        if self.obstacles is not None:
            return self.obstacles.rates((found[0], found[1]), state, viscosity)
        return found[0], found[1]

    def force(self, place: int, time: float) -> Array | None:
        """Body force on the faces of a component; None where there is none."""
        force = self._force[place]
        return None if force is None else force(time)

    def _force_on(self, place: int) -> Callable[[float], Array] | None:
        """Body force on the faces of a component, as a function of time."""
        expression = lower(self.equation).monomials.get(FIELDS[place], {}).get(())
        if expression is None:
            return None
        coordinates = self.box.face_coordinates(place)
        evaluator = Evaluator(
            space=self.equation.space,
            parameters=self.values,
            coordinates={name: self._array(values) for name, values in coordinates.items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )
        if TIME in expression.free_symbols:
            program = evaluator.program(expression)
            return lambda time: program({}, time)
        constant = evaluator.value(expression)
        return lambda time: constant

    # -- divergence and pressure -------------------------------------------------------------

    def divergence(self, state: State) -> Array:
        """Net outflow of each cell over its size, shape (*batch, nx, ny)."""
        return face_divergence(state, self.grid.spacings)

    def largest_divergence(self, state: State) -> float:
        """Largest size of the divergence over cells and batch."""
        u, v = (part.detach() if hasattr(part, "detach") else part for part in state)
        return float(self.xp.max(self.xp.abs(self.divergence((u, v)))))

    def gradient(self, pressure: Array) -> State:
        """Pressure gradient on the faces; zero where the velocity is given."""
        kinds = self.box.pressure_kinds
        u, v = pressure_gradient(pressure, self.grid.spacings, kinds, self.xp)
        return u, v

    def project(self, state: State, time: float) -> State:
        """Nearest state without divergence, with the given velocities on sides and obstacles."""
        given = self.box.with_normal(state, self.box.data(time))
        kinds = self.box.pressure_kinds
        u, v = project_faces(given, self.grid.spacings, kinds, solve=self.solve)
        if self.obstacles is not None:
            return self.obstacles.project((u, v), given, self.solve)
        return u, v

    def pressure(self, state: State, time: float) -> Array:
        """Pressure of a state in the cell centers; its mean is zero without an open side.

        In solid cells it is what keeps the fluid out, and means nothing.
        """
        rates = self.rates(state, time)
        if self.box.moves:
            rates = self.box.with_normal(rates, self.box.accelerations(time))
        if self.obstacles is not None:
            kinds = self.box.pressure_kinds
            u, v = project_faces(rates, self.grid.spacings, kinds, solve=self.solve)
            rates = self.obstacles.pushed(rates, (u, v))
        return self.solve(self.divergence(rates))

    # -- fields on the grid ------------------------------------------------------------------

    def from_nodes(self, fields: Mapping[str, Array], time: float = 0.0) -> State:
        """State from velocities at the corners of the cells, interpolated and projected."""
        found = []
        for name, own, axis in (("u", 0, Y), ("v", 1, X)):
            values = self.xp.asarray(fields[name], dtype=self.dtype, device=self.device)
            across = self.grid.axes[1 - own]
            values = faces_from_corners(values, across.periodic, axis, self.xp)
            found.append(self._closed(values, own))
        return self.project((found[0], found[1]), time)

    def from_functions(self, fields: Callable[[Grid], Mapping[str, Any]], time: float) -> State:
        """State from a function ``grid -> fields``, evaluated on the faces themselves."""
        found = []
        for own, name in enumerate(FIELDS):
            values = self._array(np.asarray(fields(self.box.face_grid(own))[name]))
            found.append(self._closed(values, own))
        return self.project((found[0], found[1]), time)

    def _closed(self, values: Array, own: int) -> Array:
        """Repeat the first face at the end of a periodic axis."""
        if not self.grid.axes[own].periodic:
            return values
        axis = (X, Y)[own]
        return self.xp.concat([values, layer(values, 0, axis)], axis=axis)

    def to_nodes(self, state: State, time: float) -> dict[str, Array]:
        """Velocities and pressure at the corners of the cells, shape (*batch, *grid)."""
        ends, xp = self.box.ends(time), self.xp
        p = centers = self.pressure(state, time)
        for name, axis in zip(self.grid.names, (X, Y), strict=True):
            low, high = (self.box.sides[f"{name}{end}"].kind for end in "-+")
            p = corners_from_centers(p, (low, high), axis, xp)
        found = {
            "u": corners_from_faces(state[0], ends["u across"], Y, xp),
            "v": corners_from_faces(state[1], ends["v across"], X, xp),
            "p": p,
        }
        if self.obstacles is not None:
            found = self.obstacles.corners(found, centers)
        keep = tuple(slice(0, axis.points) for axis in self.grid.axes)
        return {name: values[(..., *keep)] for name, values in found.items()}
