"""Conditions on the sides of a domain.

A boundary is a mapping of side to condition. The sides of a grid are ``"x-"``, ``"x+"``, ``"y-"``,
``"y+"``: the axis and the end of it. The sides of a mesh bear the names that the mesh gives them.
A system of equations takes, for each side, a mapping of field to condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import sympy

from pdes.grid import Grid
from pdes.pointwise import pointwise

__all__ = [
    "Boundary",
    "Condition",
    "Dirichlet",
    "Neumann",
    "NoSlip",
    "Obstacle",
    "Outflow",
    "Periodic",
    "Robin",
    "check_boundary",
    "describe",
    "sides",
]

Value = float | sympy.Expr


@dataclass(frozen=True)
class Condition:
    """What holds on one side; the base of the conditions below, never used by itself."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_value(type(self).__name__, item.name, getattr(self, item.name))

    def values(self, **given: Any) -> dict[str, np.ndarray]:
        """Data of the condition at points.

        Parameters
        ----------
        **given
            Arrays of the coordinates (``x=``, ``y=``), ``t=`` and the parameters.

        Returns
        -------
        dict of str to ndarray
            One array for each argument of the condition.

        Examples
        --------
        >>> import numpy as np, sympy
        >>> x = sympy.Symbol("x", real=True)
        >>> Dirichlet(2 * x).values(x=np.array([0.0, 1.0]))
        {'value': array([0., 2.])}
        """
        return {
            item.name: pointwise(getattr(self, item.name), given)
            for item in fields(self)
            if not isinstance(getattr(self, item.name), tuple)
        }


@dataclass(frozen=True)
class Periodic(Condition):
    """The side is the same as the one opposite.

    Examples
    --------
    >>> Periodic().kind
    'periodic'
    """

    kind: ClassVar[str] = "periodic"


@dataclass(frozen=True)
class Dirichlet(Condition):
    """The field has this value.

    Parameters
    ----------
    value : float or sympy.Expr
        In the coordinates, time and the parameters.

    Examples
    --------
    >>> Dirichlet(1.5).value
    1.5
    """

    value: Value = 0.0
    kind: ClassVar[str] = "dirichlet"


@dataclass(frozen=True)
class Neumann(Condition):
    """The flux into the domain, ``a du/dn`` for ``-div(a grad u)``, has this value.

    The normal points outward. For elasticity it is the component of the traction.

    Parameters
    ----------
    flux : float or sympy.Expr
        In the coordinates, time and the parameters.

    Examples
    --------
    >>> Neumann().flux
    0.0
    """

    flux: Value = 0.0
    kind: ClassVar[str] = "neumann"


@dataclass(frozen=True)
class Robin(Condition):
    """Flux and value are tied: ``a du/dn + coefficient u = value``.

    Parameters
    ----------
    coefficient, value : float or sympy.Expr
        In the coordinates, time and the parameters.

    Examples
    --------
    >>> Robin(2.0, 1.0).coefficient
    2.0
    """

    coefficient: Value
    value: Value = 0.0
    kind: ClassVar[str] = "robin"


@dataclass(frozen=True)
class Outflow(Condition):
    """Nothing is prescribed: what arrives leaves, and the natural flux is zero.

    Examples
    --------
    >>> Outflow().kind
    'outflow'
    """

    kind: ClassVar[str] = "outflow"


@dataclass(frozen=True)
class NoSlip(Condition):
    """A fluid moves with its wall.

    Parameters
    ----------
    velocity : tuple of float or sympy.Expr
        Velocity of the wall, one entry for each axis.

    Examples
    --------
    >>> NoSlip((1.0, 0.0)).velocity
    (1.0, 0.0)
    """

    velocity: tuple[Value, ...] = (0.0, 0.0)
    kind: ClassVar[str] = "no_slip"


@dataclass(frozen=True)
class Obstacle(Condition):
    """A body at rest inside the domain, under any name that no side bears.

    Parameters
    ----------
    level : sympy.Expr
        Negative inside the body, positive outside, in the coordinates and the parameters.

    Examples
    --------
    >>> x, y = sympy.symbols("x y", real=True)
    >>> Obstacle(x**2 + y**2 - 1).kind
    'obstacle'
    """

    level: Value
    kind: ClassVar[str] = "obstacle"


Boundary = Mapping[str, Condition | Mapping[str, Condition]]


def sides(grid: Grid) -> tuple[str, ...]:
    """Names of the sides of a grid, two for each axis.

    Examples
    --------
    >>> sides(Grid.periodic(x=(0.0, 1.0, 8), y=(0.0, 1.0, 8)))
    ('x-', 'x+', 'y-', 'y+')
    """
    return tuple(f"{name}{end}" for name in grid.names for end in "-+")


def check_boundary(
    boundary: Boundary, names: Sequence[str], unknowns: Sequence[str]
) -> dict[str, dict[str, Condition]]:
    """Boundary with one condition for each side and field.

    Parameters
    ----------
    boundary : mapping
        Side to condition, or side to mapping of field to condition.
    names : sequence of str
        All sides.
    unknowns : sequence of str
        All fields.

    Returns
    -------
    dict
        Side to dict of field to condition.

    Raises
    ------
    ValueError
        If a side or a field is missing or unknown, or only one side of a pair is periodic.

    Examples
    --------
    >>> check_boundary({"x-": Dirichlet(), "x+": Neumann()}, ["x-", "x+"], ["u"])["x+"]["u"]
    Neumann(flux=0.0)
    """
    _same_names("side", boundary, names)
    full = {}
    for side in names:
        given = boundary[side]
        if isinstance(given, Condition):
            full[side] = dict.fromkeys(unknowns, given)
            continue
        if not isinstance(given, Mapping):
            raise ValueError(
                f"boundary[{side!r}]: got {given!r}, wanted a condition such as Dirichlet(0.0), or "
                "a mapping of field to condition"
            )
        _same_names(f"field of side {side!r}", given, unknowns)
        full[side] = {name: given[name] for name in unknowns}
    for side, conditions in full.items():
        partner = side[:-1] + ("+" if side.endswith("-") else "-")
        for name, condition in conditions.items():
            alone = partner in full and not isinstance(full[partner][name], Periodic)
            if isinstance(condition, Periodic) and alone:
                raise ValueError(
                    f"boundary[{side!r}]: periodic, but {partner!r} is not; make both periodic"
                )
    return full


def describe(boundary: Boundary) -> dict[str, Any]:
    """Boundary as plain text and dicts, ready for JSON.

    Examples
    --------
    >>> describe({"x-": Dirichlet(1.0), "x+": Neumann()})
    {'x-': {'kind': 'dirichlet', 'value': '1.0'}, 'x+': {'kind': 'neumann', 'flux': '0.0'}}
    """
    found: dict[str, Any] = {}
    for side, given in boundary.items():
        if isinstance(given, Condition):
            data = {item.name: str(getattr(given, item.name)) for item in fields(given)}
            found[side] = {"kind": given.kind, **data}
        else:
            found[side] = describe(given)
    return found


def _same_names(what: str, given: Mapping[str, Any], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if missing or unknown:
        raise ValueError(
            f"boundary: got a condition for each {what} of {sorted(given)}, wanted {list(wanted)}"
            + (f"; add {missing}" if missing else "")
            + (f"; remove {unknown}" if unknown else "")
        )


def _check_value(kind: str, name: str, value: Any) -> None:
    if isinstance(value, tuple):
        for entry in value:
            _check_value(kind, name, entry)
        return
    if isinstance(value, sympy.Expr):
        if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            raise ValueError(f"{kind}: {name}={value} is not finite")
        return
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(
            f"{kind}: {name}={value!r}, wanted a finite number or a sympy expression in the "
            "coordinates, t and the parameters"
        )
