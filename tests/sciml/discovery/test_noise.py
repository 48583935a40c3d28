"""The noise level, and powers of noisy fields whose mean is the power of the true field."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sciml.discovery.noise import noise_level, wick_power


def smooth(nx=200, nt=150):
    x, t = np.linspace(0, 6, nx)[:, None], np.linspace(0, 2, nt)
    return np.sin(x - t) * np.exp(-0.2 * t) + 0.3 * np.cos(2 * x + t)


@pytest.mark.parametrize("level", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_noise_on_a_smooth_field(level, seed):
    noisy = smooth() + level * np.random.default_rng(seed).normal(size=(200, 150))
    assert noise_level(noisy) == pytest.approx(level, rel=0.03)


def test_smooth_field_has_none():
    assert noise_level(smooth()) < 1e-9


def test_the_smoother_axis_decides():
    """A field that is rough along one axis is not taken for noisy."""
    rng = np.random.default_rng(0)
    rough = rng.normal(size=200)[:, None] * np.cos(np.linspace(0, 2, 150))
    assert noise_level(rough, axes=(0,)) > 0.3
    assert noise_level(rough) == noise_level(rough, axes=(1,)) < 1e-9


def test_missing_values_are_left_out():
    rng = np.random.default_rng(1)
    noisy = smooth() + 0.1 * rng.normal(size=(200, 150))
    noisy[rng.uniform(size=noisy.shape) < 0.01] = np.nan
    assert noise_level(noisy) == pytest.approx(0.1, rel=0.05)


def test_short_axes_say_nothing():
    assert noise_level(np.random.default_rng(0).normal(size=(8, 9))) == 0.0
    assert noise_level(np.full((50, 50), np.nan)) == 0.0


def gauss(covariance, points=12):
    """Nodes and weights that integrate polynomials against a Gaussian exactly."""
    factor = np.linalg.cholesky(covariance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(points)
    weights = weights / weights.sum()
    for position in itertools.product(range(points), repeat=len(covariance)):
        yield factor @ nodes[list(position)], np.prod(weights[list(position)])


@pytest.mark.parametrize("power", range(1, 7))
def test_scaled_hermite_polynomials_have_the_true_power_as_mean(power):
    true, spread = 0.7, 0.5
    mean = sum(
        w * wick_power((("u", power),), {"u": true + e}, lambda a, b: spread**2)[0]
        for e, w in gauss(np.array([[spread**2]]))
    )
    assert mean == pytest.approx(true**power, abs=1e-12)


def test_scaled_hermite_polynomials_by_hand():
    u, s = np.array([-1.3, 0.2, 2.0]), 0.4
    he = {
        2: u**2 - s**2,
        3: u**3 - 3 * s**2 * u,
        4: u**4 - 6 * s**2 * u**2 + 3 * s**4,
    }
    for power, expected in he.items():
        found = wick_power((("u", power),), {"u": u}, lambda a, b: s**2)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("powers", [(1, 1, 1), (2, 1, 0), (2, 2, 1), (3, 1, 1)])
def test_products_of_correlated_quantities(powers):
    true = np.array([0.7, -1.2, 0.4])
    mixing = np.array([[0.5, 0.0, 0.0], [0.2, 0.3, 0.0], [-0.1, 0.25, 0.4]])
    covariance = mixing @ mixing.T
    factors = tuple((k, p) for k, p in enumerate(powers) if p)
    mean = sum(
        w
        * float(
            wick_power(factors, dict(enumerate(true + e)), lambda a, b: float(covariance[a, b]))
        )
        for e, w in gauss(covariance, points=6)
    )
    assert mean == pytest.approx(np.prod(true ** np.array(powers)), abs=1e-12)


def test_product_of_nothing_is_one():
    assert float(wick_power((), {}, lambda a, b: 1.0)) == 1.0
