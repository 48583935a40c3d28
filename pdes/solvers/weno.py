"""Weighted essentially non-oscillatory reconstruction of fifth order."""

from __future__ import annotations

from typing import Any

Array = Any

WIDTH = 3
"""Cells that a reconstruction needs on either side of a row of cells."""

_EPSILON = 1e-6


def weno5_left(values: Array) -> Array:
    """Value at the right face of each cell, from the cells of an upwind stencil.

    Jiang and Shu, J. Comput. Phys. 126 (1996) 202: three parabolas, weighted so that the smooth
    ones win; where everything is smooth the weights combine them to order five.

    Parameters
    ----------
    values : array, shape (..., n)
        Cell averages along the last axis.

    Returns
    -------
    array, shape (..., n - 4)
        Entry ``i`` belongs to the face on the right of cell ``i + 2``.

    Examples
    --------
    Averages of a parabola are reconstructed exactly:

    >>> import numpy as np
    >>> faces = np.arange(8.0)
    >>> averages = np.diff(faces**3) / 3
    >>> bool(np.allclose(weno5_left(averages), faces[3:6] ** 2))
    True
    """
    n = values.shape[-1] - 4
    a, b, c, d, e = (values[..., i : i + n] for i in range(5))
    smooth_0 = 13.0 / 12.0 * (a - 2.0 * b + c) ** 2 + 0.25 * (a - 4.0 * b + 3.0 * c) ** 2
    smooth_1 = 13.0 / 12.0 * (b - 2.0 * c + d) ** 2 + 0.25 * (b - d) ** 2
    smooth_2 = 13.0 / 12.0 * (c - 2.0 * d + e) ** 2 + 0.25 * (3.0 * c - 4.0 * d + e) ** 2
    weight_0 = 0.1 / (_EPSILON + smooth_0) ** 2
    weight_1 = 0.6 / (_EPSILON + smooth_1) ** 2
    weight_2 = 0.3 / (_EPSILON + smooth_2) ** 2
    value_0 = (2.0 * a - 7.0 * b + 11.0 * c) / 6.0
    value_1 = (-b + 5.0 * c + 2.0 * d) / 6.0
    value_2 = (2.0 * c + 5.0 * d - e) / 6.0
    total = weight_0 + weight_1 + weight_2
    return (weight_0 * value_0 + weight_1 * value_1 + weight_2 * value_2) / total


def weno5_right(values: Array, xp: Any) -> Array:
    """Value at the left face of each cell: `weno5_left` seen in a mirror.

    Parameters
    ----------
    values : array, shape (..., n)
        Cell averages along the last axis.
    xp : module
        Their namespace.

    Returns
    -------
    array, shape (..., n - 4)
        Entry ``i`` belongs to the face on the left of cell ``i + 2``.
    """
    return xp.flip(weno5_left(xp.flip(values, axis=-1)), axis=-1)
