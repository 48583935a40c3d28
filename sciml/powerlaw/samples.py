"""Reading radii and values: what is accepted, and what is refused with a reason."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from sciml.powerlaw.masked import refuse_masked
from sciml.powerlaw.rows import RadialRows, values

R_MIN = 1e-12
"""Smallest radius at which negative exponents and logarithms are evaluated."""


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Range of exponents as two floats.

    Raises
    ------
    ValueError
        Unless ``low < high``, both finite.
    """
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds={bounds!r}, wanted two numbers (lowest, highest)") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(
            f"bounds={bounds!r}, wanted finite numbers with the lowest exponent below the highest"
        )
    return low, high


def radii(x: Any, center: ArrayLike | None) -> NDArray:
    """Distances from the center of points or radii.

    Parameters
    ----------
    x : array_like, shape (n,), (n, 1) or (n, d)
        Radii in the first two forms, points in the last.
    center : array_like, shape (d,), optional
        The origin by default. With a center, one column is a coordinate on a line.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        For negative radii, other shapes, NaN or infinity.

    Examples
    --------
    >>> radii([[3.0, 4.0]], center=None), radii([0.25], center=None)
    (array([5.]), array([0.25]))
    """
    points = _array("x", x)
    if points.ndim == 0:
        raise ValueError(f"x is the number {float(points):g}, wanted radii (n,), or points (n, d)")
    flat = points.ndim == 1
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(
            f"x has {points.shape[-1]} feature(s) (shape={points.shape}) while a minimum of 1 is "
            "required: wanted radii (n,), or points (n, d) with d >= 1"
        )
    if center is not None:
        middle = np.atleast_1d(_center(center))
        if middle.shape != (points.shape[1],):
            raise ValueError(
                f"center has shape {middle.shape} and points have {points.shape[1]} coordinates: "
                "wanted as many"
            )
        if flat:
            raise ValueError(
                f"x has shape {points.shape[:1]}, which are radii, but center= goes with points: "
                "leave it out, or give coordinates on a line as (n, 1)"
            )
        points = points - middle
    elif points.shape[1] == 1:
        if np.any(points < 0):
            raise ValueError(
                f"x holds {points.min()}: a radius is not negative; give center= for coordinates"
            )
        return points[:, 0]
    return np.linalg.norm(points, axis=1)


def read_samples(
    x: Any, y: Any, weights: Any, center: ArrayLike | None, bounds: tuple[float, float]
) -> RadialRows:
    """Samples as rows of a fit, in double precision.

    Parameters
    ----------
    x, y : array_like or torch.Tensor
        Places, as in `radii`, and values, shape (n,).
    weights : array_like, shape (n,), or None
        Rows are multiplied by it.
    center : array_like or None
    bounds : tuple of float
        Range of exponents, which says whether the center may be among the places.

    Returns
    -------
    RadialRows

    Raises
    ------
    ValueError
    """
    _same_kind(x, y, weights)
    r, sides = radii(x, center), _array("y", y)
    if sides.ndim == 2 and sides.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: its only column is used",
            DataConversionWarning,
            stacklevel=3,
        )
        sides = sides[:, 0]
    if sides.ndim != 1:
        raise ValueError(
            f"y has shape {sides.shape}: wanted one value per sample, shape ({len(r)},); fit "
            "several at once by fit_power_laws"
        )
    if len(sides) != len(r):
        raise ValueError(f"y has {len(sides)} values and x {len(r)} places: wanted as many")
    if len(r) == 0:
        raise ValueError("x has 0 sample(s) while a minimum of 1 is required: wanted samples")
    low = bounds[0]
    if np.any(r < R_MIN) and low <= 0:
        raise ValueError(
            f"x comes as near as r={r.min():.3g} to the center, below r_min={R_MIN}, while "
            f"exponents down to {low} are allowed: leave that sample out, or set bounds above 0"
        )
    scale = 1.0 if weights is None else _array("weights", weights)
    return values(r, sides, scale)


def _center(center: Any) -> NDArray:
    try:
        middle = np.asarray(center, float)
    except (TypeError, ValueError):
        raise ValueError(
            f"center={center!r}, wanted the coordinates of a point, or None for the origin"
        ) from None
    if not np.all(np.isfinite(middle)):
        raise ValueError(f"center={center!r}, wanted finite coordinates")
    return middle


def places(x: Any) -> NDArray:
    """Points as a float64 array, shape (n, d)."""
    return _array("x", x)


def width(x: Any) -> int:
    """Number of coordinates of a sample: 1 for radii."""
    _refuse_sparse("x", x)
    shape = tuple(x.shape) if hasattr(x, "detach") else np.asarray(x).shape
    return int(shape[1]) if len(shape) == 2 else 1


def _array(name: str, data: Any) -> NDArray:
    """Finite float64 array."""
    _refuse_sparse(name, data)
    refuse_masked(name, data)
    if hasattr(data, "detach"):
        data = data.detach().cpu().numpy()
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}; wanted numbers in equal rows") from None
    if np.iscomplexobj(array):
        raise ValueError(
            f"{name} is complex. Complex data not supported: fit real and imaginary parts "
            "one after the other"
        )
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}; wanted numbers") from None
    bad = ~np.isfinite(array)
    if np.any(bad):
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} holds {array[place]} at {place}, {int(bad.sum())} such values in all (NaN or "
            "inf): wanted finite numbers; leave such samples out"
        )
    return array


def _refuse_sparse(name: str, data: Any) -> None:
    if issparse(data):
        raise TypeError(f"{name} is sparse: sparse input is not supported, use {name}.toarray()")


def _same_kind(*arrays: Any) -> None:
    """Refuse single beside double precision and several devices; warn of single precision."""
    given = [array for array in arrays if hasattr(array, "dtype")]
    names = {str(array.dtype).removeprefix("torch.") for array in given}
    floats = {name for name in names if name.startswith("float")}
    if len(floats) > 1:
        raise ValueError(
            f"x, y and weights have dtypes {', '.join(sorted(floats))}: wanted one, float64 at best"
        )
    devices = {str(array.device) for array in given if hasattr(array, "detach")}
    if len(devices) > 1:
        raise ValueError(
            f"x, y and weights are on devices {', '.join(sorted(devices))}: wanted one"
        )
    if floats & {"float32", "float16", "bfloat16"}:
        warnings.warn(
            f"{floats.pop()} samples are fitted in float64; their own rounding limits the "
            "exponents",
            UserWarning,
            stacklevel=4,
        )
