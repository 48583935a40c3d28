"""Right-hand side, projection and pressure of a flow on a staggered grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
from array_api_compat import is_torch_namespace

from pdes.boundary import Boundary
from pdes.grid import Axis, Grid
from pdes.incompressible import VelocityEquation
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lowering import lower
from pdes.solvers.staggered.momentum import Ends, between, difference, inner, momentum_rates
from pdes.solvers.staggered.pressure import PressureSolver
from pdes.solvers.staggered.sides import FIELDS, Side, read_sides, side_values
from pdes.symbols import TIME

Array = Any
State = tuple[Array, Array]

_FLUX_MISMATCH = 1e-6
_AXIS = {"x": -2, "y": -1}


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

    Raises
    ------
    ValueError
        If the boundary does not fit the grid, or more flows in than out.

    Examples
    --------
    >>> from pdes.boundary import NoSlip
    >>> from pdes.grid import Axis
    >>> box = Grid((Axis("x", 0.0, 1.0, 17, False), Axis("y", 0.0, 1.0, 17, False)))
    >>> still = dict.fromkeys(("x-", "x+", "y-"), NoSlip())
    >>> lid = {**still, "y+": NoSlip((1.0, 0.0))}
    >>> flow = StaggeredFlow(VelocityEquation.of(viscosity=0.1), box, lid)
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
        self.equation, self.grid, self.device = equation, grid, device
        self.xp: Any = xnp if xp is None else xp
        self.dtype = getattr(self.xp, dtype)
        self.sides = read_sides(boundary, grid)
        self.cells = tuple(a.points if a.periodic else a.points - 1 for a in grid.axes)
        self.spacings = grid.spacings
        self.values = {**equation.parameters, **(parameters or {})}
        self._numbers = {
            name: float(value.detach() if hasattr(value, "detach") else value)
            for name, value in self.values.items()
        }
        kinds = tuple(self._kind(name) for name in grid.names)
        self.pressure_solver = PressureSolver(
            self.cells, self.spacings, kinds, self.xp, self.dtype, device
        )
        self.moves = any(side.moves for side in self.sides.values())
        self._still = None if self.moves else self._read_boundary(0.0)
        self._masks = [self._mask(name) for name in grid.names]
        self._force = self._forces()
        self._boundary_at(0.0)

    # -- data of the sides -------------------------------------------------------------------

    def _kind(self, name: str) -> str:
        low, high = (self.sides[f"{name}{end}"].kind for end in "-+")
        if low == "periodic":
            return "periodic"
        ends = {("velocity", "velocity"): "closed", ("outflow", "outflow"): "open"}
        return ends.get((low, high), "open right" if high == "outflow" else "open left")

    def _array(self, values: np.ndarray) -> Array:
        return self.xp.asarray(values, dtype=self.dtype, device=self.device)

    def _mask(self, name: str) -> Array | None:
        """Zero on faces whose velocity is given; None where there are none."""
        axis = self.grid.names.index(name)
        mask = np.ones(self.cells[axis] + 1)
        for end, position in (("-", 0), ("+", -1)):
            if self.sides[f"{name}{end}"].kind == "velocity":
                mask[position] = 0.0
        if np.all(mask == 1.0):
            return None
        return self._array(mask[:, None] if axis == 0 else mask)

    def _read_boundary(self, time: float, *, rates: bool = False) -> dict[str, tuple[Array, Array]]:
        """Normal and tangential data by side, as arrays that broadcast against a layer of faces."""
        raw = {}
        for name, side in self.sides.items():
            if side.kind == "velocity":
                chosen: Side = side.accelerated() if rates else side
                raw[name] = side_values(chosen, self.grid, self._numbers, time)
        if self.pressure_solver.singular and raw and not rates:
            self._balance(raw)
        found = {}
        for name, (normal, tangential) in raw.items():
            across = name[0] == self.grid.names[0]
            found[name] = tuple(
                self._array(values[None, :] if across else values[:, None])
                for values in (normal, tangential)
            )
        return found

    def _balance(self, raw: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
        """Remove the rounding of the net flux through a box without an opening, or refuse it."""
        weights = {
            name: (1.0 if name.endswith("+") else -1.0)
            * self.spacings[1 - self.grid.names.index(name[0])]
            for name in raw
        }
        net = sum(weights[n] * float(np.sum(normal)) for n, (normal, _) in raw.items())
        gross = sum(abs(weights[n]) * float(np.sum(np.abs(u))) for n, (u, _) in raw.items())
        if abs(net) > _FLUX_MISMATCH * gross:
            raise ValueError(
                f"boundary: the volume flux through the sides is {net:.6g}, but an incompressible "
                "flow in a closed box needs zero; balance the velocities, or open a side with "
                "Outflow()"
            )
        length = sum(abs(weights[name]) * len(normal) for name, (normal, _) in raw.items())
        for name, (normal, tangential) in raw.items():
            raw[name] = (normal - np.sign(weights[name]) * net / length, tangential)

    def _boundary_at(self, time: float) -> dict[str, tuple[Array, Array]]:
        return self._read_boundary(time) if self._still is None else self._still

    def _ends(self, data: Mapping[str, tuple[Array, Array]]) -> dict[str, Ends]:
        """What the two components see beyond the ends of both axes."""
        along, across = {}, {}
        for name in self.grid.names:
            pair = [self.sides[f"{name}{end}"] for end in "-+"]
            kinds = {"periodic": "periodic", "velocity": "fixed", "outflow": "free"}
            own = (kinds[pair[0].kind], kinds[pair[1].kind])
            along[name] = Ends(own, (None, None))
            shear = tuple("free" if side.slips else kinds[side.kind] for side in pair)
            values = tuple(data[side.name][1] if side.name in data else None for side in pair)
            across[name] = Ends((shear[0], shear[1]), (values[0], values[1]))
        x, y = self.grid.names
        return {
            "u along": along[x],
            "u across": across[y],
            "v along": along[y],
            "v across": across[x],
        }

    def tangential_speeds(self, time: float) -> dict[str, float]:
        """Largest speed of the walls along each component: it limits the step of a flow at rest."""
        speeds = dict.fromkeys(FIELDS, 0.0)
        for name, (_, tangential) in self._boundary_at(time).items():
            component = FIELDS[1 - self.grid.names.index(name[0])]
            fastest = float(self.xp.max(self.xp.abs(tangential)))
            speeds[component] = max(speeds[component], fastest)
        return speeds

    # -- right-hand side ---------------------------------------------------------------------

    def rates(self, state: State, time: float) -> State:
        """Rate of change without pressure; zero on faces whose velocity is given."""
        u, v = state
        ends = self._ends(self._boundary_at(time))
        viscosity = self.values["viscosity"]
        found = list(momentum_rates(u, v, self.spacings, viscosity, ends, self.xp))
        for place, component in enumerate(state):
            if "drag" in self.values:
                found[place] = found[place] - self.values["drag"] * component
            if self._force[place] is not None:
                found[place] = found[place] + self._force[place](time)
            if self._masks[place] is not None:
                found[place] = found[place] * self._masks[place]
        return found[0], found[1]

    def _forces(self) -> list[Any]:
        """Body force on the faces of each component, as functions of time."""
        lowered = lower(self.equation)
        found: list[Any] = []
        for place, name in enumerate(FIELDS):
            expression = lowered.monomials.get(name, {}).get(())
            if expression is None:
                found.append(None)
                continue
            program = self._face_evaluator(place).program(expression)
            # A source without coordinates is one number for all faces.
            constant = None if TIME in expression.free_symbols else program({}, 0.0)
            found.append(
                (lambda time, value=constant: value)
                if constant is not None
                else (lambda time, program=program: program({}, time))
            )
        return found

    def _face_evaluator(self, place: int) -> Evaluator:
        coordinates = self._face_coordinates(place)
        return Evaluator(
            space=self.equation.space,
            parameters=self.values,
            coordinates={name: self._array(values) for name, values in coordinates.items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )

    def _face_coordinates(self, place: int) -> dict[str, np.ndarray]:
        """Coordinates of the faces of a component, shaped to broadcast together."""
        found = {}
        for position, (axis, cells) in enumerate(zip(self.grid.axes, self.cells, strict=True)):
            edges = np.linspace(axis.start, axis.stop, cells + 1)
            values = edges if position == place else 0.5 * (edges[1:] + edges[:-1])
            found[axis.name] = values[:, None] if position == 0 else values
        return found

    # -- divergence and pressure -------------------------------------------------------------

    def divergence(self, state: State) -> Array:
        """Net outflow of each cell over its size, shape (*batch, nx, ny)."""
        u, v = state
        return difference(u, self.spacings[0], -2) + difference(v, self.spacings[1], -1)

    def largest_divergence(self, state: State) -> float:
        """Largest size of the divergence over cells and batch."""
        return float(self.xp.max(self.xp.abs(self.divergence(_detached(state)))))

    def gradient(self, pressure: Array) -> State:
        """Pressure gradient on the faces; zero where the velocity is given."""
        found = []
        for place, name in enumerate(self.grid.names):
            axis = _AXIS["xy"[place]]
            ghosts = []
            for end, own, opposite in (("-", 0, -1), ("+", -1, 0)):
                kind = self.sides[f"{name}{end}"].kind
                edge = inner(pressure, own, own + 1 or None, axis)
                if kind == "periodic":
                    edge = inner(pressure, opposite, opposite + 1 or None, axis)
                elif kind == "outflow":
                    edge = -edge
                ghosts.append(edge)
            full = self.xp.concat([ghosts[0], pressure, ghosts[1]], axis=axis)
            found.append(difference(full, self.spacings[place], axis))
        return found[0], found[1]

    def project(self, state: State, time: float) -> State:
        """Nearest state without divergence that has the given velocities on the sides."""
        u, v = self.with_boundary(state, time)
        u_p, v_p = self.gradient(self.pressure_solver(self.divergence((u, v))))
        return u - u_p, v - v_p

    def with_boundary(self, state: State, time: float) -> State:
        """State with the given normal velocities on the sides."""
        data = self._boundary_at(time)
        found = []
        for place, component in enumerate(state):
            name = self.grid.names[place]
            axis = _AXIS["xy"[place]]
            layers = [inner(component, 1, -1, axis)]
            for end, position in (("-", 0), ("+", -1)):
                layer = inner(component, position, position + 1 or None, axis)
                if f"{name}{end}" in data:
                    layer = self.xp.broadcast_to(data[f"{name}{end}"][0], layer.shape)
                layers.insert(0 if end == "-" else len(layers), layer)
            found.append(self.xp.concat(layers, axis=axis))
        return found[0], found[1]

    def pressure(self, state: State, time: float) -> Array:
        """Pressure of a state in the cell centers; its mean is zero without an open side."""
        rates = self.rates(state, time)
        if self.moves:
            accelerations = self._read_boundary(time, rates=True)
            rates = self._accelerate(rates, accelerations)
        return self.pressure_solver(self.divergence(rates))

    def _accelerate(self, rates: State, data: Mapping[str, tuple[Array, Array]]) -> State:
        found = []
        for place, component in enumerate(rates):
            axis = _AXIS["xy"[place]]
            layers = [inner(component, 1, -1, axis)]
            for end, position in (("-", 0), ("+", -1)):
                side = f"{self.grid.names[place]}{end}"
                layer = inner(component, position, position + 1 or None, axis)
                if side in data:
                    layer = self.xp.broadcast_to(data[side][0], layer.shape)
                layers.insert(0 if end == "-" else len(layers), layer)
            found.append(self.xp.concat(layers, axis=axis))
        return found[0], found[1]

    # -- fields on the grid ------------------------------------------------------------------

    def from_nodes(self, fields: Mapping[str, Array], time: float = 0.0) -> State:
        """State from velocities at the corners of the cells: means along faces, projected."""
        found = []
        for place, name in enumerate(FIELDS):
            values = self.xp.asarray(fields[name], dtype=self.dtype, device=self.device)
            for position, axis in enumerate(self.grid.axes):
                if axis.periodic:
                    wrapped = inner(values, 0, 1, (-2, -1)[position])
                    values = self.xp.concat([values, wrapped], axis=(-2, -1)[position])
            found.append(between(values, (-1, -2)[place]))
        return self.project((found[0], found[1]), time)

    def from_functions(self, fields: Mapping[str, Any], time: float = 0.0) -> State:
        """State from functions ``(grid) -> values``, evaluated on the faces themselves."""
        found = []
        for place, name in enumerate(FIELDS):
            values = np.asarray(fields[name](self.face_grid(place)), dtype=np.float64)
            if self.grid.axes[place].periodic:
                values = np.concatenate(
                    [values, values[:1] if place == 0 else values[:, :1]], place
                )
            found.append(self._array(values))
        return self.project((found[0], found[1]), time)

    def face_grid(self, place: int) -> Grid:
        """Grid of the faces on which a component lives."""
        axes = []
        for position, (axis, cells) in enumerate(zip(self.grid.axes, self.cells, strict=True)):
            half = 0.0 if position == place else 0.5 * axis.spacing
            stop = axis.stop + half if axis.periodic else axis.stop - half
            points = cells if position != place or axis.periodic else cells + 1
            axes.append(Axis(axis.name, axis.start + half, stop, points, axis.periodic))
        return Grid(tuple(axes))

    def to_nodes(self, state: State, time: float) -> dict[str, Array]:
        """Velocities and pressure at the corners of the cells, shape (*batch, *grid)."""
        from pdes.solvers.staggered.momentum import extend_across

        ends = self._ends(self._boundary_at(time))
        u = between(extend_across(state[0], ends["u across"], -1, self.xp), -1)
        v = between(extend_across(state[1], ends["v across"], -2, self.xp), -2)
        p = self.pressure(state, time)
        for place, name in enumerate(self.grid.names):
            axis = _AXIS["xy"[place]]
            kinds = tuple(self.sides[f"{name}{end}"].kind for end in "-+")
            p = between(_extrapolated(p, kinds, axis, self.xp), axis)
        found = {"u": u, "v": v, "p": p}
        keep = tuple(slice(0, axis.points) for axis in self.grid.axes)
        return {name: values[(..., *keep)] for name, values in found.items()}


def _extrapolated(values: Array, kinds: tuple[str, ...], axis: int, xp: Any) -> Array:
    """Pressure with a ghost on each end: continued linearly at walls, zero on open sides."""
    ghosts = []
    for kind, own, next_, opposite in zip(kinds, (0, -1), (1, -2), (-1, 0), strict=True):
        edge = inner(values, own, own + 1 or None, axis)
        if kind == "periodic":
            ghosts.append(inner(values, opposite, opposite + 1 or None, axis))
        elif kind == "outflow":
            ghosts.append(-edge)
        else:
            ghosts.append(2.0 * edge - inner(values, next_, next_ + 1 or None, axis))
    return xp.concat([ghosts[0], values, ghosts[1]], axis=axis)


def _detached(state: State) -> State:
    u, v = (part.detach() if hasattr(part, "detach") else part for part in state)
    return u, v
