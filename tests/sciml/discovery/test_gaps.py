"""Scattered missing points are filled, long gaps are not, and the noise is that of what is left."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

import pdes
import sciml
from sciml.discovery import DiscoveryWarning
from sciml.discovery.gaps import fill_short_gaps, noise_of_measured, short_gaps
from sciml.discovery.noise import noise_level
from sciml.discovery.recording import as_recordings

TRUE = {"u*u_x": -1.0, "u_xx": 0.1}
T = np.linspace(0.0, 3.0, 101)


def holes(shape, share, seed=0):
    return np.random.default_rng(seed).uniform(size=shape) < share


def test_runs_of_four_and_two_at_an_end_are_long():
    row = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1], bool)
    short = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1], bool)
    assert np.array_equal(short_gaps(row[None])[0], short)
    assert np.array_equal(short_gaps(row[None, ::-1])[0], short[::-1])
    assert not short_gaps(np.ones((3, 3), bool)).any()


@pytest.mark.parametrize("shape", [(7, 101), (4, 5, 101)])
def test_a_cubic_in_time_is_filled_exactly(shape):
    rng = np.random.default_rng(1)
    powers = rng.normal(size=(4, *shape[:-1], 1))
    whole = np.sum([powers[k] * T**k for k in range(4)], axis=0)
    missing = holes(shape, 0.15)
    missing[..., [0, 1, -2, -1]] = False
    filled = fill_short_gaps(np.where(missing, np.nan, whole))
    inside = short_gaps(missing)
    assert 0.1 < inside.mean() < 0.15
    np.testing.assert_allclose(filled[inside], whole[inside], rtol=1e-9, atol=1e-9)
    assert np.array_equal(np.isnan(filled), missing & ~inside)
    assert np.array_equal(filled[~missing], whole[~missing])


def test_an_end_is_extrapolated_linearly():
    row = 2.0 - 3.0 * T
    gap = row.copy()
    gap[[0, -1]] = np.nan
    np.testing.assert_allclose(fill_short_gaps(gap[None])[0], row, rtol=1e-12)


def test_long_gaps_and_blocks_stay_missing():
    field = np.sin(np.arange(40) / 6)[:, None] * np.cos(T)
    field[5, 30:34] = field[20:26, 60:70] = field[39, :2] = np.nan
    field[10, 50] = np.nan
    filled = fill_short_gaps(field)
    assert np.isnan(filled).sum() == np.isnan(field).sum() - 1
    assert filled[10, 50] == pytest.approx(np.sin(10 / 6) * np.cos(T[50]), abs=1e-6)


@pytest.mark.parametrize(("share", "filled"), [(0.15, True), (0.35, False)])
def test_more_than_a_fifth_is_not_filled(share, filled):
    field = np.sin(np.arange(64) / 9)[:, None] * np.cos(T)
    field[holes(field.shape, share)] = np.nan
    assert (np.isnan(fill_short_gaps(field)).sum() < np.isnan(field).sum()) == filled


@pytest.mark.parametrize(("frames_in_a_period", "filled"), [(60, True), (6, False)])
def test_frames_too_far_apart_for_a_cubic_are_not_bridged(frames_in_a_period, filled):
    phase = 2 * np.pi * (np.arange(64)[:, None] / 64 - np.arange(101) / frames_in_a_period)
    field = np.sin(phase) + 1e-3 * np.random.default_rng(0).normal(size=phase.shape)
    field[holes(field.shape, 0.02)] = np.nan
    left = np.isnan(fill_short_gaps(field, noise=1e-3))
    assert left.sum() == (0 if filled else np.isnan(field).sum())


def test_a_noisy_field_is_filled_by_an_average_over_more_of_the_noise():
    """Weights of the cubic fitted to four neighbors on each side: |w|^2 = 0.343."""
    rng = np.random.default_rng(0)
    noisy = 3.0 + np.linspace(0, 1, 2000)[:, None] * T + 0.1 * rng.normal(size=(2000, 101))
    clean = 3.0 + np.linspace(0, 1, 2000)[:, None] * T
    noisy[:, 10:91:10] = np.nan
    error = (fill_short_gaps(noisy, noise=0.1) - clean)[:, 10:91:10]
    assert np.mean(error**2) / 0.01 == pytest.approx(0.343, rel=0.05)
    fine = (fill_short_gaps(noisy) - clean)[:, 10:91:10]
    assert np.isnan(fine).all(), "said to be clean, but cubics fail on measured values"


# --- noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.2])
@pytest.mark.parametrize("shape", [(256, 101), (64, 80), (24, 24, 60)])
def test_noise_of_what_was_measured(shape, share):
    axes = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    field = np.prod([np.sin(axis + 1) for axis in axes], axis=0)
    for seed in range(3):
        noisy = field + 0.05 * np.random.default_rng(seed).normal(size=shape)
        noisy[holes(shape, share, seed + 10)] = np.nan
        assert noise_of_measured(noisy) == pytest.approx(0.05, rel=0.05)


def test_without_gaps_it_is_the_noise_level():
    noisy = np.random.default_rng(0).normal(size=(64, 80))
    assert noise_of_measured(noisy) == noise_level(noisy)


def test_one_gap_changes_the_noise_hardly():
    noisy = np.random.default_rng(0).normal(size=(64, 80))
    whole = noise_level(noisy)
    noisy[30, 30] = np.nan
    assert noise_of_measured(noisy) == pytest.approx(whole, rel=2e-3)


def test_noise_of_a_clean_field_stays_tiny():
    field = np.sin(np.linspace(0, 6, 256))[:, None] * np.cos(T)
    field[holes(field.shape, 0.1)] = np.nan
    assert noise_of_measured(field) < 1e-8


def test_noise_with_too_few_points_is_zero():
    field = np.full((30, 50), np.nan)
    field[3, 4] = 1.0
    assert noise_of_measured(field) == 0.0


# --- recordings and equations -------------------------------------------------------------------


@pytest.fixture(scope="module")
def burgers():
    return pdes.simulate(pdes.get("burgers", times=np.linspace(0, 10, 101))).u


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1])
def test_burgers_with_scattered_gaps(burgers, share):
    sigma = 0.05 * float(burgers.std())
    rng = np.random.default_rng(5)
    data = burgers + sigma * rng.normal(size=burgers.shape)
    data = data.where(rng.uniform(size=burgers.shape) >= share)
    with pytest.warns(DiscoveryWarning, match=r"\d+ in short gaps are interpolated along time"):
        model = sciml.discover(data)
    assert set(model.terms_["u"]) == set(TRUE)
    for term, value in TRUE.items():
        error = model.standard_errors_["u"][term]
        assert abs(model.terms_["u"][term] - value) < 5 * error < 0.1 * abs(value)
    assert 0.8 <= model.chi2_["u"] <= 1.3
    assert model.noise_estimate_["u"] == pytest.approx(sigma, rel=0.05)


def test_the_warning_counts(burgers):
    data = burgers.copy(deep=True)
    data.values[50, 3] = data.values[60:63, 9] = data.values[20:30, 100] = np.nan
    with pytest.warns(DiscoveryWarning, match="4 in short gaps are .* 10 stay missing"):
        (run,) = as_recordings(data)
    assert run.missing is not None and run.missing.sum() == 10
    assert np.all(run.fields["u"][run.missing] == 0.0)
    clean = burgers.transpose("x", "time").values
    np.testing.assert_allclose(run.fields["u"][~run.missing], clean[~run.missing], atol=1e-3)


def test_without_gaps_nothing_is_said_or_changed(burgers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (run,) = as_recordings(burgers)
    assert run.missing is None
    assert np.array_equal(run.fields["u"], burgers.transpose("x", "time").values)


def test_a_gap_in_one_field_leaves_the_other_as_it_is(burgers):
    pair = xr.Dataset({"u": burgers, "v": burgers**2})
    pair["v"] = pair.v.where(pair.x != pair.x[7])
    with pytest.warns(DiscoveryWarning, match="0 in short gaps"):
        (run,) = as_recordings(pair)
    assert run.missing is not None and run.missing.sum() == 101
    kept = ~run.missing
    clean = burgers.transpose("x", "time").values
    assert np.array_equal(run.fields["u"][kept], clean[kept])
