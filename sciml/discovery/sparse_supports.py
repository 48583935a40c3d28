"""Terms that common sparse regressions choose: LASSO, STLSQ and MSTLS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.lasso_path import largest_penalty, lasso_path
from sciml.discovery.result import PathStep
from sciml.discovery.subset_search import GramSystem

PENALTIES = 100


@dataclass(frozen=True)
class Choice:
    """Terms that a method chose, and how it came to them.

    Attributes
    ----------
    support : tuple of int
    steps : tuple of (support, score)
        Supports that were met on the way; smaller scores are better, NaN where there are none.
    """

    support: tuple[int, ...]
    steps: tuple[tuple[tuple[int, ...], float], ...] = ()


def lasso_support(
    matrix: NDArray, left: NDArray, folds: int = 5, smallest_penalty: float = 1e-3
) -> Choice:
    """Terms of the LASSO whose penalty cross-validation likes best.

    Columns and left-hand side are scaled to unit norm. The folds are blocks of neighboring rows:
    neighbors share noise, so rows drawn at random would leak it into the test.

    Parameters
    ----------
    matrix : ndarray, shape (rows, columns)
    left : ndarray, shape (rows,)
    folds : int
        Number of blocks.
    smallest_penalty : float
        End of the path of 100 penalties, relative to the largest.

    Returns
    -------
    Choice
        Scores are the mean squared errors on the left-out blocks.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(90, 4))
    >>> lasso_support(matrix, matrix[:, 1]).support
    (1,)
    """
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= len(left):
        raise ValueError(f"folds must be a whole number from 2 to {len(left)}, got {folds!r}")
    if not 0.0 < smallest_penalty < 1.0:
        raise ValueError(f"smallest_penalty must lie in (0, 1), got {smallest_penalty!r}")
    scale = np.linalg.norm(matrix, axis=0)
    columns = matrix / np.where(scale > 0, scale, 1.0)
    side = left / (np.linalg.norm(left) or 1.0)
    blocks = np.array_split(np.arange(len(side)), folds)
    whole = (columns.T @ columns, columns.T @ side)
    grams, moments = [whole[0]], [whole[1]]
    for block in blocks:
        # scaled up to all rows, so that penalties mean the same as on the whole
        share = len(side) / (len(side) - len(block))
        grams.append((whole[0] - columns[block].T @ columns[block]) * share)
        moments.append((whole[1] - columns[block].T @ side[block]) * share)
    highest = largest_penalty(whole[1])
    if highest == 0.0:
        return Choice(())
    penalties = highest * np.geomspace(1.0, smallest_penalty, PENALTIES)
    steps = []
    for coefficients in lasso_path(np.array(grams), np.array(moments), penalties):
        errors = [
            np.sum((side[block] - columns[block] @ fitted) ** 2)
            for block, fitted in zip(blocks, coefficients[1:], strict=True)
        ]
        support = tuple(int(k) for k in np.flatnonzero(coefficients[0]))
        steps.append((support, float(np.sum(errors)) / len(side)))
    best = int(np.argmin([score for _, score in steps]))
    return Choice(steps[best][0], tuple(steps))


def stlsq_support(system: GramSystem, threshold: float = 0.1) -> Choice:
    """Terms left by sequentially thresholded least squares.

    A term stays while its part ``|w_j G_j|`` is at least ``threshold`` times the norm of the
    left-hand side (Brunton, Proctor and Kutz, PNAS 113 (2016) 3932, on scaled columns).

    Parameters
    ----------
    system : GramSystem
    threshold : float
        Smallest part of a term, relative to the left-hand side.

    Returns
    -------
    Choice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(90, 4))
    >>> stlsq_support(GramSystem.of(matrix, 3 * matrix[:, 1] + 0.01 * matrix[:, 0])).support
    (1,)
    """
    if not threshold > 0.0:
        raise ValueError(f"threshold must be positive, got {threshold!r}")
    support = tuple(range(system.size))
    steps = [(support, float("nan"))]
    while support:
        coefficients, _ = system.solve(support)
        parts = np.abs(coefficients) * system.scale[list(support)]
        large = parts >= threshold * system.square**0.5
        if large.all():
            break
        support = tuple(k for k, kept in zip(support, large, strict=True) if kept)
        steps.append((support, float("nan")))
    return Choice(support, tuple(steps))


def mstls_support(system: GramSystem, n_thresholds: int = 50) -> Choice:
    """Terms of the modified sequentially thresholded least squares of weak SINDy.

    For each threshold ``h`` terms stay while ``h max(1, r_j) <= |w_j| <= min(1, r_j) / h`` with
    ``r_j = |y| / |G_j|``; the threshold with the smallest loss
    ``|G (w - w_ls)| / |G w_ls| + |S| / p`` wins (Messenger and Bortz, J. Comput. Phys. 443 (2021)
    110525, section 3).

    Parameters
    ----------
    system : GramSystem
    n_thresholds : int
        Thresholds tried, evenly spaced in the logarithm from 1e-4 to 1.

    Returns
    -------
    Choice
        Scores are the losses.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(90, 4))
    >>> mstls_support(GramSystem.of(matrix, matrix[:, 1] + 0.01 * matrix[:, 0])).support
    (1,)
    """
    if not isinstance(n_thresholds, (int, np.integer)) or n_thresholds < 1:
        raise ValueError(f"n_thresholds must be a positive whole number, got {n_thresholds!r}")
    everything = tuple(range(system.size))
    full, _ = system.solve(everything)
    columns = system.triangle[:, :-1]
    fitted = columns @ (full * system.scale)
    size = float(np.linalg.norm(fitted)) or 1.0
    ratio = system.square**0.5 / system.scale
    steps = []
    for threshold in np.geomspace(1e-4, 1.0, n_thresholds):
        lowest, highest = threshold * np.maximum(1, ratio), np.minimum(1, ratio) / threshold
        support = everything
        coefficients = full
        for _ in range(system.size):
            chosen = list(support)
            within = (np.abs(coefficients) >= lowest[chosen]) & (
                np.abs(coefficients) <= highest[chosen]
            )
            if within.all():
                break
            support = tuple(k for k, kept in zip(support, within, strict=True) if kept)
            coefficients, _ = system.solve(support)
        chosen = list(support)
        off = columns[:, chosen] @ (coefficients * system.scale[chosen]) - fitted
        loss = float(np.linalg.norm(off)) / size + len(support) / system.size
        steps.append((support, loss))
    best = int(np.argmin([loss for _, loss in steps]))
    return Choice(steps[best][0], tuple(steps))


def path_by_size(choice: Choice, system: GramSystem, names: Sequence[str]) -> tuple[PathStep, ...]:
    """Best-scored support of every size that a method met, as evidence to show."""
    best: dict[int, tuple[tuple[int, ...], float]] = {}
    for support, score in choice.steps:
        known = best.get(len(support))
        if known is None or score < known[1]:
            best[len(support)] = (support, score)
    return tuple(
        PathStep(
            size=size,
            terms=tuple(names[k] for k in support),
            residual=system.solve(support)[1] / system.square,
            score=score,
        )
        for size, (support, score) in sorted(best.items())
    )
