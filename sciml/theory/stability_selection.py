"""Stability selection: how many false terms to expect.

A selector is run on many random halves of the rows, and a term is kept if the share of runs that
chose it reaches a threshold. If the false terms are exchangeable and the selector is no worse
than guessing, the expected number of false terms kept is bounded by the number of terms a run
chooses (Meinshausen and Bühlmann, J. R. Stat. Soc. B 72, 417 (2010), Theorem 1). Correlated
library columns break the first assumption: for an equation library the bound is a guide, not a
guarantee.
"""

from __future__ import annotations

import math

import sympy

SELECTED, CANDIDATES, THRESHOLD = sympy.symbols("q p pi", positive=True)
BOUND: sympy.Expr = SELECTED**2 / ((2 * THRESHOLD - 1) * CANDIDATES)
"""``q^2 / ((2 pi - 1) p)``."""


def false_positive_bound(selected: float, candidates: int, threshold: float = 0.8) -> float:
    """Bound the expected number of false terms that stability selection keeps.

    Parameters
    ----------
    selected
        Mean number of terms ``q`` that one run on half of the rows chooses.
    candidates
        Number of library terms ``p``.
    threshold
        Share of runs ``pi`` that must choose a term for it to be kept, in (0.5, 1].

    Returns
    -------
    float
        ``q^2 / ((2 pi - 1) p)``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> false_positive_bound(selected=3.0, candidates=15, threshold=0.8)
    1.0
    """
    _check(candidates, threshold)
    if not 0.0 <= selected <= candidates:
        raise ValueError(
            f"selected is {selected}: it must lie between 0 and candidates = {candidates}"
        )
    return selected**2 / ((2.0 * threshold - 1.0) * candidates)


def largest_selection(candidates: int, threshold: float = 0.8, false_terms: float = 1.0) -> float:
    """Return how many terms a run may choose if at most ``false_terms`` are to be expected.

    The bound solved for ``q``; a path of penalties is cut where the mean number chosen exceeds it.

    Parameters
    ----------
    candidates
        Number of library terms ``p``.
    threshold
        Share of runs that must choose a term, in (0.5, 1].
    false_terms
        Accepted expected number of false terms, positive.

    Returns
    -------
    float
        ``sqrt((2 pi - 1) p false_terms)``, at most ``p``.

    Examples
    --------
    >>> round(largest_selection(candidates=15), 6)
    3.0
    """
    _check(candidates, threshold)
    if not false_terms > 0.0:
        raise ValueError(f"false_terms is {false_terms}: it must be positive")
    return min(math.sqrt((2.0 * threshold - 1.0) * candidates * false_terms), float(candidates))


def _check(candidates: int, threshold: float) -> None:
    if candidates < 1:
        raise ValueError(f"candidates is {candidates}: there must be at least one library term")
    if not 0.5 < threshold <= 1.0:
        raise ValueError(
            f"threshold is {threshold}: the bound needs it in (0.5, 1], usually between 0.6 and 0.9"
        )
