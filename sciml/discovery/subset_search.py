"""The best support of every size, and which size the data call for."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

EXHAUSTIVE_SIZE = 5
BEAM_WIDTH = 500
CHUNK = 20_000

MODEL_ERROR_ROWS = 25
"""Rows after which more of them say little about the size: model error does not average out."""


@dataclass(frozen=True, eq=False)
class GramSystem:
    """Normal equations of a regression, columns scaled to unit norm.

    Attributes
    ----------
    gram : ndarray, shape (p, p)
    moment : ndarray, shape (p,)
    square : float
        Square of the norm of the left-hand side.
    scale : ndarray, shape (p,)
        Norms of the columns.
    rows : int
    triangle : ndarray, shape (p + 1, p + 1)
        Triangular factor of ``[G, y]``, for residuals without loss of digits.
    """

    gram: NDArray
    moment: NDArray
    square: float
    scale: NDArray
    rows: int
    triangle: NDArray

    @classmethod
    def of(cls, matrix: NDArray, left: NDArray) -> GramSystem:
        """Normal equations of ``left = matrix @ w``."""
        scale = np.linalg.norm(matrix, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        triangle = np.asarray(np.linalg.qr(np.column_stack([matrix / scale, left]), mode="r"))
        gram = triangle[:, :-1].T @ triangle[:, :-1]
        moment = triangle[:, :-1].T @ triangle[:, -1]
        square = float(triangle[:, -1] @ triangle[:, -1])
        return cls(gram, moment, square, scale, len(left), triangle)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.moment)

    def solve(self, support: tuple[int, ...]) -> tuple[NDArray, float]:
        """Least-squares coefficients on a support, and the sum of squared residuals."""
        if not support:
            return np.zeros(0), self.square
        columns = list(support)
        solution, *_ = np.linalg.lstsq(self.triangle[:, columns], self.triangle[:, -1], rcond=1e-13)
        residual = self.triangle[:, -1] - self.triangle[:, columns] @ solution
        return solution / self.scale[columns], float(residual @ residual)

    def residuals(self, supports: NDArray) -> NDArray:
        """Sum of squared residuals of many supports of one size, shape (supports,)."""
        out = np.empty(len(supports))
        for start in range(0, len(supports), CHUNK):
            part = supports[start : start + CHUNK]
            blocks = self.gram[part[:, :, None], part[:, None, :]]
            # a hair on the diagonal keeps dependent columns solvable; their residual is unchanged
            blocks = blocks + 1e-13 * np.eye(part.shape[1])
            sides = self.moment[part]
            solution = np.linalg.solve(blocks, sides[..., None])[..., 0]
            out[start : start + CHUNK] = self.square - np.einsum("ij,ij->i", sides, solution)
        return np.maximum(out, 0.0)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Best supports by size and, for judging rivals, every support that was compared.

    Attributes
    ----------
    best : tuple of (support, residual)
        Best support of size 0, 1, 2, ...
    compared : list of (supports, residuals)
        All supports of each size that were compared.
    exhaustive_size : int
        Up to this size, all supports were compared.
    """

    best: tuple[tuple[tuple[int, ...], float], ...]
    compared: list[tuple[NDArray, NDArray]] = field(repr=False)
    exhaustive_size: int = EXHAUSTIVE_SIZE

    def with_best(self, support: tuple[int, ...], system: GramSystem) -> SearchResult:
        """The same result with a given support as the best of its size."""
        best = list(self.best)
        best[len(support)] = (support, system.solve(support)[1])
        return SearchResult(tuple(best), self.compared, self.exhaustive_size)

    def best_without(self, column: int, size: int) -> tuple[tuple[int, ...], float]:
        """Best support of at most ``size`` terms that does not contain a column."""
        found: tuple[tuple[int, ...], float] = self.best[0]
        for supports, residuals in self.compared[1 : size + 1]:
            allowed = ~(supports == column).any(axis=1)
            if not allowed.any():
                continue
            where = np.flatnonzero(allowed)
            k = where[np.argmin(residuals[where])]
            if residuals[k] < found[1]:
                found = (tuple(int(c) for c in supports[k]), float(residuals[k]))
        return found


@lru_cache(maxsize=32)
def _all_supports(count: int, size: int) -> NDArray:
    total = math.comb(count, size)
    flat = itertools.chain.from_iterable(itertools.combinations(range(count), size))
    return np.fromiter(flat, dtype=np.int16, count=total * size).reshape(total, size)


def search(
    system: GramSystem,
    max_size: int,
    exhaustive_columns: int = 30,
    beam: int = BEAM_WIDTH,
    start: SearchResult | None = None,
) -> SearchResult:
    """Find the support with the smallest residual for every size.

    Parameters
    ----------
    system : GramSystem
        The regression.
    max_size : int
        Largest support.
    exhaustive_columns : int
        Up to that many columns, all supports of at most five terms are compared.
    beam : int
        Supports kept from one size to the next beyond that.
    start : SearchResult, optional
        A search of the same system, to be continued to larger sizes.

    Returns
    -------
    SearchResult
    """
    max_size = min(max_size, system.size, max(1, system.rows - 1))
    best: list[tuple[tuple[int, ...], float]] = [((), system.square)]
    compared = [(np.zeros((1, 0), np.int16), np.array([system.square]))]
    exhaustive_size = 0
    if start is not None:
        best, compared = list(start.best), list(start.compared)
        exhaustive_size = start.exhaustive_size
    for size in range(len(best), max_size + 1):
        if (system.size <= exhaustive_columns and size <= EXHAUSTIVE_SIZE) or math.comb(
            system.size, size
        ) <= CHUNK:
            supports = _all_supports(system.size, size)
            exhaustive_size = size
        else:
            supports = _grow(system, *compared[-1], beam)
        residuals = system.residuals(supports)
        compared.append((supports, residuals))
        winner = tuple(int(c) for c in supports[np.argmin(residuals)])
        best.append((winner, system.solve(winner)[1]))
    return SearchResult(tuple(best), compared, exhaustive_size)


def _grow(system: GramSystem, supports: NDArray, residuals: NDArray, beam: int) -> NDArray:
    """All one-term extensions of the best supports and of the greedy eliminations."""
    order = np.argsort(residuals)[:beam]
    parents = supports[order].astype(np.int64)
    size = parents.shape[1] + 1
    count = system.size
    extended = np.concatenate(
        [np.repeat(parents, count, axis=0), np.tile(np.arange(count), len(parents))[:, None]],
        axis=1,
    )
    distinct = ~(extended[:, :-1] == extended[:, -1:]).any(axis=1)
    candidates = np.sort(extended[distinct], axis=1)
    seed = _backward_elimination(system, size)
    if seed is not None:
        candidates = np.concatenate([candidates, seed[None]])
    return np.unique(candidates, axis=0).astype(np.int16)


def _backward_elimination(system: GramSystem, size: int) -> NDArray | None:
    """Support left when the weakest scaled coefficient is dropped again and again."""
    support = list(range(system.size))
    while len(support) > size:
        coefficients, _ = system.solve(tuple(support))
        scaled = np.abs(coefficients * system.scale[support])
        support.pop(int(np.argmin(scaled)))
    return np.array(support) if len(support) == size else None


def tempered_ebic(
    residual: float, size: int, columns: int, rows: int, square: float, floor: float
) -> float:
    """Extended BIC with an effective number of rows that saturates.

    ``n_e ln(RSS + f^2 |y|^2) + s ln n_e + 2 ln C(p, s)``, ``n_e = n A / (n + A)``.

    Parameters
    ----------
    residual : float
        Sum of squared residuals.
    size, columns, rows : int
        Terms in the support, in the library, and rows.
    square : float
        Square of the norm of the left-hand side.
    floor : float
        Relative error that no model is expected to beat.

    Returns
    -------
    float
        The score; smaller is better.
    """
    effective = rows * MODEL_ERROR_ROWS / (rows + MODEL_ERROR_ROWS)
    choices = math.lgamma(columns + 1) - math.lgamma(size + 1) - math.lgamma(columns - size + 1)
    return (
        effective * math.log(residual + floor**2 * square + 1e-300)
        + size * math.log(effective)
        + 2 * choices
    )


def choose_size(result: SearchResult, system: GramSystem, floor: float) -> int:
    """Size with the best tempered EBIC."""
    scores = [
        tempered_ebic(residual, size, system.size, system.rows, system.square, floor)
        for size, (_, residual) in enumerate(result.best)
    ]
    return int(np.argmin(scores))


def smallest_adequate_size(result: SearchResult, allowance: float = 1.3) -> int:
    """Smallest size whose residual is within a factor of the largest size's."""
    last = result.best[-1][1]
    for size, (_, residual) in enumerate(result.best):
        if residual <= allowance * last:
            return size
    return len(result.best) - 1
