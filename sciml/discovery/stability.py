"""Stability selection: keep the terms that the LASSO chooses on most random halves of the rows.

Meinshausen and Bühlmann, "Stability selection", J. R. Stat. Soc. B 72 (2010) 417, with their
randomized LASSO: each run penalizes each coefficient with its own random weight, which breaks ties
between correlated columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.lasso_path import largest_penalty, lasso_path
from sciml.theory.stability_selection import false_positive_bound, largest_selection

PENALTIES = 30
SMALLEST_PENALTY = 1e-3
"""Last penalty of the path, relative to the one at which nothing is chosen."""


@dataclass(frozen=True, eq=False)
class StabilityPath:
    """How often each term was chosen, along the part of the path that was used.

    Attributes
    ----------
    penalties : ndarray, shape (steps,)
        Penalties relative to the largest; the path ends before too many terms are chosen.
    frequencies : ndarray, shape (steps, columns)
        Share of runs that chose each term at each penalty.
    mean_selected : ndarray, shape (steps,)
        Mean number of terms that a run had chosen up to that penalty.
    threshold : float
        Frequency from which a term is kept.
    """

    penalties: NDArray
    frequencies: NDArray
    mean_selected: NDArray
    threshold: float

    @property
    def max_frequencies(self) -> NDArray:
        """Largest frequency of each term along the path, shape (columns,)."""
        return np.max(self.frequencies, axis=0, initial=0.0)

    @property
    def support(self) -> tuple[int, ...]:
        """Columns whose largest frequency reaches the threshold."""
        return tuple(int(k) for k in np.flatnonzero(self.max_frequencies >= self.threshold))

    @property
    def false_term_bound(self) -> float:
        """Bound on the expected number of false terms, if false columns were exchangeable."""
        if not len(self.mean_selected):
            return 0.0
        columns = self.frequencies.shape[1]
        return false_positive_bound(float(self.mean_selected[-1]), columns, self.threshold)


def stability_selection(
    matrix: NDArray,
    left: NDArray,
    *,
    n_subsamples: int = 100,
    threshold: float = 0.8,
    expected_false: float = 1.0,
    weakness: float = 0.5,
    random_state: int | np.random.Generator | None = 0,
) -> StabilityPath:
    """Frequencies with which a randomized LASSO chooses each column.

    Each run draws half of the rows and a weight ``W_j`` from [weakness, 1] for each column, and
    minimizes ``|y - G w|^2 / 2 + penalty * sum |w_j| / W_j`` on columns of unit norm.

    Parameters
    ----------
    matrix : ndarray, shape (rows, columns)
        Features.
    left : ndarray, shape (rows,)
        Left-hand side.
    n_subsamples : int
        Number of runs.
    threshold : float
        Share of runs from which a term is kept, in (0.5, 1].
    expected_false : float
        Accepted expected number of false terms; the path ends where the mean number of chosen
        terms exceeds ``sqrt((2 threshold - 1) columns expected_false)``.
    weakness : float
        Smallest weight, in (0, 1]; 1 gives the plain LASSO.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    StabilityPath

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(200, 8))
    >>> path = stability_selection(matrix, matrix[:, 2] + 0.1 * rng.normal(size=200))
    >>> path.support, path.max_frequencies.tolist()[2]
    ((2,), 1.0)
    """
    if not isinstance(n_subsamples, (int, np.integer)) or n_subsamples < 1:
        raise ValueError(f"n_subsamples must be a positive whole number, got {n_subsamples!r}")
    if not 0.0 < weakness <= 1.0:
        raise ValueError(f"weakness must lie in (0, 1], got {weakness!r}")
    if len(matrix) < 2:
        raise ValueError(f"matrix has {len(matrix)} rows: halves need at least 2")
    count = matrix.shape[1]
    limit = largest_selection(count, threshold, expected_false)
    scale = np.linalg.norm(matrix, axis=0)
    columns = matrix / np.where(scale > 0, scale, 1.0)
    side = left / (np.linalg.norm(left) or 1.0)
    rng = np.random.default_rng(random_state)
    grams, moments = _halves(columns, side, int(n_subsamples), weakness, rng)
    relative = np.geomspace(1.0, SMALLEST_PENALTY, PENALTIES)
    highest = largest_penalty(columns.T @ side)
    if highest == 0.0:
        return StabilityPath(relative[:0], np.zeros((0, count)), np.zeros(0), threshold)
    frequencies, mean_selected = [], []
    ever = np.zeros(moments.shape, bool)
    for coefficients in lasso_path(grams, moments, highest * relative):
        chosen = coefficients != 0.0
        ever |= chosen
        mean = float(ever.sum(axis=1).mean())
        if mean > limit:
            break
        frequencies.append(chosen.mean(axis=0))
        mean_selected.append(mean)
    return StabilityPath(
        penalties=relative[: len(frequencies)],
        frequencies=np.array(frequencies).reshape(-1, count),
        mean_selected=np.array(mean_selected),
        threshold=threshold,
    )


def _halves(
    columns: NDArray, side: NDArray, runs: int, weakness: float, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Normal equations of each run, with the weights absorbed into the columns."""
    rows, count = columns.shape
    half = rows // 2
    grams, moments = np.empty((runs, count, count)), np.empty((runs, count))
    for run in range(runs):
        part = rng.permutation(rows)[:half]
        weighted = columns[part] * rng.uniform(weakness, 1.0, size=count)
        # scaled up to all rows, so that penalties mean the same as on the whole
        grams[run] = weighted.T @ weighted * (rows / half)
        moments[run] = weighted.T @ side[part] * (rows / half)
    return grams, moments
