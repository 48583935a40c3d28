"""Test functions: exact derivatives, spectral quadrature, widths from the spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from scipy.integrate import quad

from sciml.discovery.windows import (
    AxisWindows,
    bump_derivatives,
    bump_exponent,
    choose_half_width,
    corner_wavenumber,
    mean_spectrum,
    spectral_half_width,
)


def axis(points=128, half_width=20, order=4, periodic=True, stride=None, spacing=None):
    return AxisWindows(
        points=points,
        spacing=2 * math.pi / points if spacing is None else spacing,
        half_width=half_width,
        order=order,
        stride=half_width / 3 if stride is None else stride,
        periodic=periodic,
    )


@pytest.mark.parametrize("half_width", [8, 12, 25, 60])
def test_exponent_is_the_smallest_that_decays(half_width):
    exponent = bump_exponent(half_width, 4)
    end = 1 - (1 - 1 / half_width) ** 2
    assert end**exponent <= 1e-10 * (1 + 1e-12)
    assert exponent == 5 or end ** (exponent - 1) > 1e-10


@pytest.mark.parametrize(("half_width", "error"), [(4, 5e-3), (5, 5e-4), (6, 5e-5), (7, 5e-6)])
def test_narrow_bumps_are_wide_enough_for_the_grid(half_width, error):
    """A sum against the derivative is minus the sum of the derivative, also on few points."""
    z = np.arange(-half_width, half_width + 1) / half_width
    bump, slope = bump_derivatives(z, bump_exponent(half_width, 1), 1)
    wave = np.exp(2j * z)
    assert abs(-(slope @ wave) / (2j * (bump @ wave)) - 1) < error


def test_exponent_leaves_derivatives_that_vanish_at_the_ends():
    assert bump_exponent(3, 60) == 63
    assert bump_exponent(200, 60) == 61
    values = bump_derivatives(np.array([-1.0, 1.0, 1.5]), 7, 6)
    assert np.array_equal(values, np.zeros((7, 3)))


@pytest.mark.parametrize("exponent", [5, 9, 17])
def test_derivatives_of_the_bump(exponent):
    z = sympy.Symbol("z")
    expression = (1 - z**2) ** exponent
    where = [-0.97, -0.4, 0.0, 0.3, 0.8]
    found = bump_derivatives(np.array(where), exponent, 4)
    for k in range(5):
        exact = [float(sympy.diff(expression, z, k).subs(z, sympy.Rational(str(v)))) for v in where]
        np.testing.assert_allclose(found[k], exact, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_quadrature_of_a_smooth_field(periodic, k):
    """The sum against the k-th derivative of a window is the integral of the k-th derivative.

    The bump is below 1e-10 one point inside its support; each derivative loses some of that.
    """
    windows = axis(points=256, half_width=30, periodic=periodic)
    x = np.arange(256) * windows.spacing
    v = sympy.Symbol("v")
    field = sympy.exp(sympy.sin(v)) * sympy.cos(2 * v + 1)
    values = sympy.lambdify(v, field, "numpy")(x)
    derivative = sympy.lambdify(v, sympy.diff(field, v, k), "math")
    sums = windows.matrices[k] @ values * windows.spacing
    on_grid = np.arange(-30, 31) / 30
    norm = np.linalg.norm((1 - on_grid**2) ** windows.exponent)
    radius = 30 * windows.spacing
    for c in (0, 3, len(windows.centers) // 2):
        center = windows.centers[c] * windows.spacing

        def weighted(y, center=center):
            bump = max(0.0, 1 - ((y - center) / radius) ** 2) ** windows.exponent
            return bump / norm * derivative(y)

        exact, _ = quad(weighted, center - radius, center + radius, epsabs=1e-13, epsrel=1e-13)
        size = np.abs(windows.matrices[k][c]) @ np.abs(values) * windows.spacing
        assert sums[c] == pytest.approx(exact, abs=(1e-9 if k < 3 else 1e-7) * size)


def test_windows_have_unit_norm_and_cover_a_periodic_axis_evenly():
    windows = axis(points=120, half_width=20, stride=6.0)
    assert np.array_equal(windows.centers, np.arange(20) * 6.0)
    np.testing.assert_allclose(np.linalg.norm(windows.matrices[0], axis=1), 1.0, rtol=1e-12)
    # the first window wraps around
    assert windows.matrices[0][0, -1] > 0


def test_windows_of_other_axes_fit_inside():
    windows = axis(points=101, half_width=15, periodic=False)
    assert windows.centers[0] == 15 and windows.centers[-1] == 85
    np.testing.assert_allclose(np.diff(windows.centers), np.diff(windows.centers)[0])
    # one grid point before the support of the first window begins there is nothing of it left
    assert np.all(windows.matrices[0][0, 30:] == 0)
    assert np.all(windows.matrices[0][-1, :71] == 0)


def test_one_window_if_no_more_fit():
    windows = axis(points=31, half_width=15, periodic=False)
    assert np.array_equal(windows.centers, [15.0])


@pytest.mark.parametrize("periodic", [True, False])
def test_overlaps_are_all_pairs_with_a_common_point(periodic):
    windows = axis(points=64, half_width=8, periodic=periodic)
    first, second = windows.overlaps
    listed = set(zip(first.tolist(), second.tolist(), strict=True))
    common = (windows.matrices[0] > 0).astype(int) @ (windows.matrices[0] > 0).astype(int).T
    assert {(int(i), int(j)) for i, j in np.argwhere(common > 0)} <= listed
    assert len(listed) < len(windows.centers) ** 2


def test_touched_windows_are_those_that_hold_a_marked_point():
    windows = axis(points=64, half_width=8, periodic=False)
    mask = np.zeros((3, 64), dtype=bool)
    mask[1, 20] = True
    touched = windows.touched(mask, 1)
    assert not touched[0].any() and not touched[2].any()
    expected = np.abs(windows.centers - 20) < 8
    assert np.array_equal(touched[1], expected)


def test_corner_where_signal_gives_way_to_noise():
    k = np.arange(128)
    signal = np.exp(-((k / 6.0) ** 2))
    clean, noisy = corner_wavenumber(signal + 1e-8), corner_wavenumber(signal + 0.02)
    assert 8 <= noisy < clean <= 40
    assert corner_wavenumber(np.zeros(50)) == 1


@pytest.mark.parametrize("corner", [3.0, 12.0, 40.0])
def test_half_width_solves_its_equation(corner):
    n = 256
    m = spectral_half_width(n, corner)
    spread = (2 * n) ** 2
    decay = math.log((2 * m - 1) / m**2)
    left = decay * (4 * math.pi**2 * corner**2 * m**2 - 3 * spread)
    assert left == pytest.approx(2 * spread * math.log(1e-10), rel=1e-5)
    # the wider the window, the lower the wavenumbers it lets through
    assert m > spectral_half_width(n, corner + 1)


def test_half_width_is_clipped_on_both_sides():
    smooth = [np.where(np.arange(65) < 2, 1.0, 1e-6)]
    rough = [np.ones(65)]
    assert choose_half_width(128, smooth, 4) == 128 // 6
    assert choose_half_width(128, [np.linspace(1, 0.9, 65)], 9) == 11
    assert choose_half_width(128, rough, 4) >= 6


def test_several_fields_share_the_mean_of_their_corners():
    k = np.arange(129)
    low, high = (np.exp(-((k / s) ** 2)) + 1e-3 for s in (4.0, 25.0))
    alone = [choose_half_width(256, [item], 1) for item in (low, high)]
    together = choose_half_width(256, [low, high], 1)
    assert min(alone) < together < max(alone)


def test_mean_spectrum_sees_one_wave_along_one_axis():
    x = 2 * np.pi * np.arange(32) / 32
    field = np.cos(3 * x)[:, None] * np.ones(10)
    spectrum = mean_spectrum(field, 0)
    assert spectrum.shape == (17,)
    assert spectrum[3] == pytest.approx(16.0)
    np.testing.assert_allclose(np.delete(spectrum, 3), 0.0, atol=1e-12)
    assert mean_spectrum(field, 1).shape == (6,)
