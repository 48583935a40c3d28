"""Pictures of datasets: space-time diagrams, frames of the plane, fields on meshes.

Figures are made without ``pyplot``: nothing has to be closed, and no window opens.
"""

from __future__ import annotations

import numbers
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from pdes.keywords import offers_closest_keyword

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot"]

SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"
FRAMES = 4
"""Pictures of a field of the plane over time."""
LARGEST = 600
"""Points of a picture along each axis: more cannot be seen, and make files large."""

_BOTH_SIGNS = 0.15


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

    A field over ``(time, x)`` becomes a space-time diagram with time upward, one over ``x`` a line;
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
        times = _moments(times)
    whole = data.to_dataset(name=data.name or "u") if isinstance(data, xr.DataArray) else data
    rows = [_frames(_chosen(whole, name, sample), times) for name in _names(whole, field)]
    places = _places(axes, (len(rows), max(len(row) for row in rows)), _height(rows))
    for row, line in zip(rows, places, strict=True):
        scale = _scale(row, colormap)
        for picture, place in zip(row, line, strict=False):
            _draw(picture, whole, place, scale, colorbar=axes is None and picture is row[-1])
            if axes is None and picture is not row[0]:
                place.set_ylabel("")
        for place in line[len(row) :]:
            place.set_axis_off()
    return places


def _moments(times: Any) -> list[float]:
    try:
        found = np.atleast_1d(np.asarray(times, dtype=float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"times={times!r}: wanted finite numbers, such as times=[0.0, 0.5]")
    return found.tolist()


def _names(data: xr.Dataset, field: str | Sequence[str] | None) -> list[str]:
    known = [str(name) for name in data.data_vars if name != "cells"]
    # What a run tells at every step has no place to be drawn at.
    drawn = [name for name in known if "step" not in data[name].dims]
    wanted = drawn if field is None else [field] if isinstance(field, str) else list(field)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise ValueError(f"no field {', '.join(unknown) or 'at all'} in the data; fields: {known}")
    return wanted


def _chosen(data: xr.Dataset, name: str, sample: int) -> xr.DataArray:
    field = data[name]
    if "sample" in field.dims:
        count = field.sizes["sample"]
        if not -count <= sample < count:
            raise ValueError(f"sample={sample}, but there are {count} samples")
        field = field.isel(sample=sample)
    elif sample not in (0, -1):
        raise ValueError(f"sample={sample}, but {name!r} has no samples: leave sample out")
    if "z" in field.dims:
        middle = field.sizes["z"] // 2
        field = field.isel(z=middle)
    if np.iscomplexobj(field.values):
        field = abs(field).rename(f"|{name}|")
    if not field.size:
        raise ValueError(f"{name!r} has shape {field.shape}: there are no values to draw")
    if field.dtype.kind == "f" and not np.isfinite(field.values).any():
        raise ValueError(f"{name!r} has no finite value: there is nothing to draw")
    return field


def _frames(field: xr.DataArray, times: Sequence[float] | None) -> list[xr.DataArray]:
    """Pictures to draw of one field."""
    space = tuple(str(name) for name in field.dims if name != "time")
    if space not in (("x",), ("x", "y"), ("point",)):
        raise ValueError(
            f"cannot draw {field.name!r} over {tuple(field.dims)}: wanted x, (x, y) or the points "
            "of a mesh, with or without time; select the rest with .isel"
        )
    unlabeled = [str(name) for name in field.dims if name not in (*field.coords, "point")]
    if unlabeled:
        raise ValueError(
            f"{field.name!r} has an axis {', '.join(unlabeled)} without coordinates: add them, "
            f"data.assign_coords({unlabeled[0]}=...)"
        )
    if "time" not in field.dims:
        return [field]
    if space == ("x",) and field.sizes["time"] > 1:
        return [field.transpose("time", "x")]
    if times is not None:
        moments = np.sort(field.time.values.astype(float))
        first, last = float(moments[0]), float(moments[-1])
        # A time that is nearest to an end by less than half a step is still meant.
        slack = 0.5 * float(np.diff(moments).max(initial=0.0)) + 1e-9 * max(abs(first), abs(last))
        beyond = [time for time in times if not first - slack <= time <= last + slack]
        if beyond:
            raise ValueError(
                f"times: got {beyond[0]:g}, the data go from {first:g} to {last:g}: choose within"
            )
        return [field.sel(time=time, method="nearest") for time in times]
    count = field.sizes["time"]
    chosen = np.unique(np.linspace(0, count - 1, min(FRAMES, count)).round().astype(int))
    return [field.isel(time=int(k)) for k in chosen]


def _height(rows: Sequence[Sequence[xr.DataArray]]) -> float:
    """Height of a picture for a width of three inches."""
    first = rows[0][0]
    if "time" in first.dims or first.dims == ("x",):
        return 3.0
    width, height = (float(np.ptp(first[name].values)) for name in "xy")
    return 0.7 + 2.5 * min(max(height / width, 0.4), 2.0) if width > 0.0 else 3.0


def _places(axes: Any, shape: tuple[int, int], height: float) -> np.ndarray:
    if axes is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(0.8 + 3.2 * shape[1], height * shape[0]), layout="constrained")
        return np.asarray(figure.subplots(*shape, squeeze=False))
    given = np.asarray(axes, dtype=object)
    odd = [one for one in given.flat if not hasattr(one, "pcolormesh")]
    if odd:
        raise ValueError(
            f"axes: got {odd[0]!r}, wanted matplotlib axes, {shape[0]} x {shape[1]} of them: "
            "such as matplotlib.pyplot.subplots() gives"
        )
    if given.size != shape[0] * shape[1]:
        raise ValueError(f"axes: got {given.size}, wanted {shape[0]} x {shape[1]}")
    return given.reshape(shape)


def _scale(pictures: Sequence[xr.DataArray], colormap: str | None) -> dict[str, Any]:
    """One color scale for all frames of a field."""
    values = np.concatenate([np.ravel(picture.values) for picture in pictures])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    weaker, stronger = sorted((max(-low, 0.0), max(high, 0.0)))
    if stronger > 0.0 and weaker >= _BOTH_SIGNS * stronger:
        return {"cmap": colormap or DIVERGING, "vmin": -stronger, "vmax": stronger}
    # A constant field still needs an interval.
    return {"cmap": colormap or SEQUENTIAL, "vmin": low, "vmax": high if high > low else low + 1.0}


def _draw(
    field: xr.DataArray, data: xr.Dataset, axes: Axes, scale: dict[str, Any], *, colorbar: bool
) -> None:
    title = str(field.name)
    if "time" in field.coords and field["time"].ndim == 0:
        title += f" at t = {float(field['time']):.4g}"
    axes.set_title(title, loc="left", fontsize=10)
    if field.dims == ("x",):
        axes.plot(field["x"].values, field.values, color="#1f6f8b")
        axes.set_xlabel(_axis(field, "x"))
        return
    if field.dims == ("point",):
        shown = _mesh(field, data, axes, scale)
        across, upward = "x", "y"
    else:
        across, upward = ("x", "time") if "time" in field.dims else ("x", "y")
        thin = {str(name): slice(None, None, -(-n // LARGEST)) for name, n in field.sizes.items()}
        picture = field.isel(thin).transpose(upward, across)
        shown = axes.pcolormesh(
            picture[across].values,
            picture[upward].values,
            picture.values,
            shading="nearest",
            rasterized=True,
            **scale,
        )
    axes.set_xlabel(_axis(field, across))
    axes.set_ylabel(_axis(field, upward))
    if upward == "y":
        axes.set_aspect("equal")
    figure: Any = axes.figure
    if colorbar and figure is not None:
        figure.colorbar(shown, ax=axes, pad=0.02)


def _mesh(field: xr.DataArray, data: xr.Dataset, axes: Axes, scale: dict[str, Any]) -> Any:
    if "cells" not in data:
        raise ValueError(f"{field.name!r} lies on points without cells: the mesh is missing")
    cells = np.asarray(data["cells"].values, dtype=int)
    # A quadrilateral is drawn as two triangles; of curved cells the corners count.
    quad = str(data["cells"].attrs.get("cell_type", "")).startswith("quad")
    corners = cells[:, :4] if quad else cells[:, :3]
    triangles = np.concatenate((corners[:, [0, 1, 2]], corners[:, [0, 2, 3]])) if quad else corners
    from matplotlib.tri import Triangulation

    shape = Triangulation(field["x"].values, field["y"].values, triangles)
    options: Any = {"shading": "gouraud", "rasterized": True, **scale}
    return axes.tripcolor(shape, field.values, **options)


def _axis(field: xr.DataArray, name: str) -> str:
    units = field[name].attrs.get("units", "") if name in field.coords else ""
    return name if units in ("", "1") else f"{name} [{units}]"


class _CallableModule(types.ModuleType):
    """Importing this module binds it to ``pdes.plot``, where users expect the function."""

    def __call__(self, *arguments: Any, **options: Any) -> np.ndarray:
        return plot(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
