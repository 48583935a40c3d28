"""Sums of a few sines, now and then folded or cut off: the family of PDEBench."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid


@dataclass(frozen=True, kw_only=True)
class WindowedSines:
    """``sum of A_i sin(k_i x + phase_i)``, its absolute value or a part of it now and then.

    The wave numbers are ``2 pi n_i/L`` with ``n_i`` drawn from ``1..highest``; the amplitudes are
    uniform in (0, 1) and the phases in (0, 2 pi). With `fold_probability` the absolute value with a
    random sign is taken, and with `window_probability` the field is kept in a random window only,
    whose edges are smooth (Takamoto et al., PDEBench, arXiv:2210.07182, appendix on data).

    Parameters
    ----------
    terms : int, default 2
        Number of sines.
    highest : int, default 8
        Largest number of waves on the box.
    fold_probability, window_probability : float, default 0.1
        A folded or windowed field is not smooth enough for a spectral method on a coarse grid: set
        both to 0 for smooth fields.
    edge : float, default 0.01
        Width of the window's edges, as a share of the box.
    compat : bool, default False
        Take ``L`` as the distance of the first from the last point instead of the length of the
        box, as the published generator does: its sines do not close on the circle.
    field : str, default "u"
        Name of the field.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> grid = Grid.periodic(x=(0.0, 1.0, 64))
    >>> family = WindowedSines(fold_probability=0.0, window_probability=0.0)
    >>> u = family(grid, np.random.default_rng(0))["u"]
    >>> spectrum = np.abs(np.fft.rfft(u)) / 32
    >>> int(np.sum(spectrum > 1e-12)) <= 2, bool(spectrum[9:].max() < 1e-12)
    (True, True)
    """

    terms: int = 2
    highest: int = 8
    fold_probability: float = 0.1
    window_probability: float = 0.1
    edge: float = 0.01
    compat: bool = False
    field: str = "u"

    def __post_init__(self) -> None:
        if self.terms < 1 or self.highest < 1:
            raise ValueError(f"terms={self.terms}, highest={self.highest}: wanted at least 1")
        for name in ("fold_probability", "window_probability"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name}={getattr(self, name)}: wanted a number in [0, 1]")
        if not 0.0 < self.edge < 1.0:
            raise ValueError(f"edge={self.edge}: wanted a share of the box in (0, 1)")

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw one field; the numbers drawn do not depend on the grid."""
        if len(grid.axes) != 1:
            raise ValueError(f"WindowedSines lives on one axis, the grid has {grid.names}")
        (axis,) = grid.axes
        if 2 * self.highest >= axis.points:
            raise ValueError(
                f"highest={self.highest} needs more than {2 * self.highest} points on axis "
                f"{axis.name!r}, which has {axis.points}"
            )
        waves = rng.integers(1, self.highest, size=self.terms, endpoint=True)
        amplitudes = rng.uniform(0.0, 1.0, size=self.terms)
        phases = rng.uniform(0.0, 2.0 * np.pi, size=self.terms)
        chances = rng.uniform(size=2)
        sign = 1.0 if rng.uniform() < 0.5 else -1.0
        left, right = rng.uniform(0.1, 0.45), rng.uniform(0.55, 0.9)
        share = (axis.values() - axis.start) / axis.length
        # The published wave numbers are too large by the factor n/(n - 1).
        stretch = axis.length / (axis.length - axis.spacing) if self.compat else 1.0
        angles = 2.0 * np.pi * stretch * np.outer(waves, share) + phases[:, None]
        u = amplitudes @ np.sin(angles)
        if chances[0] < self.fold_probability:
            u = sign * np.abs(u)
        if chances[1] < self.window_probability:
            u = (
                u
                * 0.5
                * (np.tanh((share - left) / self.edge) - np.tanh((share - right) / self.edge))
            )
        return {self.field: u}
