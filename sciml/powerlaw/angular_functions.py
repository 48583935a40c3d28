"""Angular functions of a fixed degree: circular ones in the plane, spherical ones in space."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sciml.powerlaw.polar import Position, polar_angle

Monomials = dict[tuple[int, int, int], float]
"""Polynomial in x, y, z: powers to coefficient."""


class CircularFunctions:
    """``1`` for frequency 0, ``cos m theta`` and ``sin m theta`` for the others.

    Parameters
    ----------
    frequencies : sequence of float
        Not negative and different; any reals, so that ``1/2`` gives the functions of a crack.
    start : float
        Where the branch of the angle begins.

    Examples
    --------
    >>> len(CircularFunctions((0, 1, 2.5), 0.0))
    5
    """

    def __init__(self, frequencies: Sequence[float], start: float) -> None:
        self.start = start
        self.degrees: list[float] = []
        self.phases: list[float] = []
        for frequency in frequencies:
            self.degrees += [frequency] if frequency == 0 else [frequency, frequency]
            self.phases += [0.0] if frequency == 0 else [0.0, 0.5 * math.pi]

    def __len__(self) -> int:
        return len(self.degrees)

    @property
    def names(self) -> list[str]:
        """One name for each, such as ``cos 2 theta``."""
        pairs = zip(self.degrees, self.phases, strict=True)
        return ["1" if m == 0 else f"{'sin' if p else 'cos'} {m:g} theta" for m, p in pairs]

    def values(self, place: Position) -> Tensor:
        """Shape ``(..., n)``."""
        return torch.cos(self._phase(place))

    def values_and_gradients(self, place: Position) -> tuple[Tensor, Tensor]:
        """Values, and gradients times the radius, shapes ``(..., n)`` and ``(..., n, 2)``."""
        phase = self._phase(place)
        degrees = place.offset.new_tensor(self.degrees)
        along = torch.stack([-place.unit[..., 1], place.unit[..., 0]], -1)
        slope = -degrees * torch.sin(phase)
        return torch.cos(phase), slope[..., None] * along[..., None, :]

    def _phase(self, place: Position) -> Tensor:
        degrees = place.offset.new_tensor(self.degrees)
        return degrees * polar_angle(place.offset, self.start) - place.offset.new_tensor(
            self.phases
        )


class SphericalFunctions:
    """Real spherical harmonics up to a degree, ``z/r, x/r, y/r`` being those of degree one.

    They are normalized as Schmidt did: the squares of one degree sum to one.

    Parameters
    ----------
    highest : int
        Largest degree, 0 to 8.

    Examples
    --------
    >>> len(SphericalFunctions(2)), SphericalFunctions(1).names
    (9, ['Y(0,0)', 'Y(1,0)', 'Y(1,1) cos', 'Y(1,1) sin'])
    """

    def __init__(self, highest: int) -> None:
        polynomials = _solid_harmonics(highest)
        self.degrees = [float(degree) for degree, _, _, _ in polynomials]
        self.names = [
            f"Y({degree},{order})" + (f" {kind}" if order else "")
            for degree, order, kind, _ in polynomials
        ]
        self._powers, tables = _tabulate([polynomial for *_, polynomial in polynomials])
        self._value, *self._slopes = tables

    def __len__(self) -> int:
        return len(self.degrees)

    def values(self, place: Position) -> Tensor:
        """Shape ``(..., n)``."""
        return self._monomials(place.unit) @ place.offset.new_tensor(self._value)

    def values_and_gradients(self, place: Position) -> tuple[Tensor, Tensor]:
        """Values, and gradients times the radius, shapes ``(..., n)`` and ``(..., n, 3)``."""
        monomials = self._monomials(place.unit)
        values = monomials @ place.offset.new_tensor(self._value)
        slopes = torch.stack(
            [monomials @ place.offset.new_tensor(table) for table in self._slopes], -1
        )
        # Of a solid harmonic S of degree l on the sphere: r grad Y = grad S - l Y x/r.
        degrees = place.offset.new_tensor(self.degrees)
        return values, slopes - (degrees * values)[..., None] * place.unit[..., None, :]

    def _monomials(self, unit: Tensor) -> Tensor:
        parts = []
        for axis in range(3):
            column = unit[..., axis : axis + 1]
            highest = int(self._powers[:, axis].max())
            table = [torch.ones_like(column)]
            for _ in range(highest):
                table.append(table[-1] * column)
            parts.append(torch.cat(table, -1)[..., self._powers[:, axis].tolist()])
        return parts[0] * parts[1] * parts[2]


def _solid_harmonics(highest: int) -> list[tuple[int, int, str, Monomials]]:
    """Degree, order, kind and polynomial of every real solid harmonic."""
    one: Monomials = {(0, 0, 0): 1.0}
    x, y, z = ({tuple(row): 1.0} for row in np.eye(3, dtype=int).tolist())
    square: Monomials = {(2, 0, 0): 1.0, (0, 2, 0): 1.0, (0, 0, 2): 1.0}
    found: dict[tuple[int, int, str], Monomials] = {}
    cosine, sine, sectoral = one, {}, 1.0
    for m in range(highest + 1):
        previous: Monomials = {}
        current: Monomials = {(0, 0, 0): sectoral}
        for degree in range(m, highest + 1):
            norm = math.sqrt(
                (2.0 if m else 1.0) * math.factorial(degree - m) / math.factorial(degree + m)
            )
            found[degree, m, "cos"] = _scaled(_product(current, cosine), norm)
            if m:
                found[degree, m, "sin"] = _scaled(_product(current, sine), norm)
            following = _sum(
                _scaled(_product(z, current), (2 * degree + 1) / (degree - m + 1)),
                _scaled(_product(square, previous), -(degree + m) / (degree - m + 1)),
            )
            previous, current = current, following
        cosine, sine = (
            _sum(_product(x, cosine), _scaled(_product(y, sine), -1.0)),
            _sum(_product(x, sine), _product(y, cosine)),
        )
        sectoral *= 2 * m + 1
    return [(*key, found[key]) for key in sorted(found, key=lambda key: (key[0], key[1], key[2]))]


def _tabulate(polynomials: list[Monomials]) -> tuple[np.ndarray, list[list[list[float]]]]:
    """Powers of the monomials, and coefficient tables of values and three derivatives."""
    tables = [polynomials, *[[_derivative(p, axis) for p in polynomials] for axis in range(3)]]
    powers = sorted({power for table in tables for polynomial in table for power in polynomial})
    rows = {power: row for row, power in enumerate(powers)}
    dense = np.zeros((4, len(powers), len(polynomials)))
    for which, table in enumerate(tables):
        for column, polynomial in enumerate(table):
            for power, value in polynomial.items():
                dense[which, rows[power], column] = value
    return np.array(powers), dense.tolist()


def _product(first: Monomials, second: Monomials) -> Monomials:
    result: Monomials = {}
    for (a, b, c), left in first.items():
        for (i, j, k), right in second.items():
            key = (a + i, b + j, c + k)
            result[key] = result.get(key, 0.0) + left * right
    return result


def _sum(first: Monomials, second: Monomials) -> Monomials:
    return {key: first.get(key, 0.0) + second.get(key, 0.0) for key in {**first, **second}}


def _scaled(polynomial: Monomials, factor: float) -> Monomials:
    return {key: factor * value for key, value in polynomial.items()}


def _derivative(polynomial: Monomials, axis: int) -> Monomials:
    result: Monomials = {}
    for powers, value in polynomial.items():
        if powers[axis]:
            lower = [*powers]
            lower[axis] -= 1
            result[lower[0], lower[1], lower[2]] = value * powers[axis]
    return result
