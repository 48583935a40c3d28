"""Fields, recordings and comparisons: the picture shows these very numbers."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from sciml.plotting import plot_comparison, plot_recording, plot_space_time
from sciml.plotting.comparison import relative_error
from sciml.plotting.space_time import LARGEST
from sciml.plotting.style import DIVERGING, SEQUENTIAL, ColorScale


def recording(values=None, **fields):
    t, x = np.linspace(0.0, 2.0, 5), np.linspace(-1.0, 1.0, 8)
    base = np.exp(-t[:, None]) * np.cos(x[None, :]) if values is None else values
    variables = fields or {"u": base}
    return xr.Dataset(
        {name: (("time", "x"), item) for name, item in variables.items()},
        coords={"time": t, "x": x},
    )


def mesh(axes):
    """The only field that was drawn on these axes."""
    (collection,) = axes.collections
    return collection


def test_the_field_lies_where_its_coordinates_say():
    data = recording()
    axes = plot_space_time(data.u)
    np.testing.assert_array_equal(mesh(axes).get_array(), data.u.values)
    edges = mesh(axes).get_coordinates()
    assert tuple(edges[0, 0]) == pytest.approx((-1.0 - 1 / 7, -0.25))
    assert tuple(edges[-1, -1]) == pytest.approx((1.0 + 1 / 7, 2.25))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "time")


def test_units_are_said_unless_there_are_none():
    data = recording().assign_coords(x=("x", np.arange(8.0), {"units": "cm"}))
    data = data.assign_coords(time=("time", np.arange(5.0), {"units": "1"}))
    axes = plot_space_time(data.u)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [cm]", "time")


def test_an_array_in_the_other_axis_order_gives_the_same_picture():
    data = recording()
    array = data.u.values.T.copy()
    [axes] = plot_recording(array, coords={"x": data.x.values, "t": data.time.values})
    np.testing.assert_array_equal(mesh(axes).get_array(), data.u.values)


def test_missing_values_stay_blank():
    values = np.ones((5, 8))
    values[2, 3] = np.nan
    shown = mesh(plot_space_time(recording(values).u)).get_array()
    assert np.argwhere(np.ma.getmaskarray(shown)).tolist() == [[2, 3]]


def test_complex_fields_are_drawn_by_their_parts():
    values = recording().u.values * (1.0 + 2.0j)
    axes = plot_recording(recording(h=values))
    assert [place.get_title(loc="left") for place in axes] == [
        r"$h_{\mathrm{re}}$",
        r"$h_{\mathrm{im}}$",
    ]
    np.testing.assert_allclose(mesh(axes[1]).get_array(), 2.0 * recording().u.values)


def test_the_first_of_several_samples_is_drawn():
    both = xr.concat([recording(), recording() * 3.0], "sample")
    [axes] = plot_recording(both)
    np.testing.assert_array_equal(mesh(axes).get_array(), recording().u.values)


def test_a_plane_shows_its_last_frame_with_y_upward():
    values = np.arange(2 * 3 * 4, dtype=float).reshape(2, 3, 4)
    field = xr.DataArray(
        values,
        dims=("time", "x", "y"),
        coords={"time": [0.0, 1.5], "x": np.arange(3.0), "y": np.arange(4.0)},
        name="u",
    )
    axes = plot_space_time(field)
    np.testing.assert_array_equal(mesh(axes).get_array(), values[-1].T)
    assert axes.get_title(loc="left") == "$u$ at t = 1.5"


def test_three_dimensions_are_refused_with_a_remedy():
    field = xr.DataArray(np.zeros((2, 2, 2, 2)), dims=("time", "x", "y", "z"))
    with pytest.raises(ValueError, match=r"select the rest with \.isel"):
        plot_space_time(field)


def test_huge_fields_are_thinned_out():
    size = 2 * LARGEST + 1
    field = xr.DataArray(
        np.broadcast_to(np.arange(float(size)), (2, size)),
        dims=("time", "x"),
        coords={"time": [0.0, 1.0], "x": np.arange(float(size))},
    )
    shown = mesh(plot_space_time(field.rename("u"))).get_array()
    assert shown.shape == (2, 801)
    np.testing.assert_array_equal(shown[0], np.arange(0.0, size, 3.0))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 2.0], (SEQUENTIAL, 0.0, 2.0)),
        ([-0.2, 2.0], (SEQUENTIAL, -0.2, 2.0)),
        ([-0.4, 2.0], (DIVERGING, -2.0, 2.0)),
        ([-3.0, np.nan, 1.0], (DIVERGING, -3.0, 3.0)),
        ([5.0, 5.0], (SEQUENTIAL, 5.0, 6.0)),
        ([np.nan], (SEQUENTIAL, 0.0, 1.0)),
    ],
)
def test_the_color_scale_fits_the_field(values, expected):
    scale = ColorScale.of(values)
    assert (scale.colormap, scale.lowest, scale.highest) == expected


def test_data_and_simulation_share_a_scale_and_the_difference_has_its_own():
    data = recording()
    off = data * 1.1
    [[left, middle, right]] = plot_comparison(data, off)
    assert mesh(left).get_clim() == mesh(middle).get_clim()
    np.testing.assert_allclose(mesh(right).get_array(), 0.1 * data.u.values)
    low, high = mesh(right).get_clim()
    assert low == -high
    assert 0.09 < high <= 0.1
    assert right.get_title(loc="left") == "difference, relative $L^2$ $0.10$"


def test_a_simulation_at_some_of_the_times_is_held_against_those():
    data = recording()
    part = data.isel(time=[1, 3]) + 0.5
    [[left, _, right]] = plot_comparison(data, part)
    np.testing.assert_array_equal(mesh(left).get_array(), data.u.values[[1, 3]])
    np.testing.assert_allclose(mesh(right).get_array(), 0.5)


def test_systems_get_a_row_for_each_field():
    data = recording(u=recording().u.values, v=-recording().u.values)
    rows = plot_comparison(data, data)
    assert rows.shape == (2, 3)
    assert rows[1, 0].get_title(loc="left") == "$v$, recorded"
    np.testing.assert_array_equal(mesh(rows[1, 2]).get_array(), np.zeros((5, 8)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.rename(u="w"), "rename those of one"),
        (lambda data: data.assign_coords(x=data.x + 0.1), "different positions along 'x'"),
        (lambda data: data.isel(x=slice(0, 6)), "8 and 6 points"),
        (lambda data: data.assign_coords(time=data.time + 0.1), "given at 0.1"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        plot_comparison(recording(), change(recording()))


def test_given_axes_are_drawn_on_and_returned():
    figure = Figure()
    places = figure.subplots(1, 3)
    drawn = plot_comparison(recording(), recording(), places)
    assert [a is b for a, b in zip(drawn[0], places, strict=True)] == [True] * 3


def test_too_few_axes_are_refused():
    with pytest.raises(ValueError, match=r"axes has the shape \(1, 2\), wanted \(1, 3\)"):
        plot_comparison(recording(), recording(), Figure().subplots(1, 2))


def test_the_relative_error_leaves_out_what_was_not_measured():
    measured = xr.DataArray([np.nan, 3.0, 4.0])
    simulated = xr.DataArray([100.0, 3.0, 4.0 + 0.5])
    assert relative_error(measured, simulated) == pytest.approx(0.1)
    assert relative_error(xr.zeros_like(simulated), simulated) > 100.0


def test_blank_is_neither_end_of_the_color_map():
    axes = plot_space_time(recording().u)
    assert axes.get_facecolor() == to_rgba("#e8e8e8")
