"""How well the data decide between a found equation and its rivals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciml.discovery.subset_search import MODEL_ERROR_ROWS
from sciml.discovery.whitened_fit import EquationFit
from sciml.theory import detection

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
    rows = max(1, fit.system.rows - len(fit.support))
    return np.array(
        [
            detection.residual_growth(
                float(coefficient),
                max(float(error), 1e-300),
                degrees_of_freedom=rows,
                chi2=max(fit.chi2, 1e-300),
            )
            for coefficient, error in zip(fit.coefficients, fit.standard_errors, strict=True)
        ]
    )


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
    critical = detection.critical_growth(
        fit.system.rows, fit.system.size, len(fit.support), MODEL_ERROR_ROWS
    )
    growth = residual_growth(fit)
    if critical <= 1.0:
        return np.full(len(growth), np.inf)
    return np.array([detection.detection_limit(1.0, float(g), critical) for g in growth])
