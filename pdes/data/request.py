"""What the caller of `pdes.data.read` said about the file, in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pdes.data.errors import ReadError
from pdes.data.names import DIMENSIONS, SPACE, canonical_axis


@dataclass(frozen=True, kw_only=True)
class Request:
    """Names of fields, sources of coordinates and the axis order, as far as the caller gave them.

    Parameters
    ----------
    fields
        Names of variables; None if not given.
    coordinates
        For dimensions, the name of a variable or an array of values.
    axes
        Dimensions in array order; None if not given.
    """

    fields: tuple[str, ...] | None = None
    coordinates: Mapping[str, Any]
    axes: tuple[str, ...] | None = None

    @classmethod
    def from_arguments(
        cls,
        field: str | Sequence[str] | None,
        time: Any,
        space: Any,
        axes: Sequence[str] | None,
    ) -> Request:
        """Check and sort the arguments of `pdes.data.read`.

        Examples
        --------
        >>> request = Request.from_arguments("usol", "tau", ["lon", "lat"], ("x", "y", "t"))
        >>> request.coordinates, request.axes
        ({'time': 'tau', 'x': 'lon', 'y': 'lat'}, ('x', 'y', 'time'))
        """
        fields = (field,) if isinstance(field, str) else None if field is None else tuple(field)
        if fields == ():
            raise ReadError("field is empty: name at least one variable, or leave it out")
        coordinates = {} if time is None else {"time": time}
        coordinates |= _by_dimension(space)
        return cls(fields=fields, coordinates=coordinates, axes=_dimensions(axes))


def _dimensions(axes: Sequence[str] | None) -> tuple[str, ...] | None:
    if axes is None:
        return None
    if isinstance(axes, str):
        raise ReadError(f"axes is the text {axes!r}, wanted a tuple of names, e.g. ('x', 't')")
    names = tuple(canonical_axis(name) or name for name in axes)
    unknown = [name for name in names if name not in DIMENSIONS]
    if unknown:
        raise ReadError(
            f"axes names {unknown[0]!r}; wanted t, x, y, z or sample for every array axis in order"
        )
    if len(set(names)) != len(names):
        raise ReadError(f"axes names a dimension twice: {tuple(axes)}")
    return names


def _by_dimension(space: Any) -> dict[str, Any]:
    if space is None:
        return {}
    if isinstance(space, Mapping):
        unknown = [name for name in space if name not in SPACE]
        if unknown:
            raise ReadError(f"space has the key {unknown[0]!r}; wanted x, y or z")
        return dict(space)
    several = isinstance(space, (list, tuple)) and all(
        isinstance(part, str) or np.ndim(part) >= 1 for part in space
    )
    if not several:
        return {"x": space}
    if not 1 <= len(space) <= len(SPACE):
        raise ReadError(f"space has {len(space)} parts; wanted one to three, for x, y and z")
    return dict(zip(SPACE, space, strict=False))
