"""Columns of the weak form against integrals of the exact derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from sciml.discovery.library import Library
from sciml.discovery.terms import parse_feature
from sciml.discovery.weak_form import WeakForm
from sciml.discovery.windows import choose_half_width, mean_spectrum

X, Y, T = sympy.symbols("x y t")
WAVE = sympy.exp(sympy.sin(X - T)) * (1 + sympy.cos(2 * X) / 3)
SECOND = sympy.cos(X + 2 * T) + sympy.sin(X) / 2
SPACE = np.linspace(0, 2 * np.pi, 192, endpoint=False)
TIME = np.linspace(0, 2, 90)


def sample(expression, *axes):
    grids = np.meshgrid(*axes, indexing="ij")
    symbols = (X, Y, T) if len(axes) == 3 else (X, T)
    values = sympy.lambdify(symbols, expression, "numpy")(*grids)
    return np.broadcast_to(values, grids[0].shape).astype(float)


def average(weak, values):
    """Integral of pointwise values against every test function, by the plain sum."""
    for axis in range(len(weak.windows)):
        matrix = weak.windows[axis].matrices[0]
        values = np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)
    return values.reshape(-1)


def close(found, exact, tolerance):
    return np.linalg.norm(found - exact) < tolerance * np.linalg.norm(exact)


@pytest.fixture(scope="module")
def wave(recording_of):
    return recording_of({"u": sample(WAVE, SPACE, TIME)}, {"x": SPACE, "t": TIME})


def exact_noise(run):
    """The recording with the noise set to none: a smooth field has some by the estimate."""
    return replace(run, noise=dict.fromkeys(run.fields, 0.0))


def test_default_library(wave):
    features = Library().features(("u",), ("x",))
    weak = WeakForm(exact_noise(wave), features, [24, 14])
    matrix = weak.matrix()
    assert matrix.shape == (weak.n_rows, 16)
    for column, feature in enumerate(features):
        power = feature.degree()
        exact = sympy.diff(WAVE**power, X, feature.outer[0])
        tolerance = (1e-9, 1e-9, 1e-8, 1e-6, 1e-5)[feature.outer[0]]
        assert close(matrix[:, column], average(weak, sample(exact, SPACE, TIME)), tolerance), (
            feature.name
        )


def test_left_side_is_the_time_derivative(wave):
    weak = WeakForm(wave, Library().features(("u",), ("x",)), [24, 14])
    exact = average(weak, sample(sympy.diff(WAVE, T), SPACE, TIME))
    assert close(weak.left_side("u"), exact, 1e-8)


def test_widths_come_from_the_spectrum_and_rows_from_the_stride(wave):
    features = Library().features(("u",), ("x",))
    weak = WeakForm(wave, features)
    spectra = [mean_spectrum(wave.fields["u"], axis) for axis in (0, 1)]
    assert [w.half_width for w in weak.windows] == [
        choose_half_width(192, spectra[:1], 4),
        choose_half_width(90, spectra[1:], 1),
    ]
    for windows in weak.windows:
        assert windows.stride <= windows.half_width / 3
    assert weak.n_rows == np.prod(weak.n_windows) == len(weak.left_side("u"))
    few = WeakForm(wave, features, [8, 15], max_rows=300)
    assert few.n_rows <= 300 < WeakForm(wave, features, [8, 15]).n_rows


@pytest.mark.parametrize("periodic", [True, False])
def test_products_of_derivatives(recording_of, periodic):
    fields = {"u": sample(WAVE, SPACE, TIME), "v": sample(SECOND, SPACE, TIME)}
    run = exact_noise(recording_of(fields, {"x": SPACE, "t": TIME}, periodic))
    terms = {
        "u_x^2": sympy.diff(WAVE, X) ** 2,
        "u*u_xx": WAVE * sympy.diff(WAVE, X, 2),
        "(u*v_x)_x": sympy.diff(WAVE * sympy.diff(SECOND, X), X),
        "u^2*v_x": WAVE**2 * sympy.diff(SECOND, X),
    }
    features = Library(terms=tuple(terms)).features(("u", "v"), ("x",))
    weak = WeakForm(run, features, [24, 14])
    matrix = weak.matrix()
    for column, expression in enumerate(terms.values()):
        assert close(matrix[:, column], average(weak, sample(expression, SPACE, TIME)), 2e-3)


def test_coordinate_factors(recording_of):
    x = np.linspace(1, 3, 160)
    run = exact_noise(recording_of({"u": sample(WAVE, x, TIME)}, {"x": x, "t": TIME}, False))
    terms = {
        "u_x/x": sympy.diff(WAVE, X) / X,
        "x^2*u_xx": X**2 * sympy.diff(WAVE, X, 2),
        "sin(x)*u": sympy.sin(X) * WAVE,
        "t*u_x": T * sympy.diff(WAVE, X),
        "x*u^2": X * WAVE**2,
    }
    features = Library(terms=tuple(terms)).features(("u",), ("x",))
    weak = WeakForm(run, features, [26, 14])
    matrix = weak.matrix()
    for column, expression in enumerate(terms.values()):
        exact = average(weak, sample(expression, x, TIME))
        assert close(matrix[:, column], exact, 1e-7), features[column].name


def test_a_factor_that_is_not_finite_is_refused(wave):
    features = Library(terms=("u_x/x",)).features(("u",), ("x",))
    with pytest.raises(ValueError, match=r"factor '1/x' .* is not finite everywhere on the grid"):
        WeakForm(wave, features, [24, 14]).matrix()


def test_two_space_axes(recording_of):
    y = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x, t = SPACE[::4], np.linspace(0, 1, 40)
    flow = sympy.exp(sympy.sin(X - T) / 2) * sympy.cos(Y + X / 1) + sympy.sin(2 * Y)
    run = exact_noise(recording_of({"u": sample(flow, x, y, t)}, {"x": x, "y": y, "t": t}))
    features = Library(degree=2, order=2).features(("u",), ("x", "y"))
    weak = WeakForm(run, features, [15, 15, 12])
    matrix = weak.matrix()
    assert [f.name for f in features][:8] == [
        "1", "u", "u^2", "u_x", "(u^2)_x", "u_y", "(u^2)_y", "u_xx",
    ]  # fmt: skip
    for column, feature in enumerate(features):
        exact = flow ** feature.degree()
        for axis, order in zip((X, Y), feature.outer, strict=True):
            exact = sympy.diff(exact, axis, order)
        assert close(matrix[:, column], average(weak, sample(exact, x, y, t)), 1e-6), feature.name
    assert close(weak.left_side("u"), average(weak, sample(sympy.diff(flow, T), x, y, t)), 1e-7)


def test_columns_of_noisy_data_have_no_bias(wave, recording_of):
    """Mean over 300 draws of strong noise, in standard errors of that mean."""
    sigma = 0.3
    features = tuple(parse_feature(t, ("u",), ("x",)) for t in ("u^2", "u^3", "(u^2)_x", "u_x^2"))
    coarse = {"x": SPACE[::3], "t": TIME[::2]}
    field = sample(WAVE, SPACE, TIME)[::3, ::2]
    true = WeakForm(exact_noise(recording_of({"u": field}, coarse)), features, [10, 7]).matrix()
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(300):
        run = recording_of({"u": field + sigma * rng.normal(size=field.shape)}, coarse)
        draws.append(WeakForm(run, features, [10, 7], noise={"u": sigma}).matrix())
    mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0)
    assert np.max(np.abs(mean - true) / (spread / np.sqrt(300))) < 4.5


def test_without_debiasing_the_cube_gains_three_s_squared_u(wave, recording_of):
    sigma = 0.3
    features = tuple(parse_feature(t, ("u",), ("x",)) for t in ("u", "u^3"))
    noise = sigma * np.random.default_rng(1).normal(size=wave.shape)
    run = recording_of({"u": wave.fields["u"] + noise}, {"x": SPACE, "t": TIME})
    plain = WeakForm(run, features, [24, 14], noise={"u": 0.0}).matrix()
    unbiased = WeakForm(run, features, [24, 14], noise={"u": sigma}).matrix()
    np.testing.assert_allclose(
        plain[:, 1] - unbiased[:, 1], 3 * sigma**2 * plain[:, 0], rtol=1e-9, atol=1e-9
    )


def test_windows_that_touch_missing_values_are_dropped(recording_of):
    """A gap of eight frames at one position."""
    field = sample(WAVE, SPACE, TIME)
    features = Library().features(("u",), ("x",))
    whole = WeakForm(recording_of({"u": field}, {"x": SPACE, "t": TIME}), features, [24, 14])
    holed_field = field.copy()
    holed_field[100, 36:44] = np.nan
    with pytest.warns(UserWarning, match="are missing"):
        run = recording_of({"u": holed_field}, {"x": SPACE, "t": TIME})
    holed = WeakForm(run, features, [24, 14], noise=whole.noise)
    along_x = np.abs((whole.center_positions(0) - 100 + 96) % 192 - 96) < 24
    frames = np.arange(36, 44)
    along_t = np.any(np.abs(whole.center_positions(1)[:, None] - frames) < 14, axis=1)
    assert np.array_equal(holed.kept, ~(along_x & along_t))
    assert 0 < holed.n_rows < whole.n_rows
    np.testing.assert_allclose(holed.matrix(), whole.matrix()[holed.kept], rtol=1e-9, atol=1e-12)


def test_shift_along_a_periodic_axis_moves_the_rows(recording_of):
    field = sample(WAVE, SPACE, TIME)
    features = Library().features(("u",), ("x",))
    first, second = (
        WeakForm(recording_of({"u": np.roll(field, k, axis=0)}, {"x": SPACE, "t": TIME}),
                 features, [24, 14], noise={"u": 0.0})
        for k in (0, 16)
    )  # fmt: skip
    # 24 windows of stride 8
    count = len(first.windows[0].centers)
    assert count == 24
    one, other = (w.matrix().reshape(count, -1, 16) for w in (first, second))
    np.testing.assert_allclose(np.roll(one, 2, axis=0), other, rtol=1e-9, atol=1e-9)


def test_too_few_points_for_a_window(recording_of):
    x = SPACE[:9]
    run = recording_of({"u": sample(WAVE, x, TIME)}, {"x": x, "t": TIME}, False)
    with pytest.raises(ValueError, match=r"axis 'x' has 9 points, too few .* at least 13.*order=2"):
        WeakForm(run, Library().features(("u",), ("x",)))


def test_half_widths_for_every_axis(wave):
    with pytest.raises(ValueError, match=r"one number per axis \('x', 't'\), got \(24,\)"):
        WeakForm(wave, Library().features(("u",), ("x",)), [24])
