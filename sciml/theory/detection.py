"""Which terms can data show? The growth of the residual when a true term is dropped.

Let ``S`` be the least-squares residual sum of squares of a model with coefficients ``w``, on
``n`` rows whose errors were made independent with variance ``s^2``. Leaving column ``j`` out
raises it to ``S + w_j^2/(A^-1)_jj`` with the Gram matrix ``A``, and the squared standard error of
``w_j`` is ``s^2 (A^-1)_jj``. With ``chi2 = S/(s^2 nu)`` on ``nu = n - (number of terms)`` degrees
of freedom the residual therefore grows by the factor ``1 + (w_j/se_j)^2/(nu chi2)``: an identity
for least squares, not an estimate.

Since ``se_j`` is proportional to the noise, the factor measured at one noise level forecasts the
others, and with them the level at which a selection by size loses the term.
"""

from __future__ import annotations

import math

import sympy

COEFFICIENT, STANDARD_ERROR, FREEDOM, CHI2 = sympy.symbols("w se nu chi2", positive=True)
GROWTH: sympy.Expr = 1 + (COEFFICIENT / STANDARD_ERROR) ** 2 / (FREEDOM * CHI2)
"""Growth of the residual sum of squares when the term is left out."""


def residual_growth(
    coefficient: float, standard_error: float, *, degrees_of_freedom: float, chi2: float = 1.0
) -> float:
    """Predict by what factor the residual grows when a term is left out of the model.

    Parameters
    ----------
    coefficient
        Fitted coefficient ``w`` of the term. Its sign does not matter.
    standard_error
        Its standard error ``se``, in the same unit, positive.
    degrees_of_freedom
        Rows less terms, ``nu = n - |S|``, positive.
    chi2
        Residual sum of squares over ``s^2 nu``, which is 1 for a sound fit.

    Returns
    -------
    float
        Ratio of the two residual sums of squares, at least 1.

    Examples
    --------
    A coefficient of ten standard errors on a hundred degrees of freedom doubles the residual:

    >>> residual_growth(0.5, 0.05, degrees_of_freedom=100)
    2.0
    """
    _positive(standard_error=standard_error, degrees_of_freedom=degrees_of_freedom, chi2=chi2)
    return 1.0 + (coefficient / standard_error) ** 2 / (degrees_of_freedom * chi2)


def growth_at_noise(growth: float, noise_ratio: float) -> float:
    """Forecast the growth factor at another noise level.

    Standard errors are proportional to the noise, so what the factor has above 1 falls with its
    square. The forecast leaves out that windows widen with the noise and that the regressors are
    noisy themselves: take it as good within a factor of about 2.

    Parameters
    ----------
    growth
        Growth factor at the present noise, at least 1.
    noise_ratio
        The other noise over the present noise, positive.

    Examples
    --------
    >>> growth_at_noise(161.0, noise_ratio=4.0)
    11.0
    """
    _at_least_one(growth)
    _positive(noise_ratio=noise_ratio)
    return 1.0 + (growth - 1.0) / noise_ratio**2


def critical_growth(rows: int, candidates: int, terms: int, tempering: float = 25.0) -> float:
    """Return the growth factor below which selection by tempered EBIC drops a term.

    The score of a model with ``k`` of ``p`` candidate terms is ``m ln(RSS) + k ln(m) + 2 ln(C(p,
    k))`` with ``m = n A/(n + A)`` effective rows. The smaller model wins if ``m ln(growth)`` is
    below the difference of the penalties, ``ln(m) + 2 ln((p - k + 1)/k)``.

    Parameters
    ----------
    rows
        Number of rows ``n``.
    candidates
        Number of library terms ``p``.
    terms
        Number of terms ``k`` of the model that holds the term, from 1 to ``p``.
    tempering
        Number of rows ``A`` beyond which more rows no longer sharpen the choice. Infinite for the
        ordinary EBIC (Chen and Chen, Biometrika 95, 759 (2008)).

    Examples
    --------
    >>> round(critical_growth(rows=1000, candidates=16, terms=2), 3)
    1.34
    """
    _positive(rows=rows, tempering=tempering)
    if not 1 <= terms <= candidates:
        raise ValueError(f"terms is {terms}: it must lie between 1 and candidates = {candidates}")
    effective = float(rows) if math.isinf(tempering) else rows * tempering / (rows + tempering)
    penalty = math.log(effective) + 2.0 * math.log((candidates - terms + 1) / terms)
    return math.exp(max(penalty, 0.0) / effective)


def detection_limit(noise: float, growth: float, critical: float) -> float:
    """Forecast the noise level at which a term is lost.

    Parameters
    ----------
    noise
        Present noise level, in any unit, positive.
    growth
        Growth factor of the term at that noise, at least 1.
    critical
        Factor needed to keep the term, above 1; see `critical_growth`.

    Returns
    -------
    float
        Noise level in the unit of ``noise``. The forecast of the growth is good to a factor of
        about 2, the limit therefore to about the square root of 2.

    Examples
    --------
    >>> detection_limit(noise=0.05, growth=161.0, critical=1.4)
    1.0
    """
    _positive(noise=noise)
    _at_least_one(growth)
    if not critical > 1.0:
        raise ValueError(
            f"critical is {critical}: no term is lost unless the factor needed exceeds 1"
        )
    return noise * math.sqrt((growth - 1.0) / (critical - 1.0))


def _positive(**arguments: float) -> None:
    for name, value in arguments.items():
        if not value > 0.0:
            raise ValueError(f"{name} is {value}: it must be positive")


def _at_least_one(growth: float) -> None:
    if not growth >= 1.0:
        raise ValueError(
            f"growth is {growth}: leaving a term out cannot lower the residual, so at least 1"
        )
