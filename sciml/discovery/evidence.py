"""How well the data decide between a found equation and its rivals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciml.discovery.subset_search import MODEL_ERROR_ROWS
from sciml.discovery.whitened_fit import EquationFit

AMBIGUOUS = 1.25
WEAK = 3.0
TRAVELING_WAVE = 100.0


@dataclass(frozen=True)
class Rival:
    """An equation of similar size that does without one of the chosen terms.

    Attributes
    ----------
    without : int
        Column of the term that it does without.
    support : tuple of int
        Its own columns.
    coefficients : tuple of float
        Least-squares coefficients.
    ratio : float
        Its squared residual over that of the chosen equation; below 1.25 it is as good.
    """

    without: int
    support: tuple[int, ...]
    coefficients: tuple[float, ...]
    ratio: float


def verdict(ratio: float) -> str:
    """``"identified"``, ``"weak"`` or ``"ambiguous"``.

    Examples
    --------
    >>> verdict(1.1), verdict(2.0), verdict(40.0)
    ('ambiguous', 'weak', 'identified')
    """
    if ratio < AMBIGUOUS:
        return "ambiguous"
    return "weak" if ratio < WEAK else "identified"


def find_rivals(fit: EquationFit) -> list[Rival]:
    """For each chosen term, the best equation without it that is at most one term longer.

    Parameters
    ----------
    fit : EquationFit
        The chosen equation.

    Returns
    -------
    list of Rival
        One per chosen term, in the order of the support.
    """
    system, size = fit.system, len(fit.support)
    base = fit.floor**2 * system.square
    chosen = fit.result.best[size][1] + base + 1e-300
    rivals = []
    for column in fit.support:
        support, residual = fit.result.best_without(column, size + 1)
        coefficients, residual = system.solve(support)
        rivals.append(
            Rival(
                without=column,
                support=support,
                coefficients=tuple(float(c) for c in coefficients),
                ratio=float((residual + base) / chosen),
            )
        )
    return rivals


def residual_growth(fit: EquationFit) -> np.ndarray:
    """Factor by which the residual grows when a chosen term is dropped.

    ``1 + (w_j / se_j)^2 / (n chi^2 / n)``, an identity for least squares.

    Parameters
    ----------
    fit : EquationFit
        The chosen equation.

    Returns
    -------
    ndarray, shape (terms,)
    """
    strength = (fit.coefficients / np.maximum(fit.standard_errors, 1e-300)) ** 2
    rows = max(1, fit.system.rows - len(fit.support))
    return 1.0 + strength / (rows * max(fit.chi2, 1e-300))


def losing_growth(columns: int, size: int, rows: int) -> float:
    """Residual growth at which the choice of size drops a term.

    Parameters
    ----------
    columns, size, rows : int
        Terms in the library, in the equation, and rows.

    Returns
    -------
    float
    """
    effective = rows * MODEL_ERROR_ROWS / (rows + MODEL_ERROR_ROWS)
    gain = 2 * math.log(math.comb(columns, size) / math.comb(columns, size - 1))
    return math.exp(max(0.0, (math.log(effective) + gain) / effective))


def noise_limits(fit: EquationFit) -> np.ndarray:
    """Factor on the present noise at which each chosen term would be lost.

    Standard errors grow in proportion to the noise. Windows widen with the noise, which the
    forecast ignores: it holds within a factor of about two.

    Parameters
    ----------
    fit : EquationFit
        The chosen equation, from noisy data.

    Returns
    -------
    ndarray, shape (terms,)
    """
    if not fit.support:
        return np.zeros(0)
    growth = residual_growth(fit) - 1.0
    needed = losing_growth(fit.system.size, len(fit.support), fit.system.rows) - 1.0
    return np.sqrt(growth / max(needed, 1e-300))
