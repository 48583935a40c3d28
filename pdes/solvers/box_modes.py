"""Eigenvectors of the second difference on one axis by fast transforms of sines, cosines, waves.

The unknowns of an axis are its nodes without those whose value is given. Between two sides with
homogeneous conditions the second difference has the eigenvalues ``-4 sin^2(theta/2)/h^2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

from pdes.boundary import Condition, Dirichlet, Neumann, Periodic
from pdes.grid import Axis
from pdes.solvers.box_transforms import axis_transforms

__all__ = ["BoxAxis", "box_axis"]


@dataclass(frozen=True)
class BoxAxis:
    """One axis of a box with the kinds of its two ends.

    Parameters
    ----------
    axis : Axis
        Nodes; both ends included unless periodic.
    low, high : {"dirichlet", "neumann", "periodic"}
        Kinds of the two sides.

    Examples
    --------
    >>> BoxAxis(Axis("x", 0.0, 1.0, 5, periodic=False), "dirichlet", "neumann").unknowns
    slice(1, 5, None)
    """

    axis: Axis
    low: str
    high: str

    @property
    def unknowns(self) -> slice:
        """Nodes whose value is sought."""
        n = self.axis.points
        return slice(int(self.low == "dirichlet"), n - int(self.high == "dirichlet"))

    @property
    def count(self) -> int:
        """Number of unknowns."""
        return self.unknowns.stop - self.unknowns.start

    @property
    def waves(self) -> np.ndarray:
        """Angular wave number of each eigenvector, in the order of the transforms."""
        length, n = self.axis.length, self.count
        if self.low == "periodic":
            return 2.0 * np.pi / length * np.abs(fft.fftfreq(n, 1.0 / n))
        kinds = (self.low, self.high)
        first = {"dirichlet": 1.0, "neumann": 0.0}[self.low] if len(set(kinds)) == 1 else 0.5
        return np.pi / length * (np.arange(n) + first)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of the second difference, none positive."""
        h = self.axis.spacing
        return -((2.0 / h * np.sin(0.5 * h * self.waves)) ** 2)

    def analyze(self, values: np.ndarray, place: int) -> np.ndarray:
        """Coefficients of the eigenvectors, from values at the unknowns along one dimension."""
        if self.low == "periodic":
            return np.asarray(fft.fft(values, axis=place))
        return axis_transforms((self.low, self.high), "nodes")[0](values, place)

    def synthesize(self, coefficients: np.ndarray, place: int) -> np.ndarray:
        """Values at the unknowns, from coefficients: the inverse of `analyze`."""
        if self.low == "periodic":
            return np.asarray(fft.ifft(coefficients, axis=place))
        return axis_transforms((self.low, self.high), "nodes")[1](coefficients, place)


def box_axis(problem: str, axis: Axis, low: Condition, high: Condition) -> BoxAxis:
    """Axis with its two conditions, or an error that names the side that does not fit.

    Parameters
    ----------
    problem : str
        Name of the problem, for the error.
    axis : Axis
        Of a grid.
    low, high : Condition
        At its two ends.

    Returns
    -------
    BoxAxis

    Raises
    ------
    ValueError
        If a condition is none of Dirichlet, Neumann and Periodic, the axis and its conditions
        disagree about being periodic, or no unknown is left.

    Examples
    --------
    >>> box_axis("slab", Axis("x", 0.0, 1.0, 5, periodic=False), Dirichlet(), Dirichlet()).count
    3
    """
    for side, condition in ((f"{axis.name}-", low), (f"{axis.name}+", high)):
        if not isinstance(condition, Dirichlet | Neumann | Periodic):
            raise ValueError(
                f"{problem}: boundary[{side!r}] is {condition.kind!r}; fast solvers on boxes take "
                "Dirichlet, Neumann and Periodic sides"
            )
        if isinstance(condition, Periodic) != axis.periodic:
            raise ValueError(
                f"{problem}: boundary[{side!r}] is {condition.kind!r}, but the axis {axis.name!r} "
                f"is {'periodic' if axis.periodic else 'not periodic'}; change one of them"
            )
    if axis.points < 4:
        raise ValueError(
            f"{problem}: axis {axis.name!r} has {axis.points} points, wanted 4 or more"
        )
    return BoxAxis(axis, low.kind, high.kind)
