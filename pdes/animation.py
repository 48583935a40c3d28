"""Films of datasets: lines, pictures of the plane and fields on meshes that change in time."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from pdes import pictures
from pdes.keywords import offers_closest_keyword

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

__all__ = ["animate"]


@offers_closest_keyword
def animate(
    data: xr.Dataset | xr.DataArray,
    field: str | Sequence[str] | None = None,
    *,
    sample: int = 0,
    times: Sequence[float] | None = None,
    colormap: str | None = None,
    interval: float = 80.0,
) -> FuncAnimation:
    """Film of the fields of a dataset, one picture a field, on scales that stay.

    Parameters
    ----------
    data : Dataset or DataArray
        From `pdes.simulate`, `pdes.generate` or a reader: fields over ``time`` and ``x``,
        ``(x, y)`` or the points of a mesh.
    field : str or sequence of str, optional
        What to show; all fields by default.
    sample : int, default 0
        Which sample of many.
    times : sequence of float, optional
        Times of the frames, the nearest are taken; every stored time by default.
    colormap : str, optional
        As for `pdes.plot`.
    interval : float, default 80
        Milliseconds from frame to frame, positive.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        ``save("film.gif")`` writes it, ``to_jshtml()`` shows it in a notebook. Keep it in a
        variable: one that nobody holds stops.

    Raises
    ------
    ValueError
        If a field has fewer than two times, or as for `pdes.plot`.

    Examples
    --------
    >>> import pdes
    >>> film = pdes.animate(pdes.simulate(pdes.get("heat"), [0.0, 0.5, 1.0]))
    >>> len(list(film.new_frame_seq()))
    3
    >>> "Once" in film.to_jshtml()
    True
    """
    from matplotlib.animation import FuncAnimation

    if not isinstance(data, xr.Dataset | xr.DataArray):
        raise TypeError(f"data: got {type(data).__name__}, wanted an xarray.Dataset or DataArray")
    real = isinstance(interval, numbers.Real) and not isinstance(interval, bool)
    if not real or not 0.0 < float(interval) < np.inf:
        raise ValueError(f"interval={interval!r}: wanted a positive number of milliseconds")
    whole = data.to_dataset(name=data.name or "u") if isinstance(data, xr.DataArray) else data
    films = [_frames(whole, name, sample, times) for name in pictures.names(whole, field)]
    lengths = {len(film) for film in films}
    first = [film[0] for film in films]
    places = pictures.places(None, (1, len(films)), pictures.height([first]))[0]
    for film, place in zip(films, places, strict=True):
        scale = pictures.scale(film, colormap)
        pictures.draw(film[0], whole, place, scale, colorbar=True)
        if film[0].dims == ("x",):
            place.set_ylim(*pictures.limits(film))

    def show(number: int) -> list[Any]:
        shown = []
        for film, place in zip(films, places, strict=True):
            picture = film[number]
            place.set_title(pictures.title(picture), loc="left", fontsize=10)
            if picture.dims == ("x",):
                (line,) = place.lines
                line.set_ydata(picture.values)
                shown.append(line)
            else:
                (mesh,) = place.collections
                flat = picture.dims == ("point",)
                mesh.set_array(
                    picture.values if flat else pictures.thinned(picture, "x", "y").values
                )
                shown.append(mesh)
        return shown

    return FuncAnimation(places[0].figure, show, frames=min(lengths), interval=float(interval))


def _frames(data: xr.Dataset, name: str, sample: int, times: Any) -> list[xr.DataArray]:
    """The field at every time that is shown."""
    field = pictures.chosen(data, name, sample)
    pictures.check_axes(field)
    if "time" not in field.dims or field.sizes["time"] < 2:
        raise ValueError(
            f"field {name!r} over {field.dims} of shape {field.shape}: a film needs two times or "
            "more; pdes.plot draws one"
        )
    if times is None:
        return [field.isel(time=place) for place in range(field.sizes["time"])]
    return pictures.at_times(field, pictures.moments(times))
