"""Distances between powers, against Gram determinants, quadrature and least squares."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciml.theory import (
    best_coefficients,
    best_log,
    best_power,
    best_power_log,
    contamination_bias,
    predict_best_power,
)

FUNCTIONS = {
    "power": lambda r, s: r**s,
    "log": lambda r, s: mpmath.log(r),
    "power log": lambda r, s: r**s * mpmath.log(r),
}


def moment(exponent, logs, dimension):
    """Integral of ``r^exponent log(r)^logs r^(d - 1)`` over [0, 1]."""
    return (-1) ** logs * mpmath.factorial(logs) / (exponent + dimension) ** (logs + 1)


def gram_distance_squared(target, logs, powers, dimension):
    """Quotient of two Gram determinants."""
    columns = [(mpmath.mpf(target), logs), *((mpmath.mpf(mu), 0) for mu in powers)]
    gram = mpmath.matrix(
        [[moment(a + b, k + m, dimension) for b, m in columns] for a, k in columns]
    )
    return mpmath.det(gram) / mpmath.det(gram[1:, 1:]) if powers else gram[0, 0]


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("powers", [[], ["0.28"], ["0.28", "0.82"], ["0.1", "0.5", "1.5", "2"]])
def test_distances_are_gram_determinants(powers, dimension):
    with mpmath.workdps(60):
        for value, logs, target, span in (
            (best_power("0.7", powers, dimension, digits=40), 0, "0.7", powers),
            (best_power_log("0.7", powers, dimension, digits=40), 1, "0.7", powers),
            (best_log(powers, dimension, digits=40), 1, "0", ["0", *powers]),
        ):
            exact = gram_distance_squared(target, logs, span, dimension)
            assert abs(value**2 / exact - 1) < mpmath.mpf(10) ** -30


def test_gram_moments_are_integrals():
    """The Gram entries themselves, by quadrature."""
    with mpmath.workdps(30):
        for exponent, logs, dimension in ((mpmath.mpf("0.3"), 2, 1), (mpmath.mpf("-0.4"), 1, 3)):
            value = mpmath.quad(
                # r = exp(-t) takes the logarithm away.
                lambda t, a=exponent, k=logs, d=dimension: (-t) ** k * mpmath.exp(-(a + d) * t),
                [0, 1, 5, 20, 60, 200],
            )
            assert abs(value - moment(exponent, logs, dimension)) < mpmath.mpf(10) ** -25


def test_power_log_of_the_literature():
    value = best_power_log("0.5", ["0.28", "0.82"], 1, digits=20) ** 2
    assert mpmath.nstr(value, 15) == "3.70890392004618e-5"


def test_a_power_of_the_span_has_no_distance_but_its_log_has():
    assert best_power(0.5, [0.5, 1.0], 2) == 0.0
    assert best_power_log(0.5, [0.5, 1.0], 2) > 1e-3


def test_double_precision_keeps_its_digits():
    exact = best_power("0.5", ["0.1", "1.5", "2.5"], 3, digits=30)
    assert best_power(0.5, [0.1, 1.5, 2.5], 3) == pytest.approx(float(exact), rel=1e-14)


@settings(deadline=None, max_examples=30)
@given(
    st.floats(-0.4, 3.0),
    st.lists(st.integers(-4, 30), min_size=1, max_size=4, unique=True),
    st.integers(1, 3),
)
def test_best_coefficients_solve_the_normal_equations(target, tenths, dimension):
    powers = [mpmath.mpf(k) / 10 for k in tenths]
    found = best_coefficients(target, powers, dimension, digits=40)
    with mpmath.workdps(50):
        for mu in powers:
            left = sum(c / (mu + other + dimension) for c, other in zip(found, powers, strict=True))
            assert abs(left - 1 / (mpmath.mpf(target) + mu + dimension)) < mpmath.mpf(10) ** -30


def test_least_squares_reaches_the_predicted_distance():
    """Gauss-Legendre in t with r = t^4: exact integrals, ordinary least squares."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    t = 0.5 + 0.5 * nodes
    r, weight = t**4, 0.5 * weights * 4 * t**3
    columns = np.sqrt(weight)[:, None] * r[:, None] ** np.array([0.28, 0.82])
    wanted = np.sqrt(weight) * r**0.5
    residual = wanted - columns @ np.linalg.lstsq(columns, wanted, rcond=None)[0]
    assert np.linalg.norm(residual) == pytest.approx(best_power(0.5, [0.28, 0.82], 1), rel=1e-8)


def test_error_is_of_first_order_in_the_exponent():
    errors = [best_power(0.5, [0.5 + gap], 1) for gap in (1e-3, 1e-4)]
    assert math.log10(errors[0] / errors[1]) == pytest.approx(1.0, abs=1e-3)


def test_prediction_of_one_power():
    prediction = predict_best_power(0.5, 1.0)
    assert prediction.value == pytest.approx(best_power(0.5, [1.0], 1), rel=1e-14)
    assert prediction.judge(0.1414213562).passed
    assert not prediction.judge(0.02).passed  # the square of the distance


def test_contamination_against_a_fit():
    """The stationary exponent of a one-power fit on (0, R), from exact moments."""
    mu, beta, share, dimension = mpmath.mpf("0.5"), mpmath.mpf("1.5"), mpmath.mpf("1e-8"), 2

    def stationary(nu):
        # Of <f, r^nu>^2 / <r^nu, r^nu>, by its logarithmic derivative.
        top = sum(c / (a + nu + dimension) for c, a in ((1, mu), (scaled, beta)))
        slope = -sum(c / (a + nu + dimension) ** 2 for c, a in ((1, mu), (scaled, beta)))
        return slope / top + 1 / (2 * nu + dimension)

    with mpmath.workdps(40):
        for radius in ("1", "0.1"):
            scaled = share * mpmath.mpf(radius) ** (beta - mu)
            found = mpmath.findroot(stationary, mu) - mu
            predicted = contamination_bias(mu, beta, share, radius, dimension, digits=30)
            assert abs(found / predicted - 1) < 1e-7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: best_power(0.5, [-0.5], 1), r"exponents: -0.5 is not square integrable .* -0.5"),
        (lambda: best_power(-1.0, [0.5], 2), r"target: -1.0 is not square integrable"),
        (lambda: best_power(0.5, [1.0, 1.0], 1), r"exponents: \[1.0\] occur twice"),
        (lambda: best_power(0.5, [math.nan], 1), r"exponents: nan"),
        (lambda: best_power(0.5, [1.0], 0), r"dimension=0, wanted an integer of at least 1"),
        (lambda: best_power(0.5, [1.0], 1.5), r"dimension=1.5"),
        (lambda: best_power("half", [1.0]), r"target: 'half' is no real number"),
        (lambda: best_power(0.5, [1.0], digits=0), r"digits=0, wanted a positive integer"),
        (lambda: contamination_bias(0.5, 1.5, 0.1, radius=0), r"radius=0, wanted a positive"),
        (lambda: contamination_bias(0.5, 1.5, math.inf), r"ratio=inf, wanted a finite"),
        (lambda: best_log([0.0, 1.0]), r"exponents: \[0.0\] occur twice"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
