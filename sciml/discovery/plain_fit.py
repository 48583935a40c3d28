"""Least squares on a chosen support, with the errors that the noise implies.

Methods that choose their terms on plain rows still owe standard errors. Neighboring windows share
noise, so the textbook formula for independent rows would promise too much; the exact covariance of
the rows gives the right errors of the plain estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.covariance import Whitener
from sciml.discovery.subset_search import MODEL_ERROR_ROWS, GramSystem
from sciml.discovery.whitened_fit import FLOOR_CLEAN, Assembled, largest_chi2


@dataclass(frozen=True, eq=False)
class PlainFit:
    """Coefficients on a support and the evidence for them.

    Attributes
    ----------
    support : tuple of int
    coefficients : ndarray, shape (terms,)
    covariance : ndarray, shape (terms, terms)
        Of the coefficients.
    chi2 : float
        Residual over its expectation per degree of freedom, near 1 if the equation holds; for data
        without noise relative to a discretization allowance of 0.3 percent.
    adequate : bool
        Whether ``chi2`` is within what chance explains.
    """

    support: tuple[int, ...]
    coefficients: NDArray
    covariance: NDArray
    chi2: float
    adequate: bool

    @property
    def notices(self) -> tuple[str, ...]:
        """What a careful reader should know."""
        if not self.support:
            return ("no term explains the data better than none",)
        if not self.adequate:
            return (
                f"the residual is {self.chi2:.3g} times what noise and discretization explain: a "
                "term is missing, or the equation lies outside the library",
            )
        return ()


def plain_fit(assembled: Assembled, support: tuple[int, ...]) -> PlainFit:
    """Fit the coefficients of a support by least squares on plain rows.

    The covariance is ``(G^T G)^-1 G^T C G (G^T G)^-1`` with the covariance ``C`` of the rows to
    first order in the noise.

    Parameters
    ----------
    assembled : Assembled
        The regression.
    support : tuple of int
        Columns.

    Returns
    -------
    PlainFit
    """
    matrix, left = assembled.plain
    columns = list(support)
    system = GramSystem.of(matrix, left)
    coefficients, residual = system.solve(support)
    scale = system.scale[columns]
    inverse = np.linalg.pinv(system.gram[np.ix_(columns, columns)]) / np.outer(scale, scale)
    if assembled.clean:
        freedom = max(1.0, min(system.rows, MODEL_ERROR_ROWS) - len(support))
        chi2 = residual / (FLOOR_CLEAN**2 * system.square)
        covariance = inverse * (residual / freedom)
        return PlainFit(support, coefficients, covariance, chi2, bool(support) and chi2 <= 1.0)
    middle = np.zeros((len(support), len(support)))
    square = 0.0
    for run, (part, side) in enumerate(zip(assembled.matrices, assembled.left_sides, strict=True)):
        chosen = part[:, columns]
        rows = assembled.covariance(run, support, coefficients)
        middle += chosen.T @ rows @ chosen
        white = Whitener.of(rows).whiten(side - chosen @ coefficients)
        square += float(white @ white)
    freedom = max(1, system.rows - len(support))
    chi2 = square / freedom
    adequate = bool(support) and chi2 <= largest_chi2(freedom)
    return PlainFit(support, coefficients, inverse @ middle @ inverse, chi2, adequate)
