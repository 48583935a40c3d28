"""Cells beyond the sides of a grid of cell centers, filled by the boundary conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pdes.boundary import Boundary, Condition, Dirichlet, Neumann, Outflow, Periodic, check_boundary
from pdes.boundary import sides as side_names
from pdes.equation import Equation
from pdes.grid import Axis, Grid

Array = Any


def cell_grid(**axes: tuple[float, float, int]) -> Grid:
    """Grid of cell centers from ``name=(start, stop, cells)``, for domains with sides.

    The sides lie half a cell beyond the first and the last point.

    Examples
    --------
    >>> cell_grid(x=(0.0, 1.0, 4)).coordinates()["x"]
    array([0.125, 0.375, 0.625, 0.875])
    """
    made = []
    for name, (start, stop, cells) in axes.items():
        half = 0.5 * (stop - start) / cells
        made.append(Axis(name, start + half, stop - half, cells, periodic=False))
    return Grid(tuple(made))


def conditions_of(
    equation: Equation, grid: Grid, boundary: Boundary | None
) -> dict[str, dict[str, Condition]]:
    """Condition for each side and field; without a boundary every axis must be periodic.

    Raises
    ------
    ValueError
        If an axis has sides and no conditions, or a periodic axis has other conditions.
    """
    if boundary is None:
        boundary = dict.fromkeys(side_names(grid), Periodic())
    full = check_boundary(boundary, side_names(grid), equation.fields)
    for axis in grid.axes:
        for side in (f"{axis.name}-", f"{axis.name}+"):
            for condition in full[side].values():
                if isinstance(condition, Periodic) != axis.periodic:
                    raise ValueError(
                        f"boundary of side {side!r} is {condition}, but axis {axis.name!r} is "
                        f"{'periodic' if axis.periodic else 'not periodic'}: give the problem a "
                        "boundary that fits its grid"
                    )
    return full


class CellSides:
    """Adds cells beyond the sides.

    Parameters
    ----------
    equation : Equation
        Names fields and parameters.
    grid : Grid
        Points are centers of cells.
    boundary : mapping or None
        Periodic, Outflow, Dirichlet or Neumann (of zero flux). The value of a Dirichlet condition
        is taken at the centers of the cells beyond the side: written as a function of space it
        continues the field there.
    width : int
        Number of cells to add.
    parameters : mapping of str to float
        Values of the symbols in the conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation
    >>> sides = {"x-": Dirichlet(7.0), "x+": Outflow()}
    >>> grid = cell_grid(x=(0.0, 1.0, 4))
    >>> equation = Equation.from_text("u_t = -u_x")
    >>> ghosts = CellSides(equation, grid, sides, width=2)
    >>> ghosts.pad([np.arange(4.0)], 0, 0.0)[0]
    array([7., 7., 0., 1., 2., 3., 3., 3.])
    """

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        boundary: Boundary | None,
        *,
        width: int,
        parameters: Mapping[str, Any] | None = None,
        asarray: Any = np.asarray,
    ) -> None:
        self.fields, self.grid, self.width = tuple(equation.fields), grid, width
        self.conditions = conditions_of(equation, grid, boundary)
        self.parameters = {k: float(v) for k, v in (parameters or {}).items()}
        self._asarray = asarray
        for side, row in self.conditions.items():
            for condition in row.values():
                mirror = isinstance(condition, Neumann) and condition.flux == 0
                if not mirror and not isinstance(condition, Periodic | Outflow | Dirichlet):
                    raise ValueError(
                        f"boundary[{side!r}]: finite volumes take Periodic, Outflow, Dirichlet and "
                        f"Neumann(0.0), got {condition}"
                    )

    def pad(self, values: list[Array], axis: int, time: float) -> list[Array]:
        """Fields of shape ``(*batch, *grid)``, `width` cells longer at both ends of an axis."""
        dimension = len(self.grid.shape)
        place = axis - dimension
        name, found = self.grid.names[axis], []
        for field, value in zip(self.fields, values, strict=True):
            low = self._beyond(value, self.conditions[f"{name}-"][field], place, -1, time)
            high = self._beyond(value, self.conditions[f"{name}+"][field], place, 1, time)
            found.append(_joined([low, value, high], place))
        return found

    def centers(self, axis: int) -> dict[str, np.ndarray]:
        """Coordinates that broadcast against a field padded along an axis."""
        mesh = dict(self.grid.mesh())
        chosen, w = self.grid.axes[axis], self.width
        steps = np.arange(-w, chosen.points + w)
        line = chosen.start + chosen.spacing * steps
        shape = [-1 if i == axis else 1 for i in range(len(self.grid.shape))]
        mesh[chosen.name] = line.reshape(shape)
        return mesh

    def _beyond(
        self, value: Array, condition: Condition, place: int, end: int, time: float
    ) -> Array:
        w, n = self.width, value.shape[place]
        if isinstance(condition, Periodic):
            # Fewer cells than the stencil cannot happen: grids are far longer.
            return _slice(value, place, n - w, n) if end < 0 else _slice(value, place, 0, w)
        if isinstance(condition, Dirichlet):
            return self._given(value, condition, place, end, time)
        edge = _slice(value, place, 0, 1) if end < 0 else _slice(value, place, n - 1, n)
        if isinstance(condition, Outflow):
            return _joined([edge] * w, place)
        cells = range(w - 1, -1, -1) if end < 0 else range(n - 1, n - 1 - w, -1)
        return _joined([_slice(value, place, i, i + 1) for i in cells], place)

    def _given(
        self, value: Array, condition: Dirichlet, place: int, end: int, time: float
    ) -> Array:
        # Zero times the field keeps batch, dtype and device; its cells are those nearest by.
        near = _slice(value, place, 0, 1) * 0.0
        if isinstance(condition.value, int | float):
            return _joined([near + condition.value] * self.width, place)
        axis = place + len(self.grid.shape)
        mesh = self.centers(axis)
        name = self.grid.names[axis]
        keep = slice(0, self.width) if end < 0 else slice(-self.width, None)
        index = tuple(keep if i == axis else slice(None) for i in range(len(self.grid.shape)))
        mesh[name] = mesh[name][index]
        data = condition.values(**mesh, t=np.asarray(time), **self.parameters)["value"]
        shape = list(self.grid.shape)
        shape[axis] = self.width
        return near + self._asarray(np.broadcast_to(data, shape).copy())


def _slice(value: Array, place: int, start: int, stop: int) -> Array:
    index = (..., slice(start, stop), *(slice(None),) * (-place - 1))
    return value[index]


def _joined(parts: list[Array], place: int) -> Array:
    from array_api_compat import array_namespace

    return array_namespace(parts[0]).concat(parts, axis=place)
