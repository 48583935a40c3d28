"""Variances of coefficients and exponents, against inverses of information matrices."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sciml.theory import (
    coefficient_variance,
    cramer_rao_bound,
    exponent_variance,
    pair_deviation,
    predict_deviation,
    resolvable_gap,
)


def information(powers, sizes, dimension):
    """Expected J^T J per sample for the columns r^mu and c r^mu log r."""
    columns = [(mu, 0, 1) for mu in powers] + [
        (mu, 1, c) for mu, c in zip(powers, sizes, strict=True)
    ]
    return mpmath.matrix(
        [
            [
                c * e * dimension * (-1) ** (k + m) * math.factorial(k + m)
                / (a + b + dimension) ** (k + m + 1)
                for b, m, e in columns
            ]
            for a, k, c in columns
        ]
    )  # fmt: skip


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize(
    ("powers", "sizes"),
    [(["0.5"], ["2"]), (["0.5", "0.8"], ["1", "-3"]), (["-0.1", "0.5", "1.5"], ["1", "2", "0.5"])],
)
def test_variances_are_inverse_information(powers, sizes, dimension):
    with mpmath.workdps(60):
        mus, cs = [mpmath.mpf(m) for m in powers], [mpmath.mpf(c) for c in sizes]
        fisher = information(mus, cs, dimension)
        unit = mpmath.mpf("0.01") ** 2 / 200
        inverse = fisher**-1
        for i, found in enumerate(
            exponent_variance(powers, sizes, "0.01", 200, dimension, digits=40)
        ):
            k = len(powers) + i
            assert abs(found / (unit * inverse[k, k]) - 1) < mpmath.mpf(10) ** -30
        linear = fisher[: len(powers), : len(powers)] ** -1
        for i, found in enumerate(coefficient_variance(powers, "0.01", 200, dimension, digits=40)):
            assert abs(found / (unit * linear[i, i]) - 1) < mpmath.mpf(10) ** -30


def test_known_coefficient_halves_the_variance():
    both = (
        exponent_variance(0.5, 2.0, 0.01, 100),
        exponent_variance(0.5, 2.0, 0.01, 100, known_coefficient=True),
    )
    assert both[1] == both[0] / 2
    r = (np.arange(20000) + 0.5) / 20000
    alone = cramer_rao_bound((2.0 * r**0.5 * np.log(r))[:, None], 0.01)[0, 0]
    assert alone * 200 == pytest.approx(both[1], rel=1e-4)


def test_graded_samples_agree_with_the_design_matrix():
    t = (np.arange(200_000) + 0.5) / 200_000
    for grading in (1.0, 2.0):
        r = t**grading
        columns = np.column_stack([r**0.5, r**0.8, 1.5 * r**0.5 * np.log(r), -(r**0.8) * np.log(r)])
        numeric = cramer_rao_bound(columns, 0.1)
        closed = exponent_variance([0.5, 0.8], [1.5, -1.0], 0.1, r.size, grading=grading)
        assert np.diag(numeric)[2:] == pytest.approx(closed, rel=1e-3)


def test_resolution_of_the_literature():
    assert pair_deviation(0.5, 0.1, 0.01, 200) == pytest.approx(1.0176, abs=1e-4)
    gap = resolvable_gap(0.5, 0.01, 200)
    assert gap == pytest.approx(0.43, abs=0.005)
    assert pair_deviation(0.5, gap, 0.01, 200) == pytest.approx(gap / 4, rel=1e-9)
    assert resolvable_gap(0.5, 0.0, 200) == 0.0
    assert resolvable_gap(0.5, 1e-6, 200) < 0.02
    with pytest.raises(ValueError, match="no gap is resolved; take more samples"):
        resolvable_gap(0.5, 100.0, 200)


def test_efficient_fits_scatter_as_predicted():
    """Linear fits: coefficients of known powers over 400 draws."""
    rng, powers, deviations = np.random.default_rng(3), np.array([0.5, 1.5]), []
    for _ in range(400):
        r = rng.uniform(size=500)
        columns = r[:, None] ** powers
        noisy = columns @ [1.0, 1.0] + 0.1 * rng.normal(size=500)
        deviations.append(np.linalg.lstsq(columns, noisy, rcond=None)[0])
    spread = np.std(deviations, axis=0)
    for place, variance in enumerate(coefficient_variance(list(powers), 0.1, 500)):
        assert predict_deviation(variance, 400).judge(spread[place]).passed
        assert not predict_deviation(2 * variance, 400).judge(spread[place]).passed


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exponent_variance([0.5, 0.8], [1.0], 0.1, 10), "coefficients: got 1 for 2"),
        (lambda: exponent_variance(0.5, 0.0, 0.1, 10), "without a coefficient has no exponent"),
        (lambda: exponent_variance(0.5, 1.0, -0.1, 10), "sigma=-0.1, wanted"),
        (lambda: exponent_variance(0.5, 1.0, 0.1, 0), "samples=0, wanted a positive integer"),
        (lambda: exponent_variance([], [], 0.1, 10), "exponents: got none"),
        (lambda: exponent_variance(0.5, 1.0, 0.1, 10, grading=0), "grading=0, wanted"),
        (
            lambda: exponent_variance([0.5, 1], [1, 1], 0.1, 10, known_coefficient=True),
            "known_coefficient=True with 2 exponents",
        ),
        (lambda: exponent_variance(-0.4, 1.0, 0.1, 10, grading=2), "-0.8 is not square"),
        (lambda: coefficient_variance([0.5, 0.5], 0.1, 10), "occur twice"),
        (lambda: cramer_rao_bound([[1.0, 1.0]], 0.1), "1 rows and 2 parameters"),
        (lambda: cramer_rao_bound([[1.0, 1.0]] * 3, 0.1), "rank is below 2"),
        (lambda: cramer_rao_bound([[math.nan]], 0.1), "wanted finite"),
        (lambda: cramer_rao_bound([[1.0]], 0.0), "sigma=0.0, wanted a positive"),
        (lambda: pair_deviation(0.5, 0.0, 0.1, 10), "gap=0.0, wanted"),
        (lambda: predict_deviation(1.0, 1), "trials=1"),
        (lambda: predict_deviation(0.0, 10), "variance=0.0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
