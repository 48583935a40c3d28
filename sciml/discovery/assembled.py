"""The regression of one left-hand side over all recordings, and its whitening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.covariance import (
    PairSums,
    Whitener,
    combine,
    response_covariance,
    trace_products,
)
from sciml.discovery.weak_form import Groups, WeakForm

if TYPE_CHECKING:
    from sciml.discovery.whitened_fit import EquationFit

CLEAN_NOISE = 2e-3
"""Noise, relative to the field's spread, below which discretization is the larger error."""


class Assembled:
    """The regression of one left-hand side over all recordings, and its covariance.

    Parameters
    ----------
    weak_forms : sequence of WeakForm
        One per recording, on the same library.
    target : str
        Field whose time derivative is the left-hand side.
    matrices : sequence of ndarray
        Weak form of the features, one per recording.
    columns : list of int, optional
        Features in use; all by default.
    known : dict of int to float
        Features with a known coefficient: they belong to the left-hand side.
    """

    def __init__(
        self,
        weak_forms: Sequence[WeakForm],
        target: str,
        matrices: Sequence[NDArray],
        columns: list[int] | None = None,
        known: Mapping[int, float] | None = None,
    ) -> None:
        self.weak_forms = list(weak_forms)
        self.target = target
        self.known = dict(known or {})
        self.left_sides = [
            weak.left_side(target) - sum(c * matrix[:, k] for k, c in self.known.items())
            for weak, matrix in zip(weak_forms, matrices, strict=True)
        ]
        self._all_matrices = list(matrices)
        if columns is None:
            columns = [k for k in range(matrices[0].shape[1]) if k not in self.known]
        self.columns = columns
        self.matrices = [matrix[:, columns] for matrix in matrices]
        self._pairs: dict[int, PairSums] = {}
        self._responses: dict[tuple[int, int, str], Groups] = {}

    def restricted(self, columns: list[int]) -> Assembled:
        """The same regression on some of the columns; its column 0 is ``columns[0]``."""
        if columns == list(range(len(self.columns))):
            return self
        return Assembled(
            self.weak_forms,
            self.target,
            self._all_matrices,
            [self.columns[k] for k in columns],
            self.known,
        )

    @cached_property
    def plain(self) -> tuple[NDArray, NDArray]:
        """Features and left-hand side of all rows, as they are."""
        return np.concatenate(self.matrices), np.concatenate(self.left_sides)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(left) for left in self.left_sides)

    @cached_property
    def clean(self) -> bool:
        """Whether no field carries noise worth modeling."""
        return all(
            weak.noise[name] < CLEAN_NOISE * weak.recording.spread(name)
            for weak in self.weak_forms
            for name in weak.recording.fields
        )

    def pairs(self, run: int) -> PairSums:
        """Overlapping pairs of windows of one recording."""
        if run not in self._pairs:
            self._pairs[run] = PairSums(self.weak_forms[run])
        return self._pairs[run]

    def response(self, run: int, column: int, field: str) -> Groups:
        """Response of a column (-1 is the left-hand side) to noise on a field."""
        key = (run, column, field)
        if key not in self._responses:
            weak = self.weak_forms[run]
            if column >= 0:
                self._responses[key] = weak.response(self.columns[column], field)
            else:
                known = [weak.response(k, field) for k in self.known]
                own = weak.left_response() if field == self.target else {}
                self._responses[key] = combine(
                    [own, *known], [1.0, *(-c for c in self.known.values())]
                )
        return self._responses[key]

    def noise_weight(self, run: int, field: str) -> float:
        """Variance of the noise; a stand-in far below the field keeps clean data solvable."""
        weak = self.weak_forms[run]
        smallest = 1e-9 * weak.recording.spread(field)
        return max(weak.noise[field], smallest) ** 2

    def covariance(self, run: int, support: Sequence[int], coefficients: NDArray) -> Any:
        """Covariance of the residual rows of one recording."""
        total: Any = 0.0
        for name in self.weak_forms[run].recording.fields:
            groups = combine(
                [self.response(run, column, name) for column in (*support, -1)],
                [*(-float(c) for c in coefficients), 1.0],
            )
            if groups:
                part = response_covariance(self.pairs(run), groups)
                total = total + self.noise_weight(run, name) * part
        return total

    def whiteners(self, support: Sequence[int], coefficients: NDArray) -> list[Whitener]:
        """One whitener per recording, for a given equation."""
        return [
            Whitener.of(self.covariance(run, support, coefficients), self.weak_forms[run].backend)
            for run in range(len(self.weak_forms))
        ]

    def whitened(self, whiteners: Sequence[Whitener]) -> tuple[NDArray, NDArray]:
        """Whitened features and left-hand side of all rows."""
        blocks = [
            whitener.whiten(np.column_stack([matrix, left]))
            for whitener, matrix, left in zip(
                whiteners, self.matrices, self.left_sides, strict=True
            )
        ]
        stacked = np.concatenate(blocks)
        return stacked[:, :-1], stacked[:, -1]

    def whitened_with(
        self, fit: EquationFit, blocks: Sequence[NDArray]
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Features, left-hand side and further columns, on rows whitened with a fitted equation."""
        if fit.clean:
            features, left = self.plain
            return features, left, np.concatenate(list(blocks))
        whiteners = fit.whiteners or self.whiteners(fit.support, fit.coefficients)
        features, left = self.whitened(whiteners)
        further = [w.whiten(block) for w, block in zip(whiteners, blocks, strict=True)]
        return features, left, np.concatenate(further)

    def noise_moment(self, support: Sequence[int], whiteners: Sequence[Whitener]) -> NDArray:
        """What noise adds on average to the normal equations of ``[G_S, y]``."""
        columns = (*support, -1)
        total = np.zeros((len(columns), len(columns)))
        for run, whitener in enumerate(whiteners):
            inverse = whitener.inverse()
            for name in self.weak_forms[run].recording.fields:
                responses = [self.response(run, column, name) for column in columns]
                total += self.noise_weight(run, name) * trace_products(
                    self.pairs(run), inverse, responses
                )
        return total
