"""Advection and viscosity on a staggered grid, with ghosts beyond the sides."""

from __future__ import annotations

from typing import Any, NamedTuple

from pdes.solvers.staggered.layers import X, Y, between, difference, layer, second

Array = Any


class Ends(NamedTuple):
    """What lies beyond the two ends of an axis.

    Kinds are ``"periodic"``, ``"fixed"`` (a velocity is given) or ``"free"`` (zero gradient);
    values are the velocities given, None where there are none.
    """

    kinds: tuple[str, str]
    values: tuple[Any, Any]


def extend_across(values: Array, ends: Ends, axis: int, xp: Any, *, smooth: bool = False) -> Array:
    """Add a ghost beyond each end, half a cell from the side.

    Parameters
    ----------
    values : array
        Velocity component at the cell centers of `axis`.
    ends : Ends
        Tangential velocities, shaped to broadcast against a layer of `values`.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.
    smooth : bool, default False
        Put the ghost on the parabola through the side and two centers instead of on the line
        through the side and one: the second difference next to the wall is then exact for
        parabolas. The mean of ghost and neighbor is the side's value on the line only.

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
    for kind, value, own, further, opposite in zip(
        ends.kinds, ends.values, (0, -1), (1, -2), (-1, 0), strict=True
    ):
        edge = layer(values, own, axis)
        if kind == "periodic":
            ghosts.append(layer(values, opposite, axis))
        elif kind == "free":
            ghosts.append(edge)
        elif smooth:
            ghosts.append(
                8.0 / 3.0 * value - 2.0 * edge + layer(values, further, axis) * (1.0 / 3.0)
            )
        else:
            ghosts.append(2.0 * value - edge)
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
    for kind, own, further, opposite in zip(ends.kinds, (0, -1), (1, -2), (-2, 1), strict=True):
        edge = layer(values, own, axis)
        if kind == "periodic":
            ghosts.append(layer(values, opposite, axis))
        elif kind == "free":
            ghosts.append(2.0 * edge - layer(values, further, axis))
        else:
            ghosts.append(edge)
    return xp.concat([ghosts[0], values, ghosts[1]], axis=axis)


def momentum_rates(
    u: Array,
    v: Array,
    spacings: tuple[float, ...],
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
    u_x, v_y = extend_along(u, ends["u along"], X, xp), extend_along(v, ends["v along"], Y, xp)
    u_y = extend_across(u, ends["u across"], Y, xp)
    v_x = extend_across(v, ends["v across"], X, xp)
    corner = between(u_y, Y) * between(v_x, X)
    u_center, v_center = between(u_x, X), between(v_y, Y)
    if "fixed" in ends["u across"].kinds:
        u_y = extend_across(u, ends["u across"], Y, xp, smooth=True)
    if "fixed" in ends["v across"].kinds:
        v_x = extend_across(v, ends["v across"], X, xp, smooth=True)
    u_rate = viscosity * (second(u_x, hx, X) + second(u_y, hy, Y))
    u_rate = u_rate - difference(u_center * u_center, hx, X) - difference(corner, hy, Y)
    v_rate = viscosity * (second(v_x, hx, X) + second(v_y, hy, Y))
    v_rate = v_rate - difference(v_center * v_center, hy, Y) - difference(corner, hx, X)
    return u_rate, v_rate
