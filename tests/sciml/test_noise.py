"""Noise of a stated strength."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from sciml.noise import add_noise

RNG = np.random.default_rng(0)
SHAPE = (60, 80)


@pytest.fixture
def data() -> xr.Dataset:
    u = (3.0 * RNG.normal(size=SHAPE) + 100.0).astype(np.float32)
    u[0, 0] = np.nan
    h = RNG.normal(size=SHAPE) + 5j * RNG.normal(size=SHAPE)
    return xr.Dataset(
        {"u": (("time", "x"), u, {"units": "m"}), "h": (("time", "x"), h)}, attrs={"name": "waves"}
    )


def test_strength_is_relative_to_the_spread_of_each_field(data):
    change = add_noise(data, 0.2, seed=1) - data
    assert float(change.u.std()) == pytest.approx(0.2 * float(data.u.std()), rel=0.05)
    assert float(change.h.real.std()) == pytest.approx(0.2 * float(data.h.real.std()), rel=0.05)
    assert float(change.h.imag.std()) == pytest.approx(0.2 * float(data.h.imag.std()), rel=0.05)
    assert abs(np.corrcoef(np.ravel(change.h.real), np.ravel(change.h.imag))[0, 1]) < 0.06


def test_everything_but_the_numbers_stays(data):
    noisy = add_noise(data, 0.2)
    assert noisy.attrs == data.attrs and noisy.u.attrs == data.u.attrs
    assert {name: noisy[name].dtype for name in "uh"} == {"u": np.float32, "h": np.complex128}
    assert np.array_equal(np.isnan(noisy.u), np.isnan(data.u))


def test_the_seed_decides(data):
    first, again, other = (add_noise(data, 0.1, seed=seed) for seed in (3, 3, 4))
    xr.testing.assert_identical(first, again)
    assert not np.allclose(first.u, other.u, equal_nan=True)


def test_no_noise_changes_nothing_and_shares_no_attributes(data):
    same = add_noise(data, 0.0)
    xr.testing.assert_identical(same, data)
    same.attrs["name"] = "other"
    assert data.attrs["name"] == "waves"


@pytest.mark.parametrize("level", [-0.1, np.nan, np.inf])
def test_a_level_that_is_none_is_refused(data, level):
    with pytest.raises(ValueError, match="level of the noise is"):
        add_noise(data, level)
