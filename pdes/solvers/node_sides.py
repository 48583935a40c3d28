"""Second-order differences on grids whose first and last points lie on the sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from pdes.boundary import Boundary, Condition, Dirichlet, Neumann, Outflow, Periodic, Robin
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.jets import parse_derivative
from pdes.solvers.cell_sides import conditions_of

Array = Any


class NodeSides:
    """Values at the sides, points beyond them, and central differences.

    A point beyond a side follows from the condition and the point inside: with a flux ``q``, a
    diffusivity ``D`` and the spacing ``h`` it is ``u_1 + 2 h q/D`` (of order two).

    Parameters
    ----------
    equation : Equation
        Names fields and parameters.
    grid : Grid
        Periodic axes, or axes whose end points lie on the sides.
    boundary : mapping or None
        Periodic, Dirichlet, Neumann, Robin or Outflow (no flux) for each side.
    diffusivity : mapping of (field, axis) to float
        The ``D`` of each field's equation, by which a flux is turned into a slope; one where the
        field does not diffuse.
    parameters : mapping of str to float
        Values of the symbols in the conditions.
    asarray : callable
        Converts to the solver's arrays.

    Examples
    --------
    >>> from pdes import Axis, Equation
    >>> grid = Grid((Axis("x", 0.0, 2.0, 3, periodic=False),))
    >>> boundary = {"x-": Dirichlet(0.0), "x+": Neumann(4.0)}
    >>> sides = NodeSides(Equation.from_text("u_t = u_xx"), grid, boundary)
    >>> sides.jet(np.array([0.0, 1.0, 4.0]), "u", (2,), 0.0)
    array([0., 2., 2.])
    """

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        boundary: Boundary | None,
        *,
        diffusivity: Mapping[tuple[str, int], float] | None = None,
        parameters: Mapping[str, float] | None = None,
        asarray: Any = np.asarray,
    ) -> None:
        self.fields, self.grid = tuple(equation.fields), grid
        self.conditions = conditions_of(equation, grid, boundary)
        self.diffusivity = dict(diffusivity or {})
        self.parameters = dict(parameters or {})
        self._asarray = asarray
        self._names = tuple(equation.coordinates)
        self._recent: dict[str, tuple] = {}
        for side, row in self.conditions.items():
            for condition in row.values():
                if not isinstance(condition, Periodic | Dirichlet | Neumann | Robin | Outflow):
                    raise ValueError(
                        f"boundary[{side!r}]: finite differences take Periodic, Dirichlet, Neumann,"
                        f" Robin and Outflow, got {condition}"
                    )

    def dirichlet_mask(self, field: str) -> np.ndarray:
        """Where a field evolves: 0 at points whose value is given, 1 elsewhere."""
        mask = np.ones(self.grid.shape)
        for axis, name in enumerate(self.grid.names):
            for end, place in (("-", 0), ("+", -1)):
                if isinstance(self.conditions[f"{name}{end}"][field], Dirichlet):
                    mask[self._at(axis, place)] = 0.0
        return mask

    def given_values(self, field: str, time: float) -> np.ndarray:
        """Array with the values of Dirichlet conditions at their points, 0 elsewhere."""
        # A step asks for the same moment several times.
        if self._recent.get(field, (None,))[0] == time:
            return self._recent[field][1]
        found = np.zeros(self.grid.shape)
        for axis, name in enumerate(self.grid.names):
            for end, place in (("-", 0), ("+", -1)):
                condition = self.conditions[f"{name}{end}"][field]
                if isinstance(condition, Dirichlet):
                    at = self._at(axis, place)
                    found[at] = self._data(condition, axis, place, time)["value"]
        self._recent[field] = (time, found)
        return found

    def beyond(self, value: Array, field: str, axis: int, end: int, time: float) -> Array:
        """Values one spacing beyond a side, of extent one along the axis."""
        place = axis - len(self.grid.shape)
        name = self.grid.names[axis]
        condition = self.conditions[f"{name}{'-' if end < 0 else '+'}"][field]
        n = value.shape[place]
        inner = _slice(value, place, 1) if end < 0 else _slice(value, place, n - 2)
        edge = _slice(value, place, 0) if end < 0 else _slice(value, place, n - 1)
        if isinstance(condition, Periodic):
            return _slice(value, place, n - 1) if end < 0 else _slice(value, place, 0)
        if isinstance(condition, Dirichlet):
            # Never used where the field evolves; linear continuation keeps it finite.
            return 2.0 * edge - inner
        if isinstance(condition, Outflow):
            return inner
        factor = 2.0 * float(self.grid.spacings[axis]) / self.diffusivity.get((field, axis), 1.0)
        data = self._data(condition, axis, 0 if end < 0 else -1, time)
        if isinstance(condition, Neumann):
            return inner + self._thick(factor * data["flux"], axis)
        return (
            inner
            + self._thick(factor * data["value"], axis)
            - self._thick(factor * data["coefficient"], axis) * edge
        )

    def jet(self, value: Array, field: str, orders: Sequence[int], time: float) -> Array:
        """Derivative of orders 0, 1 or 2 along each axis by central differences."""
        for axis, order in enumerate(orders):
            if order == 0:
                continue
            place, h = axis - len(orders), float(self.grid.spacings[axis])
            low = self.beyond(value, field, axis, -1, time)
            high = self.beyond(value, field, axis, 1, time)
            xp = array_namespace(value)
            padded = xp.concat([low, value, high], axis=place)
            n = value.shape[place]
            left, right = _range(padded, place, 0, n), _range(padded, place, 2, n + 2)
            value = (
                (right - left) / (2.0 * h) if order == 1 else (right - 2.0 * value + left) / h**2
            )
        return value

    def jets(
        self, names: Sequence[str], fields: Mapping[str, Array], time: float
    ) -> dict[str, Array]:
        """Derivatives by canonical name."""
        found = {}
        for name in names:
            field, orders = parse_derivative(name, self.fields, self._names)
            found[name] = self.jet(fields[field], field, orders, time)
        return found

    def _at(self, axis: int, place: int) -> tuple:
        return tuple(place if i == axis else slice(None) for i in range(len(self.grid.shape)))

    def _thick(self, data: np.ndarray, axis: int) -> Array:
        return self._asarray(np.expand_dims(data, axis))

    def _data(self, condition: Condition, axis: int, place: int, time: float) -> dict:
        """Data of a condition on its side, without the axis across it."""
        shape = tuple(n for i, n in enumerate(self.grid.shape) if i != axis)
        mesh = {}
        for i, (name, line) in enumerate(self.grid.mesh().items()):
            value = line.reshape(-1)[place] if i == axis else np.squeeze(line, axis=axis)
            mesh[name] = np.asarray(value)
        values = condition.values(**mesh, t=np.asarray(time), **self.parameters)
        return {name: np.broadcast_to(value, shape) for name, value in values.items()}


def _slice(value: Array, place: int, index: int) -> Array:
    return _range(value, place, index, index + 1)


def _range(value: Array, place: int, start: int, stop: int) -> Array:
    return value[(..., slice(start, stop), *(slice(None),) * (-place - 1))]


def check_order_two(equation: Equation) -> None:
    """Refuse derivatives for which the differences have no stencil.

    Raises
    ------
    ValueError
        If a derivative is of order three or more, or mixed.
    """
    for name in equation.jets:
        _, orders = parse_derivative(name, equation.fields, equation.coordinates)
        if max(orders, default=0) > 2 or sum(order > 0 for order in orders) > 1:
            raise ValueError(
                f"{equation.name}: {name} has no stencil in the finite-difference solver, which "
                "takes first and second derivatives along one axis; use a spectral solver"
            )
