"""Real eigenfunctions of the Laplacian on a box, and coefficients that do not depend on the grid.

Every axis has an orthonormal basis: ``1, cos, sin`` on a circle, sines where the field vanishes at
the ends, cosines where its slope does. Products over the axes diagonalize the Laplacian, so that a
random field is a table of independent normal numbers, one for each product. The numbers are drawn
from low modes to high ones: a finer grid draws the same first numbers and continues.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import fft

BOUNDARIES = ("periodic", "dirichlet", "neumann")


@dataclass(frozen=True)
class ModeAxis:
    """Basis functions of one axis and where they are evaluated.

    Parameters
    ----------
    boundary : {"periodic", "dirichlet", "neumann"}
        What the functions do at the ends.
    points : int
        Number of points: without the end on a circle, with both ends otherwise, or `points` cells
        if `centered`.
    length : float
        Length of the interval.
    centered : bool, default False
        Evaluate at the centers of equal cells.

    Examples
    --------
    >>> ModeAxis("dirichlet", 9, 1.0).frequencies
    array([1, 2, 3, 4, 5, 6, 7])
    >>> ModeAxis("periodic", 8, 1.0).frequencies
    array([0, 1, 2, 3, 1, 2, 3])
    """

    boundary: str
    points: int
    length: float
    centered: bool = False

    def __post_init__(self) -> None:
        if self.boundary not in BOUNDARIES:
            raise ValueError(f"boundary is {self.boundary!r}, wanted one of {BOUNDARIES}")
        if self.points < 4:
            raise ValueError(f"an axis of {self.points} points holds no modes, wanted at least 4")

    @property
    def cutoff(self) -> int:
        """Modes are kept strictly below this number of half waves (waves on a circle)."""
        if self.boundary == "periodic":
            return (self.points + 1) // 2
        return self.points if self.centered else self.points - 1

    @property
    def frequencies(self) -> np.ndarray:
        """Number of waves (on a circle, cosines before sines) or half waves of each function."""
        rising = np.arange(self.cutoff)
        if self.boundary == "neumann":
            return rising
        return rising[1:] if self.boundary == "dirichlet" else np.concatenate((rising, rising[1:]))

    @property
    def wavenumbers(self) -> np.ndarray:
        """Angular wave numbers of the functions."""
        return (
            (2.0 if self.boundary == "periodic" else 1.0) * np.pi / self.length * self.frequencies
        )

    def synthesize(self, table: np.ndarray, place: int) -> np.ndarray:
        """Values on the points from coefficients along one dimension of a table."""
        table = np.moveaxis(table, place, -1)
        scale = math.sqrt(2.0 / self.length)
        values: Any
        if self.boundary == "periodic":
            values = self._circle(table, scale)
        elif self.boundary == "neumann":
            padded = np.zeros((*table.shape[:-1], self.points))
            padded[..., : self.cutoff] = 0.5 * scale * table
            # Constant: 1/sqrt(length), which both transforms count once where others count twice.
            padded[..., 0] = table[..., 0] / math.sqrt(self.length)
            values = fft.dct(padded, type=3 if self.centered else 1, axis=-1)
        else:
            size = self.points if self.centered else self.points - 2
            padded = np.zeros((*table.shape[:-1], size))
            padded[..., : self.cutoff - 1] = 0.5 * scale * table
            values = fft.dst(padded, type=3 if self.centered else 1, axis=-1)
            if not self.centered:
                values = np.concatenate(
                    (np.zeros_like(values[..., :1]), values, np.zeros_like(values[..., :1])),
                    axis=-1,
                )
        return np.moveaxis(values, -1, place)

    def _circle(self, table: np.ndarray, scale: float) -> np.ndarray:
        spectrum = np.zeros((*table.shape[:-1], self.points // 2 + 1), dtype=complex)
        cosines, sines = table[..., : self.cutoff], table[..., self.cutoff :]
        spectrum[..., : self.cutoff] = 0.5 * scale * cosines
        spectrum[..., 1 : self.cutoff] -= 0.5j * scale * sines
        spectrum[..., 0] = cosines[..., 0] / math.sqrt(self.length)
        if self.centered:
            spectrum *= np.exp(1j * np.pi / self.points * np.arange(spectrum.shape[-1]))
        return self.points * np.fft.irfft(spectrum, n=self.points, axis=-1)


def draw(axes: tuple[ModeAxis, ...], rng: np.random.Generator) -> np.ndarray:
    """One standard normal number for each product of basis functions.

    Parameters
    ----------
    axes : tuple of ModeAxis
        One for each dimension.
    rng : numpy.random.Generator
        Source of the numbers.

    Returns
    -------
    ndarray, one dimension for each axis

    Examples
    --------
    >>> coarse, fine = (ModeAxis("neumann", n, 1.0) for n in (9, 17))
    >>> few = draw((coarse,), np.random.default_rng(1))
    >>> np.array_equal(few, draw((fine,), np.random.default_rng(1))[:8])
    True
    """
    table = np.empty(tuple(axis.frequencies.size for axis in axes))
    table.reshape(-1)[_order(axes)] = rng.standard_normal(table.size)
    return table


def wavenumbers_squared(axes: tuple[ModeAxis, ...]) -> np.ndarray:
    """Eigenvalue of minus the Laplacian for each product of basis functions."""
    squares = np.meshgrid(*[axis.wavenumbers**2 for axis in axes], indexing="ij", sparse=True)
    return np.asarray(sum(squares))


def synthesize(axes: tuple[ModeAxis, ...], table: np.ndarray) -> np.ndarray:
    """Field on the points from a table of coefficients.

    Examples
    --------
    >>> axis = ModeAxis("periodic", 8, 2 * np.pi)
    >>> table = np.zeros(7)
    >>> table[1] = np.sqrt(np.pi)                     # cos x
    >>> np.round(synthesize((axis,), table)[:3], 6)
    array([1.      , 0.707107, 0.      ])
    """
    for place, axis in enumerate(axes):
        table = axis.synthesize(table, place)
    return table


@functools.lru_cache(maxsize=8)
def _order(axes: tuple[ModeAxis, ...]) -> np.ndarray:
    """Flat positions of the modes, low ones first, in an order that refinement only extends."""
    whole = math.lcm(*[axis.cutoff for axis in axes])
    lines = [axis.frequencies for axis in axes]
    # A mode is as high as its largest share of an axis' cutoff, in whole numbers to be exact.
    shares = [line * (whole // axis.cutoff) for line, axis in zip(lines, axes, strict=True)]
    height = functools.reduce(np.maximum, np.meshgrid(*shares, indexing="ij"))
    keys: list[np.ndarray] = []
    for line, axis in zip(lines, axes, strict=True):
        is_sine = np.arange(line.size) >= axis.cutoff if axis.boundary == "periodic" else 0 * line
        keys += [line, np.asarray(is_sine)]
    spread = [
        np.broadcast_to(
            key.reshape([-1 if i == k // 2 else 1 for i in range(len(axes))]), height.shape
        ).reshape(-1)
        for k, key in enumerate(keys)
    ]
    order = np.lexsort((*spread[::-1], height.reshape(-1)))
    order.setflags(write=False)
    return order
