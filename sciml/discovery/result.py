"""What a method finds for one field, and the evidence that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.evidence import Rival
from sciml.discovery.symmetry import SymmetryReport


@dataclass(frozen=True)
class PathStep:
    """Best equation of one size.

    Attributes
    ----------
    size : int
    terms : tuple of str
        Names of the library terms.
    residual : float
        Sum of squared residuals relative to the left-hand side.
    score : float
        Criterion that chooses the size; smaller is better. NaN where the method has none.
    """

    size: int
    terms: tuple[str, ...]
    residual: float
    score: float = float("nan")


@dataclass(frozen=True)
class Identifiability:
    """Whether the data single out the equation.

    Attributes
    ----------
    verdict : str
        ``"identified"``, ``"weak"`` or ``"ambiguous"``; the word of the least certain term.
    ratio : float
        Residual of the best rival over that of the equation.
    terms : dict of str to float
        The ratio for each library term of the equation.
    notices : tuple of str
        What a reader should know.
    """

    verdict: str
    ratio: float
    terms: dict[str, float]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Selection:
    """What a method found for one field, in terms of library columns.

    Attributes
    ----------
    support : tuple of int
    coefficients : ndarray
    covariance : ndarray
        Of the coefficients.
    chi2 : float
    adequate : bool
        Whether the equation explains the data up to the noise.
    notices : tuple of str
    traveling_wave : bool
        Whether the field moves without changing, so that other equations have the same solution.
    path, rivals, symmetry, inclusion, growth, noise_limits
        Evidence, where the method has it.
    """

    support: tuple[int, ...]
    coefficients: NDArray
    covariance: NDArray
    chi2: float
    adequate: bool = True
    notices: tuple[str, ...] = ()
    traveling_wave: bool = False
    path: tuple[PathStep, ...] = ()
    rivals: tuple[Rival, ...] = ()
    symmetry: SymmetryReport = field(default_factory=SymmetryReport)
    inclusion: NDArray | None = None
    growth: NDArray | None = None
    noise_limits: NDArray | None = None

    def renumbered(self, columns: Sequence[int], count: int) -> Selection:
        """The same selection, its column ``k`` standing for ``columns[k]`` of ``count``."""
        if len(columns) == count:
            return self
        inclusion = None
        if self.inclusion is not None:
            inclusion = np.zeros(count)
            inclusion[list(columns)] = self.inclusion
        return replace(
            self,
            support=tuple(columns[k] for k in self.support),
            rivals=tuple(
                replace(
                    rival,
                    without=columns[rival.without],
                    support=tuple(columns[k] for k in rival.support),
                )
                for rival in self.rivals
            ),
            inclusion=inclusion,
        )
