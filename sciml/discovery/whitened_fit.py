"""One equation by exhaustive search on whitened rows, with the errors of its coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.assembled import Assembled
from sciml.discovery.covariance import (
    Whitener,
)
from sciml.discovery.subset_search import (
    MODEL_ERROR_ROWS,
    GramSystem,
    SearchResult,
    choose_size,
    search,
    smallest_adequate_size,
    tempered_ebic,
)

UNEXPLAINED = 2.0
"""The search goes on while the largest support leaves this many times what the library leaves."""

TRIALS = 60
"""Equations that are whitened for themselves where none explains the data, at a thousand rows."""

RECONSIDERED = 10.0
"""Shorter equations within this factor of the residual are judged on their own covariance."""


def largest_chi2(freedom: float) -> float:
    """Residual per degree of freedom above which an equation does not explain the data.

    3.3 standard deviations of chi^2, and at least 15 percent for what the first order leaves out.
    """
    return 1.0 + max(0.15, 3.3 * math.sqrt(2.0 / freedom))


FLOOR_CLEAN = 3e-3
FLOOR_WHITENED = 1e-4


@dataclass(frozen=True, eq=False)
class EquationFit:
    """One found equation and the evidence for it.

    Attributes
    ----------
    support : tuple of int
        Columns of the library.
    coefficients : ndarray
    covariance : ndarray
        Of the coefficients.
    chi2 : float
        Residual over its expectation, per degree of freedom; near 1 if the equation holds.
    result : SearchResult
        Best supports by size.
    system : GramSystem
        The regression of the last search.
    floor : float
        Relative error that no model is expected to beat.
    clean : bool
        Whether the noise was below what whitening needs.
    corrected : bool
        Whether the coefficients are corrected for noise in the features.
    relative_residual : float
        Residual of the unwhitened rows relative to their left-hand side.
    whiteners : list of Whitener
        Of the final covariance, one per recording; empty for clean data.
    """

    support: tuple[int, ...]
    coefficients: NDArray
    covariance: NDArray
    chi2: float
    result: SearchResult
    system: GramSystem
    floor: float
    clean: bool
    corrected: bool
    relative_residual: float
    whiteners: list[Whitener] = field(default_factory=list, repr=False)

    @property
    def standard_errors(self) -> NDArray:
        """Standard errors of the coefficients."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def whitened_best_subset(assembled: Assembled, max_size: int, extend: bool = True) -> EquationFit:
    """Find one equation.

    Parameters
    ----------
    assembled : Assembled
        The regression.
    max_size : int
        Largest support in the first place.
    extend : bool
        Whether larger supports are tried when the largest one wins.

    Returns
    -------
    EquationFit
    """
    system = GramSystem.of(*assembled.plain)
    result = search(system, max_size)
    if assembled.clean:
        floor = FLOOR_CLEAN
        result, size = _extended(result, system, floor, max_size, extend)
        support = result.best[size][0]
        return _clean_fit(assembled, system, result, support)
    floor = FLOOR_WHITENED
    result, _ = _extended(result, system, floor, max_size, extend)
    first = result
    support = result.best[smallest_adequate_size(result)][0]
    coefficients, _ = system.solve(support)
    candidates = {entry[0] for entry in result.best}
    for _ in range(2):
        system = GramSystem.of(*assembled.whitened(assembled.whiteners(support, coefficients)))
        result = search(system, max_size)
        result, size = _extended(result, system, floor, max_size, extend)
        candidates |= {entry[0] for entry in result.best}
        support = result.best[size][0]
        coefficients, _ = system.solve(support)
    simpler = _simpler_if_as_good(assembled, system, support, candidates)
    if simpler != support:
        support = simpler
        coefficients, _ = system.solve(support)
        system = GramSystem.of(*assembled.whitened(assembled.whiteners(support, coefficients)))
        result = search(system, max(max_size, len(support) + 1))
        result = result.with_best(support, system)
    fit = _corrected_fit(assembled, system, result, support, coefficients)
    if not support or not misfits(fit):
        return fit
    return _reconsidered(assembled, fit, [first, result], max_size)


def misfits(fit: EquationFit) -> bool:
    """Whether the residual is beyond what noise and discretization explain."""
    if fit.clean:
        return fit.chi2 > 1.0
    if not beyond_noise(fit):
        return False
    excess = fit.relative_residual**2 * (1.0 - 1.0 / max(fit.chi2, 1.0))
    return excess > FLOOR_CLEAN**2


def beyond_noise(fit: EquationFit) -> bool:
    """Whether the residual of noisy data is larger than white noise explains."""
    return fit.chi2 > largest_chi2(max(1, fit.system.rows - len(fit.support)))


def _reconsidered(
    assembled: Assembled, fit: EquationFit, results: list[SearchResult], max_size: int
) -> EquationFit:
    """Another equation, if one explains the data over its own covariance.

    Rows whitened for a wrong equation rank the right one low. Where the chosen equation does not
    explain the data, the best ones of every search are therefore each whitened for themselves.
    """
    system = fit.system
    budget = int(np.clip(TRIALS * (1000.0 / system.rows) ** 3, 10, 2 * TRIALS))
    per_size = max(1, budget // (2 * max_size))
    candidates: dict[tuple[int, ...], None] = {}
    for result in results:
        for supports, residuals in result.compared[1 : max_size + 1]:
            for k in np.argsort(residuals)[:per_size]:
                candidates[tuple(int(c) for c in supports[k])] = None
    plain = GramSystem.of(*assembled.plain)
    chosen, lowest = fit.support, _own_score(assembled, fit.support, fit.coefficients)[0]
    best: tuple[GramSystem, NDArray] | None = None
    for candidate in candidates:
        score, own, coefficients = _own_score(assembled, candidate, plain.solve(candidate)[0])
        if score < lowest:
            chosen, lowest, best = candidate, score, (own, coefficients)
    if best is None:
        return fit
    own, coefficients = best
    result = search(own, max(max_size, len(chosen) + 1)).with_best(chosen, own)
    return _corrected_fit(assembled, own, result, chosen, coefficients)


def _own_score(
    assembled: Assembled, support: tuple[int, ...], coefficients: NDArray
) -> tuple[float, GramSystem, NDArray]:
    """Score of an equation on rows whitened with its own covariance, that system, and its fit."""
    own = GramSystem.of(*assembled.whitened(assembled.whiteners(support, coefficients)))
    fitted, residual = own.solve(support)
    score = tempered_ebic(residual, len(support), own.size, own.rows, own.square, 0.0)
    return score, own, fitted


def _simpler_if_as_good(
    assembled: Assembled,
    system: GramSystem,
    support: tuple[int, ...],
    candidates: set[tuple[int, ...]],
) -> tuple[int, ...]:
    """A shorter equation that explains the data as well when whitened with its own covariance.

    Rows whitened for an equation with a spurious term make the true one look noisy: the spurious
    term cancels noise, not signal. Each equation's residual over its own covariance, the distance
    of the data to its solutions, is fair to both.
    """
    _, chosen = system.solve(support)
    near = [
        candidate
        for candidate in candidates
        if 0 < len(candidate) < len(support) and system.solve(candidate)[1] < RECONSIDERED * chosen
    ]
    if not near:
        return support
    scores = {
        candidate: _own_score(assembled, candidate, system.solve(candidate)[0])[0]
        for candidate in [support, *near]
    }
    return min(scores, key=lambda item: (scores[item], len(item)))


def _extended(
    result: SearchResult, system: GramSystem, floor: float, max_size: int, extend: bool
) -> tuple[SearchResult, int]:
    """The chosen size; larger ones are tried while the largest wins or leaves much to explain.

    An equation of many terms may show only once they are complete: as long as the whole library
    explains far more than the best support so far, the search goes on.
    """
    base = floor**2 * system.square
    _, full = system.solve(tuple(range(system.size)))
    limit = min(system.size, 3 * max_size) if extend else 0
    size = choose_size(result, system, floor)
    while len(result.best) - 1 < limit:
        unexplained = result.best[-1][1] + base > UNEXPLAINED * (full + base)
        if size < len(result.best) - 1 and not unexplained:
            break
        result = search(system, len(result.best) + 2, start=result)
        size = choose_size(result, system, floor)
    return result, size


def _clean_fit(
    assembled: Assembled, system: GramSystem, result: SearchResult, support: tuple[int, ...]
) -> EquationFit:
    coefficients, residual = system.solve(support)
    columns = list(support)
    freedom = max(1.0, min(system.rows, MODEL_ERROR_ROWS) - len(support))
    gram = system.gram[np.ix_(columns, columns)]
    scale = np.outer(system.scale[columns], system.scale[columns])
    # the residual of clean data is a systematic error: it does not shrink with the number of rows
    covariance = np.linalg.pinv(gram) / scale * (residual / freedom)
    # on few points the sums themselves are off by a factor that no residual shows
    steps = max(w.quadrature_error for weak in assembled.weak_forms for w in weak.windows)
    covariance = covariance + np.diag((steps * coefficients) ** 2)
    return EquationFit(
        support=support,
        coefficients=coefficients,
        covariance=covariance,
        chi2=residual / (FLOOR_CLEAN**2 * system.square),
        result=result,
        system=system,
        floor=FLOOR_CLEAN,
        clean=True,
        corrected=False,
        relative_residual=float(np.sqrt(residual / system.square)),
    )


def _corrected_fit(
    assembled: Assembled,
    system: GramSystem,
    result: SearchResult,
    support: tuple[int, ...],
    coefficients: NDArray,
) -> EquationFit:
    """Generalized least squares with errors in variables on the chosen support."""
    corrected = False
    covariance = np.zeros((len(support), len(support)))
    whiteners = assembled.whiteners(support, coefficients)
    chosen = list(support)
    features, left = assembled.whitened(whiteners)
    for step in range(3):
        columns = np.column_stack([features[:, chosen], left])
        moments = columns.T @ columns
        without_noise = moments - assembled.noise_moment(support, whiteners)
        head = without_noise[:-1, :-1]
        corrected = bool(support) and bool(np.all(np.linalg.eigvalsh(_unit(head)) > 1e-10))
        if corrected:
            coefficients = np.linalg.solve(head, without_noise[:-1, -1])
            inverse = np.linalg.inv(head)
            covariance = inverse @ moments[:-1, :-1] @ inverse
        elif support:
            coefficients = np.linalg.lstsq(features[:, chosen], left, rcond=None)[0]
            covariance = np.linalg.pinv(moments[:-1, :-1])
        if step < 2 and support:
            whiteners = assembled.whiteners(support, coefficients)
            features, left = assembled.whitened(whiteners)
    residual = left - features[:, chosen] @ coefficients
    chi2 = float(residual @ residual) / max(1, len(left) - len(support))
    if chi2 > largest_chi2(max(1, len(left) - len(support))):
        covariance = covariance * chi2
    return EquationFit(
        support=support,
        coefficients=np.asarray(coefficients),
        covariance=covariance,
        chi2=chi2,
        result=result,
        system=system,
        floor=FLOOR_WHITENED,
        clean=False,
        corrected=corrected,
        relative_residual=_relative_residual(assembled, support, coefficients),
        whiteners=whiteners,
    )


def _relative_residual(
    assembled: Assembled, support: tuple[int, ...], coefficients: NDArray
) -> float:
    features, left = assembled.plain
    residual = left - features[:, list(support)] @ coefficients
    return float(np.linalg.norm(residual) / np.linalg.norm(left))


def _unit(matrix: NDArray) -> NDArray:
    """A symmetric matrix scaled to unit diagonal."""
    diagonal = np.sqrt(np.abs(np.diag(matrix)))
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    return matrix / np.outer(diagonal, diagonal)
