"""A simulation held against a recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sciml.plotting.space_time import axes_for, field_title, plot_space_time, real_fields
from sciml.plotting.style import ColorScale
from sciml.plotting.typeset import number

SHOWN = 0.998
"""Share of a difference that its color scale spans, so that one outlier does not hide the rest."""


def plot_comparison(recording: Any, simulation: Any, axes: Any = None) -> NDArray:
    """Draw data, simulation and their difference side by side, a row for each field.

    Data and simulation share one color scale; the difference has its own, around zero.

    Parameters
    ----------
    recording : Dataset or DataArray
        What was measured.
    simulation : Dataset or DataArray
        What an equation predicts, on the same positions, at all or some of the recorded times.
    axes : array_like of matplotlib.axes.Axes, shape (3,) or (fields, 3), optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (fields, 3)

    Raises
    ------
    ValueError
        If the simulation has other fields, positions or times.

    Examples
    --------
    >>> import pdes
    >>> data = pdes.simulate(pdes.get("heat"))
    >>> plot_comparison(data, data * 1.01)[0, 2].get_title(loc="left")
    'difference, relative $L^2$ $0.010$'
    """
    pairs = matched(recording, simulation)
    if axes is not None:
        axes = np.atleast_2d(np.asarray(axes, dtype=object))
    axes = axes_for(axes, (len(pairs), 3), width=4.2, height=3.6)
    for (measured, simulated), row in zip(pairs, axes, strict=True):
        scale = ColorScale.of(measured.values)
        name = f"{field_title(measured)}, " if len(pairs) > 1 else ""
        plot_space_time(measured, row[0], scale=scale, title=f"{name}recorded")
        plot_space_time(simulated, row[1], scale=scale, title=f"{name}simulated")
        gap = simulated - measured
        plot_space_time(
            gap,
            row[2],
            scale=ColorScale.of(gap.values, diverging=True, share=SHOWN),
            title="difference",
            note=f", relative $L^2$ ${number(relative_error(measured, simulated), 2)}$",
        )
        for place in row[1:]:
            place.set_ylabel("")
    return axes


def relative_error(measured: xr.DataArray, simulated: xr.DataArray) -> float:
    """Relative L2 distance over the points that were measured.

    Parameters
    ----------
    measured, simulated : DataArray
        On the same points.

    Returns
    -------
    float

    Examples
    --------
    >>> relative_error(xr.DataArray([3.0, 4.0, np.nan]), xr.DataArray([3.0, 4.5, 7.0]))
    0.1
    """
    gap = float(np.sqrt(((simulated - measured) ** 2).sum()))
    size = float(np.sqrt((measured**2).sum()))
    return gap / size if size > 0.0 else gap


def matched(recording: Any, simulation: Any) -> list[tuple[xr.DataArray, xr.DataArray]]:
    """Pairs of recorded and simulated fields on the same points.

    Parameters
    ----------
    recording, simulation : Dataset or DataArray
        The recording is reduced to the simulated times.

    Returns
    -------
    list of (DataArray, DataArray)

    Raises
    ------
    ValueError
        If fields, positions or times of the simulation are not among those of the recording.

    Examples
    --------
    >>> import pdes
    >>> data = pdes.simulate(pdes.get("heat"))
    >>> [(measured, simulated)] = matched(data, data.isel(time=slice(0, 50)))
    >>> measured.sizes["time"]
    50
    """
    measured = {str(field.name): field for field in real_fields(recording)}
    simulated = {str(field.name): field for field in real_fields(simulation)}
    if set(simulated) != set(measured):
        raise ValueError(
            f"the simulation has the fields {sorted(simulated)}, the recording {sorted(measured)}: "
            "rename those of one of them"
        )
    return [(_reduced(measured[name], simulated[name]), simulated[name]) for name in measured]


def _reduced(measured: xr.DataArray, simulated: xr.DataArray) -> xr.DataArray:
    """The recording at the simulated times, under exactly the simulation's coordinates."""
    for axis in measured.dims[1:]:
        ours, theirs = measured[axis].values, simulated[axis].values
        spacing = float(np.min(np.diff(ours))) if len(ours) > 1 else 1.0
        if len(ours) != len(theirs) or not np.allclose(ours, theirs, rtol=0, atol=1e-3 * spacing):
            raise ValueError(
                f"recording and simulation have different positions along {axis!r} "
                f"({len(ours)} and {len(theirs)} points): simulate from a frame of the recording, "
                "or interpolate one of them with .interp"
            )
    recorded, wanted = measured["time"].values, simulated["time"].values
    nearest = np.abs(recorded[:, None] - wanted[None, :]).argmin(axis=0)
    span = float(np.ptp(recorded)) or 1.0
    missed = np.abs(recorded[nearest] - wanted) > 1e-6 * span
    if missed.any():
        raise ValueError(
            f"the simulation is given at {wanted[missed][0]:g}, a time that was not recorded: "
            "simulate at recorded times, or interpolate the recording with .interp(time=...)"
        )
    return measured.isel(time=nearest).assign_coords(simulated.coords)
