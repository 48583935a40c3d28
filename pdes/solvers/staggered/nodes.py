"""Between the faces of cells, where velocities live, and the corners, where datasets hold them."""

from __future__ import annotations

from typing import Any

from pdes.solvers.staggered.layers import inner, layer
from pdes.solvers.staggered.momentum import Ends, extend_across

Array = Any


def corners_from_faces(values: Array, ends: Ends, axis: int, xp: Any) -> Array:
    """Velocity at the corners from the middles of the faces, of fourth order in the interior.

    Parameters
    ----------
    values : array
        Velocity component at the cell centers of `axis`.
    ends : Ends
        Tangential velocities on the two sides.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.

    Returns
    -------
    array
        One entry more along `axis`; the given velocity on sides that have one.

    Examples
    --------
    A parabola that vanishes on both walls is found exactly:

    >>> import numpy as np
    >>> y = (np.arange(4) + 0.5) / 4
    >>> walls = Ends(("fixed", "fixed"), (np.zeros((1, 1)), np.zeros((1, 1))))
    >>> corners_from_faces((y * (1 - y))[None, :], walls, -1, np)
    array([[0.    , 0.1875, 0.25  , 0.1875, 0.    ]])
    """
    full = extend_across(values, ends, axis, xp, smooth=True)
    near = inner(full, 0, -1, axis) + inner(full, 1, None, axis)
    far = inner(full, 0, -3, axis) + inner(full, 3, None, axis)
    middle = (9.0 / 16.0) * inner(near, 1, -1, axis) - (1.0 / 16.0) * far
    sides = []
    for kind, value, position in zip(ends.kinds, ends.values, (0, -1), strict=True):
        mean = 0.5 * layer(near, position, axis)
        sides.append(xp.broadcast_to(value, mean.shape) if kind == "fixed" else mean)
    if ends.kinds[0] == "periodic":
        wrapped = (
            (layer(values, -1, axis) + layer(values, 0, axis)) * (9.0 / 16.0)
            - (layer(values, -2, axis) + layer(values, 1, axis)) * (1.0 / 16.0)
        )  # fmt: skip
        sides = [wrapped, wrapped]
    return xp.concat([sides[0], middle, sides[1]], axis=axis)


def faces_from_corners(values: Array, periodic: bool, axis: int, xp: Any) -> Array:
    """Velocity at the middles of faces from the corners, exact for cubic polynomials.

    Parameters
    ----------
    values : array
        At the corners along `axis`; a periodic axis leaves out its last one.
    periodic : bool
        Whether the axis is.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.

    Returns
    -------
    array
        One entry for each cell.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(5.0)
    >>> bool(np.allclose(faces_from_corners(y[None] ** 3, False, -1, np), (y[:-1] + 0.5) ** 3))
    True
    """
    if periodic:
        first, last = inner(values, 0, 2, axis), layer(values, -1, axis)
        values = xp.concat([last, values, first], axis=axis)
    near = inner(values, 1, -2, axis) + inner(values, 2, -1, axis)
    far = inner(values, 0, -3, axis) + inner(values, 3, None, axis)
    middle = (9.0 / 16.0) * near - (1.0 / 16.0) * far
    if periodic:
        return middle
    weights = (5.0 / 16.0, 15.0 / 16.0, -5.0 / 16.0, 1.0 / 16.0)
    low: Any = sum(w * layer(values, i, axis) for i, w in enumerate(weights))
    high: Any = sum(w * layer(values, -1 - i, axis) for i, w in enumerate(weights))
    return xp.concat([low, middle, high], axis=axis)


def corners_from_centers(values: Array, kinds: tuple[str, str], axis: int, xp: Any) -> Array:
    """Pressure at the corners: linear, going on at walls, zero on open sides.

    Parameters
    ----------
    values : array
        At the cell centers of `axis`.
    kinds : tuple of {"periodic", "velocity", "outflow"}
        Kinds of the two sides.
    axis : int
        -2 for x, -1 for y.
    xp : module
        Namespace.

    Returns
    -------
    array
        One entry more along `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> corners_from_centers(np.array([[3.0, 1.0]]), ("velocity", "outflow"), -1, np)
    array([[4., 2., 0.]])
    """
    ghosts = []
    for kind, own, further, opposite in zip(kinds, (0, -1), (1, -2), (-1, 0), strict=True):
        edge = layer(values, own, axis)
        if kind == "periodic":
            ghosts.append(layer(values, opposite, axis))
        elif kind == "outflow":
            ghosts.append(-edge)
        else:
            ghosts.append(2.0 * edge - layer(values, further, axis))
    full = xp.concat([ghosts[0], values, ghosts[1]], axis=axis)
    return 0.5 * (inner(full, 1, None, axis) + inner(full, 0, -1, axis))
