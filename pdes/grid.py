"""Uniform grids on boxes, and their wave numbers."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["Axis", "Grid"]


@dataclass(frozen=True)
class Axis:
    """One uniform axis.

    Parameters
    ----------
    name
        Name of the coordinate, one letter.
    start, stop
        Ends of the interval, in the coordinate's unit.
    points
        Number of points. A periodic axis includes ``start`` and leaves out ``stop``, which is the
        same point; any other axis includes both ends.
    periodic
        Whether the two ends are the same point.

    Examples
    --------
    >>> from pdes import Axis
    >>> Axis("x", 0.0, 1.0, 4).values()
    array([0.  , 0.25, 0.5 , 0.75])
    """

    name: str
    start: float
    stop: float
    points: int
    periodic: bool = True

    def __post_init__(self) -> None:
        for end in ("start", "stop"):
            value = getattr(self, end)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ValueError(f"axis {self.name}: {end} is {value!r}, wanted a number")
        if isinstance(self.points, bool) or not isinstance(self.points, numbers.Real):
            raise ValueError(
                f"axis {self.name}: got {self.points!r} points, wanted an integer >= 2"
            )
        if not math.isfinite(self.points):
            raise ValueError(f"axis {self.name}: got {self.points} points, wanted an integer >= 2")
        if not (math.isfinite(self.start) and math.isfinite(self.stop) and self.start < self.stop):
            raise ValueError(
                f"axis {self.name}: got start {self.start} and stop {self.stop}, "
                "wanted finite ends with start < stop"
            )
        if int(self.points) != self.points or self.points < 2:
            raise ValueError(f"axis {self.name}: got {self.points} points, wanted an integer >= 2")

    @property
    def length(self) -> float:
        """Length of the interval."""
        return self.stop - self.start

    @property
    def kind(self) -> str:
        """Where the points lie: ``"periodic"`` (the end left out) or ``"node"`` (both ends)."""
        return "periodic" if self.periodic else "node"

    @property
    def spacing(self) -> float:
        """Distance between neighboring points."""
        return self.length / (self.points if self.periodic else self.points - 1)

    def values(self) -> np.ndarray:
        """Coordinates of the points, shape (points,), float64."""
        return np.linspace(self.start, self.stop, self.points, endpoint=not self.periodic)


@dataclass(frozen=True)
class Grid:
    """Product of uniform axes.

    Parameters
    ----------
    axes
        The axes in the order of the array dimensions.

    Examples
    --------
    >>> from pdes import Grid
    >>> grid = Grid.periodic(x=(0.0, 2.0, 8), y=(0.0, 1.0, 16))
    >>> grid.shape, grid.spacings
    ((8, 16), (0.25, 0.0625))
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        given = (self.axes,) if isinstance(self.axes, Axis) else self.axes
        if not isinstance(given, list | tuple) or not all(isinstance(a, Axis) for a in given):
            raise ValueError(
                f"axes: got {self.axes!r}, wanted a tuple of Axis: Grid((Axis('x', 0.0, 1.0, 65),))"
            )
        object.__setattr__(self, "axes", tuple(given))
        if not self.axes or len(set(self.names)) < len(self.axes):
            raise ValueError(f"axes: got {self.names}, wanted one or more of different names")

    @classmethod
    def periodic(cls, **axes: tuple[float, float, int]) -> Grid:
        """Periodic grid from ``name=(start, stop, points)``, the end point left out.

        Examples
        --------
        >>> from pdes import Grid
        >>> Grid.periodic(x=(0.0, 6.28, 256)).names
        ('x',)
        """
        for name, values in axes.items():
            if not isinstance(values, list | tuple) or len(values) != 3:
                raise ValueError(f"{name}={values!r}: wanted (start, stop, points)")
        return cls(tuple(Axis(name, *values) for name, values in axes.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of points."""
        return tuple(axis.points for axis in self.axes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the axes, which decide what a mean over the points is.

        Examples
        --------
        >>> from pdes import Axis, Grid
        >>> Grid((Axis("x", 0.0, 1.0, 8), Axis("y", 0.0, 1.0, 9, periodic=False))).kinds
        ('periodic', 'node')
        """
        return tuple(axis.kind for axis in self.axes)

    @property
    def lengths(self) -> tuple[float, ...]:
        """Lengths of the intervals."""
        return tuple(axis.length for axis in self.axes)

    @property
    def spacings(self) -> tuple[float, ...]:
        """Distances between neighboring points."""
        return tuple(axis.spacing for axis in self.axes)

    def coordinates(self) -> dict[str, np.ndarray]:
        """One-dimensional coordinates by axis name, each of shape (points,), float64."""
        return {axis.name: axis.values() for axis in self.axes}

    def mesh(self) -> dict[str, np.ndarray]:
        """Coordinates by axis name, shaped so that they broadcast against a field on the grid.

        Examples
        --------
        >>> from pdes import Grid
        >>> mesh = Grid.periodic(x=(0.0, 1.0, 8), y=(0.0, 1.0, 16)).mesh()
        >>> mesh["x"].shape, mesh["y"].shape
        ((8, 1), (1, 16))
        """
        values = np.meshgrid(*[axis.values() for axis in self.axes], indexing="ij", sparse=True)
        return dict(zip(self.names, values, strict=True))

    def wavenumbers(
        self,
        xp: ModuleType | Any = np,
        real_last: bool = True,
        dtype: Any = None,
        device: Any = None,
    ) -> dict[str, Any]:
        """Angular wave numbers 2 pi m / length, in the order of a discrete Fourier transform.

        Parameters
        ----------
        xp
            Array namespace: numpy, or ``array_api_compat.torch``.
        real_last
            The last axis holds the non-negative half only, as a real transform leaves it.
        dtype
            Real floating type or its name; float64 if None.
        device
            Where the arrays live; the default place if None.

        Returns
        -------
        dict
            Array by axis name, shaped so that it broadcasts against a transformed field. The
            Nyquist mode of a full axis has the negative sign, as in ``numpy.fft.fftfreq``.

        Raises
        ------
        ValueError
            If an axis is not periodic, or has fewer than 8 points or an odd number of them.

        Examples
        --------
        >>> import numpy as np
        >>> from pdes import Grid
        >>> Grid.periodic(x=(0.0, 2 * np.pi, 8)).wavenumbers()["x"]
        array([0., 1., 2., 3., 4.])
        """
        self.require_spectral()
        kind = getattr(xp, dtype) if isinstance(dtype, str) else dtype or xp.float64
        place_there = {} if device is None else {"device": device}
        found = {}
        for place, axis in enumerate(self.axes):
            half = real_last and place == len(self.axes) - 1
            frequencies = (np.fft.rfftfreq if half else np.fft.fftfreq)(
                axis.points, 1 / axis.points
            )
            shape = [-1 if i == place else 1 for i in range(len(self.axes))]
            values = (2 * np.pi / axis.length * frequencies).reshape(shape)
            found[axis.name] = xp.asarray(values, dtype=kind, **place_there)
        return found

    def require_spectral(self) -> None:
        """Refuse a grid on which Fourier methods do not work.

        Raises
        ------
        ValueError
            Naming the axis, if it is not periodic, has fewer than 8 points or an odd number.
        """
        for axis in self.axes:
            if not axis.periodic:
                raise ValueError(f"axis {axis.name}: Fourier methods need a periodic axis")
            if axis.points < 8 or axis.points % 2:
                raise ValueError(
                    f"axis {axis.name}: got {axis.points} points, Fourier methods want an even "
                    "number of at least 8"
                )
