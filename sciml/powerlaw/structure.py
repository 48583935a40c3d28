"""What a radial model is made of: how many powers, pair blocks and fixed powers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDEST_OSCILLATION = 5.0
"""Largest imaginary part of an exponent, ``sqrt(-q)``, that a fit looks for."""

CLOSE = 0.15
"""Start values nearer than this begin as a pair block, which is well conditioned at any gap."""


@dataclass(frozen=True)
class Structure:
    """Blocks of a radial model, in the order of its parameters and columns.

    The parameters are the exponents of the powers, then ``s, q`` of each pair; the columns are
    those of the powers, then two of each pair, then those of the fixed powers.

    Attributes
    ----------
    powers, pairs : int
        Number of blocks with free parameters.
    fixed : tuple of float
        Exponents that are known.

    Examples
    --------
    >>> Structure(powers=1, pairs=1).order, Structure(1, 1, (0.0,)).unknowns
    (3, 7)
    """

    powers: int = 0
    pairs: int = 0
    fixed: tuple[float, ...] = ()

    @property
    def n_parameters(self) -> int:
        """Number of nonlinear parameters."""
        return self.powers + 2 * self.pairs

    @property
    def n_columns(self) -> int:
        """Number of coefficients."""
        return self.n_parameters + len(self.fixed)

    @property
    def order(self) -> int:
        """Number of free exponents."""
        return self.n_parameters

    @property
    def unknowns(self) -> int:
        """Parameters and coefficients together."""
        return self.n_parameters + self.n_columns

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks in order."""
        return ("power",) * self.powers + ("pair",) * self.pairs + ("fixed",) * len(self.fixed)

    def bounds(self, low: float, high: float) -> tuple[NDArray, NDArray]:
        """Lower and upper bounds of the parameters, for exponents in ``[low, high]``."""
        half = (0.5 * (high - low)) ** 2
        lower = [low] * self.powers + [low, -(WIDEST_OSCILLATION**2)] * self.pairs
        upper = [high] * self.powers + [high, half] * self.pairs
        return np.array(lower, float), np.array(upper, float)

    def split(self, parameters: NDArray) -> tuple[NDArray, NDArray]:
        """Parameters as exponents of powers, shape (powers,), and pairs, shape (pairs, 2)."""
        return parameters[: self.powers], parameters[self.powers :].reshape(-1, 2)

    def exponents(self, parameters: NDArray) -> NDArray:
        """Return all free exponents, complex, those of a pair as ``s +- sqrt(q)``."""
        powers, pairs = self.split(np.asarray(parameters))
        roots = np.sqrt(pairs[:, 1].astype(complex))
        both = np.stack([pairs[:, 0] - roots, pairs[:, 0] + roots], axis=-1)
        return np.concatenate([powers.astype(complex), both.ravel()])


def group(exponents: NDArray, fixed: tuple[float, ...] = ()) -> tuple[Structure, NDArray]:
    """Arrange complex start values in blocks: what is close or complex becomes a pair.

    Parameters
    ----------
    exponents : ndarray of complex
        Of a complex pair both members, or one.
    fixed : tuple of float
        Known exponents, handed on.

    Returns
    -------
    Structure
    ndarray
        Start values in its order.

    Examples
    --------
    >>> structure, start = group(np.array([0.5, 2.0, 0.6]))
    >>> structure.blocks, start
    (('power', 'pair'), array([2.    , 0.55  , 0.0025]))
    """
    values = np.asarray(exponents, complex)
    scale = 1e-9 * (1.0 + np.abs(values))
    rotating = values[np.imag(values) > scale]
    rest = np.sort(np.real(values[np.abs(np.imag(values)) <= scale]))
    pairs = [(z.real, -(z.imag**2)) for z in rotating]
    powers: list[float] = []
    place = 0
    while place < len(rest):
        if place + 1 < len(rest) and rest[place + 1] - rest[place] < CLOSE:
            low, high = rest[place], rest[place + 1]
            pairs.append((0.5 * (low + high), 0.25 * (high - low) ** 2))
            place += 2
        else:
            powers.append(float(rest[place]))
            place += 1
    structure = Structure(len(powers), len(pairs), fixed)
    return structure, np.array([*powers, *(value for pair in pairs for value in pair)], float)
