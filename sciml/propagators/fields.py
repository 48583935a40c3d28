"""Initial fields whose Fourier transform and whose tail are known in closed form."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pdes.grid import Grid
from sciml.theory import line_tail, periodic_tail

__all__ = [
    "AbstractField",
    "Box",
    "Gaussian",
    "Packet",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "Tent",
    "check_positive",
    "circle_of",
]


class AbstractField(ABC):
    """A field on the line (or plane) with exact Fourier transform, norm and tail.

    On a circle it stands for the sum of its images. It is also a family for `pdes.Problem.initial`:
    called with a grid and a generator it returns ``{"u": values}``.
    """

    dimension = 1

    @abstractmethod
    def value(self, *coordinates: np.ndarray) -> np.ndarray:
        """Values at positions; in the middle between both sides of a jump at the jump."""

    @abstractmethod
    def transform(self, *frequencies: np.ndarray) -> np.ndarray:
        """Fourier transform ``int u exp(-i xi x) dx``, complex."""

    @abstractmethod
    def tail(
        self,
        *,
        length: float | None = None,
        n_modes: int | None = None,
        cutoff: float | None = None,
    ) -> float:
        """Norm of what a window cuts: on a circle (length, n_modes), or on the line (cutoff)."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """Norm ``sqrt(int u^2 dx)`` on the line."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Interval outside of which the field is below rounding error."""

    @property
    def jumps(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and jumps of the field; none for a continuous one."""
        return np.zeros(0), np.zeros(0)

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Values on a grid, summed over the images of a periodic one; `rng` is not used."""
        coordinates = [grid.mesh()[name] for name in grid.names]
        total = np.zeros(grid.shape)
        for shift in _images(grid, self.support):
            total = total + self.value(*[c + s for c, s in zip(coordinates, shift, strict=True)])
        return {"u": total}


@dataclass(frozen=True)
class PiecewiseLinear(AbstractField):
    """Straight between breaks, zero outside.

    Parameters
    ----------
    edges : tuple of float, length n + 1
        Breaks, increasing.
    left, right : tuple of float, length n
        Values at both ends of every piece.

    Examples
    --------
    >>> ramp = PiecewiseLinear((0.0, 1.0), (0.0,), (2.0,))
    >>> ramp.norm**2, complex(ramp.transform(np.zeros(())))
    (1.3333333333333333, (1+0j))
    """

    edges: tuple[float, ...]
    left: tuple[float, ...]
    right: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("edges", "left", "right"):
            values = tuple(float(v) for v in getattr(self, name))
            if not all(math.isfinite(v) for v in values):
                raise ValueError(f"{name} is {values}: wanted finite numbers")
            object.__setattr__(self, name, values)
        if not len(self.edges) - 1 == len(self.left) == len(self.right) >= 1:
            raise ValueError(
                f"edges has {len(self.edges)} entries, left {len(self.left)} and right "
                f"{len(self.right)}: wanted one edge more than values"
            )
        if any(b <= a for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise ValueError(f"edges is {self.edges}: wanted increasing numbers")

    def value(self, *coordinates: np.ndarray) -> np.ndarray:
        """See `AbstractField.value`."""
        (x,) = coordinates
        total = np.zeros(np.shape(x))
        for a, b, u, v in self._pieces():
            inside = np.heaviside(x - a, 0.5) * np.heaviside(b - x, 0.5)
            total = total + inside * (u + (v - u) * (np.asarray(x) - a) / (b - a))
        return total

    def transform(self, *frequencies: np.ndarray) -> np.ndarray:
        """See `AbstractField.transform`; pieces are integrated with spherical Bessel functions."""
        (xi,) = frequencies
        total = np.zeros(np.shape(xi), dtype=complex)
        for a, b, u, v in self._pieces():
            # int_-1^1 exp(-i z y) dy/2 = j0(z), with y instead of 1 -i j1(z): no cancellation.
            z = 0.5 * (b - a) * np.asarray(xi, dtype=float)
            even, odd = special.spherical_jn(0, np.abs(z)), special.spherical_jn(1, np.abs(z))
            piece = 0.5 * (u + v) * even - 0.5j * (v - u) * np.sign(z) * odd
            total = total + (b - a) * np.exp(-0.5j * (a + b) * xi) * piece
        return total

    def tail(
        self,
        *,
        length: float | None = None,
        n_modes: int | None = None,
        cutoff: float | None = None,
    ) -> float:
        """See `AbstractField.tail`; exact."""
        positions, jumps = self.all_jumps
        if cutoff is not None:
            return line_tail(positions, jumps, cutoff=cutoff)
        length, n_modes = circle_of(length, n_modes)
        return periodic_tail(positions, jumps, length=length, n_modes=n_modes)

    @property
    def norm(self) -> float:
        """See `AbstractField.norm`."""
        return math.sqrt(
            sum((b - a) * (u * u + u * v + v * v) / 3 for a, b, u, v in self._pieces())
        )

    @property
    def support(self) -> tuple[float, float]:
        """See `AbstractField.support`."""
        return self.edges[0], self.edges[-1]

    @property
    def jumps(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and jumps of the field."""
        positions, jumps = self.all_jumps
        kept = jumps[:, 0] != 0.0
        return positions[kept], jumps[kept, 0]

    @property
    def all_jumps(self) -> tuple[np.ndarray, np.ndarray]:
        """Breaks, and the jumps of the field and of its slope there, shape (n + 1, 2)."""
        slopes = [(v - u) / (b - a) for a, b, u, v in self._pieces()]
        values = np.subtract((*self.left, 0.0), (0.0, *self.right))
        bends = np.subtract((*slopes, 0.0), (0.0, *slopes))
        return np.asarray(self.edges), np.stack((values, bends), axis=1)

    def _pieces(self) -> list[tuple[float, float, float, float]]:
        return list(zip(self.edges[:-1], self.edges[1:], self.left, self.right, strict=True))


class PiecewiseConstant(PiecewiseLinear):
    """Constant between breaks, zero outside.

    Parameters
    ----------
    edges : tuple of float, length n + 1
        Breaks, increasing.
    values : tuple of float, length n
        Value of every piece.

    Examples
    --------
    >>> steps = PiecewiseConstant((-0.8, -0.2, 0.5), (1.0, 1.6))
    >>> round(steps.tail(cutoff=30.0) / steps.norm, 6)
    0.135378
    """

    def __init__(self, edges: tuple[float, ...], values: tuple[float, ...]) -> None:
        super().__init__(tuple(edges), tuple(values), tuple(values))


class Box(PiecewiseConstant):
    """One height between two ends.

    Parameters
    ----------
    start, stop : float
        Ends.
    height : float, default 1
        Value in between.

    Examples
    --------
    >>> round(Box(2.0, 3.5).tail(length=2 * math.pi, n_modes=32) / Box(2.0, 3.5).norm, 6)
    0.112977
    """

    def __init__(self, start: float, stop: float, height: float = 1.0) -> None:
        super().__init__((start, stop), (height,))


class Tent(PiecewiseLinear):
    """A triangle.

    Parameters
    ----------
    center, half_width : float
        Top and distance of the foot.
    height : float, default 1
        Value at the top.

    Examples
    --------
    >>> round(Tent(0.0, 0.5).tail(cutoff=30.0) / Tent(0.0, 0.5).norm, 6)
    0.018741
    """

    def __init__(self, center: float, half_width: float, height: float = 1.0) -> None:
        check_positive(half_width=half_width)
        edges = (center - half_width, center, center + half_width)
        super().__init__(edges, (0.0, height), (height, 0.0))


@dataclass(frozen=True)
class Packet(AbstractField):
    """``amplitude exp(-(x - center)^2/(2 width^2)) cos(wavenumber (x - center))``.

    Parameters
    ----------
    center, width : float
        Middle and standard deviation of the envelope.
    wavenumber : float, default 0
        Angular wave number of the carrier.
    amplitude : float, default 1
        Value in the middle.

    Examples
    --------
    >>> round(Packet(0.0, 0.1).tail(cutoff=30.0) / Packet(0.0, 0.1).norm, 6)
    0.0047
    """

    center: float
    width: float
    wavenumber: float = 0.0
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        check_positive(width=self.width)
        if not all(map(math.isfinite, (self.center, self.wavenumber, self.amplitude))):
            raise ValueError(f"{self}: wanted finite numbers")

    def value(self, *coordinates: np.ndarray) -> np.ndarray:
        """See `AbstractField.value`."""
        y = np.asarray(coordinates[0]) - self.center
        return self.amplitude * np.exp(-0.5 * (y / self.width) ** 2) * np.cos(self.wavenumber * y)

    def transform(self, *frequencies: np.ndarray) -> np.ndarray:
        """See `AbstractField.transform`."""
        xi, s, k = np.asarray(frequencies[0]), self.width, self.wavenumber
        both = np.exp(-0.5 * (s * (xi - k)) ** 2) + np.exp(-0.5 * (s * (xi + k)) ** 2)
        scale = 0.5 * self.amplitude * s * math.sqrt(2.0 * math.pi)
        return scale * both * np.exp(-1j * xi * self.center)

    def tail(
        self,
        *,
        length: float | None = None,
        n_modes: int | None = None,
        cutoff: float | None = None,
    ) -> float:
        """See `AbstractField.tail`; error functions on the line, a short sum on a circle."""
        s, k = self.width, abs(self.wavenumber)
        if cutoff is not None:
            parts = math.erfc(s * (cutoff - k)) + math.erfc(s * (cutoff + k))
            parts += 2.0 * math.exp(-((s * k) ** 2)) * math.erfc(s * cutoff)
            return abs(self.amplitude) * math.sqrt(0.25 * s * math.sqrt(math.pi) * parts)
        length, n_modes = circle_of(length, n_modes)
        step = 2.0 * math.pi / length
        last = max(n_modes, math.ceil((k + 40.0 / s) / step))
        xi = step * np.arange(n_modes + 1, last + 1)
        return math.sqrt(2.0 / length * float((np.abs(self.transform(xi)) ** 2).sum()))

    @property
    def norm(self) -> float:
        """See `AbstractField.norm`."""
        s, k = self.width, self.wavenumber
        square = 0.5 * s * math.sqrt(math.pi) * (1.0 + math.exp(-((s * k) ** 2)))
        return abs(self.amplitude) * math.sqrt(square)

    @property
    def support(self) -> tuple[float, float]:
        """See `AbstractField.support`."""
        return self.center - 9.0 * self.width, self.center + 9.0 * self.width


class Gaussian(Packet):
    """``amplitude exp(-(x - center)^2/(2 width^2))``.

    Examples
    --------
    >>> round(Gaussian(0.0, 0.1).norm, 6)
    0.421005
    """

    def __init__(self, center: float, width: float, amplitude: float = 1.0) -> None:
        super().__init__(center, width, 0.0, amplitude)


def _images(grid: Grid, support: tuple[float, float]) -> list[tuple[float, ...]]:
    """Shifts by whole periods under which the support may meet the grid."""
    shifts: list[tuple[float, ...]] = [()]
    for axis in grid.axes:
        along = [0.0]
        if axis.periodic:
            first = math.floor((support[0] - axis.stop) / axis.length)
            last = math.ceil((support[1] - axis.start) / axis.length)
            along = [n * axis.length for n in range(first, last + 1)]
        shifts = [(*before, shift) for before in shifts for shift in along]
    return shifts


def circle_of(length: float | None, n_modes: int | None) -> tuple[float, int]:
    """Period and window of a tail on a circle; refuse calls that leave them out."""
    if length is None or n_modes is None:
        raise ValueError("give either cutoff, or length and n_modes")
    return length, n_modes


def check_positive(**arguments: Any) -> None:
    """Refuse arguments that are not positive."""
    for name, value in arguments.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} is {value}: it must be positive and finite")
