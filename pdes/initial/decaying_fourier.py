"""Fourier modes up to a cutoff with amplitudes that fall off like a power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid
from pdes.initial.modes import ModeAxis, draw, synthesize, wavenumbers_squared


@dataclass(frozen=True, kw_only=True)
class DecayingFourier:
    """Truncated Fourier series: normal coefficients of standard deviation ``amplitude n^-decay``.

    The functions are orthonormal with respect to the *mean* over the box, so that the variance at a
    point is the sum of the squared standard deviations; ``n`` is the length of the vector of wave
    counts, and modes with ``0 < n <= modes`` take part.

    Parameters
    ----------
    modes : int
        Cutoff, at least 1.
    decay : float
        Exponent; any real number, as the sum is finite.
    amplitude : float, default 1
        Standard deviation of the lowest modes.
    mean : float, default 0
        Added to the field.
    fields : tuple of str, default ("u",)
        One independent draw for each.

    Raises
    ------
    ValueError
        If a number is out of range or the grid too coarse.

    Examples
    --------
    >>> grid = Grid.periodic(x=(0.0, 1.0, 32))
    >>> u = DecayingFourier(modes=5, decay=2.0)(grid, np.random.default_rng(0))["u"]
    >>> bool(np.abs(np.fft.rfft(u))[6:].max() < 1e-12)
    True
    """

    modes: int
    decay: float
    amplitude: float = 1.0
    mean: float = 0.0
    fields: tuple[str, ...] = ("u",)

    def __post_init__(self) -> None:
        if self.modes < 1:
            raise ValueError(f"modes must be at least 1, got {self.modes}")
        if not np.all(np.isfinite([self.decay, self.amplitude, self.mean])):
            raise ValueError("decay, amplitude and mean must be finite")

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw one field for each name, each of the grid's shape."""
        for axis in grid.axes:
            if not axis.periodic or 2 * self.modes >= axis.points:
                raise ValueError(
                    f"axis {axis.name!r} has {axis.points} points: modes={self.modes} needs a "
                    f"periodic axis of more than {2 * self.modes}"
                )
        axes = tuple(ModeAxis("periodic", axis.points, 1.0) for axis in grid.axes)
        scale = self.amplitude * self.scales(axes)
        return {name: self.mean + synthesize(axes, scale * draw(axes, rng)) for name in self.fields}

    def scales(self, axes: tuple[ModeAxis, ...]) -> np.ndarray:
        """Standard deviation of each mode for a unit amplitude."""
        count = np.sqrt(wavenumbers_squared(axes)) / (2.0 * np.pi)
        inside = (count > 0.5) & (count <= self.modes * (1.0 + 1e-12))
        return np.where(inside, np.where(inside, count, 1.0) ** -self.decay, 0.0)
