"""What honest error bars look like: the spread of chi^2 and the coverage of intervals."""

from __future__ import annotations

import math

import sympy

from sciml.theory.prediction import Prediction

FREEDOM = sympy.Symbol("nu", positive=True)
CHI2_SPREAD: sympy.Expr = sympy.sqrt(2 / FREEDOM)
"""Standard deviation of chi^2 per degree of freedom, for Gaussian errors."""


def predict_chi2(
    degrees_of_freedom: float, sigmas: float = 4.0, name: str = "chi2/n"
) -> Prediction:
    """Predict that chi^2 per degree of freedom is 1 within its own scatter.

    If the model is right and the row errors are Gaussian with the stated covariance, whitened
    residuals are standard normal and their sum of squares over ``nu`` has mean 1 and standard
    deviation ``sqrt(2/nu)``. A value far above 1 says that the equation is not in the library's
    span; far below, that the noise was overestimated.

    Parameters
    ----------
    degrees_of_freedom
        Rows less fitted coefficients ``nu``, positive; of several independent fits the sum.
    sigmas
        How many standard deviations are allowed.
    name
        Name of the prediction.

    Examples
    --------
    >>> predict_chi2(800, sigmas=2).statement
    '1 +- 0.1'
    """
    if not degrees_of_freedom > 0.0:
        raise ValueError(
            f"degrees_of_freedom is {degrees_of_freedom}: there must be more rows than terms"
        )
    return Prediction(
        name=name,
        value=1.0,
        kind="equals",
        rtol=sigmas * math.sqrt(2.0 / degrees_of_freedom),
        formula=sympy.Integer(1),
        source=f"mean of chi^2/nu, within {sigmas:g} standard deviations sqrt(2/nu)",
    )


def predict_coverage(
    trials: int, level: float = 0.95, confidence: float = 0.999, name: str = "coverage"
) -> Prediction:
    """Predict the share of intervals that hold the true value.

    The number of intervals out of ``trials`` independent ones that cover is binomial. The
    prediction is the smallest share that such a number reaches with probability ``confidence``:
    intervals that cover less often are too short. Intervals that are too long pass; see
    ``chi2/n`` for these.

    Parameters
    ----------
    trials
        Number of independent intervals, at least 1.
    level
        Nominal coverage of each interval, in (0, 1).
    confidence
        Probability that sound intervals pass, in (0, 1).
    name
        Name of the prediction.

    Examples
    --------
    >>> predict_coverage(trials=200).statement
    '>= 0.895'
    """
    from scipy.stats import binom

    if trials < 1:
        raise ValueError(f"trials is {trials}: at least one interval is needed")
    for argument, value in {"level": level, "confidence": confidence}.items():
        if not 0.0 < value < 1.0:
            raise ValueError(f"{argument} is {value}: it must lie between 0 and 1")
    # ppf gives the smallest count whose cumulative probability reaches 1 - confidence, so that a
    # sound set of intervals falls below it with probability at most 1 - confidence.
    least = int(binom.ppf(1.0 - confidence, trials, level))
    return Prediction(
        name=name,
        value=least / trials,
        kind="at_least",
        source=f"binomial: {trials} intervals of level {level:g}, passes with probability "
        f"{confidence:g}",
    )
