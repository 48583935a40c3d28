"""Films show every stored time, on scales that stay, and refuse what has no time."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import pdes

TIMES = np.array([0.0, 0.5, 1.0, 1.5])


def wave(space: str = "x") -> xr.Dataset:
    x, y = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 2.0, 5)
    coords = {"time": TIMES, "x": x}
    if space == "x":
        values = np.cos(TIMES)[:, None] * np.sin(np.pi * x)
        return xr.Dataset({"u": (("time", "x"), values)}, coords=coords)
    values = np.cos(TIMES)[:, None, None] * x[:, None] * (1.0 + y)
    return xr.Dataset({"u": (("time", "x", "y"), values)}, coords={**coords, "y": y})


def place(film, number=0):
    return film._fig.axes[number]


def play(film, number):
    # Drawing a frame is what every writer does.
    film._draw_was_started = True
    film._draw_frame(number)


def test_a_line_follows_the_data_between_fixed_limits():
    data = wave()
    film = pdes.animate(data)
    assert list(film.new_frame_seq()) == [0, 1, 2, 3]
    limits = place(film).get_ylim()
    for number, time in enumerate(TIMES):
        play(film, number)
        (line,) = place(film).lines
        np.testing.assert_array_equal(line.get_ydata(), data.u.values[number])
        assert place(film).get_title(loc="left") == f"u at t = {time:.4g}"
        assert place(film).get_ylim() == limits
    assert limits[0] < data.u.values.min()
    assert data.u.values.max() < limits[1]


def test_a_picture_follows_the_data_on_one_scale():
    data = wave("xy")
    film = pdes.animate(data, times=[1.5, 0.4])
    assert len(list(film.new_frame_seq())) == 2
    for number, stored in enumerate((3, 1)):
        play(film, number)
        (picture,) = place(film).collections
        np.testing.assert_array_equal(picture.get_array(), data.u.values[stored].T)
        assert picture.get_clim() == (data.u.values[3].min(), data.u.values[1].max())


def test_a_field_on_a_mesh_moves():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    data = xr.Dataset(
        {
            "u": (("time", "point"), np.arange(12.0).reshape(4, 3)),
            "cells": (("cell", "corner"), np.array([[0, 1, 2]])),
        },
        coords={"time": TIMES, "x": ("point", points[:, 0]), "y": ("point", points[:, 1])},
    )
    film = pdes.animate(data)
    play(film, 2)
    (picture,) = place(film).collections
    np.testing.assert_array_equal(picture.get_array(), [6.0, 7.0, 8.0])


def test_a_film_is_written(tmp_path):
    data = pdes.simulate(pdes.get("heat"), [0.0, 0.5, 1.0])
    pdes.animate(data).save(tmp_path / "heat.gif", writer="pillow")
    from PIL import Image

    with Image.open(tmp_path / "heat.gif") as film:
        assert film.n_frames == 3


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (wave().isel(time=0), {}, "field 'u' over .* needs two times or more"),
        (wave().isel(time=[0]), {}, "needs two times or more"),
        (wave(), {"interval": 0.0}, "interval=0.0: wanted a positive number"),
        (wave(), {"interval": True}, "interval=True: wanted a positive number"),
        (wave(), {"field": "v"}, "no field v in the data"),
        (wave(), {"times": [9.0]}, "times: got 9, the data go from 0 to 1.5"),
        (wave(), {"sample": 1}, "sample=1, but 'u' has no samples"),
    ],
)
def test_what_cannot_be_shown_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        pdes.animate(data, **options)


def test_something_else_is_refused():
    with pytest.raises(TypeError, match="data: got list"):
        pdes.animate([1.0])  # type: ignore[arg-type]
