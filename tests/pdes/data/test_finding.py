"""Fields and axes are found by name and length, and whatever is unclear is asked for."""

from __future__ import annotations

import re

import h5py
import numpy as np
import pytest
import scipy.io
import xarray as xr

from pdes.data import ReadError, assumptions, read


@pytest.fixture
def file(tmp_path):
    """Write arrays to a file that names nothing but the arrays."""

    def write(**arrays):
        np.savez(tmp_path / "run.npz", **arrays)
        return tmp_path / "run.npz"

    return write


@pytest.mark.parametrize("time", ["t", "tt", "T", "time", "Time", "ts", "t_star", "t-coordinate"])
@pytest.mark.parametrize("space", ["x", "xx", "xs", "X", "space", "x_coordinate", "x_grid"])
def test_axes_by_name(file, wave, time, space):
    assert wave.matches(read(file(**{"c": wave.u, time: wave.t, space: wave.x})).c)


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1), (-1,)])
def test_rows_and_columns_are_vectors(file, wave, shape):
    path = file(u=wave.u.T, t=wave.t.reshape(shape), x=wave.x.reshape(shape))
    assert wave.matches(read(path).u)


def test_swapped_order_is_on_record(file, wave):
    stored = read(file(u=wave.u, t=wave.t, x=wave.x))
    swapped = read(file(u=wave.u.T, t=wave.t, x=wave.x))
    assert wave.matches(stored.u) and wave.matches(swapped.u)
    assert assumptions(stored) == ["u: axis order (x, t) read off the lengths"]
    assert assumptions(swapped) == ["u: axis order (t, x) read off the lengths"]


def test_square_array_needs_its_order(file, wave):
    square = wave.u[:7]
    path = file(u=square, t=wave.t, x=wave.x[:7])
    with pytest.raises(ReadError, match=r"cannot be told from lengths.*axes=\('x', 't'\)"):
        read(path)
    assert np.array_equal(read(path, axes=("x", "t")).u.values, square.T)
    assert np.array_equal(read(path, axes=("t", "x")).u.values, square)
    assert assumptions(read(path, axes=("t", "x"))) == []


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrids_tell_the_order(file, wave, indexing):
    x, t = np.meshgrid(wave.x[:7], wave.t, indexing=indexing)
    data = read(file(u=np.sin(x - t), xx=x, tt=t))
    assert np.array_equal(data.u.values, np.sin(wave.x[:7] - wave.t[:, None]))
    assert assumptions(data) == [
        "u: axis order " + ("(x, t)" if indexing == "ij" else "(t, x)") + " read off the meshgrid"
    ]


def test_meshgrid_beside_the_vector_still_tells_the_order(file, wave):
    x, t = np.meshgrid(wave.x[:7], wave.t, indexing="ij")
    data = read(file(u=np.sin(x - t), x=wave.x[:7], t=wave.t, X=x, T=t))
    assert np.array_equal(data.u.values, np.sin(wave.x[:7] - wave.t[:, None]))


def test_temperature_is_not_time(file, wave):
    assert wave.matches(read(file(T=wave.u, t=wave.t, x=wave.x), field="T").T)


@pytest.mark.parametrize("name", ["T", "X"])
@pytest.mark.parametrize("kind", ["npz", "mat", "h5", "nc"])
def test_an_array_called_like_an_axis_is_a_field(tmp_path, wave, name, kind):
    path = tmp_path / f"run.{kind}"
    arrays = {name: wave.u, "x": wave.x, "tt": wave.t}
    if kind == "npz":
        np.savez(path, **arrays)
    elif kind == "mat":
        scipy.io.savemat(path, arrays)
    elif kind == "h5":
        with h5py.File(path, "w") as store:
            store.update(arrays)
    else:
        xr.Dataset(
            {name: (("x", "t"), wave.u)}, coords={"x": ("x", wave.x), "t": ("t", wave.t)}
        ).to_netcdf(path, engine="h5netcdf")
    data = read(path)
    assert list(data.data_vars) == [name]
    assert wave.matches(data[name])


def test_a_column_called_like_an_axis_is_a_field(tmp_path, wave):
    x, t = np.meshgrid(wave.x, wave.t, indexing="ij")
    rows = np.stack([wave.u.ravel(), x.ravel(), t.ravel()], axis=1)
    columns = dict(zip(("T", "x", "t"), rows.T, strict=True))
    np.savez(tmp_path / "run.npz", **columns)
    assert wave.matches(read(tmp_path / "run.npz").T)


def test_a_field_beside_one_called_like_an_axis_is_a_choice(file, wave):
    path = file(u=wave.u, T=2 * wave.u, x=wave.x, t=wave.t)
    with pytest.raises(ReadError, match=r"2 variables could be the field: u .*, T "):
        read(path)
    assert np.array_equal(read(path, field="T").T.values, 2 * wave.u.T)


@pytest.mark.parametrize(
    ("order", "axes"),
    [
        ((0, 1, 2), ("sample", "x", "t")),
        ((0, 2, 1), ("sample", "t", "x")),
        ((2, 1, 0), ("t", "x", "sample")),
    ],
)
@pytest.mark.parametrize("kind", ["mat", "h5"])
@pytest.mark.parametrize("field", [None, "u"])
def test_an_axis_of_samples_is_offered(tmp_path, wave, order, axes, kind, field):
    path = tmp_path / f"run.{kind}"
    runs = np.stack([wave.u, 2 * wave.u, 3 * wave.u]).transpose(order)
    arrays = {"u": runs, "x": wave.x, "t": wave.t}
    if kind == "mat":
        scipy.io.savemat(path, arrays)
    else:
        with h5py.File(path, "w") as store:
            store.update(arrays)
    with pytest.raises(ReadError, match=re.escape(f"independent runs, say so with axes={axes}")):
        read(path, field=field)
    data = read(path, axes=axes)
    assert wave.matches(data.u.isel(sample=0, drop=True))


def test_an_unknown_axis_of_netcdf_is_offered_as_samples(tmp_path, wave):
    runs = np.stack([wave.u.T, 2 * wave.u.T])
    xr.Dataset(
        {"u": (("run", "t", "x"), runs)}, coords={"x": ("x", wave.x), "t": ("t", wave.t)}
    ).to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(ReadError, match=r"'run' is not known.*axes=\('sample', 't', 'x'\)"):
        read(tmp_path / "run.nc")
    data = read(tmp_path / "run.nc", axes=("sample", "t", "x"))
    assert wave.matches(data.u.isel(sample=0, drop=True))


def test_two_spatial_dimensions(file, wave):
    y = np.linspace(0, 1, 5)
    field = wave.u[:, None, :] + y[:, None]
    data = read(file(u=field, x=wave.x, y=y, t=wave.t))
    assert data.u.dims == ("time", "x", "y")
    assert np.array_equal(data.u.values, np.moveaxis(field, 2, 0))
    with pytest.raises(ReadError, match="cannot be told from lengths"):
        read(file(u=field[:5], x=wave.x[:5], y=y, t=wave.t))
    told = read(file(u=field, a=wave.x, b=y, c=wave.t), time="c", space=["a", "b"])
    assert told.u.identical(data.u)
    assert read(
        file(u=field, a=wave.x, b=y, c=wave.t), time="c", space={"x": "a", "y": "b"}
    ).u.equals(data.u)


def test_samples(file, wave):
    runs = np.stack([wave.u, 2 * wave.u, 3 * wave.u])
    data = read(file(u=runs, x=wave.x, t=wave.t), axes=("sample", "x", "t"))
    assert data.u.dims == ("sample", "time", "x")
    assert wave.matches(data.u.isel(sample=0, drop=True))
    assert data.sample.values.tolist() == [0, 1, 2]


def test_the_only_vector_of_fitting_length_is_the_axis(file, wave):
    data = read(file(u=wave.u, t=wave.t, grid=wave.x, coefficients=np.arange(3.0)))
    assert wave.matches(data.u)
    assert "grid taken as the x axis, the only vector of fitting length" in assumptions(data)


def test_unnamed_axes_are_asked_for(file, wave):
    path = file(u=wave.u, a=wave.t, b=wave.x)
    with pytest.raises(ReadError, match=r"no time axis found.*a \(7,\).*time='name'"):
        read(path)
    assert wave.matches(read(path, time="a", space="b").u)
    with pytest.raises(
        ReadError, match="time names 'aa', which is not in the file; did you mean 'a'"
    ):
        read(path, time="aa")


def test_flattened_grid_is_arranged(file, wave):
    x, t = np.meshgrid(wave.x, wave.t)
    order = np.random.default_rng(0).permutation(x.size)
    columns = {"x": x, "t": t, "u": wave.u.T}
    path = file(**{name: values.reshape(-1, 1)[order] for name, values in columns.items()})
    assert wave.matches(read(path).u)


def test_two_fields_are_a_choice(file, wave):
    path = file(u=wave.u, v=2 * wave.u, x=wave.x, t=wave.t)
    with pytest.raises(ReadError, match=r"u \(12, 7\), v \(12, 7\).*field='u'.*field=\['u', 'v'\]"):
        read(path)
    assert list(read(path, field="v").data_vars) == ["v"]
    both = read(path, field=["u", "v"])
    assert wave.matches(both.u)
    assert np.array_equal(both.v.values, 2 * both.u.values)


def test_equal_names_in_two_folders_are_kept_apart(tmp_path, wave):
    with h5py.File(tmp_path / "runs.h5", "w") as file:
        file["a/u"], file["b/u"], file["x"], file["t"] = wave.u, -wave.u, wave.x, wave.t
    data = read(tmp_path / "runs.h5", field=["a/u", "b/u"])
    assert list(data.data_vars) == ["u", "b_u"]
    assert wave.matches(data.u) and np.array_equal(data.b_u.values, -wave.u.T)


def test_field_called_like_an_axis(file, wave):
    with pytest.raises(ReadError, match="the field 'x' is called like an axis"):
        read(file(x=wave.u, s=wave.x, t=wave.t), field="x", space="s")


def test_unknown_field_offers_the_closest(file, wave):
    with pytest.raises(ReadError, match=r"no variable 'usoll' in the file; did you mean 'usol'"):
        read(file(usol=wave.u, x=wave.x, t=wave.t), field="usoll")


def test_field_of_another_shape_names_the_lengths(file, wave):
    path = file(u=wave.u, mask=np.ones((3, 4)), x=wave.x, t=wave.t)
    with pytest.raises(ReadError, match=r"mask has shape \(3, 4\).*time: 7, x: 12"):
        read(path, field="mask")
    with pytest.raises(ReadError, match=r"no variable fits the axes \(time: 7, x: 11\)"):
        read(path, space=wave.x[1:])


def test_an_axis_is_no_field(file, wave):
    x, _ = np.meshgrid(wave.x, wave.t, indexing="ij")
    with pytest.raises(ReadError, match="'X' cannot be the field and an axis"):
        read(file(u=wave.u, X=x, t=wave.t), field="X", space="X")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": "xt"}, "axes is the text 'xt', wanted a tuple"),
        ({"axes": ("x", "lat")}, "axes names 'lat'; wanted t, x, y, z or sample"),
        ({"axes": ("x", "x")}, "names a dimension twice"),
        ({"field": []}, "field is empty"),
        ({"space": {"lat": "x"}}, "space has the key 'lat'"),
        ({"time": 0.1}, r"time for the axis time has shape \(\); wanted the values along the axis"),
    ],
)
def test_arguments_are_checked(file, wave, arguments, message):
    with pytest.raises(ReadError, match=message):
        read(file(u=wave.u, x=wave.x, t=wave.t), **arguments)


def test_descending_axis_is_flipped(file, wave):
    data = read(file(u=wave.u[::-1], x=wave.x[::-1], t=wave.t))
    assert wave.matches(data.u)
    assert "x: descending axis flipped" in assumptions(data)


def test_integers_become_floats(file, wave):
    counts = np.arange(84, dtype=np.uint8).reshape(12, 7)
    data = read(file(u=counts, x=np.arange(12), t=wave.t))
    assert data.u.dtype == data.x.dtype == np.float64
    assert np.array_equal(data.u.values, counts.T)
    assert "u: integers (uint8) read as float64" in assumptions(data)


def test_complex_without_imaginary_part_becomes_real(file, wave):
    data = read(file(u=wave.u + 0j, x=wave.x, t=wave.t))
    assert wave.matches(data.u)
    assert "u: complex numbers with zero imaginary part read as real" in assumptions(data)


def test_other_precisions(file, wave):
    single = read(file(u=wave.u.astype("f4"), x=wave.x, t=wave.t))
    assert single.u.dtype == np.float32
    half = read(file(u=wave.u.astype("f2"), x=wave.x, t=wave.t))
    assert half.u.dtype == np.float64
    swapped = read(file(u=wave.u.astype(">f8"), x=wave.x, t=wave.t))
    assert wave.matches(swapped.u) and swapped.u.dtype.isnative


def test_nan_and_uneven_axes_stay(file, wave):
    gaps = wave.u.copy()
    gaps[4, 5] = np.nan
    data = read(file(u=gaps, x=wave.x**3, t=wave.t))
    assert np.array_equal(data.u.values, gaps.T, equal_nan=True)
    assert np.array_equal(data.x.values, wave.x**3)


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (3, np.nan, "the axis x has the value nan at index 3"),
        (3, np.inf, "the axis x has the value inf at index 3"),
        (3, -5.0, r"the axis x is not monotonic: .* is followed by -5.0 at index 3"),
        (0, 2.0, "not monotonic"),
    ],
)
def test_broken_axes_are_located(file, wave, position, value, message):
    x = wave.x.copy()
    x[position] = value
    with pytest.raises(ReadError, match=message):
        read(file(u=wave.u, x=x, t=wave.t))
