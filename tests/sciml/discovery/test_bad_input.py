"""Data from which no equation can be found, each with an error that says what helps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.io
import xarray as xr

import pdes
import sciml
from pdes.data import AxisOrderWarning, DataError, ReadError
from sciml.discovery import DiscoveryWarning

X, T = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
FIELD = np.sum([np.exp(-0.1 * k**2 * T)[:, None] * np.cos(k * X + k) for k in (1, 2, 3)], axis=0)


def recording(values=FIELD, t: Any = T, x: Any = X):
    return xr.DataArray(values, dims=("time", "x"), coords={"time": t, "x": x}, name="u")


def refused(words, data, error=ValueError, **options):
    with pytest.raises(error, match=words) as caught:
        sciml.discover(data, **options)
    assert len(str(caught.value)) < 500
    return str(caught.value)


def test_infinite_values():
    values = FIELD.copy()
    values[3, 5] = values[40, 2] = np.inf
    refused(r"'u' contains 2 infinite values: mark missing values with NaN", recording(values))


def test_nothing_but_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning about an empty mean would be noise
        refused("NaN everywhere: nothing to learn from", recording(np.full_like(FIELD, np.nan)))


def test_nan_everywhere_in_between():
    values = FIELD.copy()
    values[np.random.default_rng(0).uniform(size=values.shape) < 0.4] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscoveryWarning)
        words = refused(r"only \d+ windows fit the data for 16 library terms", recording(values))
    assert "fill gaps" in words


@pytest.mark.parametrize("value", [0.0, 3.5, 1e30])
def test_constant_field(value):
    words = refused("'u' is constant", recording(np.full_like(FIELD, value)))
    assert "check that the right variable was read" in words


def test_constant_up_to_rounding():
    wiggle = 1e-14 * np.random.default_rng(0).normal(size=FIELD.shape)
    refused("'u' is constant", recording(7.0 + wiggle))


def test_single_snapshot():
    refused("a single snapshot along 'time'", recording(FIELD[:1], t=T[:1]))
    refused(
        "wanted time and at least one of x",
        xr.DataArray(FIELD[0], dims="x", coords={"x": X}),
        error=DataError,
    )


def test_single_point():
    refused("a single point along 'x'", recording(FIELD[:, :1], x=X[:1]))


def test_five_points_in_x():
    words = refused(
        "axis 'x' has 5 points, too few for one window", recording(FIELD[:, :5], x=X[:5])
    )
    assert "at least 13" in words and "order=2" in words


def test_too_few_times():
    refused("axis 't' has 5 points, too few", recording(FIELD[:5], t=T[:5]))


def test_time_that_is_not_uniform():
    uneven = T.copy()
    uneven[40] += 0.3 * (T[1] - T[0])
    words = refused("coordinate 'time' is not uniform: its steps range from", recording(t=uneven))
    assert "interpolate first" in words and "data.interp(time=" in words
    fixed = recording(t=uneven).interp(time=np.linspace(0, 2, 80), method="cubic")
    assert sciml.discover(fixed, periodic=True).support_["u"] != ()


def test_times_up_to_rounding_are_uniform():
    rounded = np.round(T, 5)
    assert sciml.discover(recording(t=rounded)).support_ == {"u": ("u_xx",)}


@pytest.mark.parametrize("values", [np.r_[T[:40], T[:40]], np.random.default_rng(0).permutation(T)])
def test_times_that_repeat_or_jump(values):
    with pytest.raises(ValueError, match=r"monotonic|increase or decrease strictly"):
        sciml.discover(recording(t=values))


def test_dates_become_seconds():
    dates = np.datetime64("2020-01-01") + np.arange(80).astype("timedelta64[D]")
    model = sciml.discover(recording(t=dates), periodic=True)
    step = (T[1] - T[0]) / 86400
    assert model.terms_["u"] == {"u_xx": pytest.approx(0.1 * step, rel=1e-4)}


def test_coordinates_that_are_no_numbers():
    broken = X.copy()
    broken[3] = np.nan
    refused("axis x has the value nan at index 3", recording(x=broken), error=DataError)


def test_an_axis_without_coordinates():
    refused("x.*(no coordinate values|has no values)", recording().drop_vars("x"))


def test_an_array_without_coordinates():
    refused(r'pass coords, e\.g\. coords=\{"x": x, "t": t\}', FIELD)


def test_axes_whose_lengths_do_not_fit():
    words = refused(r"shape \(80, 64\)", FIELD, coords={"t": T[:-1], "x": X})
    assert "79" in words
    refused("the array has 2 axes", FIELD, coords={"x": X})


def test_equal_lengths_leave_the_order_open_which_is_said():
    square = FIELD[:64]
    with pytest.warns(AxisOrderWarning, match=r"the order \(time, x\) of coords is trusted"):
        model = sciml.discover(square, coords={"t": T[:64], "x": X}, periodic=True)
    assert model.support_ == {"u": ("u_xx",)}


def test_unknown_axis_names():
    refused("unknown axis 'position'", recording().rename(x="position"), error=DataError)


def test_text_and_ragged_lists():
    refused("dtype", recording(np.full(FIELD.shape, "a")))
    with pytest.raises(DataError, match=r"no array|rectangular"):
        sciml.discover([[1.0, 2.0], [3.0]], coords={"t": T, "x": X})


def test_empty_data():
    refused("data is an empty list", [])
    refused("no field", xr.Dataset(coords={"time": T, "x": X}))


def test_fields_on_different_axes():
    dataset = recording().to_dataset()
    dataset["depth"] = ("x", np.ones(64))
    with pytest.raises(ValueError, match="depth has the axes"):
        sciml.discover(dataset)


def test_runs_with_different_fields():
    words = refused("recording 1 has fields", [recording(), recording().rename("v")])
    assert "all must share fields and axes" in words


def test_wrong_field_name_gets_the_closest():
    data = recording().rename("temperature")
    refused(r"target 'temperatur' is not a field.*did you mean 'temperature'", data,
            target="temperatur")  # fmt: skip


def test_unknown_periodic_axis():
    refused(r"periodic names \['z'\], but the space axes are \['x'\]", recording(), periodic="z")


def test_unknown_term_in_the_library():
    refused("cannot read the library term 'w_xx'", recording(), library=["w_xx"])
    refused("linearly dependent", recording(), library=sciml.Library(extra=("u_x^2", "u*u_xx")))


def test_a_window_wider_than_the_axis():
    words = r"half_widths gives 40 for axis 'x'.*between 6 and 31"
    refused(words, recording(), half_widths=[40, 10])


# --- files, from the file to the equation -------------------------------------------------------


def from_file(path, **options):
    return sciml.discover(pdes.data.read(path, **options), periodic=True)


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "run.mat"
    scipy.io.savemat(path, {"u": FIELD.T, "x": X, "t": T})
    return path


def test_a_sound_file(stored):
    assert from_file(stored).terms_["u"]["u_xx"] == pytest.approx(0.1, rel=1e-6)


def test_a_wrong_field_name(stored):
    with pytest.raises(ReadError, match=r"'w'.*u"):
        from_file(stored, field="w")


def test_two_candidate_fields(tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, u=FIELD, w=FIELD**2, x=X, t=T)
    with pytest.raises(ReadError, match=r"2 variables could be the field.*field="):
        from_file(path)
    assert from_file(path, field="u").support_ == {"u": ("u_xx",)}


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_a_truncated_file(stored, part):
    whole = stored.read_bytes()
    stored.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ReadError, match=r"run\.mat"):
        from_file(stored)


def test_a_file_that_is_not_what_its_suffix_says(tmp_path):
    path = tmp_path / "run.mat"
    with path.open("wb") as file:
        np.savez(file, u=FIELD, x=X, t=T)
    assert from_file(path).support_ == {"u": ("u_xx",)}
    path.write_text("not a recording at all, just words\n")
    with pytest.raises(ReadError, match=r"run\.mat"):
        from_file(path)
