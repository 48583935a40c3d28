"""When a trajectory has stopped changing."""

from __future__ import annotations

import numpy as np
import xarray as xr


def stationary_from(data: xr.Dataset, *, tolerance: float = 1e-6) -> np.ndarray:
    """First stored time after which no field changes any more, sample by sample.

    A trajectory of a pattern-forming system often ends in a steady state; its later frames teach
    nothing about the dynamics.

    Parameters
    ----------
    data : xarray.Dataset
        From `pdes.simulate`, with at least two times.
    tolerance : float, default 1e-6
        Rate of change, as a root mean square per unit of time and relative to the largest one
        of the field, below which a field counts as at rest.

    Returns
    -------
    ndarray, shape () or (sample,)
        Infinite where something still moves at the end.

    Raises
    ------
    ValueError
        If there are fewer than two times or the tolerance is not positive.

    Examples
    --------
    >>> import numpy as np, pdes
    >>> heat = pdes.get("heat_one_mode", diffusivity=1.0)
    >>> run = pdes.simulate(heat, np.linspace(0.0, 10.0, 11))
    >>> float(stationary_from(run, tolerance=1e-6))
    4.0
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance={tolerance} must be positive")
    if data.sizes.get("time", 0) < 2:
        raise ValueError("a trajectory of at least two times is needed to see whether it changes")
    times = data["time"].values
    still: np.ndarray | bool = True
    for name in data.data_vars:
        field = data[name].transpose(..., "time")
        values = np.abs(np.diff(field.values, axis=-1)) / np.diff(times)
        lead = ("sample",) if "sample" in field.dims else ()
        order = [field.dims.index(d) for d in (*lead, "time")]
        rest = tuple(i for i in range(values.ndim) if i not in order)
        rate = np.sqrt(np.mean(values**2, axis=rest))
        scale = np.sqrt(np.mean(np.abs(field.values) ** 2, axis=rest)).max(axis=-1, keepdims=True)
        still = still & (rate <= tolerance * np.where(scale > 0.0, scale, 1.0))
    # At rest from the time after which every difference is small.
    moving = ~np.asarray(still)
    last = moving.shape[-1] - np.argmax(moving[..., ::-1], axis=-1)
    first = np.where(np.any(moving, axis=-1), last, 0)
    return np.where(first < moving.shape[-1], times[np.minimum(first, times.size - 1)], np.inf)
