"""Dates become seconds since the first, whoever keeps them and in whatever unit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

from pdes.data import AssumptionWarning, as_dataset, assumptions, read


def _stored(wave, values, units: str) -> xr.Dataset:
    return xr.Dataset(
        {"u": (("x", "time"), wave.u)},
        coords={"x": wave.x, "time": ("time", values, {"units": units})},
    )


@pytest.mark.parametrize(
    ("unit", "seconds"),
    [
        ("nanoseconds", 1e-9),
        ("microseconds", 1e-6),
        ("milliseconds", 1e-3),
        ("msec", 1e-3),
        ("s", 1.0),
        ("Minutes", 60.0),
        ("hours", 3600.0),
        ("days", 86400.0),
    ],
)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_file_and_xarray_agree(tmp_path, wave, unit, seconds, dtype):
    units = f"{unit} since 2020-01-01"
    stored = _stored(wave, np.arange(1000, 1070, 10).astype(dtype), units)
    stored.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what a file holds is on record and needs no warning
        data = read(tmp_path / "run.nc")
    np.testing.assert_allclose(data.time, np.arange(7) * 10 * seconds, rtol=1e-12)
    assert data.time.attrs["units"] == "s"
    assert f"time: dates ({units}) converted to seconds since the first" in assumptions(data)
    if unit not in ("msec", "s"):  # names that xarray does not know
        integers = np.arange(1000, 1070, 10)
        decoded = xr.decode_cf(_stored(wave, integers, f"{unit.lower()} since 2020-01-01"))
        assert decoded.time.dtype.kind == "M"
        with pytest.warns(AssumptionWarning, match="converted to seconds"):
            np.testing.assert_allclose(as_dataset(decoded).time, data.time, rtol=1e-12)
    with pytest.warns(AssumptionWarning, match="converted to seconds since the first"):
        np.testing.assert_allclose(as_dataset(stored).time, data.time, rtol=1e-12)


def test_large_integers_keep_their_digits(wave):
    start = 1_600_000_000_000_000_001
    with pytest.warns(AssumptionWarning):
        data = as_dataset(_stored(wave, start + np.arange(7), "nanoseconds since 1970-01-01"))
    np.testing.assert_allclose(data.time, np.arange(7) * 1e-9, rtol=1e-12)


def test_months_are_left_and_said(wave):
    data = as_dataset(_stored(wave, np.arange(3.0, 10.0), "months since 2020-01-01"))
    assert np.array_equal(data.time, np.arange(3.0, 10.0))
    assert "time: kept as numbers in the unit of the file, months since 2020-01-01" in assumptions(
        data
    )


@pytest.mark.parametrize("units", ["s", "ms", "days", 7, ""])
def test_numbers_that_are_no_dates_stay(wave, units):
    stored = _stored(wave, wave.t, units)
    data = as_dataset(stored)
    assert wave.matches(data.u)
    assert data.time.attrs["units"] == units
    assert assumptions(data) == []
