"""Velocities of a labeled dataset as the states that repairs work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sciml.repair.arguments import whole

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["velocity_states"]


def velocity_states(
    dataset: xr.Dataset,
    components: Sequence[str] = ("u", "v"),
    *,
    samples: int | slice | Sequence[int] | None = None,
    frames: int | None = None,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Trajectories of velocities, component j along axis j of the grid.

    Parameters
    ----------
    dataset : xarray.Dataset
        Variables over ``time`` and the axes ``x``, ``y`` and perhaps ``z``, in any order, and
        perhaps ``sample``: as the readers of `pdes.data.layouts` return them.
    components : sequence of str, default ("u", "v")
        Velocities along x, y and perhaps z, in this order.
    samples : int, slice or sequence of int, optional
        The first so many, a slice, or these; all by default.
    frames : int, optional
        The first so many times; all by default. Needed where some trajectories are shorter, and
        end in NaN.
    dtype : torch.dtype, optional
        Double precision by default.

    Returns
    -------
    Tensor, shape (samples, times, d, *grid)
        What `recommend` takes.

    Raises
    ------
    ValueError
        If a variable is not there, the components are not as many as the axes of the grid, or
        values are not finite.

    Notes
    -----
    A projection needs the true sizes of the cells. Collections whose coordinates are shares of
    width and height, such as CFDBench, keep them elsewhere: ``height`` and ``width`` of each case.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> flow = np.zeros((2, 5, 8, 16))
    >>> dims = ("sample", "time", "y", "x")
    >>> data = xr.Dataset({"u": (dims, flow), "v": (dims, flow)})
    >>> velocity_states(data).shape
    torch.Size([2, 5, 2, 16, 8])
    """
    from sciml.training.field_channels import TIME, Channel, field_tensor, grid_dimensions

    for name in components:
        if name in dataset.data_vars and TIME not in dataset[name].dims:
            raise ValueError(f"components: {name} has no axis 'time': wanted trajectories")
    times = dataset.sizes.get(TIME, 0)
    count = times if frames is None else whole("frames", frames, 1, times)
    chosen: dict[str, Any] = {name: slice(0, count) for name in components}
    found = field_tensor(dataset, chosen, samples=samples, dtype=dtype)
    grid = grid_dimensions(dataset, [Channel(name) for name in components])
    if len(grid) != len(components):
        raise ValueError(
            f"components={tuple(components)}: the grid has the axes {', '.join(grid)}; wanted one "
            "velocity for each, in this order"
        )
    states = found.unflatten(1, (len(components), count)).transpose(1, 2).contiguous()
    _check_finite(states)
    return states


def _check_finite(states: Tensor) -> None:
    whole_frames = torch.isfinite(states).flatten(2).all(-1)
    if bool(whole_frames.all()):
        return
    # Frames before the first one that is not finite, in each trajectory.
    lengths = whole_frames.long().cumprod(1).sum(1)
    shortest = int(lengths.min())
    remedy = (
        f"pass frames={shortest}, or choose longer ones with samples="
        if shortest
        else "leave these out with samples="
    )
    raise ValueError(
        f"dataset: {int((lengths < states.shape[1]).sum())} of {len(states)} trajectories hold "
        f"NaN or infinite values, the first from frame {shortest}: {remedy}"
    )
