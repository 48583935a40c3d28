"""Pictures show the values that are in the data."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import pdes


def line(count, name="x"):
    return (name, np.linspace(0.0, 1.0, count))


@pytest.fixture
def plane():
    values = np.arange(5 * 4 * 3, dtype=float).reshape(5, 4, 3)
    coords = {"time": np.arange(5.0), "x": np.linspace(0, 1, 4), "y": np.linspace(0, 2, 3)}
    return xr.Dataset({"w": (("time", "x", "y"), values)}, coords=coords)


def shown(axes):
    (mesh,) = axes.collections
    return np.asarray(mesh.get_array())


def test_a_space_time_diagram_has_time_upward():
    values = np.outer(np.arange(1.0, 4.0), np.arange(5.0))
    data = xr.Dataset(
        {"u": (("time", "x"), values)},
        coords={"time": [0.0, 1.0, 2.0], "x": ("x", np.arange(5.0), {"units": "m"})},
    )
    axes = pdes.plot(data)
    assert axes.shape == (1, 1)
    assert np.array_equal(shown(axes[0, 0]), values)
    assert axes[0, 0].get_xlabel() == "x [m]"
    assert axes[0, 0].get_ylabel() == "time"
    (mesh,) = axes[0, 0].collections
    assert mesh.get_clim() == (0.0, 12.0)
    assert len(axes[0, 0].figure.axes) == 2  # the second is the color bar


def test_both_signs_get_a_scale_around_zero():
    data = xr.DataArray([[-1.0, 3.0]], dims=("time", "x"), coords={"time": [0.0], "x": [0.0, 1.0]})
    two = xr.concat([data, data.assign_coords(time=[1.0])], "time")
    (mesh,) = pdes.plot(two)[0, 0].collections
    assert mesh.get_clim() == (-3.0, 3.0)
    assert mesh.get_cmap().name == "RdBu_r"
    (mesh,) = pdes.plot(two, colormap="magma")[0, 0].collections
    assert mesh.get_cmap().name == "magma"


def test_frames_share_one_scale(plane):
    axes = pdes.plot(plane)
    assert axes.shape == (1, 4)
    titles = [place.get_title(loc="left") for place in axes[0]]
    assert titles == ["w at t = 0", "w at t = 1", "w at t = 3", "w at t = 4"]
    for place, k in zip(axes[0], (0, 1, 3, 4), strict=True):
        assert np.array_equal(shown(place), plane.w.values[k].T)
        assert place.collections[0].get_clim() == (0.0, 59.0)
        assert place.get_aspect() == 1.0
    two = pdes.plot(plane, times=[1.9, 4.4])
    assert [place.get_title(loc="left") for place in two[0]] == ["w at t = 2", "w at t = 4"]


def test_given_axes_are_used_and_returned(plane):
    figure = Figure()
    places = figure.subplots(1, 2)
    found = pdes.plot(plane, times=[0.0, 1.0], axes=places)
    assert found[0, 0] is places[0] and found[0, 1] is places[1]
    assert len(figure.axes) == 2  # no color bar takes room away
    with pytest.raises(ValueError, match="axes: got 2, wanted 1 x 4"):
        pdes.plot(plane, axes=places)


def test_samples_fields_complex_numbers_and_depth():
    values = np.arange(2 * 3 * 4 * 5, dtype=float).reshape(2, 3, 4, 5)
    data = xr.Dataset(
        {"h": (("sample", "x", "y", "z"), values * 1j), "k": (("sample", "x", "y", "z"), -values)},
        coords={"x": np.arange(3.0), "y": np.arange(4.0), "z": np.arange(5.0)},
    )
    axes = pdes.plot(data, sample=1)
    assert axes.shape == (2, 1)
    assert axes[0, 0].get_title(loc="left") == "|h|"
    np.testing.assert_allclose(shown(axes[0, 0]), values[1, :, :, 2].T)
    np.testing.assert_allclose(shown(pdes.plot(data, "k")[0, 0]), -values[0, :, :, 2].T)
    with pytest.raises(ValueError, match="sample=2, but there are 2"):
        pdes.plot(data, sample=2)
    with pytest.raises(ValueError, match=r"no field v in the data; fields: \['h', 'k'\]"):
        pdes.plot(data, ["h", "v"])


def test_one_dimensional_states_are_lines():
    data = xr.Dataset({"u": ("x", [1.0, 2.0])}, coords={"x": [0.0, 1.0]})
    (drawn,) = pdes.plot(data)[0, 0].lines
    assert drawn.get_ydata().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_meshes(kind):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    cells = np.array([[0, 1, 2], [0, 2, 3]]) if kind == "triangle" else np.array([[0, 1, 2, 3]])
    data = xr.Dataset(
        {
            "u": ("point", [1.0, 2.0, 3.0, 4.0]),
            "cells": (("cell", "vertex"), cells, {"cell_type": kind}),
        },
        coords={"x": ("point", points[:, 0]), "y": ("point", points[:, 1])},
    )
    place = pdes.plot(data)[0, 0]
    (mesh,) = place.collections
    assert mesh.get_clim() == (1.0, 4.0)
    assert place.get_aspect() == 1.0
    assert mesh._triangulation.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    with pytest.raises(ValueError, match="the mesh is missing"):
        pdes.plot(data.drop_vars("cells"))


def test_other_axes_are_refused():
    data = xr.Dataset({"u": (("x", "angle"), np.zeros((2, 2)))})
    with pytest.raises(ValueError, match=r"cannot draw 'u' over \('x', 'angle'\)"):
        pdes.plot(data)


def test_pyplot_is_left_alone():
    code = (
        "import sys, pdes, numpy as np, xarray as xr\n"
        "assert 'matplotlib' not in sys.modules\n"
        "pdes.plot(xr.DataArray(np.eye(3), dims=('time', 'x'), name='u'))[0, 0].figure\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    code = code.replace("name='u'", "name='u', coords={'time': [0., 1, 2], 'x': [0., 1, 2]}")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_solved_mesh_problem_is_drawn():
    if not hasattr(pdes, "solve"):
        pytest.skip("no steady problems here")
    data = pdes.solve(pdes.get("motz"), resolution=4)
    assert pdes.plot(data, "u")[0, 0].collections


def test_what_cannot_be_drawn_is_named(plane):
    for bad, message in (
        ({"axes": 3}, "axes: got 3, wanted matplotlib axes, 1 x 4"),
        ({"sample": 3}, "sample=3, but 'w' has no samples"),
        ({"times": [99]}, "times: got 99, the data go from 0 to 4"),
        ({"times": "soon"}, "times='soon': wanted finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            pdes.plot(plane, **bad)
    with pytest.raises(ValueError, match="has an axis time without coordinates"):
        pdes.plot(plane.drop_vars("time"))
    with pytest.raises(ValueError, match="'w' has no finite value"):
        pdes.plot(plane * np.nan)
