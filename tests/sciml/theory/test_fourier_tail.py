"""Closed forms of tails against sums and integrals over the frequencies that are cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special

from sciml.theory import (
    GIBBS_OVERSHOOT,
    asymptotic_tail,
    box_tail,
    cosine_tail,
    disc_tail,
    edge_frequency,
    gaussian_tail,
    line_tail,
    modes_for_tolerance,
    periodic_tail,
    predict_overshoot,
    predict_tail,
    region_tail,
    sampled_box_tail,
    sampled_tail,
    transported_tail,
    trigonometric_tail,
    variation_bound,
    wave_jumps,
)

TENT = ([-0.5, 0.0, 0.5], [[0.0, 2.0], [0.0, -4.0], [0.0, 2.0]])


def coefficients(positions, jumps, length, k):
    """Fourier coefficients of a piecewise polynomial from its jumps, by integration by parts."""
    jumps = np.asarray(jumps, dtype=float)
    jumps = jumps[:, None] if jumps.ndim == 1 else jumps
    xi = 2 * np.pi * k / length
    powers = sum(jumps[:, p, None] / (1j * xi) ** (p + 1) for p in range(jumps.shape[1]))
    return (powers * np.exp(-1j * np.outer(positions, xi))).sum(0) / length


@pytest.mark.parametrize("n_modes", [0, 1, 7, 200])
@pytest.mark.parametrize(
    ("positions", "jumps"),
    [
        ([0.2, 1.7], [1.5, -1.5]),
        ([-0.8, -0.2, 0.5], [1.0, 0.6, -1.6]),
        ([0.1, 0.9, 1.7], [[1.0, 0.5], [-0.3, -2.0], [-0.7, 1.5]]),
        TENT,
    ],
)
def test_periodic_tail_is_the_energy_of_the_modes_that_are_cut(positions, jumps, n_modes):
    # Beyond the last summed mode the jumps no longer interfere; their share is asymptotic.
    length, last = 2.3, 1_000_000
    c = coefficients(np.asarray(positions), jumps, length, np.arange(n_modes + 1.0, last))
    heights = np.asarray(jumps, dtype=float)
    heights = heights if heights.ndim == 1 else heights[:, 0]
    rest = 2 * (heights**2).sum() / length * (length / (2 * np.pi)) ** 2 / last
    brute = math.sqrt(2 * length * (np.abs(c) ** 2).sum() + rest)
    assert periodic_tail(positions, jumps, length=length, n_modes=n_modes) == pytest.approx(
        brute, rel=1e-9
    )


def test_all_modes_of_a_box_hold_its_energy():
    # Energy about the mean: h^2 w (1 - w/L).
    assert box_tail(1.5, 2.0, length=6.0, n_modes=0) ** 2 == pytest.approx(
        4.0 * 1.5 * (1 - 1.5 / 6.0), rel=1e-12
    )


@pytest.mark.parametrize(
    ("tail", "stated"),
    [
        *[
            (lambda X=X: box_tail(1.0, cutoff=X), v)
            for X, v in ((30.0, 0.143245), (60.0, 0.102772), (100.0, 0.079579))
        ],
        (lambda: box_tail(1.0, length=6.0, n_modes=28), 0.143474),
        (lambda: box_tail(1.5, length=2 * np.pi, n_modes=32) / math.sqrt(1.5), 0.112977),
        (
            lambda: (
                line_tail([-0.8, -0.2, 0.5], [1.0, 0.6, -1.6], cutoff=30.0)
                / math.sqrt(0.6 + 0.7 * 1.6**2)
            ),
            0.135378,
        ),
        (lambda: line_tail(*TENT, cutoff=30.0) / math.sqrt(1 / 3), 0.018741),
        (lambda: gaussian_tail(0.1, 30.0), 0.0047),
        (lambda: disc_tail(1.0, 30.5), 0.144798),
    ],
)
def test_floors_of_the_named_fields(tail, stated):
    assert tail() == pytest.approx(stated, abs=0.6e-6)


@pytest.mark.parametrize(("positions", "jumps"), [([0.0, 1.0], [1.0, -1.0]), TENT])
def test_line_tail_is_the_integral_beyond_the_cutoff(positions, jumps):
    cutoff, end = 11.0, 1000.0
    xi = np.linspace(cutoff, end, 1_000_001)
    square = np.abs(coefficients(np.asarray(positions), jumps, 2 * np.pi, xi)) ** 2
    # coefficients() puts the frequency xi in place of a mode for the length 2 pi, and divides by it
    inner = integrate.simpson(square, x=xi) * (2 * np.pi) ** 2 / np.pi
    brute = math.sqrt(inner + line_tail(positions, jumps, cutoff=end) ** 2)
    assert line_tail(positions, jumps, cutoff=cutoff) == pytest.approx(brute, rel=1e-9)


def test_line_tail_is_the_limit_of_a_long_period():
    length = 4000.0
    modes = int(30.0 * length / (2 * np.pi))
    edge = edge_frequency(length, modes)
    for positions, jumps in (TENT, ([0.0, 1.0], [1.0, -1.0])):
        assert periodic_tail(positions, jumps, length=length, n_modes=modes) == pytest.approx(
            line_tail(positions, jumps, cutoff=edge), rel=1e-8
        )


@pytest.mark.parametrize("cutoff", [300.0, 1000.0, 1e5])
def test_line_tail_keeps_its_accuracy_far_out(cutoff):
    # Beyond the cutoff the cross terms are small against the jumps themselves.
    tent, box = line_tail(*TENT, cutoff=cutoff), line_tail([0.0, 1.0], [1.0, -1.0], cutoff=cutoff)
    assert tent == pytest.approx(asymptotic_tail([2, -4, 2], cutoff, derivative=1), rel=6 / cutoff)
    assert box == pytest.approx(asymptotic_tail([1, -1], cutoff), rel=1 / cutoff)


@pytest.mark.parametrize("power", [2, 3, 4, 5])
@pytest.mark.parametrize("angle", [0.0, 1e-3, 2.0, 6.2, -1.0])
def test_trigonometric_tails_are_sums(power, angle):
    k = np.arange(13.0, 2_000_000.0)
    function = np.sin if power % 2 else np.cos
    rest = 1.0 / 1_999_999.5 if power == 2 and angle == 0.0 else 0.0
    brute = (function(k * angle) / k**power).sum() + rest
    found = trigonometric_tail(angle, 12, power, sine=bool(power % 2))
    assert found == pytest.approx(brute, abs=3e-10)


def test_trigamma_at_the_angle_zero():
    assert cosine_tail(0.0, 41) == pytest.approx(special.polygamma(1, 42), rel=1e-14)


def test_asymptotic_tails_within_the_stated_percentages():
    box = asymptotic_tail([1.0, -1.0], 30.0) / box_tail(1.0, cutoff=30.0)
    assert 0.0 < abs(box - 1) < 0.04
    tent = asymptotic_tail([2.0, -4.0, 2.0], 30.0, derivative=1) / line_tail(*TENT, cutoff=30.0)
    assert tent**2 == pytest.approx(1.0, abs=0.24)
    assert abs(tent**2 - 1) > 0.15  # it is no better than that
    ratio = asymptotic_tail([1.0, -1.0], edge_frequency(6.0, 4000)) / box_tail(
        1.0, length=6.0, n_modes=4000
    )
    assert ratio == pytest.approx(1.0, abs=1e-3)


def test_gaussian_tail_is_the_integral():
    s, cutoff = 0.3, 7.0
    energy = integrate.quad(lambda xi: math.exp(-((s * xi) ** 2)), cutoff, 60.0)[0]
    whole = integrate.quad(lambda xi: math.exp(-((s * xi) ** 2)), 0.0, 60.0)[0]
    assert gaussian_tail(s, cutoff) == pytest.approx(math.sqrt(energy / whole), rel=1e-8)


def test_disc_tail_is_the_integral():
    # |transform|^2 = (2 pi J1(q)/q)^2, of which 2 pi q dq is integrated.
    inner = integrate.quad(lambda q: 2 * special.j1(q) ** 2 / q, 0.0, 30.5, limit=400)[0]
    assert disc_tail(1.0, 30.5) == pytest.approx(math.sqrt(1 - inner), rel=1e-8)
    assert region_tail(1.0, 2 * np.pi, 500.0) / math.sqrt(np.pi) == pytest.approx(
        disc_tail(1.0, 500.0), rel=2e-3
    )


@pytest.mark.parametrize(("inside", "points", "modes"), [(16, 64, 10), (7, 33, 5), (5, 64, 32)])
def test_sampled_box_is_the_discrete_transform(inside, points, modes):
    box = (np.arange(points) < inside).astype(float)
    assert sampled_box_tail(inside, points, modes) == pytest.approx(
        sampled_tail(box, modes), abs=1e-15
    )
    spectrum = np.fft.fft(box)
    spectrum[np.abs(np.fft.fftfreq(points, 1 / points)) > modes] = 0
    cut = box - np.fft.ifft(spectrum).real
    assert sampled_tail(box, modes) == pytest.approx(math.sqrt((cut**2).mean()), abs=1e-14)


@pytest.mark.parametrize("n_modes", [16, 200])
def test_overshoot_beside_a_jump(n_modes):
    length, width = 2 * np.pi, 3.0
    k = np.arange(1.0, n_modes + 1)
    distance = np.pi / edge_frequency(length, n_modes)
    x = np.linspace(0.5 * distance, 1.5 * distance, 401)
    c = coefficients(np.array([0.0, width]), [1.0, -1.0], length, k)
    partial = width / length + 2 * (c * np.exp(1j * np.outer(x, k))).sum(1).real
    assert predict_overshoot(atol=0.04 / math.sqrt(n_modes)).judge(partial.max() - 1.0).passed
    assert x[partial.argmax()] == pytest.approx(distance, rel=0.1)
    assert pytest.approx(0.0894899, abs=1e-7) == GIBBS_OVERSHOOT


def test_variation_bounds_every_tail():
    assert variation_bound(3.2, length=6.0, n_modes=9) >= periodic_tail(
        [-0.8, -0.2, 0.5], [1.0, 0.6, -1.6], length=6.0, n_modes=9
    )


def test_transport_stretches_the_tail():
    assert transported_tail([1.0], [4.0], 10.0) == 2 * asymptotic_tail([1.0], 10.0)


def test_half_waves_carry_half_of_the_energy():
    places, jumps = wave_jumps([0.0, 1.0], [1.0, -1.0], 0.25)
    np.testing.assert_allclose(places, [0.25, 1.25, -0.25, 0.75])
    np.testing.assert_allclose(jumps, [0.5, -0.5, 0.5, -0.5])
    merged = wave_jumps([0.0, 1.0], [1.0, -1.0], 0.5)  # the inner jumps cancel
    assert line_tail(*merged, cutoff=400.0) ** 2 == pytest.approx(
        0.5 * box_tail(2.0, cutoff=400.0) ** 2 / 2, rel=0.02
    )


def test_window_for_a_tolerance():
    K = modes_for_tolerance([1.0, -1.0], length=6.0, tolerance=0.01, norm=1.0)
    assert box_tail(1.0, length=6.0, n_modes=K) == pytest.approx(0.01, rel=2e-3)


def test_predicted_tail_judges():
    statement = predict_tail([0.0, 1.0], [1.0, -1.0], cutoff=30.0)
    assert statement.judge(0.1432450690).passed
    assert not statement.judge(0.14326).passed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: periodic_tail([0.0], [1.0], length=1.0, n_modes=3), "add up to 1: on a circle"),
        (
            lambda: periodic_tail([0, 1], [[1, 0], [-1, 2]], length=3.0, n_modes=3),
            "derivative of order 1 add up to 2",
        ),
        (lambda: line_tail([0.0, 1.0], [1.0], cutoff=3.0), "one row of jumps"),
        (lambda: line_tail([0.0, np.nan], [1.0, -1.0], cutoff=3.0), "finite"),
        (lambda: line_tail([0.0, 1.0], [1.0, -1.0], cutoff=0.0), "cutoff is 0"),
        (lambda: box_tail(1.0, length=-6.0, n_modes=3), "length is -6"),
        (lambda: box_tail(1.0, length=6.0, n_modes=2.5), "n_modes is 2.5"),
        (lambda: trigonometric_tail(0.1, 3, 1), "power is 1"),
        (lambda: sampled_box_tail(8, 8, 2), "inside is 8 of 8"),
        (lambda: transported_tail([1.0], [0.0], 3.0), "keeps dx/dy positive"),
        (lambda: predict_tail([0.0], [1.0], length=1.0), "either cutoff, or length"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
