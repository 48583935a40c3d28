"""How well noisy samples of a sum of powers determine its exponents.

Samples are drawn in the unit ball of ``R^d``, uniformly by volume (density ``d r^(d-1)`` of the
radius), each with independent noise of zero mean. A bounded error that is repeated at every
sample is no such noise: it does not average out, however many samples there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sciml.theory.power_law import Number, check_powers, in_digits
from sciml.theory.prediction import Prediction

SHARE_OF_GAP = 4.0
"""Two exponents are resolved if their deviations are below the gap divided by this."""


def coefficient_variance(
    exponents: Number | Sequence[Number],
    sigma: float,
    samples: int,
    dimension: int = 1,
    *,
    digits: int | None = None,
) -> Any:
    """Variance of the coefficients of known powers.

    ``(sigma^2/(N d)) (2 mu_i + d)`` times the product over ``j != i`` of
    ``((mu_i + mu_j + d)/(mu_i - mu_j))^2``: the diagonal of the inverse of Cauchy's matrix.

    Parameters
    ----------
    exponents : float or sequence of float
        Different exponents above ``-d/2``.
    sigma : float
        Standard deviation of the noise.
    samples : int
        Number ``N``.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float or list of float
        A list if a sequence of exponents is given.

    Examples
    --------
    >>> coefficient_variance(0.5, sigma=0.1, samples=100)
    0.0002
    """
    given = _exponents(exponents, sigma, samples, dimension)

    def compute(number: Callable[[Number], Any]) -> list[Any]:
        powers = [number(mu) for mu in given]
        unit = number(sigma) ** 2 / (samples * dimension)
        return [
            unit * (2 * mu + dimension) * _crowding(powers, i, dimension) ** 2
            for i, mu in enumerate(powers)
        ]

    found = in_digits(compute, digits)
    return found if _is_sequence(exponents) else found[0]


def exponent_variance(
    exponents: Number | Sequence[Number],
    coefficients: Number | Sequence[Number],
    sigma: float,
    samples: int,
    dimension: int = 1,
    *,
    grading: Number = 1,
    known_coefficient: bool = False,
    digits: int | None = None,
) -> Any:
    """Cramer-Rao bound for the exponents of a sum of powers with unknown coefficients.

    ``Var(mu_i) >= sigma^2/(N d c_i^2) (2 mu_i + d)^3`` times the product over ``j != i`` of
    ``((mu_i + mu_j + d)/(mu_i - mu_j))^4``. It is the limit of Cauchy's inverse when every power
    is doubled: the derivative of ``r^mu`` is a difference of two close powers.

    Parameters
    ----------
    exponents, coefficients : float or sequence of float
        ``mu`` and ``c``, as many of the one as of the other.
    sigma : float
        Standard deviation of the noise.
    samples : int
        Number ``N``.
    dimension : int, default 1
        Of space, ``d``.
    grading : float, default 1
        Samples at ``r = t^p`` with ``t`` uniform by volume, ``p`` the grading.
    known_coefficient : bool, default False
        For a single power only: its coefficient is known, which halves the variance.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float or list of float
        A list if a sequence of exponents is given.

    Examples
    --------
    >>> exponent_variance(0.5, 1.0, sigma=0.01, samples=100)
    8e-06
    >>> [round(v ** 0.5, 2) for v in exponent_variance([0.5, 0.6], [1, 1], 0.01, 200)]
    [0.88, 1.02]
    """
    given = _exponents(exponents, sigma, samples, dimension)
    sizes = _listed(coefficients)
    if len(sizes) != len(given):
        raise ValueError(
            f"coefficients: got {len(sizes)} for {len(given)} exponents; give one for each"
        )
    if any(not math.isfinite(float(c)) or float(c) == 0.0 for c in sizes):
        raise ValueError(
            f"coefficients={sizes}: a term without a coefficient has no exponent to find; wanted "
            "finite numbers other than 0"
        )
    if not (math.isfinite(float(grading)) and float(grading) > 0.0):
        raise ValueError(f"grading={grading!r}, wanted a positive number p of r = t^p")
    if known_coefficient and len(given) > 1:
        raise ValueError(
            f"known_coefficient=True with {len(given)} exponents: the halved variance holds for "
            "one power; use cramer_rao_bound with the derivatives of what is unknown"
        )
    check_powers([], [float(grading) * float(mu) for mu in given], dimension)

    def compute(number: Callable[[Number], Any]) -> list[Any]:
        p = number(grading)
        powers = [p * number(mu) for mu in given]
        unit = number(sigma) ** 2 / (samples * dimension * p**2)
        if known_coefficient:
            unit = unit / 2
        return [
            unit
            * (2 * mu + dimension) ** 3
            / number(sizes[i]) ** 2
            * _crowding(powers, i, dimension) ** 4
            for i, mu in enumerate(powers)
        ]

    found = in_digits(compute, digits)
    return found if _is_sequence(exponents) else found[0]


def cramer_rao_bound(jacobian: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Cramer-Rao bound of any design: the inverse of ``J^T J / sigma^2``.

    Parameters
    ----------
    jacobian : array_like, shape (rows, parameters)
        Derivatives of the noise-free samples with respect to every unknown; for powers
        ``[r^mu, c r^mu log r]``.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    ndarray, shape (parameters, parameters)
        Smallest covariance that an unbiased estimate can have.

    Raises
    ------
    ValueError
        If the rows cannot determine all parameters.

    Examples
    --------
    >>> cramer_rao_bound([[1.0], [1.0]], sigma=0.2).round(12)
    array([[0.02]])
    """
    rows = np.asarray(jacobian, dtype=np.float64)
    if rows.ndim != 2 or not np.all(np.isfinite(rows)):
        raise ValueError(f"jacobian: shape {rows.shape}, wanted finite (rows, parameters)")
    if not (math.isfinite(sigma) and sigma > 0.0):
        raise ValueError(f"sigma={sigma!r}, wanted a positive number")
    scale = np.linalg.norm(rows, axis=0)
    if rows.shape[0] < rows.shape[1] or not np.all(scale > 0.0):
        raise ValueError(
            f"jacobian: {rows.shape[0]} rows and {rows.shape[1]} parameters, some of them without "
            "influence; fix these, or add samples"
        )
    _, values, right = np.linalg.svd(rows / scale, full_matrices=False)
    if values[-1] < 1e-13 * values[0]:
        raise ValueError(
            f"jacobian: rank is below {rows.shape[1]} (singular values {values[0]:.2g} to "
            f"{values[-1]:.2g}); the samples do not determine all parameters"
        )
    factor = right.T / values / scale[:, None]
    return sigma**2 * factor @ factor.T


def pair_deviation(
    exponent: float, gap: float, sigma: float, samples: int, dimension: int = 1, size: float = 1.0
) -> float:
    """Larger of the two deviations of the exponents ``mu`` and ``mu + gap`` of two equal terms.

    Parameters
    ----------
    exponent : float
        Lower exponent ``mu``.
    gap : float
        Distance of the upper one, positive.
    sigma, samples, dimension
        As in `exponent_variance`.
    size : float, default 1
        Coefficient of both terms.

    Returns
    -------
    float

    Examples
    --------
    >>> round(pair_deviation(0.5, 0.1, sigma=0.01, samples=200), 2)
    1.02
    """
    if not (math.isfinite(gap) and gap > 0.0):
        raise ValueError(f"gap={gap!r}, wanted a positive number")
    pair = [exponent, exponent + gap]
    return math.sqrt(max(exponent_variance(pair, [size, size], sigma, samples, dimension)))


def resolvable_gap(
    exponent: float, sigma: float, samples: int, dimension: int = 1, size: float = 1.0
) -> float:
    """Smallest gap at which two equal terms are told apart.

    Below it the Cramer-Rao deviation of an exponent exceeds a quarter of the gap, and the honest
    answer is one merged exponent. Without noise there is no limit.

    Parameters
    ----------
    exponent : float
        Lower exponent.
    sigma, samples, dimension, size
        As in `pair_deviation`.

    Returns
    -------
    float
        0 for ``sigma = 0``.

    Raises
    ------
    ValueError
        If no gap up to 100 is resolved.

    Examples
    --------
    >>> round(resolvable_gap(0.5, sigma=0.01, samples=200), 2)
    0.43
    """
    from scipy.optimize import brentq

    _exponents([exponent], sigma, samples, dimension)
    if sigma == 0.0:
        return 0.0

    def excess(gap: float) -> float:
        return SHARE_OF_GAP * pair_deviation(exponent, gap, sigma, samples, dimension, size) / gap

    # The share of the gap falls until the upper exponent is far away, then rises again.
    gaps = np.geomspace(1e-6, 100.0, 200)
    resolved = np.array([excess(float(gap)) <= 1.0 for gap in gaps])
    if not resolved.any():
        raise ValueError(
            f"sigma={sigma} with {samples} samples: no gap is resolved; take more samples, or fit "
            "one exponent"
        )
    first = int(np.argmax(resolved))
    if first == 0:
        return float(gaps[0])
    return float(brentq(lambda gap: excess(gap) - 1.0, gaps[first - 1], gaps[first], xtol=1e-14))  # pyright: ignore


def predict_deviation(
    variance: float, trials: int, sigmas: float = 4.0, name: str = "deviation of the exponent"
) -> Prediction:
    """Predict the standard deviation of an efficient estimate over repeated trials.

    The standard deviation of ``n`` Gaussian numbers scatters by ``1/sqrt(2 (n - 1))`` of itself.

    Parameters
    ----------
    variance : float
        Cramer-Rao bound, from `exponent_variance` or `cramer_rao_bound`.
    trials : int
        Number of independent fits, at least 2.
    sigmas : float, default 4
        How many standard deviations are allowed.
    name : str
        Name of the prediction.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> predict_deviation(exponent_variance(0.5, 1.0, 0.01, 200), trials=801).statement
    '0.002 +- 0.0002'
    """
    if trials < 2:
        raise ValueError(f"trials={trials}, wanted at least 2")
    if not (math.isfinite(variance) and variance > 0.0):
        raise ValueError(f"variance={variance!r}, wanted a positive number")
    return Prediction(
        name=name,
        value=math.sqrt(variance),
        kind="equals",
        rtol=sigmas / math.sqrt(2.0 * (trials - 1)),
        source=f"Cramer-Rao bound, within {sigmas:g} deviations of {trials} trials",
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0


def _listed(value: Any) -> list[Any]:
    return list(value) if _is_sequence(value) else [value]


def _exponents(exponents: Any, sigma: float, samples: int, dimension: int) -> list[Number]:
    given = _listed(exponents)
    if not given:
        raise ValueError("exponents: got none, wanted at least one")
    if not (math.isfinite(float(sigma)) and float(sigma) >= 0.0):
        raise ValueError(f"sigma={sigma!r}, wanted a finite number that is not negative")
    if not (isinstance(samples, (int, np.integer)) and samples >= 1):
        raise ValueError(f"samples={samples!r}, wanted a positive integer")
    return check_powers([], given, dimension)


def _crowding(powers: Sequence[Any], place: int, dimension: int) -> Any:
    mu, value = powers[place], powers[place] * 0 + 1
    for j, other in enumerate(powers):
        if j != place:
            value = value * (mu + other + dimension) / (mu - other)
    return value
