"""Data in memory come into the common form: labeled, ordered, sorted, floating."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

from pdes.data import (
    AssumptionWarning,
    AxisOrderWarning,
    DataError,
    as_dataset,
    assumptions,
    from_array,
)


@pytest.mark.parametrize("time", ["t", "time"])
def test_array_in_the_order_of_its_coordinates(wave, time):
    data = as_dataset(wave.u, coords={"x": wave.x, time: wave.t})
    assert wave.matches(data.u)
    assert assumptions(data) == []


def test_other_order_is_read_off_the_lengths(wave):
    data = as_dataset(wave.u, coords={"t": wave.t, "x": wave.x})
    assert wave.matches(data.u)
    assert assumptions(data) == [
        "axis order (x, time) read off the lengths (12, 7), not (time, x) as coords lists them"
    ]


def test_square_array_trusts_the_order_and_warns(wave):
    square = wave.u[:7]
    with pytest.warns(AxisOrderWarning, match=r"order \(x, time\) of coords is trusted"):
        data = as_dataset(square, coords={"x": wave.x[:7], "t": wave.t})
    assert np.array_equal(data.u.values, square.T)
    assert assumptions(data) == ["axis order (x, time) trusted, since lengths are equal"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = from_array(square, {"x": wave.x[:7], "t": wave.t}, dims=("t", "x"))
    assert np.array_equal(named.u.values, square)


def test_equal_space_axes_keep_the_order_of_coords():
    x = np.linspace(0, 1, 5)
    field = np.random.default_rng(0).normal(size=(5, 5, 3))
    with pytest.warns(AxisOrderWarning, match="axes of equal length"):
        data = as_dataset(field, coords={"t": np.arange(3.0), "x": x, "y": 2 * x})
    assert data.u.dims == ("time", "x", "y")
    assert np.array_equal(data.u.values, np.moveaxis(field, 2, 0))


@pytest.mark.parametrize(
    ("shape", "coords", "message"),
    [
        (
            (12, 8),
            {"x": 12, "t": 7},
            r"shape \(12, 8\), but the axes have the lengths x: 12, time: 7: no order",
        ),
        (
            (3, 12, 7),
            {"x": 12, "t": 7},
            r"has 3 axes .*add 'sample': range\(n\) to coords",
        ),
        ((12,), {"x": 12, "t": 7}, r"has 1 axes .*one coordinate per array axis"),
    ],
)
def test_wrong_lengths_are_named(shape, coords, message):
    with pytest.raises(DataError, match=message):
        as_dataset(np.zeros(shape), {name: np.arange(n * 1.0) for name, n in coords.items()})


def test_wrong_dims_are_named(wave):
    coords = {"x": wave.x, "t": wave.t}
    with pytest.raises(DataError, match=r"time: 7, x: 12: the order \('x', 'time'\) would fit"):
        from_array(wave.u, coords, dims=("t", "x"))
    with pytest.raises(DataError, match="name the same"):
        from_array(wave.u, coords, dims=("x", "y"))


def test_unknown_axes_get_a_hint(wave):
    with pytest.raises(DataError, match=r"unknown axis 'lat'; wanted t \(or time\), x, y, z"):
        as_dataset(wave.u, {"lat": wave.x, "t": wave.t})
    table = xr.DataArray(wave.u, dims=("x", "tt"), coords={"x": wave.x, "tt": wave.t})
    with pytest.raises(DataError, match=r"unknown axis 'tt'.*data.rename\({'tt': 'time'}\)"):
        as_dataset(table)


def test_coordinates_are_needed(wave):
    with pytest.raises(DataError, match=r"pass coords, e.g. coords={\"x\": x, \"t\": t}"):
        as_dataset(wave.u)
    with pytest.raises(DataError, match="coords is a list, wanted a mapping"):
        as_dataset(wave.u, [wave.x, wave.t])
    bare = xr.DataArray(wave.u, dims=("x", "t"))
    with pytest.raises(DataError, match=r"the dimension x \(12 points\) has no coordinate values"):
        as_dataset(bare)
    assert wave.matches(as_dataset(bare, {"x": wave.x, "t": wave.t}).u)
    with pytest.raises(DataError, match=r"coords\['x'\] has 7 values, but the axis x .* has 12"):
        as_dataset(bare, {"x": wave.t})
    with pytest.raises(DataError, match="coords has 'y', but the data have the axes"):
        as_dataset(bare, {"y": wave.t})


def test_xarray_objects(wave):
    array = xr.DataArray(
        wave.u,
        dims=("x", "t"),
        coords={"x": ("x", wave.x, {"periodic": 1}), "t": wave.t},
        name="height",
        attrs={"units": "m"},
    )
    for data in (as_dataset(array), as_dataset(array.to_dataset())):
        assert wave.matches(data.height)
        assert data.height.attrs["units"] == "m"
        assert data.x.attrs["periodic"] == 1
    assert list(as_dataset(array.rename(None)).data_vars) == ["u"]
    assert array.dims == ("x", "t") and array.attrs == {"units": "m"}
    with pytest.raises(DataError, match="the field and its axis are both called 'x'"):
        as_dataset(array.rename("x"))


def test_fields_of_one_system(wave):
    data = as_dataset({"u": wave.u, "v": -wave.u}, {"x": wave.x, "t": wave.t})
    assert wave.matches(data.u) and np.array_equal(data.v.values, -wave.u.T)
    with pytest.raises(DataError, match="fields must have one shape"):
        as_dataset({"u": wave.u, "v": wave.u.T}, {"x": wave.x, "t": wave.t})


def test_samples_pass_through_and_come_first(wave):
    runs = np.stack([wave.u, 2 * wave.u], axis=-1)
    data = as_dataset(runs, {"x": wave.x, "t": wave.t, "sample": range(2)})
    assert data.u.dims == ("sample", "time", "x")
    assert np.array_equal(data.u.values[1], 2 * wave.u.T)
    labeled = xr.DataArray(runs, dims=("x", "time", "sample"), coords={"x": wave.x, "time": wave.t})
    assert as_dataset(labeled).u.equals(data.u)


def test_numbers_per_sample_are_no_fields(wave):
    runs = xr.Dataset(
        {"u": (("sample", "x", "t"), np.stack([wave.u] * 2)), "speed": ("sample", [1.0, 2.0])},
        coords={"x": wave.x, "t": wave.t},
    )
    data = as_dataset(runs)
    assert list(data.data_vars) == ["u"]
    assert data.speed.values.tolist() == [1.0, 2.0]
    assert "speed: has no time or space axis, kept as a coordinate" in assumptions(data)


def test_steady_and_pointwise_data_are_no_recordings(wave):
    with pytest.raises(DataError, match=r"u has the axes \('x', 'y'\); wanted time and at least"):
        as_dataset(np.zeros((12, 7)), {"x": wave.x, "y": wave.t})
    with pytest.raises(DataError, match=r"u has the axes \('time',\); wanted time and at least"):
        as_dataset(np.zeros(7), {"t": wave.t})
    assert from_array(np.zeros((12, 7)), {"x": wave.x, "y": wave.t}).u.dims == ("x", "y")
    with pytest.raises(DataError, match="no field over time and space"):
        as_dataset(xr.Dataset(coords={"x": wave.x, "t": wave.t}))


def test_meshgrids_as_coordinates(wave):
    x, t = np.meshgrid(wave.x, wave.t, indexing="ij")
    assert wave.matches(as_dataset(wave.u, {"x": x, "t": t}).u)
    with pytest.raises(DataError, match="is neither a vector nor a meshgrid"):
        as_dataset(wave.u, {"x": x + t, "t": t})


def test_tensors(wave):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(wave.u, requires_grad=True)
    coords = {"x": torch.tensor(wave.x), "t": torch.tensor(wave.t)}
    assert wave.matches(as_dataset(tensor, coords).u)


def test_masked_values_become_nan(wave):
    masked = np.ma.masked_greater(wave.u, 1.0)
    data = as_dataset(masked, {"x": wave.x, "t": wave.t})
    assert np.array_equal(np.isnan(data.u.values), (wave.u > 1.0).T)


def test_dates_become_seconds(wave):
    start = np.datetime64("2024-03-01T12:00")
    dates = start + np.arange(7) * np.timedelta64(90, "m")
    with pytest.warns(AssumptionWarning, match="time: dates were converted to seconds since"):
        data = as_dataset(wave.u, {"x": wave.x, "t": dates})
    assert np.array_equal(data.time.values, np.arange(7) * 5400.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_dataset(data).identical(data)
    assert data.time.attrs["units"] == "s"
    assert "time: dates converted to seconds since the first" in assumptions(data)


def test_what_is_converted_is_on_record(wave):
    data = as_dataset(np.round(wave.u[::-1] * 10).astype(int), {"x": wave.x[::-1], "t": range(7)})
    assert data.u.dtype == np.float64 and np.all(np.diff(data.x.values) > 0)
    assert assumptions(data) == [
        "x: descending axis flipped",
        "time: integers (int64) read as float64",
        "u: integers (int64) read as float64",
    ]
    again = as_dataset(data)
    assert again.identical(data)


def test_complex_fields_of_a_known_equation_stay_complex(wave):
    array = (wave.u + 1e-9j).astype(complex)
    data = as_dataset(array, {"x": wave.x, "t": wave.t})
    assert data.u.dtype == np.float64
    known = xr.Dataset(
        {"u": (("x", "t"), array)},
        coords={"x": wave.x, "t": wave.t},
        attrs={"equation": "u_t = 1j*u_xx"},
    )
    assert np.array_equal(as_dataset(known).u.values, array.T)


@pytest.mark.parametrize("bad", [np.array([["a"] * 7] * 12), [[1.0, 2.0], [3.0]], object()])
def test_what_is_not_numbers_is_refused(wave, bad):
    with pytest.raises(DataError, match="wanted numbers"):
        as_dataset(bad, {"x": wave.x, "t": wave.t})


@pytest.mark.parametrize("value", [np.nan, -9.0])
def test_broken_axis_is_refused(wave, value):
    x = wave.x.copy()
    x[5] = value
    with pytest.raises(DataError, match="the axis x"):
        as_dataset(wave.u, {"x": x, "t": wave.t})
