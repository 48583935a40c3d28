"""Covariance of the residual of a weak-form equation, to first order in the noise, without loss.

The residual is linear in the noise ``e`` to first order, ``r = sum_a v_a X_a (h_a e) T_a^T`` with
one small matrix per axis and a pointwise weight ``h_a``. Its covariance needs only pairs of windows
that overlap: one product over the grid points per axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.backend import Backend
from sciml.discovery.weak_form import Groups, Orders, WeakForm, add_group

JITTER = 1e-4
"""Added to the diagonal, relative to its mean: neighboring windows are nearly dependent."""


class PairSums:
    """Sums over grid points for all overlapping pairs of windows of one recording.

    Parameters
    ----------
    weak : WeakForm
        Its windows define the pairs.
    """

    def __init__(self, weak: WeakForm) -> None:
        self.weak = weak
        self.backend = weak.backend
        self._products: dict[tuple[int, int, int], Any] = {}
        self.pairs = [windows.overlaps for windows in weak.windows]
        # the covariance is symmetric: along the first axis half of the pairs is enough
        first, second = self.pairs[0]
        upper = first <= second
        self.pairs[0] = (first[upper], second[upper])
        self._number_pairs()

    def _number_pairs(self) -> None:
        """Row and column of every pair of windows, and which pairs have both windows kept."""
        counts = self.weak.n_windows
        rows = np.ravel_multi_index(np.ix_(*(one for one, _ in self.pairs)), counts).reshape(-1)
        columns = np.ravel_multi_index(np.ix_(*(two for _, two in self.pairs)), counts).reshape(-1)
        twice = np.ones(tuple(len(one) for one, _ in self.pairs))
        twice[self.pairs[0][0] != self.pairs[0][1]] = 2.0
        self._shape = twice.shape
        kept = self.weak.kept
        inside = np.arange(len(rows))
        if kept is not None:
            inside = np.flatnonzero(kept[rows] & kept[columns])
            numbers = np.cumsum(kept) - 1
            rows, columns = numbers[rows[inside]], numbers[columns[inside]]
        self._inside = self.backend.asarray(inside)
        self._rows = self.backend.asarray(rows)
        self._columns = self.backend.asarray(columns)
        self._twice = self.backend.asarray(twice.reshape(-1)[inside])

    def products(self, axis: int, first: int, second: int) -> Any:
        """``X_first[c, i] X_second[c', i]`` for every pair, shape (pairs, points)."""
        key = (axis, first, second)
        if key not in self._products:
            matrices = self.weak.matrices(axis)
            one, other = (self.backend.asarray(index) for index in self.pairs[axis])
            self._products[key] = matrices[first][one] * matrices[second][other]
        return self._products[key]

    def _space_axes(self) -> range:
        return range(len(self.weak.windows) - 1)

    def contract_space(self, first: Orders, second: Orders, weight: Any) -> Any:
        """Sum over space; shape (pairs along each space axis..., times or 1)."""
        xp = self.backend.xp
        if isinstance(weight, float):
            total = self.backend.asarray(np.full((), weight))
            for axis in self._space_axes():
                sums = self.products(axis, first[axis], second[axis]).sum(axis=1)
                total = total[..., None] * sums
            return total[..., None]
        for axis in self._space_axes():
            matrix = self.products(axis, first[axis], second[axis])
            weight = xp.moveaxis(xp.tensordot(matrix, weight, axes=((1,), (axis,))), 0, axis)
        return weight

    def contract_time(self, first: int, second: int, values: Any) -> Any:
        """Sum over time; shape (pairs along each axis...)."""
        matrix = self.products(len(self.weak.windows) - 1, first, second)
        if values.shape[-1] == 1:
            return values * matrix.sum(axis=1)
        return values @ matrix.T

    def scatter(self, values: Any) -> Any:
        """Put pair sums into the symmetric matrix over the rows."""
        count = self.weak.n_rows
        out = self.backend.asarray(np.zeros((count, count)))
        chosen = values.reshape(-1)[self._inside]
        out[self._rows, self._columns] = chosen
        out[self._columns, self._rows] = chosen
        return out

    def gather(self, matrix: Any) -> Any:
        """Values of a symmetric matrix over rows at the pairs; mirrored pairs count twice."""
        out = self.backend.asarray(np.zeros(int(np.prod(self._shape))))
        out[self._inside] = matrix[self._rows, self._columns] * self._twice
        return out.reshape(self._shape)


def combine(responses: Sequence[Groups], coefficients: Sequence[float]) -> Groups:
    """Response of a linear combination of columns."""
    total: Groups = {}
    for groups, coefficient in zip(responses, coefficients, strict=True):
        if coefficient == 0.0:
            continue
        for key, values in groups.items():
            add_group(total, key, values * coefficient)
    return total


def response_covariance(pairs: PairSums, groups: Groups) -> Any:
    """Covariance matrix of the rows for unit noise, shape (rows, rows)."""
    by_time: dict[tuple[int, int, bool], Any] = {}
    for (space_1, time_1), weight_1 in groups.items():
        for (space_2, time_2), weight_2 in groups.items():
            weight = weight_1 * weight_2
            key = (time_1, time_2, isinstance(weight, float))
            part = pairs.contract_space(space_1, space_2, weight)
            by_time[key] = by_time[key] + part if key in by_time else part
    total: Any = 0.0
    for (time_1, time_2, _), values in by_time.items():
        total = total + pairs.contract_time(time_1, time_2, values)
    return pairs.scatter(total)


def trace_products(pairs: PairSums, inverse: Any, responses: Sequence[Groups]) -> NDArray:
    """``tr(inverse (C_ab + C_ba) / 2)`` for every pair of columns, shape (columns, columns).

    ``C_ab`` is the cross-covariance of columns ``a`` and ``b`` for unit noise. The inverse is
    carried back to the grid once per pair of orders; each pair of columns then costs one product of
    their pointwise weights.
    """
    at_pairs = pairs.gather(inverse)
    keys = sorted({key for groups in responses for key in groups})
    count = len(responses)
    out = np.zeros((count, count))
    xp = pairs.backend.xp
    in_time: dict[tuple[int, int], Any] = {}
    for space_1, time_1 in keys:
        for space_2, time_2 in keys:
            if (time_1, time_2) not in in_time:
                last = len(pairs.weak.windows) - 1
                in_time[time_1, time_2] = at_pairs @ pairs.products(last, time_1, time_2)
            on_grid = in_time[time_1, time_2]
            for axis in range(len(space_1)):
                matrix = pairs.products(axis, space_1[axis], space_2[axis])
                contracted = xp.tensordot(matrix, on_grid, axes=((0,), (axis,)))
                on_grid = xp.moveaxis(contracted, 0, axis)
            for a, groups_a in enumerate(responses):
                if (space_1, time_1) not in groups_a:
                    continue
                weighted = on_grid * groups_a[space_1, time_1]
                for b, groups_b in enumerate(responses):
                    if (space_2, time_2) in groups_b:
                        out[a, b] += float((weighted * groups_b[space_2, time_2]).sum())
    return (out + out.T) / 2


@dataclass
class Whitener:
    """Cholesky factor of a covariance of rows.

    Attributes
    ----------
    factor : array, shape (rows, rows)
        Lower triangle, on the backend's device.
    backend : Backend
    """

    factor: Any
    backend: Backend

    @classmethod
    def of(cls, covariance: Any, backend: Backend | None = None) -> Whitener:
        """Factorize a covariance, after a small multiple of the identity is added to it."""
        backend = Backend() if backend is None else backend
        xp = backend.xp
        mean = covariance.diagonal().mean()
        ridge = JITTER * mean * xp.eye(len(covariance), dtype=covariance.dtype)
        if backend.name == "torch":
            ridge = ridge.to(covariance.device)
        return cls(backend.cholesky(covariance + ridge), backend)

    def whiten(self, columns: NDArray) -> NDArray:
        """Solve with the lower factor."""
        moved = self.backend.asarray(columns)
        return self.backend.to_numpy(self.backend.solve_lower(self.factor, moved))

    def inverse(self) -> Any:
        """Inverse of the covariance."""
        return self.backend.inverse(self.factor)
