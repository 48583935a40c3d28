"""Fits that leave more than noise say so, and fits with nothing left to judge by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sciml.powerlaw import PowerLawFit, WedgeFit, fit_sources
from sciml.powerlaw.lack_of_fit import excess_over_noise, neighbor_correlation, neighbor_pairs

NOTCH = 1.5 * math.pi
THETA = np.linspace(0.0, NOTCH, 200)


def test_independent_noise_of_any_size_is_not_structure():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (300, 2))
    scale = np.exp(3.0 * places[:, 0])
    pairs = [neighbor_pairs(places), neighbor_pairs(places[:, 0])]
    for _ in range(200):
        noise = scale * rng.standard_t(3, size=300)
        assert all(neighbor_correlation(noise, pair) is None for pair in pairs)


def test_chi_square_of_noise_passes():
    rng = np.random.default_rng(1)
    squares = np.sum(rng.normal(size=(300, 50)) ** 2, axis=1)
    assert sum(excess_over_noise(float(square), 50) is not None for square in squares) <= 1
    assert excess_over_noise(4.0 * 50, 50) == pytest.approx(2.0)


@pytest.mark.parametrize("noise", [1e-3, None])
def test_wedge_with_wrong_edge_conditions(noise):
    fit = WedgeFit(NOTCH, "NN").fit(arc=(THETA, np.sin(2 * THETA / 3)), noise=noise)
    assert fit.status_ == "poor_fit"
    assert ("times the noise" if noise else "neighboring samples") in fit.advice_


@pytest.mark.parametrize("stated", [1e-3, None])
def test_wedge_with_true_noise_is_ok(stated):
    noise = 1e-3 * np.random.default_rng(0).normal(size=THETA.size)
    fit = WedgeFit(NOTCH, "DD").fit(arc=(THETA, np.sin(2 * THETA / 3) + noise), noise=stated)
    assert fit.status_ == "ok"


def test_wedge_order_auto_keeps_the_last_terms_that_the_rows_determine():
    fit = WedgeFit(NOTCH, "DD", order="auto").fit(arc=(THETA, THETA * (NOTCH - THETA)))
    assert np.all(np.isfinite(fit.exponents_)) and fit.exponents_.size == 2
    assert fit.status_ == "poor_fit" and "not determine more than 2 terms" in fit.advice_


def test_no_numbers_for_terms_that_are_not_determined():
    fit = WedgeFit(NOTCH, "DD", order=3).fit(arc=(THETA, np.sin(2 * THETA / 3)))
    if fit.status_ == "unidentifiable":
        assert np.all(np.isnan(fit.amplitudes_)) and "amplitude" not in str(fit)
    else:
        assert fit.status_ != "ok"


def test_wedge_with_as_many_rows_as_unknowns():
    theta = np.array([0.3, 1.7, 3.9])
    fit = WedgeFit(NOTCH, "DD").fit(arc=(theta, np.sin(2 * theta / 3)), edges=None)
    assert fit.status_ != "ok" and not np.any(np.isfinite(fit.standard_errors_))


def test_one_source_for_two_and_none_for_a_wave():
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    two = np.log(np.hypot(*(x - np.array([0.3, 0.1])).T)) - 2 * np.log(
        np.hypot(*(x + np.array([0.4, 0.2])).T)
    )
    assert fit_sources(x, two, sources=1).status == "poor_fit"
    wave = np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1])
    assert fit_sources(x, wave, sources=1).status == "poor_fit"


def test_source_with_as_many_rows_as_unknowns():
    x = np.random.default_rng(3).uniform(-1, 1, (5, 2))
    y = np.log(np.hypot(*(x - [0.1, 0.2]).T)) + np.array([0.1, -0.2, 0.1, 0.0, 0.2])
    fit = fit_sources(x, y, sources=1)
    assert fit.status != "ok" and "judge" in " ".join(fit.advice)
    assert not np.any(np.isfinite(fit.centers_error))
    with pytest.raises(ValueError, match="wanted at least 5 rows"):
        fit_sources(x[:4], y[:4], sources=1)


def test_sources_of_a_smooth_field_end_with_a_reason():
    x = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    fit = fit_sources(x, np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]), sources="auto")
    assert fit.status != "ok" and "no source" in " ".join(fit.advice)


def test_power_law_about_a_wrong_center():
    x = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    y = np.hypot(*x.T) ** -0.5
    fit = PowerLawFit(order=1, center=[0.3, 0.2]).fit(x, y)
    assert fit.status_ != "ok" and "neighboring samples" in " ".join(fit.advice_)
    assert PowerLawFit(order=1).fit(x, y).status_ == "ok"


def test_power_law_with_a_structured_or_too_large_residual():
    r = np.linspace(0.1, 1.0, 60)
    y = np.sqrt(r) + 1e-3 * np.sin(40 * r)
    assert "poor_fit" in PowerLawFit(order=1).fit(r, y).status_
    noise = 1e-3 * np.random.default_rng(0).normal(size=60)
    assert PowerLawFit(order=1).fit(r, np.sqrt(r) + noise).status_ == "ok"
    assert PowerLawFit(order=1).fit(r, np.sqrt(r) + noise, noise=1e-3).status_ == "ok"
    assert PowerLawFit(order=1).fit(r, np.sqrt(r) + noise, noise=1e-4).status_ != "ok"


def test_power_law_with_as_many_samples_as_unknowns():
    fit = PowerLawFit(order=1).fit([0.5, 1.0], [1.0, 3.0])
    assert fit.status_ == "saturated" and np.all(np.isnan(fit.standard_errors_["exponents"]))
    assert fit.exponents_.real == pytest.approx([math.log2(3.0)])
