"""Columns of fields with several sources, and the search for where the next source is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw import blocks
from sciml.powerlaw.separable_fit import SparseDerivatives

CANDIDATES = {1: 201, 2: 25, 3: 11}
"""Points of the candidate grid along each axis, by dimension."""

CANDIDATE_EXPONENTS = (-1.0, -0.5, 0.0)
SEARCH_ROWS = 2000
"""Candidates are compared on at most so many rows."""


@dataclass(frozen=True, eq=False)
class SourceModel:
    """Columns ``1, psi(r_1, mu_1), ..., psi(r_J, mu_J)`` with ``psi = (r^mu - 1)/mu``.

    Parameters are the exponents of all sources, if they are free, then their centers one after the
    other.

    Attributes
    ----------
    x : ndarray, shape (rows, d)
    count : int
        Number of sources.
    fixed : ndarray, shape (count,), or None
        Exponents, if they are known.
    """

    x: NDArray
    count: int
    fixed: NDArray | None = None
    _layout: tuple[tuple[int, ...], tuple[int, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        dimension = self.x.shape[1]
        free = self.count if self.fixed is None else 0
        which = list(range(free))
        column = [1 + j for j in range(free)]
        for j in range(self.count):
            which += [free + j * dimension + axis for axis in range(dimension)]
            column += [1 + j] * dimension
        object.__setattr__(self, "_layout", (tuple(which), tuple(column)))

    def split(self, parameters: NDArray) -> tuple[NDArray, NDArray]:
        """Exponents ``(batch, count)`` and centers ``(batch, count, d)``."""
        batch, dimension = parameters.shape[0], self.x.shape[1]
        if self.fixed is None:
            exponents, rest = parameters[:, : self.count], parameters[:, self.count :]
        else:
            exponents, rest = np.broadcast_to(self.fixed, (batch, self.count)), parameters
        return exponents, rest.reshape(batch, self.count, dimension)

    def __call__(self, parameters: NDArray) -> tuple[NDArray, SparseDerivatives]:
        """Columns ``(batch, rows, 1 + count)`` and their derivatives."""
        exponents, centers = self.split(parameters)
        offset = self.x[None, :, None, :] - centers[:, None, :, :]
        radius = np.sqrt(np.sum(offset**2, axis=-1))
        # A center on top of a point gives infinite columns, which the fit steps back from.
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            jet = blocks.log_primitive(radius, exponents[:, None, :])
        columns = np.concatenate([np.ones((*radius.shape[:2], 1)), jet.value], axis=-1)
        with np.errstate(invalid="ignore", over="ignore"):
            moves = -jet.gradient(offset, radius)  # (batch, rows, count, d)
        tables = [np.moveaxis(moves.reshape(*moves.shape[:2], -1), 1, -1)]
        if self.fixed is None:
            tables.insert(0, np.moveaxis(jet.slopes[0], 1, -1))
        return columns, SparseDerivatives(np.concatenate(tables, axis=1), *self._layout)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Possible sources on a grid, with their columns on some of the rows.

    Attributes
    ----------
    rows : ndarray of int
        Rows on which they are compared.
    centers : ndarray, shape (m, d)
    exponents : ndarray, shape (m,)
    columns : ndarray, shape (m, len(rows))
    """

    rows: NDArray
    centers: NDArray
    exponents: NDArray
    columns: NDArray

    @classmethod
    def of(cls, x: NDArray, exponents: Sequence[float], rng: np.random.Generator) -> Candidates:
        """Grid over the box of the points, times exponents."""
        dimension = x.shape[1]
        rows = np.arange(len(x))
        if len(x) > SEARCH_ROWS:
            rows = np.sort(rng.choice(len(x), SEARCH_ROWS, replace=False))
        low, high = x.min(axis=0), x.max(axis=0)
        lines = [np.linspace(a, b, CANDIDATES[dimension]) for a, b in zip(low, high, strict=True)]
        grid = np.array(list(product(*lines)))
        # Half a cell keeps a column finite that sits on a data point.
        least = 1e-3 * float(np.max(high - low)) / CANDIDATES[dimension]
        radius = np.sqrt(np.sum((grid[:, None, :] - x[None, rows, :]) ** 2, axis=-1))
        radius = np.maximum(radius, least)
        columns = [blocks.log_primitive(radius, mu).value for mu in exponents]
        return cls(
            rows,
            np.tile(grid, (len(exponents), 1)),
            np.repeat(np.asarray(exponents, float), len(grid)),
            np.concatenate(columns),
        )

    def best(
        self, residual: NDArray, basis: NDArray, weights: NDArray | None, count: int
    ) -> NDArray:
        """Indices of the candidates most correlated with a residual, the best first.

        Parameters
        ----------
        residual : ndarray, shape (rows,)
            Weighted.
        basis : ndarray, shape (rows, n)
            Weighted columns that are in the model already; candidates are taken modulo these.
        weights : ndarray, shape (rows,), or None
        count : int
            How many to return, different in place.
        """
        columns = self.columns if weights is None else self.columns * weights[self.rows]
        q, _ = np.linalg.qr(basis[self.rows])
        size = np.sum(columns**2, axis=1)
        left = np.maximum(size - np.sum((columns @ q) ** 2, axis=1), 1e-12 * size)
        inside = residual[self.rows] - q @ (q.T @ residual[self.rows])
        score = (columns @ inside) ** 2 / left
        found: list[int] = []
        for index in np.argsort(-score):
            place = self.centers[index]
            if all(np.any(self.centers[other] != place) for other in found):
                found.append(int(index))
            if len(found) == count:
                break
        return np.array(found, dtype=int)
