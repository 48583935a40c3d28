"""The exact LASSO solution along a path of penalties, for many regressions at once.

Between two events, a term that enters or one that leaves, the solution is linear in the penalty.
Following these pieces (Osborne, Presnell and Turlach, IMA J. Numer. Anal. 20 (2000) 389; Efron,
Hastie, Johnstone and Tibshirani, Ann. Statist. 32 (2004) 407) is exact where coordinate descent
would crawl: the columns of a weak-form library are nearly dependent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

EVENTS_PER_COLUMN = 30
"""A regression that meets more events than this per column has lost its way in rounding errors."""

RIDGE = 1e-13
"""Added to Gram matrices of unit diagonal, so that dependent columns can be solved for."""


def largest_penalty(moments: NDArray) -> float:
    """Smallest penalty at which every coefficient of every regression is zero.

    Parameters
    ----------
    moments : ndarray, shape (..., columns)
        Products ``X^T y`` of columns and left-hand side.

    Returns
    -------
    float

    Examples
    --------
    >>> largest_penalty(np.array([0.5, -2.0]))
    2.0
    """
    return float(np.max(np.abs(moments)))


def lasso_path(
    grams: NDArray, moments: NDArray, penalties: Sequence[float] | NDArray
) -> Iterator[NDArray]:
    """Minimize ``|y - X w|^2 / 2 + penalty * sum |w|`` for falling penalties.

    Parameters
    ----------
    grams : ndarray, shape (regressions, columns, columns)
        ``X^T X`` of each regression; columns should be scaled to about unit norm.
    moments : ndarray, shape (regressions, columns)
        ``X^T y``.
    penalties : sequence of float
        Strictly decreasing.

    Yields
    ------
    ndarray, shape (regressions, columns)
        Coefficients, exactly zero outside the support. Nothing is computed beyond the penalties
        that are asked for.

    Raises
    ------
    ValueError
        If the penalties do not decrease or are negative.

    Examples
    --------
    >>> path = lasso_path(np.eye(2)[None], np.array([[3.0, -1.0]]), [2.0, 0.5])
    >>> [coefficients.tolist() for coefficients in path]
    [[[1.0, 0.0]], [[2.5, -0.5]]]
    """
    wanted = np.asarray(penalties, float)
    if len(wanted) and (wanted[-1] < 0 or np.any(np.diff(wanted) >= 0)):
        raise ValueError(f"penalties must be positive and strictly decreasing, got {wanted}")
    pieces = _Pieces(grams, moments)
    for penalty in wanted:
        pieces.advance(float(penalty))
        yield pieces.coefficients(float(penalty))


class _Pieces:
    """The linear piece of its path on which each regression is.

    On a piece the active coefficients are ``constant - penalty * slope``.
    """

    def __init__(self, grams: NDArray, moments: NDArray) -> None:
        count, columns = moments.shape
        self.grams = grams + RIDGE * np.eye(columns)
        self.moments = moments
        first = np.argmax(np.abs(moments), axis=1)
        everyone = np.arange(count)
        self.start = np.abs(moments[everyone, first])
        self.level = self.start.copy()
        self.signs = np.zeros((count, columns))
        self.signs[everyone, first] = np.sign(moments[everyone, first])
        # a term that has just entered moves away from zero, one that has just left stays inside
        # its bound: rounding must not make either turn back at once
        self.entered = first.copy()
        self.left = np.full(count, -1)
        self.left_sign = np.zeros(count)
        self.constant = np.zeros((count, columns))
        self.slope = np.zeros((count, columns))
        self.next_level = np.zeros(count)
        self.next_column = np.zeros(count, int)
        self.next_sign = np.zeros(count)
        self.events_left = np.full(count, EVENTS_PER_COLUMN * columns)
        self._solve(everyone)

    def coefficients(self, penalty: float) -> NDArray:
        """Coefficients at a penalty on the current pieces."""
        values = self.constant - penalty * self.slope
        return np.where((penalty < self.start)[:, None] & (self.signs != 0), values, 0.0)

    def advance(self, penalty: float) -> None:
        """Pass all events at larger penalties."""
        while True:
            due = np.flatnonzero((self.next_level > penalty) & (self.events_left > 0))
            if not len(due):
                return
            column, sign = self.next_column[due], self.next_sign[due]
            leaves = sign == 0
            self.entered[due] = np.where(leaves, -1, column)
            self.left[due] = np.where(leaves, column, -1)
            self.left_sign[due] = self.signs[due, column]
            self.signs[due, column] = sign
            self.level[due] = self.next_level[due]
            self.events_left[due] -= 1
            self._solve(due)

    def _solve(self, which: NDArray) -> None:
        """Pieces of some regressions, and where these end."""
        signs, grams = self.signs[which], self.grams[which]
        active = signs != 0
        both = active[:, :, None] & active[:, None, :]
        matrix = np.where(both, grams, np.eye(signs.shape[1]))
        sides = np.stack([np.where(active, self.moments[which], 0.0), signs], axis=-1)
        constant, slope = np.moveaxis(np.linalg.solve(matrix, sides), -1, 0)
        self.constant[which], self.slope[which] = constant, slope
        # correlation of an inactive column with the residual: rest + penalty * drift
        rest = self.moments[which] - np.einsum("bij,bj->bi", grams, constant)
        drift = np.einsum("bij,bj->bi", grams, slope)
        candidates = np.empty((3, *signs.shape))
        # an event needs motion towards it: what starts on a bound and moves inside meets none
        with np.errstate(divide="ignore", invalid="ignore"):
            candidates[0] = np.where(active & (signs * slope < 0), constant / slope, 0.0)
            candidates[1] = np.where(~active & (drift < 1.0), rest / (1.0 - drift), 0.0)
            candidates[2] = np.where(~active & (drift > -1.0), -rest / (1.0 + drift), 0.0)
        every = np.arange(len(which))
        entered, left = self.entered[which], self.left[which]
        fresh = entered >= 0
        candidates[0, every[fresh], entered[fresh]] = 0.0
        for kind, sign in ((1, 1.0), (2, -1.0)):
            same = (left >= 0) & (self.left_sign[which] == sign)
            candidates[kind, every[same], left[same]] = 0.0
        # what rounding put beyond its bound meets it at once
        candidates = np.clip(candidates, 0.0, self.level[which][:, None])
        flat = np.moveaxis(candidates, 0, 1).reshape(len(which), -1)
        best = np.argmax(flat, axis=1)
        self.next_level[which] = flat[every, best]
        kind, column = np.divmod(best, signs.shape[1])
        self.next_column[which] = column
        self.next_sign[which] = np.array([0.0, 1.0, -1.0])[kind]
