"""Differences on a staggered grid: ghosts beyond the sides, fluxes, viscous terms."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class Ends(NamedTuple):
    """What lies beyond the two ends of an axis, for the component along it or across it.

    Each is ``"periodic"``, ``"fixed"`` (a velocity is given) or ``"free"`` (zero gradient), with
    the velocities given, which are None where there are none.
    """

    kinds: tuple[str, str]
    values: tuple[Array | None, Array | None]


def entry(values: Array, position: int, axis: int) -> Array:
    """Slice of thickness one along one of the last two axes."""
    stop = position + 1 if position != -1 else None
    chosen = slice(position, stop)
    return values[(..., chosen, slice(None)) if axis == -2 else (..., chosen)]


def inner(values: Array, low: int, high: int, axis: int) -> Array:
    """Entries from `low` to `high` (counted from the end, None for all) along an axis."""
    chosen = slice(low, high)
    return values[(..., chosen, slice(None)) if axis == -2 else (..., chosen)]


def between(values: Array, axis: int) -> Array:
    """Mean of neighbors."""
    return 0.5 * (inner(values, 1, None, axis) + inner(values, 0, -1, axis))


def difference(values: Array, spacing: float, axis: int) -> Array:
    """Difference of neighbors over their distance."""
    return (inner(values, 1, None, axis) - inner(values, 0, -1, axis)) * (1.0 / spacing)


def second(values: Array, spacing: float, axis: int) -> Array:
    """Second difference: two entries less."""
    neighbors = inner(values, 2, None, axis) + inner(values, 0, -2, axis)
    return (neighbors - 2.0 * inner(values, 1, -1, axis)) * (1.0 / spacing**2)


def extend_across(values: Array, ends: Ends, axis: int, xp: Any) -> Array:
    """Add a ghost beyond each end, half a cell from the side: the mean with it is the side's value.

    Parameters
    ----------
    values : array
        Velocity component at the cell centers of `axis`.
    ends : Ends
        Tangential velocities, shaped to broadcast against an entry of `values`.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.

    Returns
    -------
    array
        Two entries more along `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> wall = Ends(("fixed", "free"), (np.array([[1.0]]), None))
    >>> extend_across(np.array([[0.0, 2.0]]), wall, -1, np)
    array([[2., 0., 2., 2.]])
    """
    ghosts = []
    for kind, value, own, opposite in zip(ends.kinds, ends.values, (0, -1), (-1, 0), strict=True):
        if kind == "periodic":
            ghosts.append(entry(values, opposite, axis))
        elif kind == "free":
            ghosts.append(entry(values, own, axis))
        else:
            ghosts.append(2.0 * value - entry(values, own, axis))
    return xp.concat([ghosts[0], values, ghosts[1]], axis=axis)


def extend_along(values: Array, ends: Ends, axis: int, xp: Any) -> Array:
    """Add a ghost one cell beyond the face on each end.

    Beyond an open end the component goes on linearly, so that what arrives is carried out. Beyond
    a fixed one the entry is a placeholder: the face itself is not advanced.

    Parameters
    ----------
    values : array
        Velocity component on the faces of `axis`, both ends included.
    ends : Ends
        Kinds of the ends.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.

    Returns
    -------
    array
        Two entries more along `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> extend_along(np.array([[1.0, 2.0, 4.0]]), Ends(("fixed", "free"), (None, None)), -1, np)
    array([[1., 1., 2., 4., 6.]])
    """
    ghosts = []
    for kind, own, next_, opposite in zip(ends.kinds, (0, -1), (1, -2), (-2, 1), strict=True):
        if kind == "periodic":
            ghosts.append(entry(values, opposite, axis))
        elif kind == "free":
            ghosts.append(2.0 * entry(values, own, axis) - entry(values, next_, axis))
        else:
            ghosts.append(entry(values, own, axis))
    return xp.concat([ghosts[0], values, ghosts[1]], axis=axis)


def momentum_rates(
    u: Array,
    v: Array,
    spacings: tuple[float, float],
    viscosity: Any,
    ends: dict[str, Ends],
    xp: Any,
) -> tuple[Array, Array]:
    """Advection in divergence form and viscosity, on every face, without pressure.

    Parameters
    ----------
    u, v : array, shapes (*batch, nx + 1, ny) and (*batch, nx, ny + 1)
        Velocity on the faces.
    spacings : tuple of float
        Size of the cells.
    viscosity : float or scalar array
        Kinematic.
    ends : dict
        Keys ``"u along"``, ``"u across"``, ``"v along"``, ``"v across"``.
    xp : module
        Namespace.

    Returns
    -------
    tuple of array
        Of the shapes of `u` and `v`.
    """
    hx, hy = spacings
    u_x, u_y = extend_along(u, ends["u along"], -2, xp), extend_across(u, ends["u across"], -1, xp)
    v_y, v_x = extend_along(v, ends["v along"], -1, xp), extend_across(v, ends["v across"], -2, xp)
    corner = between(u_y, -1) * between(v_x, -2)
    u_center, v_center = between(u_x, -2), between(v_y, -1)
    u_rate = viscosity * (second(u_x, hx, -2) + second(u_y, hy, -1))
    u_rate = u_rate - difference(u_center * u_center, hx, -2) - difference(corner, hy, -1)
    v_rate = viscosity * (second(v_x, hx, -2) + second(v_y, hy, -1))
    v_rate = v_rate - difference(v_center * v_center, hy, -1) - difference(corner, hx, -2)
    return u_rate, v_rate
