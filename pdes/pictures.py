"""Parts of pictures of datasets: what to draw of a field, where, and on which scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"
FRAMES = 4
"""Pictures of a field of the plane over time."""
LARGEST = 600
"""Points of a picture along each axis: more cannot be seen, and make files large."""

_BOTH_SIGNS = 0.15


def moments(times: Any) -> list[float]:
    """Times as finite numbers."""
    try:
        found = np.atleast_1d(np.asarray(times, dtype=float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"times={times!r}: wanted finite numbers, such as times=[0.0, 0.5]")
    return found.tolist()


def names(data: xr.Dataset, field: str | Sequence[str] | None) -> list[str]:
    """Names of the fields to draw."""
    known = [str(name) for name in data.data_vars if name != "cells"]
    # What a run tells at every step has no place to be drawn at.
    drawn = [name for name in known if "step" not in data[name].dims]
    wanted = drawn if field is None else [field] if isinstance(field, str) else list(field)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise ValueError(f"no field {', '.join(unknown) or 'at all'} in the data; fields: {known}")
    return wanted


def chosen(data: xr.Dataset, name: str, sample: int) -> xr.DataArray:
    """One sample of a field; the middle plane over z, the modulus of a complex one."""
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


def check_axes(field: xr.DataArray) -> tuple[str, ...]:
    """Axes of space of a field, refused where they cannot be drawn."""
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
    return space


def frames(field: xr.DataArray, times: Sequence[float] | None) -> list[xr.DataArray]:
    """Pictures to draw of one field."""
    space = check_axes(field)
    if "time" not in field.dims:
        return [field]
    if times is not None:
        return at_times(field, times)
    if space == ("x",) and field.sizes["time"] > 1:
        return [field.transpose("time", "x")]
    count = field.sizes["time"]
    chosen = np.unique(np.linspace(0, count - 1, min(FRAMES, count)).round().astype(int))
    return [field.isel(time=int(k)) for k in chosen]


def at_times(field: xr.DataArray, times: Sequence[float]) -> list[xr.DataArray]:
    """The field at the stored times that are nearest to the given ones."""
    stored = np.sort(field.time.values.astype(float))
    first, last = float(stored[0]), float(stored[-1])
    # A time that is nearest to an end by less than half a step is still meant.
    slack = 0.5 * float(np.diff(stored).max(initial=0.0)) + 1e-9 * max(abs(first), abs(last))
    beyond = [time for time in times if not first - slack <= time <= last + slack]
    if beyond:
        raise ValueError(
            f"times: got {beyond[0]:g}, the data go from {first:g} to {last:g}: choose within"
        )
    return [field.sel(time=time, method="nearest") for time in times]


def title(field: xr.DataArray) -> str:
    """Name of the field, and its time where it has one."""
    moment = "time" in field.coords and field["time"].ndim == 0
    return f"{field.name} at t = {float(field['time']):.4g}" if moment else str(field.name)


def thinned(field: xr.DataArray, across: str, upward: str) -> xr.DataArray:
    """Rows upward, and no more points than can be seen."""
    thin = {str(name): slice(None, None, -(-n // LARGEST)) for name, n in field.sizes.items()}
    return field.isel(thin).transpose(upward, across)


def height(rows: Sequence[Sequence[xr.DataArray]]) -> float:
    """Height of a picture for a width of three inches."""
    first = rows[0][0]
    if "time" in first.dims or first.dims == ("x",):
        return 3.0
    width, height = (float(np.ptp(first[name].values)) for name in "xy")
    return 0.7 + 2.5 * min(max(height / width, 0.4), 2.0) if width > 0.0 else 3.0


def places(axes: Any, shape: tuple[int, int], height: float) -> np.ndarray:
    """Axes to draw in: the given ones, or those of a new figure."""
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


def scale(pictures: Sequence[xr.DataArray], colormap: str | None) -> dict[str, Any]:
    """One color scale for all frames of a field."""
    values = np.concatenate([np.ravel(picture.values) for picture in pictures])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    weaker, stronger = sorted((max(-low, 0.0), max(high, 0.0)))
    if stronger > 0.0 and weaker >= _BOTH_SIGNS * stronger:
        return {"cmap": colormap or DIVERGING, "vmin": -stronger, "vmax": stronger}
    # A constant field still needs an interval.
    return {"cmap": colormap or SEQUENTIAL, "vmin": low, "vmax": high if high > low else low + 1.0}


def limits(film: Sequence[xr.DataArray]) -> tuple[float, float]:
    """Limits that hold every frame, with a margin."""
    values = np.concatenate([picture.values for picture in film])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def draw(
    field: xr.DataArray, data: xr.Dataset, axes: Axes, scale: dict[str, Any], *, colorbar: bool
) -> None:
    """Draw one picture."""
    axes.set_title(title(field), loc="left", fontsize=10)
    if field.dims == ("x",):
        axes.plot(field["x"].values, field.values, color="#1f6f8b")
        axes.set_xlabel(axis_label(field, "x"))
        return
    if field.dims == ("point",):
        shown = mesh(field, data, axes, scale)
        across, upward = "x", "y"
    else:
        across, upward = ("x", "time") if "time" in field.dims else ("x", "y")
        picture = thinned(field, across, upward)
        shown = axes.pcolormesh(
            picture[across].values,
            picture[upward].values,
            picture.values,
            shading="nearest",
            rasterized=True,
            **scale,
        )
    axes.set_xlabel(axis_label(field, across))
    axes.set_ylabel(axis_label(field, upward))
    if upward == "y":
        axes.set_aspect("equal")
    figure: Any = axes.figure
    if colorbar and figure is not None:
        figure.colorbar(shown, ax=axes, pad=0.02)


def mesh(field: xr.DataArray, data: xr.Dataset, axes: Axes, scale: dict[str, Any]) -> Any:
    """Draw a field on the cells of a mesh."""
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


def axis_label(field: xr.DataArray, name: str) -> str:
    """Name of an axis, with its units where there are some."""
    units = field[name].attrs.get("units", "") if name in field.coords else ""
    return name if units in ("", "1") else f"{name} [{units}]"
