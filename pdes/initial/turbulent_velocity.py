"""Divergence-free random velocity with a power-law energy spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid
from pdes.initial.modes import ModeAxis, draw, synthesize


@dataclass(frozen=True, kw_only=True)
class TurbulentVelocity:
    """Solenoidal periodic velocity whose shells hold the energy ``E(n) ~ n^exponent``.

    Normal modes are made divergence free by the Leray projection, and scaled so that the *expected*
    energy of the shell of wave counts in ``[n - 1/2, n + 1/2)`` follows the power law between
    `lowest` and `highest`, and the expected mean square speed is ``speed^2``. The default exponent
    -5/3 is Kolmogorov's inertial range.

    Parameters
    ----------
    lowest, highest : int
        Shells that hold energy.
    exponent : float, default -5/3
        Of the energy spectrum.
    speed : float, default 1
        Root mean square speed, over all draws.
    fields : tuple of str, default ("u", "v")
        Velocity components, one for each axis (two or three).

    Raises
    ------
    ValueError
        If the grid is not a periodic square or cube of as many axes as fields, or too coarse.

    Examples
    --------
    >>> grid = Grid.periodic(x=(0.0, 1.0, 32), y=(0.0, 1.0, 32))
    >>> flow = TurbulentVelocity(lowest=2, highest=8)(grid, np.random.default_rng(0))
    >>> k = 2j * np.pi * np.fft.fftfreq(32, 1 / 32)
    >>> divergence = k[:, None] * np.fft.fft2(flow["u"]) + k * np.fft.fft2(flow["v"])
    >>> bool(np.abs(divergence).max() < 1e-9)
    True
    """

    lowest: int
    highest: int
    exponent: float = -5.0 / 3.0
    speed: float = 1.0
    fields: tuple[str, ...] = ("u", "v")

    def __post_init__(self) -> None:
        if not 1 <= self.lowest <= self.highest:
            raise ValueError(
                f"lowest={self.lowest}, highest={self.highest}: wanted 1 <= lowest <= highest"
            )
        if not (np.isfinite(self.exponent) and self.speed > 0.0 and np.isfinite(self.speed)):
            raise ValueError(f"exponent={self.exponent}, speed={self.speed}: wanted finite, > 0")
        if len(self.fields) not in (2, 3):
            raise ValueError(f"fields={self.fields}: wanted two or three velocity components")

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw the velocity; the numbers drawn do not depend on the number of points."""
        self._check(grid)
        axes = tuple(ModeAxis("periodic", axis.points, 1.0) for axis in grid.axes)
        noise = np.stack([synthesize(axes, draw(axes, rng)) for _ in self.fields])
        space = tuple(range(1, noise.ndim))
        spectrum = np.fft.fftn(noise, axes=space)
        waves = np.meshgrid(
            *[np.fft.fftfreq(n, 1.0 / n) for n in grid.shape], indexing="ij", sparse=True
        )
        squared = np.asarray(sum(k**2 for k in waves))
        along = sum(k * part for k, part in zip(waves, spectrum, strict=True))
        along = along / np.where(squared == 0.0, 1.0, squared)
        spectrum = np.stack([part - k * along for k, part in zip(waves, spectrum, strict=True)])
        flow = np.fft.ifftn(spectrum * self._scale(squared), axes=space).real
        return dict(zip(self.fields, flow, strict=True))

    def shell_energies(self) -> np.ndarray:
        """Expected energy (half the mean square speed) of the shells ``lowest..highest``."""
        shells = np.arange(self.lowest, self.highest + 1.0) ** self.exponent
        return 0.5 * self.speed**2 * shells / shells.sum()

    def _scale(self, squared: np.ndarray) -> np.ndarray:
        shell = np.floor(np.sqrt(squared) + 0.5).astype(int)
        counts = np.bincount(shell.reshape(-1))
        scale = np.zeros(squared.shape)
        # A projected unit mode has the mean square dimension - 1.
        for number, energy in zip(
            range(self.lowest, self.highest + 1), self.shell_energies(), strict=True
        ):
            scale[shell == number] = np.sqrt(
                2.0 * energy / ((len(self.fields) - 1) * counts[number])
            )
        return scale

    def _check(self, grid: Grid) -> None:
        if len(grid.axes) != len(self.fields):
            raise ValueError(f"{len(self.fields)} components {self.fields} on axes {grid.names}")
        if len(set(grid.lengths)) > 1:
            raise ValueError(f"the axes have lengths {grid.lengths}: wanted a square or a cube")
        for axis in grid.axes:
            if not axis.periodic or 2 * self.highest + 1 >= axis.points:
                raise ValueError(
                    f"axis {axis.name!r} has {axis.points} points: highest={self.highest} needs a "
                    f"periodic axis of more than {2 * self.highest + 1}"
                )
