"""Pictures of datasets: space-time diagrams, frames of the plane, fields on meshes.

Figures are made without ``pyplot``: nothing has to be closed, and no window opens.
"""

from __future__ import annotations

import numbers
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from pdes import pictures
from pdes.keywords import offers_closest_keyword

__all__ = ["plot"]


@offers_closest_keyword
def plot(
    data: xr.Dataset | xr.DataArray,
    field: str | Sequence[str] | None = None,
    *,
    axes: Any = None,
    sample: int = 0,
    times: Sequence[float] | None = None,
    colormap: str | None = None,
) -> np.ndarray:
    """Draw the fields of a dataset, in the way that fits their axes.

    A field over ``(time, x)`` becomes a space-time diagram with time upward, or a row of lines if
    `times` are given; one over ``x`` a line;
    a field over ``(x, y)`` a picture, and over ``(time, x, y)`` a row of frames on one color scale;
    a field over the points of a mesh a picture of its cells. Of complex fields the modulus is
    drawn, of fields over ``z`` the middle plane.

    Parameters
    ----------
    data : Dataset or DataArray
        From `pdes.simulate`, `pdes.solve`, `pdes.generate` or a reader.
    field : str or sequence of str, optional
        What to draw; all fields by default.
    axes : array_like of matplotlib.axes.Axes, optional
        Where to draw: one for each picture, in rows of fields. A new figure by default.
    sample : int, default 0
        Which sample of many.
    times : sequence of float, optional
        Times of the frames, the nearest are taken; evenly spread by default.
    colormap : str, optional
        By default one for values of one sign, or one around zero where both signs matter.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (fields, pictures)
        The figure is ``axes[0, 0].figure``.

    Raises
    ------
    ValueError
        If there is no such field, sample or time, the number of axes is wrong, the field has no
        finite value, or axes that cannot be drawn.

    Examples
    --------
    >>> import pdes
    >>> axes = pdes.plot(pdes.simulate(pdes.get("heat")))
    >>> axes.shape, axes[0, 0].get_ylabel()
    ((1, 1), 'time')
    """
    if not isinstance(data, xr.Dataset | xr.DataArray):
        raise TypeError(
            f"data: got {type(data).__name__}, wanted an xarray.Dataset or DataArray, such as "
            "pdes.simulate(problem) or pdes.data.as_dataset(array, coords) gives"
        )
    if isinstance(sample, bool) or not isinstance(sample, numbers.Integral):
        raise ValueError(f"sample={sample!r}: wanted a whole number")
    if times is not None:
        times = pictures.moments(times)
    whole = data.to_dataset(name=data.name or "u") if isinstance(data, xr.DataArray) else data
    shown = [pictures.chosen(whole, name, sample) for name in pictures.names(whole, field)]
    if times is not None and not any("time" in one.dims for one in shown):
        raise ValueError(
            f"times={times}: no field of {[str(one.name) for one in shown]} has a time: leave "
            "times out"
        )
    rows = [pictures.frames(one, times) for one in shown]
    places = pictures.places(
        axes, (len(rows), max(len(row) for row in rows)), pictures.height(rows)
    )
    for row, line in zip(rows, places, strict=True):
        scale = pictures.scale(row, colormap)
        for picture, place in zip(row, line, strict=False):
            pictures.draw(
                picture, whole, place, scale, colorbar=axes is None and picture is row[-1]
            )
            if picture.dims == ("x",) and len(row) > 1:
                place.set_ylim(*pictures.limits(row))
            if axes is None and picture is not row[0]:
                place.set_ylabel("")
        for place in line[len(row) :]:
            place.set_axis_off()
    return places


class _CallableModule(types.ModuleType):
    """Importing this module binds it to ``pdes.plot``, where users expect the function."""

    def __call__(self, *arguments: Any, **options: Any) -> np.ndarray:
        return plot(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
