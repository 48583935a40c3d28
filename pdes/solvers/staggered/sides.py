"""What holds on the four sides of a box of fluid, as numbers on the faces of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.boundary import (
    Boundary,
    Condition,
    Dirichlet,
    Neumann,
    NoSlip,
    Obstacle,
    Outflow,
    Periodic,
)
from pdes.grid import Grid
from pdes.pointwise import pointwise
from pdes.symbols import TIME

FIELDS = ("u", "v")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of the box.

    Parameters
    ----------
    name : str
        ``"x-"``, ``"x+"``, ``"y-"`` or ``"y+"``.
    kind : {"periodic", "velocity", "outflow"}
        Velocity sides prescribe the normal component.
    normal, tangential : float or sympy.Expr
        Components of the velocity, in the coordinates and time.
    slips : bool
        The tangential component is free: no shear stress acts.
    """

    name: str
    kind: str
    normal: Any = 0.0
    tangential: Any = 0.0
    slips: bool = False

    @property
    def moves(self) -> bool:
        """Whether the data depend on time."""
        return any(TIME in sympy.S(value).free_symbols for value in (self.normal, self.tangential))

    def accelerated(self) -> Side:
        """Same side with the time derivatives of its data."""
        return Side(
            name=self.name,
            kind=self.kind,
            normal=sympy.diff(sympy.S(self.normal), TIME),
            tangential=sympy.diff(sympy.S(self.tangential), TIME),
            slips=self.slips,
        )


def read_sides(boundary: Boundary, grid: Grid) -> dict[str, Side]:
    """Sides of a box from its boundary conditions.

    Parameters
    ----------
    boundary : mapping
        For each side `NoSlip` (the velocity of a wall, or of what flows in), `Outflow`,
        `Periodic`, or a mapping of ``"u"`` and ``"v"`` to `Dirichlet` and, for a tangential
        component that slips freely, ``Neumann(0)``. Sides of periodic axes may be left out. An
        `Obstacle` under another name is a body inside, and no side.
    grid : Grid
        Two axes, their end points included unless they are periodic.

    Returns
    -------
    dict of str to Side

    Raises
    ------
    ValueError
        If a side is missing or unknown, or its condition is none that a staggered grid knows.

    Examples
    --------
    >>> from pdes.grid import Axis
    >>> box = Grid((Axis("x", 0.0, 1.0, 9), Axis("y", 0.0, 1.0, 9, periodic=False)))
    >>> found = read_sides({"y-": NoSlip(), "y+": NoSlip((1.0, 0.0))}, box)
    >>> found["x-"].kind, found["y+"].tangential
    ('periodic', 1.0)
    """
    if len(grid.axes) != 2:
        raise ValueError(f"grid has axes {grid.names}: the staggered solver wants two")
    names = [f"{axis.name}{end}" for axis in grid.axes for end in "-+"]
    bodies = {name for name, condition in boundary.items() if isinstance(condition, Obstacle)}
    if unknown := sorted(set(boundary) - set(names) - bodies):
        raise ValueError(f"boundary: unknown sides {unknown}; the sides are {names}")
    if taken := sorted(bodies & set(names)):
        raise ValueError(f"boundary[{taken[0]!r}]: an obstacle is no side; give it another name")
    found = {}
    for place, axis in enumerate(grid.axes):
        for end in "-+":
            name = f"{axis.name}{end}"
            condition = boundary.get(name, Periodic() if axis.periodic else None)
            if condition is None:
                raise ValueError(f"boundary: no condition for side {name!r}; add NoSlip() or so")
            if isinstance(condition, Periodic) != axis.periodic:
                raise ValueError(
                    f"boundary[{name!r}] is {condition}, but axis {axis.name!r} of the grid is "
                    f"{'' if axis.periodic else 'not '}periodic; make them agree"
                )
            found[name] = _read(name, place, condition)
    return found


def _read(name: str, place: int, condition: Condition | Mapping[str, Condition]) -> Side:
    if isinstance(condition, Periodic):
        return Side(name=name, kind="periodic")
    if isinstance(condition, Outflow):
        return Side(name=name, kind="outflow", slips=True)
    if isinstance(condition, NoSlip):
        if len(condition.velocity) != 2:
            raise ValueError(f"boundary[{name!r}]: velocity has {len(condition.velocity)} entries")
        normal, tangential = condition.velocity[place], condition.velocity[1 - place]
        return Side(name=name, kind="velocity", normal=normal, tangential=tangential)
    if isinstance(condition, Mapping) and set(condition) >= set(FIELDS):
        normal, tangential = condition[FIELDS[place]], condition[FIELDS[1 - place]]
        if isinstance(normal, Dirichlet) and isinstance(tangential, Dirichlet):
            return Side(
                name=name, kind="velocity", normal=normal.value, tangential=tangential.value
            )
        if isinstance(normal, Dirichlet) and tangential == Neumann(0.0):
            return Side(name=name, kind="velocity", normal=normal.value, slips=True)
    raise ValueError(
        f"boundary[{name!r}]: got {condition}; wanted NoSlip(velocity), Outflow(), Periodic(), or "
        "'u' and 'v' with Dirichlet values (the tangential one may be Neumann(0))"
    )


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def side_values(
    side: Side, grid: Grid, parameters: Mapping[str, float], time: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Velocities on a side, and the flux through it.

    Parameters
    ----------
    side : Side
        The side.
    grid : Grid
        Box.
    parameters : mapping of str to float
        Values of the parameters in the data.
    time : float
        Instant.

    Returns
    -------
    normal : ndarray, shape (cells,)
        Component along the axis, at the middle of each face.
    tangential : ndarray, shape (cells + 1,)
        Other component, at the nodes.
    flux : float
        Integral of the normal component by Gauss's rule: what the formula says, not the grid.

    Examples
    --------
    >>> from pdes.grid import Axis
    >>> y = sympy.Symbol("y", real=True)
    >>> box = Grid((Axis("x", 0.0, 1.0, 3, False), Axis("y", 0.0, 1.0, 3, False)))
    >>> found = side_values(Side(name="x-", kind="velocity", normal=y**2), box, {}, 0.0)
    >>> found[0], round(found[2], 12)
    (array([0.0625, 0.5625]), 0.333333333333)
    """
    own = grid.names.index(side.name[0])
    along = grid.axes[1 - own]
    cells = along.points if along.periodic else along.points - 1
    edges = np.linspace(along.start, along.stop, cells + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    here = grid.axes[own].start if side.name.endswith("-") else grid.axes[own].stop
    given = {**parameters, "t": time, grid.names[own]: here}

    def at(value: Any, points: np.ndarray) -> np.ndarray:
        return np.array(
            np.broadcast_to(pointwise(value, {**given, along.name: points}), points.shape)
        )

    inside = at(side.normal, middles[:, None] + 0.5 * along.spacing * _NODES)
    flux = 0.5 * along.spacing * float(np.sum(inside @ _WEIGHTS))
    return at(side.normal, middles), at(side.tangential, edges), flux
