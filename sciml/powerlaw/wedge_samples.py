"""What is known of a field about a corner: values, derivatives, and conditions on its edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdes.exact import Cone, Sectors
from sciml.powerlaw.kinds import SINGLE, float_kind, refuse_mixed_kinds
from sciml.powerlaw.masked import refuse_masked

SMALLEST_RADIUS = 1e-12
"""Radii below this are taken for the corner itself, where powers have no gradient."""
LARGEST_RADIUS = 1e12
"""Powers of larger ones overflow."""
LARGEST_VALUE = 1e100
SMALLEST_VALUE = float(np.finfo(np.float64).tiny)
"""Data whose largest value is smaller have lost digits already: they are denormal."""
TO_EDGE = 1e-9
"""Angles may miss the sector by this much, in radians."""
TO_EDGE_SINGLE = 1e-6
"""The same for angles in single precision."""


@dataclass(frozen=True, eq=False)
class WedgeSamples:
    """Values of a field, or of its derivative in a direction, at points about a corner.

    Parameters
    ----------
    radius, angle : array_like, shape (n,) or scalar
        Polar coordinates about the corner.
    values : array_like, shape (n,)
        What was measured.
    direction : array_like, shape (n,) or scalar, optional
        The values are derivatives in this direction, an angle in radians from the same axis as
        `angle`; values of the field itself by default.
    weight : float, default 1
        Of these rows: the inverse of their noise, or a penalty.

    Raises
    ------
    ValueError
        For arrays that do not fit, or of several precisions, NaN, a radius below 1e-12 or a weight
        that is not positive.

    Examples
    --------
    The flux through the side ``x = 1`` of a square, at three points:

    >>> y = np.array([0.2, 0.5, 0.8])
    >>> samples = WedgeSamples(np.hypot(1, y), np.arctan2(y, 1), np.zeros(3), direction=0.0)
    >>> len(samples)
    3
    """

    radius: Any
    angle: Any
    values: Any
    direction: Any = None
    weight: float = 1.0
    _reach: float = field(default=TO_EDGE, init=False, repr=False)
    _single: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        given = {n: getattr(self, n) for n in ("radius", "angle", "values", "direction")}
        refuse_mixed_kinds(**given)
        single = any(float_kind(array) in SINGLE for array in given.values())
        object.__setattr__(self, "_single", single)
        # Edges in single precision miss the sector by its rounding.
        object.__setattr__(self, "_reach", TO_EDGE_SINGLE if single else TO_EDGE)
        values = _vector("values", self.values)
        object.__setattr__(self, "values", values)
        for name in ("radius", "angle", "direction"):
            given = getattr(self, name)
            if given is None and name == "direction":
                continue
            array = _vector(name, given, like=values)
            object.__setattr__(self, name, array)
        low = self.radius[self.radius < SMALLEST_RADIUS]
        if low.size:
            raise ValueError(
                f"radius: {low.size} below {SMALLEST_RADIUS:g} (the smallest is {low.min():g}); "
                "leave the corner itself out"
            )
        for name, largest in (("radius", LARGEST_RADIUS), ("values", LARGEST_VALUE)):
            most = float(np.abs(getattr(self, name)).max())
            if most > largest:
                raise ValueError(
                    f"{name}: the largest is {most:g}, wanted at most {largest:g}; give it in "
                    "another unit"
                )
        if not _is_positive(self.weight):
            raise ValueError(f"weight={self.weight!r}, wanted a positive number")

    def __len__(self) -> int:
        return len(self.values)


def _is_positive(weight: Any) -> bool:
    plain = isinstance(weight, (int, float, np.integer, np.floating))
    return plain and not isinstance(weight, bool) and math.isfinite(weight) and bool(weight > 0.0)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that take value and slopes of one sector: ``value u + euler r u_r + turn u_theta``."""

    sector: int
    rows: NDArray
    radius: NDArray
    angle: NDArray
    value: NDArray
    euler: NDArray
    turn: NDArray


@dataclass(frozen=True, eq=False)
class RowSystem:
    """All rows of a fit.

    Attributes
    ----------
    parts : tuple of Part
    values, weights : ndarray, shape (rows,)
    edge_rows : int
        How many of the last rows are edge and interface conditions.
    """

    parts: tuple[Part, ...]
    values: NDArray
    weights: NDArray
    edge_rows: int

    @property
    def measured(self) -> int:
        """Rows that tell something of this field: not those of homogeneous conditions."""
        count = len(self.values) - self.edge_rows
        return len(self.values) if np.any(self.values[count:]) else count

    def in_own_unit(self) -> tuple[RowSystem, float]:
        """The rows with values divided by a power of two near the largest, and that unit.

        Squares of values then neither overflow nor vanish, and no digit is lost.

        Raises
        ------
        ValueError
            If all values are denormal, with fewer digits than other numbers.
        """
        most = float(np.abs(self.values).max())
        if most == 0.0:
            return self, 1.0
        if most < SMALLEST_VALUE:
            raise ValueError(
                f"values: the largest is {most:g}, wanted at least {SMALLEST_VALUE:g}, below which "
                "numbers have fewer digits; give them in another unit"
            )
        unit = float(2.0 ** np.floor(np.log2(most)))
        return replace(self, values=self.values / unit), unit

    def without_edges(self) -> RowSystem:
        """The rows of the samples alone."""
        count = len(self.values) - self.edge_rows
        kept = tuple(part for part in self.parts if part.rows.size and part.rows[0] < count)
        return RowSystem(kept, self.values[:count], self.weights[:count], 0)


def as_samples(arc: Any) -> list[WedgeSamples]:
    """Samples of any accepted form: ``(theta, values)`` on the unit arc, ``(r, theta, values)``.

    Raises
    ------
    ValueError
    """
    if isinstance(arc, WedgeSamples):
        return [arc]
    if isinstance(arc, Sequence) and arc and all(isinstance(s, WedgeSamples) for s in arc):
        if len({group._single for group in arc}) > 1:
            raise ValueError("arc: some samples are float32, others float64; wanted one precision")
        return list(arc)
    if isinstance(arc, (tuple, list)) and len(arc) == 2:
        return [WedgeSamples(1.0, arc[0], arc[1])]
    if isinstance(arc, (tuple, list)) and len(arc) == 3:
        return [WedgeSamples(*arc)]
    raise ValueError(
        f"arc: got {type(arc).__name__}, wanted (theta, values) on the unit arc, "
        "(radius, theta, values), or WedgeSamples"
    )


def condition_names(corner: Sectors | Cone) -> list[str]:
    """The homogeneous conditions of a corner, in the order of their rows."""
    if isinstance(corner, Cone):
        return ["surface " + ("value" if corner.bc == "D" else "flux")]
    kinds = {"D": "value", "N": "flux"}
    count = len(corner.sectors)
    joints = [f"interface {k} {kind}" for k in range(1, count) for kind in ("value", "flux")]
    if corner.bc == "periodic":
        return [*joints, "closing value", "closing flux"]
    first, last = (kinds[letter] for letter in corner.bc)
    return [f"first edge {first}", *joints, f"last edge {last}"]


def condition_parts(corner: Sectors | Cone, radii: NDArray, first_row: int = 0) -> list[Part]:
    """Rows of every condition at these radii; fluxes are ``a u_theta`` over the largest ``a``."""
    if isinstance(corner, Cone):
        return [_end(0, corner.angle, corner.bc, 1.0, radii, first_row)]
    sectors, count = corner.sectors, len(corner.sectors)
    highest = max(a for _, a in sectors)
    parts, row = [], first_row
    if corner.bc != "periodic":
        parts.append(_end(0, 0.0, corner.bc[0], 1.0, radii, row))
        row += len(radii)
    joints = [(k - 1, k) for k in range(1, count)]
    if corner.bc == "periodic":
        joints.append((count - 1, 0))
    for before, after in joints:
        for kind in ("D", "N"):
            sizes = [sectors[k][1] / highest if kind == "N" else 1.0 for k in (before, after)]
            parts.append(_end(before, sectors[before][0], kind, sizes[0], radii, row))
            parts.append(_end(after, 0.0, kind, -sizes[1], radii, row))
            row += len(radii)
    if corner.bc != "periodic":
        parts.append(_end(count - 1, sectors[-1][0], corner.bc[1], 1.0, radii, row))
    return parts


def row_system(
    corner: Sectors | Cone, samples: Sequence[WedgeSamples], start: float, edges: Any, weight: float
) -> RowSystem:
    """Stack samples and edge conditions.

    Raises
    ------
    ValueError
    """
    if not _is_positive(weight):
        raise ValueError(f"W={weight!r}, wanted a positive weight of the edge rows")
    parts, values, weights, row = [], [], [], 0
    for group in samples:
        parts += _sample_parts(corner, group, start, row)
        values.append(group.values)
        weights.append(np.full(len(group), float(group.weight)))
        row += len(group)
    outer = max(float(group.radius.max()) for group in samples)
    radii, edge_values = _edge_rows(edges, outer, condition_names(corner))
    if radii.size:
        parts += condition_parts(corner, radii, row)
        values.append(edge_values.ravel())
        weights.append(np.full(edge_values.size, float(weight)))
    return RowSystem(
        tuple(parts), np.concatenate(values), np.concatenate(weights), int(edge_values.size)
    )


def locate(
    corner: Sectors | Cone, angle: NDArray, start: float, reach: float = TO_EDGE
) -> tuple[NDArray, NDArray]:
    """Sector of each angle, and the angle counted from the start of that sector.

    Raises
    ------
    ValueError
        If an angle lies outside the corner.
    """
    turn = 2.0 * math.pi
    inside = angle - start
    if isinstance(corner, Cone):
        bounds = np.array([0.0, corner.angle])
    else:
        inside = np.mod(inside, turn)
        # Rounding can put the first edge at the end of the turn.
        inside = np.where(inside > turn - reach, inside - turn, inside)
        if corner.angle > turn - reach and np.any(angle - start > turn - reach):
            inside = np.where(angle - start > turn - reach, turn, inside)
        bounds = np.concatenate([[0.0], np.cumsum([w for w, _ in corner.sectors])])
    outside = (inside < -reach) | (inside > bounds[-1] + reach)
    if outside.any():
        raise ValueError(
            f"angle: {int(outside.sum())} of {angle.size} lie outside the corner, which spans "
            f"{start:.6g} to {start + bounds[-1]:.6g}; the first is {angle[outside][0]:.6g}"
        )
    inside = np.clip(inside, 0.0, bounds[-1])
    sector = np.clip(np.searchsorted(bounds, inside, side="left") - 1, 0, len(bounds) - 2)
    return sector, inside - bounds[sector]


def _sample_parts(corner: Sectors | Cone, group: WedgeSamples, start: float, row: int) -> list:
    sector, local = locate(corner, group.angle, start, group._reach)
    one = np.ones(len(group))
    if group.direction is None:
        value, euler, turn = one, 0.0 * one, 0.0 * one
    else:
        lean = group.direction - group.angle
        value, euler, turn = 0.0 * one, np.cos(lean) / group.radius, np.sin(lean) / group.radius
    parts = []
    for place in np.unique(sector):
        here = np.flatnonzero(sector == place)
        pieces = (group.radius, local, value, euler, turn)
        parts.append(Part(int(place), row + here, *(piece[here] for piece in pieces)))
    return parts


def _end(sector: int, angle: float, kind: str, sign: float, radii: NDArray, row: int) -> Part:
    size = np.full(radii.shape, sign)
    zero = np.zeros(radii.shape)
    value, turn = (size, zero) if kind == "D" else (zero, size)
    rows = row + np.arange(radii.size)
    return Part(sector, rows, radii, np.full(radii.shape, angle), value, zero, turn)


def _edge_rows(edges: Any, outer: float, names: list[str]) -> tuple[NDArray, NDArray]:
    count = len(names)
    if edges is None:
        return np.empty(0), np.empty((count, 0))
    values = None
    if isinstance(edges, tuple):
        if len(edges) != 2:
            raise ValueError(f"edges: got {len(edges)} arrays, wanted (radii, values)")
        edges, values = edges
    if isinstance(edges, (int, np.integer)):
        if edges < 0:
            raise ValueError(f"edges={edges}, wanted how many points on each edge, or None")
        radii = np.geomspace(1e-3 * outer, outer, int(edges))
    else:
        if np.ndim(edges) == 0 and not isinstance(edges, (str, bytes)):
            raise ValueError(
                f"edges={edges!r}, wanted how many points on each edge, their radii, or None"
            )
        radii = _vector("edges", edges)
        if radii.min() < SMALLEST_RADIUS:
            raise ValueError(f"edges: radius {radii.min():g} is below {SMALLEST_RADIUS:g}")
    if values is None:
        return radii, np.zeros((count, radii.size))
    table = _real("edges", values)
    if table.shape != (count, radii.size) or not np.all(np.isfinite(table)):
        raise ValueError(
            f"edges: values have shape {table.shape}, wanted finite numbers of shape "
            f"{(count, radii.size)}, a row for each of {', '.join(names)}"
        )
    return radii, table


def _real(name: str, given: Any) -> NDArray:
    refuse_masked(name, given)
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        raw = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} is no array: wanted numbers in equal rows") from None
    if raw.dtype.kind not in "fiu":
        raise ValueError(f"{name}: dtype {raw.dtype}, wanted real numbers")
    return raw.astype(np.float64)


def _vector(name: str, given: Any, like: NDArray | None = None) -> NDArray:
    array = _real(name, given)
    if like is not None:
        if array.ndim == 0:
            array = np.full(like.shape, float(array))
        if array.shape != like.shape:
            raise ValueError(f"{name}: shape {array.shape}, wanted {like.shape} as the values")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name}: shape {array.shape}, wanted a vector with at least one entry")
    if not np.all(np.isfinite(array)):
        bad = np.flatnonzero(~np.isfinite(array))
        raise ValueError(
            f"{name}: {bad.size} of {array.size} are NaN or infinite, the first at {bad[0]}; "
            "drop these samples"
        )
    return array
