"""Gaussian bumps at random places on a periodic box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid


@dataclass(frozen=True, kw_only=True)
class GaussianClusters:
    """Background plus a random number of bumps at places that all fields share.

    A seed for reaction-diffusion systems: ``{"A": (1.0, -0.5), "B": (0.0, 0.25)}`` takes away half
    of A and puts in B where a bump lies.

    Parameters
    ----------
    fields : mapping of str to (background, height)
        For each field.
    fewest, most : int, default 3 and 10
        Number of bumps, each equally likely.
    narrowest, widest : float, default 0.02 and 0.06
        Standard deviation of a bump as a share of the shortest axis, uniform in between.

    Raises
    ------
    ValueError
        If numbers are out of range.

    Examples
    --------
    >>> grid = Grid.periodic(x=(-1.0, 1.0, 32), y=(-1.0, 1.0, 32))
    >>> family = GaussianClusters(fields={"A": (1.0, -0.5), "B": (0.0, 0.25)})
    >>> found = family(grid, np.random.default_rng(0))
    >>> bool(np.allclose(found["A"], 1.0 - 2.0 * found["B"]))
    True
    """

    fields: Mapping[str, tuple[float, float]]
    fewest: int = 3
    most: int = 10
    narrowest: float = 0.02
    widest: float = 0.06

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most:
            raise ValueError(f"fewest={self.fewest}, most={self.most}: wanted 1 <= fewest <= most")
        if not 0.0 < self.narrowest <= self.widest <= 0.25:
            raise ValueError(
                f"narrowest={self.narrowest}, widest={self.widest}: wanted shares of the box with "
                "0 < narrowest <= widest <= 0.25"
            )

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw the fields; centers and widths do not depend on the number of points."""
        shortest = min(grid.lengths)
        cover = np.zeros(grid.shape)
        for _ in range(int(rng.integers(self.fewest, self.most, endpoint=True))):
            width = shortest * rng.uniform(self.narrowest, self.widest)
            bump = np.ones(())
            for axis, x in zip(grid.axes, grid.mesh().values(), strict=True):
                center = rng.uniform(axis.start, axis.stop)
                bump = bump * _periodic_gaussian(x - center, width, axis.length)
            cover = cover + bump
        # Bumps that overlap must not add up beyond the height of one.
        cover = np.minimum(cover, 1.0) if cover.max() > 1.0 else cover
        return {
            name: float(background) + float(height) * cover
            for name, (background, height) in self.fields.items()
        }


def _periodic_gaussian(distance: np.ndarray, width: float, length: float) -> np.ndarray:
    """Sum over the images: smooth across the seam of the circle."""
    reach = math.ceil(6.0 * width / length) + 1
    images = range(-reach, reach + 1)
    total = sum(np.exp(-0.5 * ((distance + k * length) / width) ** 2) for k in images)
    return np.asarray(total)
