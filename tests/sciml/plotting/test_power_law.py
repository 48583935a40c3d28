"""Pictures of fitted exponents show the numbers of the fit."""

from __future__ import annotations

import numpy as np
import pytest

from sciml.plotting import plot_exponents, plot_radial_residual
from sciml.powerlaw import PowerLawFit

X = np.linspace(0.1, 1.0, 100) ** 2


@pytest.fixture(scope="module")
def model():
    noise = 1e-3 * np.random.default_rng(0).normal(size=len(X))
    return PowerLawFit(order=2).fit(X, X**0.5 - 2 * X**2 + noise)


def test_exponents_and_errors_are_drawn(model):
    axes = model.plot()
    labels = [text.get_text() for text in axes.texts]
    assert labels == [f"{mu.real:.4g}" for mu in model.exponents_]
    bars = axes.containers[0].lines[2][0].get_segments()[0][:, 0]
    error = model.standard_errors_["exponents"][0].real
    np.testing.assert_allclose(np.ptp(bars), 4 * error, rtol=1e-9)


def test_oscillations_and_logarithms_have_their_own_marks():
    wave = PowerLawFit().fit(X, X**0.5 * np.cos(np.log(X)) + X**2)
    axes = plot_exponents(wave)
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"oscillation", "power"}


def test_residual_is_drawn_at_the_radii(model):
    axes = model.plot_residual()
    line = axes.lines[1]
    np.testing.assert_allclose(line.get_xdata(), X)
    np.testing.assert_allclose(line.get_ydata(), model.fit_.residual)
    assert axes.get_xscale() == "log"


def test_axes_can_be_given(model):
    axes = model.plot()
    assert plot_radial_residual(model, axes) is axes


def test_nothing_identified_is_said():
    model = PowerLawFit().fit(np.ones(10), np.ones(10))
    assert plot_exponents(model).texts[0].get_text() == "no exponent was identified"
    assert plot_radial_residual(model).texts[0].get_text() == "nothing was fitted"
