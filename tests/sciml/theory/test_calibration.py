"""Spread of chi^2 and coverage of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sciml.theory import predict_chi2, predict_coverage


def test_chi2_of_gaussian_residuals_has_the_predicted_spread():
    residuals = np.random.default_rng(0).normal(size=(4000, 200))
    chi2 = (residuals**2).mean(axis=1)
    one_sigma = predict_chi2(200, sigmas=1.0)
    inside = np.mean([one_sigma.judge(value).passed for value in chi2])
    assert inside == pytest.approx(0.683, abs=0.02)


def test_chi2_prediction_notices_a_wrong_variance():
    assert predict_chi2(1000).judge(1.05).passed
    assert not predict_chi2(1000).judge(1.25).passed
    assert not predict_chi2(1000).judge(0.75).passed


@pytest.mark.parametrize("trials", [1, 7, 40, 1000])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_coverage_bound_is_the_tightest_that_holds(trials, confidence):
    count = round(predict_coverage(trials, confidence=confidence).value * trials)
    assert binom.cdf(count - 1, trials, 0.95) <= 1 - confidence  # sound intervals pass
    assert binom.cdf(count, trials, 0.95) > 1 - confidence  # and no higher bound would let them


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: predict_chi2(0), "degrees_of_freedom is 0"),
        (lambda: predict_coverage(0), "trials is 0"),
        (lambda: predict_coverage(10, level=1.0), "level is 1.0"),
        (lambda: predict_coverage(10, confidence=0.0), "confidence is 0.0"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
