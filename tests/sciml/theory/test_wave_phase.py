"""From errors of the phase to errors of fields: identities, bounds and one bound that is false."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sciml.theory import (
    amplitude_bound,
    asymptotic_tail,
    best_window,
    box_tail,
    foot_bound,
    multiplier_bound,
    multiplier_error,
    phase_bound,
    phase_factor,
    pointwise_bound,
    position_bound,
    predict_multiplier_error,
    predict_shift_error,
    ray_bound,
    relation_bound,
    shift_error,
    shift_gain,
)

LENGTH = 2 * np.pi
X = np.arange(2048) * LENGTH / 2048


def error_norm(factor, c, k):
    """Norm of sum q_k c_k exp(ikx) over the circle."""
    field = ((factor * c) * np.exp(1j * np.outer(X, k))).sum(1)
    return math.sqrt((np.abs(field) ** 2).mean() * LENGTH)


def test_multiplier_error_is_an_equality():
    rng = np.random.default_rng(3)
    k = np.arange(-20, 21)
    c = rng.normal(size=41) + 1j * rng.normal(size=41)
    q = phase_factor(0.3 * rng.normal(size=41), 0.1 * rng.normal(size=41))
    predicted = multiplier_error(0.7, q, c, length=LENGTH)
    assert predicted == pytest.approx(math.hypot(0.7, error_norm(q, c, k)), rel=1e-12)


def test_multiplier_bound_holds():
    rng = np.random.default_rng(4)
    c, dphi = rng.normal(size=9), 0.2 * rng.normal(size=9)
    norm = math.sqrt(LENGTH * (c**2).sum())
    error = multiplier_error(0.0, phase_factor(dphi), c, length=LENGTH)
    assert predict_multiplier_error(dphi).judge(error / norm).passed
    assert multiplier_bound(dphi, 0.01) == np.abs(dphi).max() + 0.01


@pytest.mark.parametrize(("K", "stated"), [(8, 0.22), (16, 0.30), (32, 0.41), (64, 0.57)])
def test_small_phase_error_does_not_bound_the_error_of_the_field(K, stated):
    """dphi = 0.1 cos(x xi) at all k alike: the relative error exceeds sup|dphi| and grows."""
    k = np.arange(-K, K + 1)
    q = phase_factor(0.1 * np.cos(np.outer(X, k)))
    c = np.ones(2 * K + 1)
    relative = error_norm(q, c, k) / math.sqrt(LENGTH * len(k))
    assert relative == pytest.approx(stated, abs=0.006)
    assert relative > 2 * 0.1  # the tempting bound sup|dphi| fails
    assert relative == pytest.approx(math.sqrt(2 * K + 1) / 20, rel=0.1)
    assert relative * math.sqrt(LENGTH * len(k)) <= pointwise_bound(q, c, length=LENGTH)


def test_general_bounds_hold():
    rng = np.random.default_rng(5)
    k = np.arange(-12, 13)
    c = rng.normal(size=25)
    q = phase_factor(0.02 * np.sin(X)[:, None] * k)
    error = error_norm(q, c, k)
    assert error <= pointwise_bound(q, c, length=LENGTH)
    norm = math.sqrt(LENGTH * (c**2).sum())
    assert error <= position_bound(q, X, norm=norm)


def test_foot_bound_holds_and_is_close_for_a_shift():
    k = np.arange(1, 11)
    c = 1.0 / k
    shift = 1e-3
    moved = error_norm(phase_factor(k * shift), c, k)
    slope = math.sqrt(LENGTH * ((k * c) ** 2).sum())
    assert 0.99 * foot_bound(shift, slope, 1.0) < moved <= foot_bound(shift, slope, 1.0)


def shifted_box(cutoff, shift):
    """Error of a box on the line cut at the cutoff and moved, from its transform."""
    xi = np.linspace(1e-9, cutoff, 400_001)
    transform = 2 * np.sin(xi / 2) / xi
    inner = np.trapezoid(np.abs(phase_factor(-xi * shift) * transform) ** 2, xi) / np.pi
    return math.sqrt(box_tail(1.0, cutoff=cutoff) ** 2 + inner)


@pytest.mark.parametrize(("shift", "within"), [(0.001, 0.004), (0.01, 0.05)])
def test_shift_law(shift, within):
    cutoff = best_window(shift)
    law = predict_shift_error([1.0, -1.0], cutoff, shift, rtol=within)
    assert law.judge(shifted_box(cutoff, shift)).passed


def test_best_window_is_a_minimum():
    best = best_window(0.002)
    least = shift_error([1.0, -1.0], best, 0.002)
    assert least**2 == pytest.approx(0.6275 * 2 * 0.002, rel=1e-3)
    assert all(shift_error([1.0, -1.0], best * f, 0.002) > least for f in (0.8, 0.97, 1.03, 1.3))
    assert shift_error([1.0], 1e9, 0.002) == pytest.approx(math.sqrt(0.002), rel=1e-3)


@pytest.mark.parametrize(("z", "stated"), [(0.1, 1.01), (0.5, 1.25), (1.0, 1.97)])
def test_total_over_floor(z, stated):
    assert 1 + 2 * z * shift_gain(z) == pytest.approx(stated, abs=0.006)
    ratio = shift_error([1.0], 50.0, z / 50) / asymptotic_tail([1.0], 50.0)
    assert ratio**2 == pytest.approx(1 + 2 * z * shift_gain(z), rel=1e-12)


def test_bounds_along_rays():
    t = np.linspace(0.0, 2.0, 401)
    np.testing.assert_allclose(phase_bound(t, np.cos(t) ** 2), t / 2 + np.sin(2 * t) / 4, atol=1e-5)
    grown = amplitude_bound(t, np.ones_like(t), 0.7)
    np.testing.assert_allclose(grown, np.expm1(0.7 * t) / 0.7, rtol=1e-5)
    np.testing.assert_allclose(relation_bound(t, np.ones_like(t), 0.7), grown)
    assert ray_bound(2.0, 0.5, 0.7) == pytest.approx(0.5 * grown[-1], rel=1e-5)
    assert ray_bound(2.0, 0.5, 1e-12) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_window(0.0), "shift is 0"),
        (lambda: foot_bound(0.1, 1.0, 0.0), "least_stretch is 0"),
        (lambda: phase_bound([0.1, 1.0], [1.0, 1.0]), "increase from 0"),
        (lambda: phase_bound([0.0, 1.0], [1.0]), "wanted one each"),
        (lambda: ray_bound(1.0, 1.0, -1.0), "curvature is -1"),
        (lambda: position_bound(np.ones((3, 1)), [0.0, 1.0], norm=1.0), "3 rows for 2 positions"),
        (lambda: multiplier_error(0.0, [1.0], [1.0], length=0.0), "length is 0"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
