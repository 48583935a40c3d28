"""The public recordings come out with the axes, values and names that their papers give."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io

from pdes.data import ReadError, assumptions, read

# file: (fields, points in time, points in x, first and last time, first and last x)
RECORDINGS = {
    "pdefind_burgers.mat": (["usol"], 101, 256, (0, 10), (-8, 8 - 1 / 16)),
    "pdefind_kdv_two_soliton.mat": (["usol"], 201, 512, (0, 20), (-30, 30 - 60 / 512)),
    "pdefind_kuramoto_sivashinsky.mat": (
        ["uu"],
        251,
        1024,
        (0, 100),
        (np.pi / 32, 32 * np.pi),
    ),
    "weakident_heat.mat": (["u"], 501, 234, (0, 0.5), (-5, 4.952261306532663)),
    "weakident_transportDiff.mat": (["u"], 300, 257, (0, 0.0299), (0, 1)),
    "weakident_KS.mat": (["u"], 301, 256, (0, 150), (np.pi / 8, 32 * np.pi)),
    "weakident_KdV.mat": (["u"], 601, 400, (0, 0.006), (-np.pi, np.pi - np.pi / 200)),
    "weakident_NLS.mat": (["u", "v"], 251, 256, (0, np.pi), (-5, 5 - 10 / 256)),
    "deephpms_burgers_sine.mat": (["usol"], 201, 256, (0, 10), (-8, 8 - 1 / 16)),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_matlab_recording(name, equation_recordings):
    fields, times, points, time_range, x_range = RECORDINGS[name]
    data = read(equation_recordings / name)
    assert list(data.data_vars) == fields
    assert dict(data.sizes) == {"time": times, "x": points}
    np.testing.assert_allclose(data.time.values[[0, -1]], time_range, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(data.x.values[[0, -1]], x_range, rtol=1e-7, atol=1e-12)
    assert data.attrs["source_file"] == name
    assert data.attrs["source_format"] == "mat"
    for field in fields:
        assert data[field].dims == ("time", "x")
        assert data[field].dtype == np.float64
        assert f"{field}: axis order (x, t) read off the lengths" in assumptions(data)


def test_values_are_those_of_the_file(equation_recordings):
    path = equation_recordings / "weakident_NLS.mat"
    stored = scipy.io.loadmat(path)
    data = read(path)
    assert np.array_equal(data.u.values, stored["U"][0, 0].T)
    assert np.array_equal(data.v.values, stored["U"][0, 1].T)
    assert np.array_equal(data.x.values, stored["xs"][0, 0].ravel())
    assert "U: cell array of fields, called u, v" in assumptions(data)
    assert "xs: cell array of axes, read in the order x, t" in assumptions(data)


def test_rounding_in_the_imaginary_part_is_dropped_and_said(equation_recordings):
    path = equation_recordings / "pdefind_burgers.mat"
    stored = scipy.io.loadmat(path)["usol"]
    data = read(path)
    assert np.array_equal(data.usol.values, stored.real.T)
    assert "usol: imaginary part dropped, at most 8.8e-09 of the largest real part" in assumptions(
        data
    )


def test_array_without_coordinates(equation_recordings):
    path = equation_recordings / "sgapde_PDE_divide.npy"
    with pytest.raises(ReadError, match="without coordinates: pass them"):
        read(path)
    x, t = np.linspace(1, 2, 100), np.linspace(0, 1, 251)
    data = read(path, time=t, space=x, axes=("t", "x"))
    assert np.array_equal(data.u.values, np.load(path))
    assert np.array_equal(data.x.values, x)
    assert read(path, time=t, space=x, field="concentration").concentration.equals(
        data.u.rename("concentration")
    )
    with pytest.raises(ReadError, match=r"u has shape \(251, 100\), which does not fit"):
        read(path, time=x, space=t, axes=("t", "x"))


def test_meshgrids_tell_the_axis_order_of_a_square_array(equation_recordings):
    path = equation_recordings / "deepymod_keller_segel.npz"
    with pytest.raises(ReadError, match=r"u \(101, 101\), v \(101, 101\).*field=\['u', 'v'\]"):
        read(path)
    data = read(path, field=["u", "v"])
    stored = np.load(path)
    assert np.array_equal(data.x.values, np.linspace(-10, 10, 101))
    assert np.array_equal(data.time.values, np.linspace(0, 20, 101))
    along_x = 0 if stored["x"][1, 0] != stored["x"][0, 0] else 1
    expected = stored["v"].T if along_x == 0 else stored["v"]
    assert np.array_equal(data.v.values, expected)


@pytest.fixture
def training_references(equation_recordings):
    folder = equation_recordings.parent / "pinn"
    if not folder.is_dir():
        pytest.skip(f"public reference solutions not found at {folder}")
    return folder


def test_complex_field_stays_complex(training_references):
    data = read(training_references / "raissi_NLS.mat")
    assert data.uu.dtype == np.complex128
    np.testing.assert_allclose(data.uu.isel(time=0).values, 2 / np.cosh(data.x.values), rtol=1e-12)


def test_both_axis_orders_give_the_same_layout(training_references):
    rows_in_time = read(training_references / "computed_allen_cahn.npz")
    rows_in_space = read(training_references / "raissi_AC.mat")
    assert "u: axis order (t, x) read off the lengths" in assumptions(rows_in_time)
    assert "uu: axis order (x, t) read off the lengths" in assumptions(rows_in_space)
    difference = rows_in_time.u.values - rows_in_space.uu.values
    # 1.2e-5 is the accuracy of the published file against a converged computation.
    assert np.linalg.norm(difference) < 2e-5 * np.linalg.norm(rows_in_time.u.values)


def test_square_arrays_ask_for_the_axis_order(training_references):
    path = training_references / "deepxde_reaction.npz"
    with pytest.raises(ReadError, match="2 variables could be the field"):
        read(path)
    with pytest.raises(ReadError, match=r"cannot be told from lengths.*axes=\('t', 'x'\)"):
        read(path, field=["Ca", "Cb"])
    data = read(path, field=["Ca", "Cb"], axes=("t", "x"))
    np.testing.assert_allclose(data.Ca.isel(time=0).values, np.exp(-20 * data.x.values), atol=1e-6)


def test_tables_of_a_finite_element_program(training_references):
    burgers = read(training_references / "pinnacle_burgers1d.dat")
    np.testing.assert_allclose(burgers.time.values, np.linspace(0, 1, 11))
    np.testing.assert_allclose(
        burgers.u.isel(time=0).values, -np.sin(np.pi * burgers.x.values), atol=1e-5
    )
    heat = read(training_references / "pinnacle_heat_longtime.dat")
    assert dict(heat.sizes) == {"time": 501, "x": 16, "y": 12}
    x, y = heat.x.values[:, None], heat.y.values
    initial = np.sin(4 * np.pi * x) * np.sin(3 * np.pi * y)
    np.testing.assert_allclose(heat.u.isel(time=0).values, initial, atol=1e-3)


@pytest.mark.parametrize("name", ["pinnacle_poisson1_cg_data.dat", "pinnacle_lid_driven_a4.dat"])
def test_steady_fields_are_no_recordings(name, training_references):
    with pytest.raises(ReadError, match="no time axis found"):
        read(training_references / name)
