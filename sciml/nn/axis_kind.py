"""Where the points of an axis lie: seven kinds, which decide what a mean over the points is."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["AXIS_KINDS", "SampleAxis", "SampleGrid"]

AXIS_KINDS: dict[str, str] = {
    "node": "both ends are points, equal distances h = L/(M - 1)",
    "periodic": "the first end is a point, the last is the same point and left out, h = L/M",
    "cell": "centers of M equal cells, h = L/M",
    "left": "the first end is a point, the last is left out though it is another point, h = L/M",
    "chebyshev": "Chebyshev-Lobatto points (1 - cos(pi i/(M - 1)))/2, both ends included",
    "latitude": "latitudes on a sphere, with or without the poles; coordinates are needed",
    "nonuniform": "sorted coordinates, which are needed",
}
"""The kinds and what they mean, for an axis of length L with M points."""

NEED_COORDINATES = ("latitude", "nonuniform")
UNIFORM = ("node", "periodic", "cell", "left")


def check_kind(kind: Any, name: str = "axis_kinds") -> str:
    """Return the kind, or raise with the list of kinds and the closest one."""
    if isinstance(kind, str) and kind in AXIS_KINDS:
        return kind
    near = difflib.get_close_matches(str(kind), AXIS_KINDS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name}: got {kind!r}, wanted one of {', '.join(AXIS_KINDS)}.{hint}")


@dataclass(frozen=True)
class SampleAxis:
    """The points of one axis, and the interval that they stand for.

    Parameters
    ----------
    kind : str
        One of `AXIS_KINDS`.
    points : int
        Number of points, at least 1.
    start, stop : float, optional
        Ends of the interval. 0 and 1 by default; the first and last coordinate for
        ``"nonuniform"``; -90 and 90 for ``"latitude"`` (degrees; give -pi/2 and pi/2 for radians).
    coordinates : sequence of float, optional
        Positions, strictly increasing or decreasing. Needed for ``"latitude"`` and
        ``"nonuniform"``; for the other kinds they are checked against what the kind says.

    Raises
    ------
    ValueError
        If the kind is unknown, coordinates are missing, unsorted, outside the interval or do not
        fit the kind.

    Examples
    --------
    >>> SampleAxis("cell", 4).positions()
    array([0.125, 0.375, 0.625, 0.875])
    """

    kind: str
    points: int
    start: float | None = None
    stop: float | None = None
    coordinates: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_kind(self.kind, "kind")
        if int(self.points) != self.points or self.points < 1:
            raise ValueError(f"points: got {self.points}, wanted an integer >= 1")
        object.__setattr__(self, "points", int(self.points))
        if self.coordinates is not None:
            given = np.asarray(self.coordinates, dtype=float).reshape(-1)
            object.__setattr__(self, "coordinates", tuple(given.tolist()))
            _check_sorted(given, self.points)
        elif self.kind in NEED_COORDINATES:
            raise ValueError(
                f"coordinates of a {self.kind!r} axis are missing: "
                f"SampleAxis({self.kind!r}, {self.points}, coordinates=...)"
            )
        start, stop = self._ends()
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "stop", stop)
        if self.coordinates is not None:
            self._check_coordinates()

    @property
    def length(self) -> float:
        """Length of the interval."""
        return float(self.stop) - float(self.start)  # pyright: ignore[reportArgumentType]

    def positions(self) -> np.ndarray:
        """Points on the unit interval, shape (points,), float64.

        A decreasing axis is counted from its first point: position 0 is the end it begins at.
        """
        m = self.points
        if self.kind in NEED_COORDINATES:
            given = np.asarray(self.coordinates)
            place = (given - float(self.start)) / self.length  # pyright: ignore[reportArgumentType]
            return place if m == 1 or given[1] > given[0] else 1.0 - place
        if m == 1:
            return np.array([0.5 if self.kind == "cell" else 0.0])
        steps = np.arange(m)
        if self.kind == "node":
            return steps / (m - 1)
        if self.kind == "cell":
            return (steps + 0.5) / m
        if self.kind == "chebyshev":
            return np.sin(0.5 * np.pi * steps / (m - 1)) ** 2
        return steps / m

    @property
    def largest_step(self) -> float:
        """Largest distance of neighboring points, as a part of the length."""
        if self.points == 1:
            return 1.0
        return float(np.max(np.abs(np.diff(self.positions()))))

    def _ends(self) -> tuple[float, float]:
        default = (0.0, 1.0)
        if self.kind == "latitude":
            default = (-90.0, 90.0)
        elif self.kind == "nonuniform" and self.coordinates is not None and self.points > 1:
            default = (min(self.coordinates), max(self.coordinates))
        start = default[0] if self.start is None else float(self.start)
        stop = default[1] if self.stop is None else float(self.stop)
        if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
            raise ValueError(f"got start {start} and stop {stop}, wanted finite ends, start < stop")
        return start, stop

    def _check_coordinates(self) -> None:
        given = np.asarray(self.coordinates)
        start, stop = float(self.start), float(self.stop)  # pyright: ignore[reportArgumentType]
        slack = 1e-6 * (stop - start)
        if given.min() < start - slack or given.max() > stop + slack:
            raise ValueError(
                f"coordinates run from {given.min():.6g} to {given.max():.6g}, outside of "
                f"[{start:.6g}, {stop:.6g}]: give start and stop of the interval"
            )
        if self.kind in NEED_COORDINATES:
            return
        wanted = start + self.length * self.positions()
        rising = given if self.points == 1 or given[1] > given[0] else given[::-1]
        if self.kind in ("periodic", "left") and rising is not given:
            wanted = stop - self.length * self.positions()[::-1]
        # Coordinates in float32 are a few 1e-7 off.
        off = np.abs(rising - wanted)
        if np.max(off) > 1e-4 * self.length / self.points:
            i = int(np.argmax(off))
            raise ValueError(
                f"coordinates do not fit the kind {self.kind!r} on [{start:.6g}, {stop:.6g}]: "
                f"point {i} is {rising[i]:.6g} instead of {wanted[i]:.6g} "
                f"({self.kind}: {AXIS_KINDS[self.kind]}); give the right kind, start and stop, "
                "or 'nonuniform'"
            )


def _check_sorted(given: np.ndarray, points: int) -> None:
    if given.size != points:
        raise ValueError(f"coordinates: got {given.size}, wanted {points}, one for each point")
    if not np.all(np.isfinite(given)):
        i = int(np.flatnonzero(~np.isfinite(given))[0])
        raise ValueError(f"coordinates: number {i} is {given[i]}, wanted finite numbers")
    steps = np.diff(given)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        i = int(np.flatnonzero(steps * (np.sign(steps.sum()) or 1.0) <= 0)[0])
        raise ValueError(
            f"coordinates are not strictly sorted: numbers {i} and {i + 1} are {given[i]:.6g} and "
            f"{given[i + 1]:.6g}; sort the axis and its data, and drop repeated points"
        )


@dataclass(frozen=True)
class SampleGrid:
    """Product of axes on which fields are sampled.

    Parameters
    ----------
    axes : tuple of SampleAxis
        In the order of the array dimensions.

    Examples
    --------
    >>> SampleGrid.of_shape((16, 33), ("left", "node")).kinds
    ('left', 'node')
    """

    axes: tuple[SampleAxis, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        if not self.axes or not all(isinstance(axis, SampleAxis) for axis in self.axes):
            raise ValueError(f"axes: got {self.axes!r}, wanted one or more SampleAxis")

    @classmethod
    def of_shape(cls, shape: Sequence[int], axis_kinds: str | Sequence[str]) -> SampleGrid:
        """Grid on the unit box from its shape; one kind stands for all axes."""
        kinds = spread_kinds(axis_kinds, len(shape))
        return cls(tuple(SampleAxis(kind, n) for kind, n in zip(kinds, shape, strict=True)))

    @classmethod
    def of_coordinates(
        cls,
        coordinates: Sequence[Any] | Mapping[str, Any],
        axis_kinds: str | Sequence[str],
        ends: Sequence[tuple[float, float] | None] | None = None,
    ) -> SampleGrid:
        """Grid from the coordinates of its axes, which are checked against the kinds.

        Examples
        --------
        >>> SampleGrid.of_coordinates([[0.0, 0.1, 0.4, 1.0]], "nonuniform").shape
        (4,)
        """
        given = list(coordinates.values() if isinstance(coordinates, Mapping) else coordinates)
        kinds = spread_kinds(axis_kinds, len(given))
        bounds = list(ends) if ends is not None else [None] * len(given)
        axes = []
        for values, kind, bound in zip(given, kinds, bounds, strict=True):
            place = np.asarray(values, dtype=float).reshape(-1)
            start, stop = bound if bound is not None else _guess_ends(place, kind)
            axes.append(SampleAxis(kind, place.size, start, stop, tuple(place.tolist())))
        return cls(tuple(axes))

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of points."""
        return tuple(axis.points for axis in self.axes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the axes."""
        return tuple(axis.kind for axis in self.axes)


def spread_kinds(axis_kinds: str | Sequence[str], dimension: int) -> tuple[str, ...]:
    """One kind for each axis; a single one stands for all."""
    kinds = (axis_kinds,) * dimension if isinstance(axis_kinds, str) else tuple(axis_kinds)
    if len(kinds) != dimension:
        raise ValueError(f"axis_kinds: got {kinds}, wanted {dimension}, one for each axis")
    return tuple(check_kind(kind) for kind in kinds)


def check_kinds(axis_kinds: Any) -> Any:
    """Refuse unknown kinds where the number of axes is not known yet; returns what was given.

    Examples
    --------
    >>> check_kinds(("node", "periodic"))
    ('node', 'periodic')
    """
    if axis_kinds is not None:
        given = axis_kinds if isinstance(axis_kinds, list | tuple) else (axis_kinds,)
        for kind in given:
            check_kind(kind)
    return axis_kinds


def _guess_ends(place: np.ndarray, kind: str) -> tuple[float | None, float | None]:
    """Interval that points of this kind fill; what the kind leaves open stays open."""
    if place.size < 2 or kind in NEED_COORDINATES:
        return None, None
    low, high = float(place.min()), float(place.max())
    step = (high - low) / (place.size - 1)
    if kind == "cell":
        return low - step / 2, high + step / 2
    if kind in ("periodic", "left"):
        return (low, high + step) if place[1] > place[0] else (low - step, high)
    return low, high
