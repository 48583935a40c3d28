"""Covariance of the residual of a weak-form equation, to first order in the noise, without loss.

The residual is linear in the noise ``e`` to first order, ``r = sum_a v_a X_a (h_a e) T_a^T`` with
one small matrix per axis and a pointwise weight ``h_a``. Its covariance needs only pairs of windows
that overlap: one product over the grid points per axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs, solve_triangular

from sciml.discovery.weak_form import Groups, Orders, WeakForm, add_group

_FACTORIZE, _INVERT = get_lapack_funcs(("potrf", "potri"), dtype=np.float64)

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
        self._products: dict[tuple[int, int, int], NDArray] = {}
        self.pairs = [windows.overlaps for windows in weak.windows]
        # the covariance is symmetric: along the first axis half of the pairs is enough
        first, second = self.pairs[0]
        upper = first <= second
        self.pairs[0] = (first[upper], second[upper])

    def products(self, axis: int, first: int, second: int) -> NDArray:
        """``X_first[c, i] X_second[c', i]`` for every pair, shape (pairs, points)."""
        key = (axis, first, second)
        if key not in self._products:
            matrices = self.weak.windows[axis].matrices
            one, other = self.pairs[axis]
            self._products[key] = matrices[first][one] * matrices[second][other]
        return self._products[key]

    def _space_axes(self) -> range:
        return range(len(self.weak.windows) - 1)

    def contract_space(self, first: Orders, second: Orders, weight: NDArray | float) -> NDArray:
        """Sum over space; shape (pairs along each space axis..., times or 1)."""
        if np.isscalar(weight):
            total = np.asarray(weight, float)
            for axis in self._space_axes():
                sums = self.products(axis, first[axis], second[axis]).sum(axis=1)
                total = total[..., None] * sums
            return total[..., None]
        values = np.asarray(weight)
        for axis in self._space_axes():
            matrix = self.products(axis, first[axis], second[axis])
            values = np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)
        return values

    def contract_time(self, first: int, second: int, values: NDArray) -> NDArray:
        """Sum over time; shape (pairs along each axis...)."""
        matrix = self.products(len(self.weak.windows) - 1, first, second)
        if values.shape[-1] == 1:
            return values * matrix.sum(axis=1)
        return values @ matrix.T

    def scatter(self, values: NDArray) -> NDArray:
        """Put pair sums into the symmetric matrix over all rows."""
        counts = self.weak.n_windows
        dimensions = len(counts)
        out = np.zeros((*counts, *counts))
        rows, columns = [], []
        for axis, (one, other) in enumerate(self.pairs):
            shape = [1] * dimensions
            shape[axis] = len(one)
            rows.append(one.reshape(shape))
            columns.append(other.reshape(shape))
        out[(*rows, *columns)] = values
        out[(*columns, *rows)] = values
        return self._keep(out.reshape(int(np.prod(counts)), -1))

    def _keep(self, matrix: NDArray) -> NDArray:
        kept = self.weak.kept
        return matrix if kept is None else matrix[np.ix_(kept, kept)]

    def gather(self, matrix: NDArray) -> NDArray:
        """Values of a symmetric matrix over rows at the pairs; mirrored pairs count twice."""
        counts = self.weak.n_windows
        kept = self.weak.kept
        if kept is not None:
            full = np.zeros((len(kept), len(kept)))
            full[np.ix_(kept, kept)] = matrix
            matrix = full
        dimensions = len(counts)
        cube = matrix.reshape(*counts, *counts)
        rows, columns = [], []
        for axis, (one, other) in enumerate(self.pairs):
            shape = [1] * dimensions
            shape[axis] = len(one)
            rows.append(one.reshape(shape))
            columns.append(other.reshape(shape))
        values = cube[(*rows, *columns)]
        one, other = self.pairs[0]
        return values * np.where(one == other, 1.0, 2.0).reshape(-1, *[1] * (dimensions - 1))


def combine(responses: Sequence[Groups], coefficients: Sequence[float]) -> Groups:
    """Response of a linear combination of columns."""
    total: Groups = {}
    for groups, coefficient in zip(responses, coefficients, strict=True):
        if coefficient == 0.0:
            continue
        for key, values in groups.items():
            add_group(total, key, values * coefficient)
    return total


def response_covariance(pairs: PairSums, groups: Groups) -> NDArray:
    """Covariance matrix of the rows for unit noise, shape (rows, rows)."""
    by_time: dict[tuple[int, int, bool], NDArray] = {}
    for (space_1, time_1), weight_1 in groups.items():
        for (space_2, time_2), weight_2 in groups.items():
            weight = weight_1 * weight_2
            key = (time_1, time_2, bool(np.isscalar(weight)))
            part = pairs.contract_space(space_1, space_2, weight)
            by_time[key] = by_time[key] + part if key in by_time else part
    total: NDArray | float = 0.0
    for (time_1, time_2, _), values in by_time.items():
        total = total + pairs.contract_time(time_1, time_2, values)
    return pairs.scatter(np.asarray(total))


def trace_products(pairs: PairSums, inverse: NDArray, responses: Sequence[Groups]) -> NDArray:
    """``tr(inverse (C_ab + C_ba) / 2)`` for every pair of columns, shape (columns, columns).

    ``C_ab`` is the cross-covariance of columns ``a`` and ``b`` for unit noise. The inverse is
    carried back to the grid once per pair of orders; each pair of columns then costs one product of
    their pointwise weights.
    """
    at_pairs = pairs.gather(inverse)
    keys = sorted({key for groups in responses for key in groups})
    count = len(responses)
    out = np.zeros((count, count))
    in_time: dict[tuple[int, int], NDArray] = {}
    for space_1, time_1 in keys:
        for space_2, time_2 in keys:
            if (time_1, time_2) not in in_time:
                last = len(pairs.weak.windows) - 1
                in_time[time_1, time_2] = at_pairs @ pairs.products(last, time_1, time_2)
            on_grid = in_time[time_1, time_2]
            for axis in range(len(space_1)):
                matrix = pairs.products(axis, space_1[axis], space_2[axis])
                on_grid = np.moveaxis(np.tensordot(matrix, on_grid, (0, axis)), 0, axis)
            for a, groups_a in enumerate(responses):
                if (space_1, time_1) not in groups_a:
                    continue
                weighted = on_grid * groups_a[space_1, time_1]
                for b, groups_b in enumerate(responses):
                    if (space_2, time_2) in groups_b:
                        out[a, b] += float(np.sum(weighted * groups_b[space_2, time_2]))
    return (out + out.T) / 2


@dataclass
class Whitener:
    """Cholesky factor of a covariance of rows.

    Attributes
    ----------
    factor : ndarray, shape (rows, rows)
        Lower triangle.
    """

    factor: NDArray

    @classmethod
    def of(cls, covariance: NDArray) -> Whitener:
        """Factorize a covariance, after a small multiple of the identity is added to it."""
        matrix = covariance.copy()
        jitter = JITTER * float(np.mean(np.diag(matrix)))
        matrix[np.diag_indices_from(matrix)] += jitter
        factor, info = _FACTORIZE(matrix.T, lower=1, clean=1, overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError("the covariance of the rows is not positive definite")
        return cls(factor)

    def whiten(self, columns: NDArray) -> NDArray:
        """Solve with the lower factor."""
        return solve_triangular(self.factor, columns, lower=True, check_finite=False)

    def inverse(self) -> NDArray:
        """Inverse of the covariance."""
        lower, info = _INVERT(self.factor, lower=1)
        if info != 0:
            raise np.linalg.LinAlgError("the covariance of the rows cannot be inverted")
        full = lower + lower.T
        full[np.diag_indices_from(full)] /= 2
        return full
