"""Quadrature weights of one axis: positive numbers of sum 1, a mean of the function."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable

import numpy as np

from sciml.nn.axis_kind import SampleAxis

__all__ = ["RULES", "QuadratureWarning", "axis_weights"]


class QuadratureWarning(UserWarning):
    """Quadrature weights are used where they may not mean what they should."""


def _uniform(axis: SampleAxis) -> np.ndarray:
    return np.full(axis.points, 1.0 / axis.points)


def _trapezoid(axis: SampleAxis) -> np.ndarray:
    weights = np.ones(axis.points)
    weights[[0, -1]] = 0.5
    return weights / (axis.points - 1)


def _gregory4(axis: SampleAxis) -> np.ndarray:
    if axis.points < 6:
        raise ValueError(
            f"rule 'gregory4' needs at least 6 points on an axis, got {axis.points}: use "
            "'trapezoid'"
        )
    weights = np.ones(axis.points)
    ends = np.array([3 / 8, 7 / 6, 23 / 24])
    weights[:3] += ends - 1.0
    weights[-3:] += ends[::-1] - 1.0
    return weights / (axis.points - 1)


def _simpson(axis: SampleAxis) -> np.ndarray:
    if axis.points % 2 == 0 or axis.points < 3:
        raise ValueError(
            f"rule 'simpson' needs an odd number of points, at least 3, got {axis.points}: use "
            "'trapezoid'"
        )
    weights = np.full(axis.points, 2 / 3)
    weights[1::2] = 4 / 3
    weights[[0, -1]] = 1 / 3
    return weights / (axis.points - 1)


def _left(axis: SampleAxis) -> np.ndarray:
    if axis.points < 3:
        raise ValueError(f"an axis of kind 'left' needs at least 3 points, got {axis.points}")
    weights = np.ones(axis.points)
    weights[0] = 0.5
    weights[-2] -= 0.5  # the last cell is extrapolated from its two neighbors
    weights[-1] = 2.0
    return weights / axis.points


def _clenshaw_curtis(axis: SampleAxis) -> np.ndarray:
    """Waldvogel, BIT 46, 195 (2006), in the form of a cosine sum."""
    n = axis.points - 1
    angles = np.pi * np.arange(axis.points) / n
    weights = np.ones(axis.points)
    for k in range(1, n // 2 + 1):
        factor = 1.0 if 2 * k == n else 2.0
        weights -= factor * np.cos(2 * k * angles) / (4 * k * k - 1)
    weights[1:-1] *= 2.0
    return weights / (2 * n)


def _latitude(axis: SampleAxis) -> np.ndarray:
    """Share of the sphere between the middles of neighboring latitudes."""
    place = axis.positions()
    edges = np.concatenate([[0.0], 0.5 * (place[1:] + place[:-1]), [1.0]])
    # The interval may be a band of the sphere; then its share counts.
    low, high = float(axis.start), float(axis.stop)  # pyright: ignore[reportArgumentType]
    degrees = max(abs(low), abs(high)) > np.pi / 2 + 1e-9
    given = np.asarray(axis.coordinates)
    falling = given.size > 1 and given[1] < given[0]
    latitudes = high - edges * (high - low) if falling else low + edges * (high - low)
    heights = np.sin(np.deg2rad(latitudes) if degrees else latitudes)
    weights = np.abs(np.diff(heights))
    return weights / weights.sum()


def _nonuniform(axis: SampleAxis) -> np.ndarray:
    """Half the distance to the neighbors; up to the ends of the interval at the ends."""
    place = axis.positions()
    edges = np.concatenate([[0.0], 0.5 * (place[1:] + place[:-1]), [1.0]])
    return np.diff(edges)


RULES: dict[str, tuple[tuple[str, ...], Callable[[SampleAxis], np.ndarray]]] = {
    "uniform": (("periodic", "cell"), _uniform),
    "trapezoid": (("node",), _trapezoid),
    "gregory4": (("node",), _gregory4),
    "simpson": (("node",), _simpson),
    "left": (("left",), _left),
    "clenshaw_curtis": (("chebyshev",), _clenshaw_curtis),
    "latitude": (("latitude",), _latitude),
    "nonuniform": (("nonuniform",), _nonuniform),
}
"""Kinds of axes of each rule, and its function. The first rule of a kind is its default."""


def axis_weights(axis: SampleAxis, rule: str = "auto") -> np.ndarray:
    """Weights of the points of one axis.

    Parameters
    ----------
    axis : SampleAxis
        The points.
    rule : str, default "auto"
        The standard rule of the kind. ``"gregory4"`` and ``"simpson"`` are of fourth order on
        ``"node"`` axes; on axes of other kinds in the same grid they leave the standard rule.
        ``"equal"`` weighs all points alike, whatever the kind: what a plain mean does.

    Returns
    -------
    ndarray, shape (points,), float64
        Positive, with sum 1.

    Raises
    ------
    ValueError
        If the rule is unknown, or needs other or more points.

    Examples
    --------
    >>> axis_weights(SampleAxis("node", 5))
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    if rule not in ("auto", "equal", *RULES):
        near = difflib.get_close_matches(str(rule), RULES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"rule: got {rule!r}, wanted auto, equal, {', '.join(RULES)}.{hint}")
    if axis.points == 1:
        warnings.warn(
            f"an axis of kind {axis.kind!r} has one point: its weight is 1",
            QuadratureWarning,
            stacklevel=2,
        )
        return np.ones(1)
    if rule == "equal":
        return _uniform(axis)
    if rule != "auto" and axis.kind in RULES[rule][0]:
        return RULES[rule][1](axis)
    if rule not in ("auto", "gregory4", "simpson", "trapezoid"):
        raise ValueError(
            f"rule {rule!r} is for axes of kind {' or '.join(RULES[rule][0])}, got {axis.kind!r}: "
            "use 'auto'"
        )
    return next(function for kinds, function in RULES.values() if axis.kind in kinds)(axis)
