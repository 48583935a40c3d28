"""How far sums of powers of the radius are from what they approximate.

All norms are those of radial functions on the unit ball of ``R^d``, with the measure
``r^(d-1) dr`` on [0, 1]. The Gram matrix of powers, ``1/(mu_i + mu_j + d)``, is Cauchy's, so that
its determinants are products (A. L. Cauchy 1841; for spaces of powers see P. Borwein and
T. Erdelyi, Polynomials and Polynomial Inequalities, Springer 1995, section 4.2).

Every function computes in double precision, or in as many digits as it is asked for; digits that a
binary number does not have can be handed over as text, such as ``"0.1"``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath
import sympy

from sciml.theory.prediction import Prediction

Number = float | int | str | mpmath.mpf
GUARD = 15
"""Digits carried beyond those asked for."""


def best_coefficients(
    target: Number, exponents: Iterable[Number], dimension: int = 1, *, digits: int | None = None
) -> list[Any]:
    """Coefficients of the sum of powers that is nearest to ``r^target``.

    With ``s = target``, ``c_i = (2 mu_i + d)/(s + mu_i + d)`` times the product over ``j != i`` of
    ``(mu_i + mu_j + d)(s - mu_j) / ((mu_i - mu_j)(s + mu_j + d))``.

    Parameters
    ----------
    target : float
        Exponent of the power to be approximated, above ``-d/2``.
    exponents : iterable of float
        Different exponents ``mu``, each above ``-d/2``.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    list of float, or of mpmath.mpf if digits are asked for

    Examples
    --------
    >>> best_coefficients(0.5, [1.0], 1)
    [1.2]
    """

    def compute(number: Callable[[Number], Any]) -> list[Any]:
        goal, powers = number(target), [number(mu) for mu in given]
        found = []
        for i, mu in enumerate(powers):
            value = (2 * mu + dimension) / (goal + mu + dimension)
            for j, other in enumerate(powers):
                if j != i:
                    value *= (mu + other + dimension) / (mu - other)
                    value *= (goal - other) / (goal + other + dimension)
            found.append(value)
        return found

    given = check_powers([target], exponents, dimension)
    return in_digits(compute, digits)


def best_power(
    target: Number, exponents: Iterable[Number], dimension: int = 1, *, digits: int | None = None
) -> Any:
    """Distance of ``r^target`` from the sums of the given powers.

    Its square is ``1/(2 s + d)`` times the product of ``((s - mu_k)/(s + mu_k + d))^2``. For one
    power the distance is therefore of first order in ``|s - mu|``; only its square is of second.

    Parameters
    ----------
    target : float
        Exponent ``s``, above ``-d/2``.
    exponents : iterable of float
        Different exponents, each above ``-d/2``. None at all gives the norm of the power.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float, or mpmath.mpf if digits are asked for

    Raises
    ------
    ValueError
        If a power is not square integrable, or two exponents are equal.

    Examples
    --------
    >>> round(best_power(0.5, [1.0], 1), 12)
    0.141421356237
    """
    given = check_powers([target], exponents, dimension)

    def compute(number: Callable[[Number], Any]) -> Any:
        goal = number(target)
        factor = _product(goal, [number(mu) for mu in given], dimension)[0]
        return abs(factor) / _root(2 * goal + dimension)

    return in_digits(compute, digits)


def best_log(exponents: Iterable[Number], dimension: int = 1, *, digits: int | None = None) -> Any:
    """Distance of ``log r`` from the sums of a constant and the given powers.

    Its square is ``d^-3`` times the product of ``(mu_k/(mu_k + d))^2``.

    Parameters
    ----------
    exponents : iterable of float
        Different exponents other than 0, each above ``-d/2``.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float, or mpmath.mpf if digits are asked for

    Examples
    --------
    >>> best_log([1.0], 1)
    0.5
    """
    return best_power_log(0, [0, *exponents], dimension, digits=digits)


def best_power_log(
    target: Number, exponents: Iterable[Number], dimension: int = 1, *, digits: int | None = None
) -> Any:
    """Distance of ``r^target log r`` from the sums of the given powers.

    With ``f(a)`` the product of ``(a - mu_k)/(a + mu_k + d)``, its square is the mixed derivative
    of ``f(a) f(b)/(a + b + d)`` at ``a = b = target``.

    Parameters
    ----------
    target : float
        Exponent, above ``-d/2``. It may be among `exponents`.
    exponents : iterable of float
        Different exponents, each above ``-d/2``.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float, or mpmath.mpf if digits are asked for

    Examples
    --------
    >>> print(mpmath.nstr(best_power_log("0.5", ["0.28", "0.82"], 1, digits=20) ** 2, 15))
    3.70890392004618e-5
    """
    given = check_powers([target], exponents, dimension)

    def compute(number: Callable[[Number], Any]) -> Any:
        goal = number(target)
        factor, slope = _product(goal, [number(mu) for mu in given], dimension)
        width = 2 * goal + dimension
        # The same as f'^2/w - 2 f f'/w^2 + 2 f^2/w^3, as a sum of squares: nothing cancels.
        return _root(((slope - factor / width) ** 2 + (factor / width) ** 2) / width)

    return in_digits(compute, digits)


def contamination_bias(
    exponent: Number,
    other: Number,
    ratio: Number,
    radius: Number = 1,
    dimension: int = 1,
    *,
    digits: int | None = None,
) -> Any:
    """What a second power adds to the exponent of a single power fitted on ``(0, R)``.

    A fit of ``c r^mu`` to ``c r^mu + delta r^beta`` returns the exponent
    ``mu + (delta/c) R^(beta - mu) (2 mu + d)^2 (beta - mu)/(beta + mu + d)^2 + O(delta^2)``. It is
    the honest error bar of a local exponent where the field has a regular part; shrinking ``R``
    must show the rate ``beta - mu``.

    Parameters
    ----------
    exponent : float
        Leading exponent ``mu``, above ``-d/2``.
    other : float
        Exponent ``beta`` of what contaminates, above ``-d/2``.
    ratio : float
        ``delta/c``.
    radius : float, default 1
        End ``R`` of the window, positive.
    dimension : int, default 1
        Of space, ``d``.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float, or mpmath.mpf if digits are asked for
        The bias to first order in `ratio`.

    Examples
    --------
    >>> contamination_bias(0.5, 1.5, 0.01)
    0.0044444444444444
    """
    check_powers([exponent], [other], dimension)
    if not (math.isfinite(float(radius)) and float(radius) > 0.0):
        raise ValueError(f"radius={radius!r}, wanted a positive number: the end of the window")
    if not math.isfinite(float(ratio)):
        raise ValueError(f"ratio={ratio!r}, wanted a finite number: delta/c")

    def compute(number: Callable[[Number], Any]) -> Any:
        mu, beta = number(exponent), number(other)
        share = (2 * mu + dimension) / (beta + mu + dimension)
        return number(ratio) * number(radius) ** (beta - mu) * (beta - mu) * share**2

    return in_digits(compute, digits)


def predict_best_power(
    target: float,
    exponent: float,
    dimension: int = 1,
    name: str = "distance of the best power",
    rtol: float = 1e-8,
) -> Prediction:
    """Predict the error of the best single power, ``c r^mu``, for ``r^s``.

    Parameters
    ----------
    target, exponent : float
        ``s`` and ``mu``, above ``-d/2``.
    dimension : int, default 1
        Of space, ``d``.
    name : str
        Name of the prediction.
    rtol : float, default 1e-8
        Relative slack.

    Returns
    -------
    Prediction
        With the formula ``|mu - s| / ((s + mu + d) sqrt(2 s + d))``.

    Examples
    --------
    >>> predict_best_power(0.5, 1.0).statement
    '0.1414 +- 1.4e-09'
    """
    check_powers([target], [exponent], dimension)
    s, mu, d = sympy.symbols("s mu d", real=True)
    return Prediction.from_formula(
        sympy.Abs(mu - s) / ((s + mu + d) * sympy.sqrt(2 * s + d)),
        {s: target, mu: exponent, d: dimension},
        name=name,
        kind="equals",
        rtol=rtol,
        source="least squares of one power; Cauchy's determinant",
    )


def check_powers(
    targets: Sequence[Number], exponents: Iterable[Number], dimension: int
) -> list[Number]:
    """Exponents as a list; refuse what has no finite norm on the unit ball, and twins.

    Raises
    ------
    ValueError
    """
    if not (isinstance(dimension, int) and dimension >= 1):
        raise ValueError(f"dimension={dimension!r}, wanted an integer of at least 1")
    given = list(exponents)
    for label, values in (("target", targets), ("exponents", given)):
        for value in values:
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{label}: {value!r} is no real number") from None
            if not (math.isfinite(number) and number > -dimension / 2):
                raise ValueError(
                    f"{label}: {value} is not square integrable on the unit ball of dimension "
                    f"{dimension}; wanted a finite exponent above {-dimension / 2:g}"
                )
    numbers = [float(value) for value in given]
    if twins := sorted({value for value in numbers if numbers.count(value) > 1}):
        raise ValueError(f"exponents: {twins} occur twice; wanted different ones")
    return given


def in_digits(compute: Callable[[Callable[[Number], Any]], Any], digits: int | None) -> Any:
    """Run a computation in double precision, or in extended precision with guard digits."""
    if digits is None:
        return compute(float)
    if not (isinstance(digits, int) and digits >= 1):
        raise ValueError(f"digits={digits!r}, wanted a positive integer or None")
    with mpmath.workdps(digits + GUARD):
        return compute(mpmath.mpf)


def _root(value: Any) -> Any:
    return mpmath.sqrt(value) if isinstance(value, mpmath.mpf) else math.sqrt(value)


def _product(goal: Any, powers: Sequence[Any], dimension: int) -> tuple[Any, Any]:
    """The product of ``(a - mu)/(a + mu + d)`` at ``a = goal``, and its derivative there."""
    value, slope = goal * 0 + 1, goal * 0
    for mu in powers:
        below = goal + mu + dimension
        factor, change = (goal - mu) / below, (2 * mu + dimension) / below**2
        value, slope = value * factor, slope * factor + value * change
    return value, slope
