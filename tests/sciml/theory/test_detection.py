"""Growth of the residual when a term is dropped, and what follows from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciml.theory import critical_growth, detection_limit, growth_at_noise, residual_growth
from sciml.theory.detection import CHI2, COEFFICIENT, FREEDOM, GROWTH, STANDARD_ERROR


@given(seed=st.integers(0, 2**32 - 1), terms=st.integers(1, 5), noise=st.floats(0.01, 10.0))
def test_growth_is_an_identity_of_least_squares(seed, terms, noise):
    rng = np.random.default_rng(seed)
    rows = 30
    design = rng.normal(size=(rows, terms))
    y = design @ rng.normal(size=terms) + noise * rng.normal(size=rows)
    w, (rss,), _, _ = np.linalg.lstsq(design, y, rcond=None)
    freedom = rows - terms
    errors = noise * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    dropped = np.delete(design, 0, axis=1)
    rest = y - dropped @ np.linalg.lstsq(dropped, y, rcond=None)[0]
    predicted = residual_growth(
        w[0], errors[0], degrees_of_freedom=freedom, chi2=rss / (noise**2 * freedom)
    )
    assert rest @ rest / rss == pytest.approx(predicted, rel=1e-9)


def test_formula_and_function_agree():
    at = {COEFFICIENT: 0.3, STANDARD_ERROR: 0.02, FREEDOM: 250, CHI2: 1.1}
    assert float(GROWTH.subs(at)) == pytest.approx(
        residual_growth(0.3, 0.02, degrees_of_freedom=250, chi2=1.1), rel=1e-14
    )


@given(growth=st.floats(1.0, 1e6), ratio=st.floats(0.1, 10.0))
def test_forecasts_compose_and_undo_each_other(growth, ratio):
    there = growth_at_noise(growth, ratio)
    assert growth_at_noise(there, 1.0 / ratio) == pytest.approx(growth, rel=1e-9)


@given(noise=st.floats(0.01, 1.0), growth=st.floats(1.5, 1e4), critical=st.floats(1.01, 5.0))
def test_at_the_detection_limit_the_growth_is_critical(noise, growth, critical):
    limit = detection_limit(noise, growth, critical)
    assert growth_at_noise(growth, limit / noise) == pytest.approx(critical, rel=1e-9)


@pytest.mark.parametrize("terms", [1, 2, 3, 5])
@pytest.mark.parametrize("tempering", [25.0, 100.0, math.inf])
def test_critical_growth_makes_the_two_scores_equal(terms, tempering):
    rows, candidates = 700, 16
    m = rows if math.isinf(tempering) else rows * tempering / (rows + tempering)

    def score(rss: float, size: int) -> float:
        return m * math.log(rss) + size * math.log(m) + 2 * math.log(math.comb(candidates, size))

    growth = critical_growth(rows, candidates, terms, tempering)
    assert score(growth, terms - 1) == pytest.approx(score(1.0, terms), rel=1e-12)


def test_a_term_that_costs_nothing_needs_no_growth():
    assert critical_growth(rows=1000, candidates=16, terms=16) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: residual_growth(1.0, 0.0, degrees_of_freedom=10), "standard_error is 0.0"),
        (lambda: residual_growth(1.0, 1.0, degrees_of_freedom=-1), "degrees_of_freedom is -1"),
        (lambda: residual_growth(1.0, 1.0, degrees_of_freedom=9, chi2=math.nan), "chi2 is nan"),
        (lambda: growth_at_noise(0.5, 2.0), "growth is 0.5"),
        (lambda: critical_growth(100, 16, 17), "terms is 17: .* between 1 and candidates = 16"),
        (lambda: detection_limit(0.1, 5.0, 1.0), "critical is 1.0"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
