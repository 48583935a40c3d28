"""Random smooth periodic fields: a few Fourier modes with normal coefficients."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid


@dataclass(frozen=True, kw_only=True)
class RandomFourier:
    r"""Sum of the lowest Fourier modes with independent normal coefficients.

    In one dimension ``sum over k = 1..modes of a_k cos(2 pi k x/L) + b_k sin(2 pi k x/L)``, with
    ``a_k`` and ``b_k`` drawn in this order, divided by its standard deviation over the grid, times
    `amplitude`, plus `mean`. In more dimensions all wave vectors with components up to `modes`
    take part, one of each pair ``k``, ``-k``.

    Parameters
    ----------
    modes : int
        Highest mode number, at least 1.
    amplitude : float, default 1
        Standard deviation over the grid.
    mean : float, default 0
        Mean value.
    fields : tuple of str, default ("u",)
        One independent draw for each.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Grid
    >>> grid = Grid.periodic(x=(0.0, 1.0, 64))
    >>> field = RandomFourier(modes=4, amplitude=0.5)(grid, np.random.default_rng(3))["u"]
    >>> round(float(field.std()), 12)
    0.5
    """

    modes: int
    amplitude: float = 1.0
    mean: float = 0.0
    fields: tuple[str, ...] = ("u",)

    def __post_init__(self) -> None:
        if self.modes < 1:
            raise ValueError(f"modes must be at least 1, got {self.modes}")
        if not (np.isfinite(self.amplitude) and np.isfinite(self.mean)):
            raise ValueError(f"amplitude and mean must be finite: {self.amplitude}, {self.mean}")

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw one field for each name, each of the grid's shape."""
        for axis in grid.axes:
            if 2 * self.modes >= axis.points:
                raise ValueError(
                    f"modes={self.modes} needs more than {2 * self.modes} points on axis "
                    f"{axis.name!r}, which has {axis.points}"
                )
        return {name: self._draw(grid, rng) for name in self.fields}

    def _draw(self, grid: Grid, rng: np.random.Generator) -> np.ndarray:
        phases = [
            2.0 * np.pi * (x - axis.start) / axis.length
            for x, axis in zip(grid.mesh().values(), grid.axes, strict=True)
        ]
        total = np.zeros(grid.shape)
        for wave in _half_space(self.modes, len(grid.shape)):
            a, b = rng.normal(size=2)
            phase = sum(k * angle for k, angle in zip(wave, phases, strict=True))
            total = total + a * np.cos(phase) + b * np.sin(phase)
        return self.mean + self.amplitude * total / total.std()


def _half_space(modes: int, dimension: int) -> list[tuple[int, ...]]:
    """Wave vectors whose first component that is not zero is positive."""
    every = itertools.product(range(-modes, modes + 1), repeat=dimension)
    return [wave for wave in every if next((k for k in wave if k), 0) > 0]
