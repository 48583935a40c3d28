"""Fields over space and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from numpy.typing import NDArray

from pdes.data import as_dataset
from sciml.plotting.style import INK, ColorScale, heading, new_figure, tidy_frame
from sciml.plotting.typeset import term_label

LARGEST = 1200
"""Points along an axis of a picture; more are thinned out, no screen shows them."""


def plot_space_time(
    field: xr.DataArray,
    axes: Axes | None = None,
    *,
    scale: ColorScale | None = None,
    title: str | None = None,
    note: str = "",
    colorbar: bool = True,
) -> Axes:
    """Draw one field: position to the right and time upward; in the plane, its last frame.

    Parameters
    ----------
    field : DataArray
        Real field over ``time`` and ``x``, or over ``x`` and ``y`` as well. NaN stays blank.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    scale : ColorScale, optional
        Colors; by the field's own range by default.
    title : str, optional
        The field's name by default.
    note : str, optional
        What follows the title.
    colorbar : bool, default True
        Whether to draw one.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the field lives on other axes.

    Examples
    --------
    >>> field = xr.DataArray(np.eye(3), dims=("time", "x"),
    ...                      coords={"time": [0.0, 1.0, 2.0], "x": [0.0, 0.5, 1.0]}, name="u")
    >>> plot_space_time(field).get_title(loc="left")
    '$u$'
    """
    picture, across, upward, frame = _picture(field)
    axes = new_figure(4.6, 3.8).add_subplot() if axes is None else axes
    scale = ColorScale.of(picture.values) if scale is None else scale
    mesh = axes.pcolormesh(
        picture[across].values,
        picture[upward].values,
        picture.values,
        cmap=scale.colormap,
        vmin=scale.lowest,
        vmax=scale.highest,
        shading="nearest",
        rasterized=True,
    )
    axes.set_facecolor("#e8e8e8")
    axes.set_xlabel(_axis_label(field, across), color=INK)
    axes.set_ylabel(_axis_label(field, upward), color=INK)
    if upward == "y":
        axes.set_aspect("equal")
    heading(axes, (title or field_title(field)) + frame + note)
    tidy_frame(axes, keep=())
    if colorbar and axes.figure is not None:
        _add_colorbar(axes, mesh, "both" if scale.cuts(picture.values) else "neither")
    return axes


def _add_colorbar(axes: Axes, mesh: QuadMesh, extend: str) -> None:
    figure: Any = axes.figure
    # Inside the axes' own box, so that it is as high as a picture of equal scales, not as its room.
    place = axes.inset_axes((1.025, 0.0, 0.045, 1.0))
    bar = figure.colorbar(mesh, cax=place, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, width=0.6, colors=INK)
    bar.formatter.set_powerlimits((-2, 3))


def plot_recording(data: Any, axes: Any = None, *, coords: Any = None) -> NDArray:
    """Draw every field of a recording; complex fields by real and imaginary part.

    Parameters
    ----------
    data : Dataset, DataArray or array
        One recording; of several samples the first is drawn.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each field; a new figure by default.
    coords : mapping, optional
        Coordinates of a plain array's axes, in axis order.

    Returns
    -------
    ndarray of matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of axes is not that of the fields.

    Examples
    --------
    >>> x, t = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 3)
    >>> [axes] = plot_recording(np.outer(t, x), coords={"t": t, "x": x})
    >>> [float(edge) for edge in axes.get_xlim()]
    [-0.125, 1.125]
    """
    fields = real_fields(data, coords)
    axes = axes_for(axes, (len(fields),), width=4.6, height=3.8)
    for field, place in zip(fields, axes, strict=True):
        plot_space_time(field, place)
    return axes


def real_fields(data: Any, coords: Any = None) -> list[xr.DataArray]:
    """Fields of a recording, those that are complex as two.

    Parameters
    ----------
    data : Dataset, DataArray or array
        One recording; of several samples the first counts.
    coords : mapping, optional
        Coordinates of a plain array's axes.

    Returns
    -------
    list of DataArray
        Over ``time`` and space.

    Examples
    --------
    >>> wave = xr.DataArray([[1j, 2.0]], dims=("time", "x"),
    ...                     coords={"time": [0.0], "x": [0.0, 1.0]}, name="h")
    >>> [field.name for field in real_fields(wave)]
    ['h_re', 'h_im']
    """
    dataset = as_dataset(data, coords)
    if "sample" in dataset.dims:
        dataset = dataset.isel(sample=0)
    fields = []
    for name, field in dataset.data_vars.items():
        if field.dtype.kind == "c":
            fields += [field.real.rename(f"{name}_re"), field.imag.rename(f"{name}_im")]
        else:
            fields.append(field)
    return fields


def axes_for(axes: Any, shape: tuple[int, ...], *, width: float, height: float) -> NDArray:
    """Given axes as an array of this shape, or those of a new figure.

    Parameters
    ----------
    axes : array_like of matplotlib.axes.Axes or None
        What the caller was given.
    shape : tuple of int
        (columns,) or (rows, columns).
    width, height : float
        Of each axes of a new figure, in inches.

    Returns
    -------
    ndarray of matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are more or fewer.

    Examples
    --------
    >>> axes_for(None, (2, 3), width=2.0, height=2.0).shape
    (2, 3)
    """
    if axes is None:
        rows, columns = (1, *shape)[-2:]
        figure = new_figure(columns * width, rows * height)
        return np.asarray(figure.subplots(rows, columns, squeeze=False)).reshape(shape)
    given = np.asarray(axes, dtype=object)
    if given.ndim == 0:
        given = given.reshape(1)
    if given.shape != shape:
        raise ValueError(f"axes has the shape {given.shape}, wanted {shape}: one for each picture")
    return given


def _picture(field: xr.DataArray) -> tuple[xr.DataArray, str, str, str]:
    """Two-dimensional part that is drawn, its axes, and what the title must add."""
    dims = tuple(str(name) for name in field.dims)
    if dims == ("time", "x"):
        return _thinned(field), "x", "time", ""
    if dims == ("time", "x", "y"):
        last = field.isel(time=-1)
        return _thinned(last.transpose("y", "x")), "x", "y", f" at t = {float(last.time):.4g}"
    raise ValueError(
        f"cannot draw a field over {dims}: wanted ('time', 'x') or ('time', 'x', 'y'); select the "
        "rest with .isel, for instance sample=0"
    )


def _thinned(picture: xr.DataArray) -> xr.DataArray:
    steps = {name: slice(None, None, -(-size // LARGEST)) for name, size in picture.sizes.items()}
    return picture.isel(steps)


def _axis_label(field: xr.DataArray, axis: str) -> str:
    units = field[axis].attrs.get("units", "")
    return axis if units in ("", "1") else f"{axis} [{units}]"


def field_title(field: xr.DataArray) -> str:
    """The name of a field, ready for a label."""
    return term_label(str(field.name))
