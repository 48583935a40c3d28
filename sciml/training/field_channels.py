"""Variables of a labeled dataset as channels of a tensor."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch
    import xarray as xr

Fields = str | Sequence[Any] | Mapping[str, Any]

SAMPLE, TIME, COMPONENT = "sample", "time", "component"
_SPACE = ("x", "y", "z")


@dataclass(frozen=True)
class Channel:
    """One channel: a variable, at one of its times if it has any.

    Parameters
    ----------
    variable : str
    time : int, optional
        Index, counted from 0; None if the variable has no times or the example says which.
    """

    variable: str
    time: int | None = None

    def __str__(self) -> str:
        return self.variable if self.time is None else f"{self.variable}[{self.time}]"


def field_tensor(
    dataset: xr.Dataset,
    fields: Fields,
    *,
    samples: int | slice | Sequence[int] | None = None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return variables of a dataset as one tensor ``(batch, channel, *grid)``.

    Parameters
    ----------
    dataset : xarray.Dataset
        Variables over some of ``sample``, ``time``, ``x``, ``y``, ``z``. Those without ``sample``,
        or without an axis of space, are repeated along it; complex ones become two channels.
    fields : str, sequence or mapping
        Names; ``{"u": 0}`` or ``("u", 0)`` takes one time (by index), ``{"u": [0, 5]}`` and
        ``{"u": slice(None)}`` several, each a channel.
    samples : int, slice or sequence of int, optional
        The first so many, a slice, or these; all by default.
    dtype : torch.dtype, optional
        Single precision by default.

    Returns
    -------
    Tensor, shape (batch, channel, *grid)

    Raises
    ------
    ValueError
        For an unknown variable, a variable with times of which none is chosen, or a time that is
        not there.

    Examples
    --------
    >>> import xarray as xr
    >>> data = xr.Dataset({"u": (("sample", "time", "x"), np.arange(24.0).reshape(2, 3, 4))})
    >>> field_tensor(data, {"u": [0, -1]}).shape
    torch.Size([2, 2, 4])
    """
    channels = parse_channels(dataset, fields, "fields", choose_times=True)
    rows = sample_rows(dataset, samples)
    return read_channels(dataset, channels, rows, None, grid_dimensions(dataset, channels), dtype)


def parse_channels(
    dataset: xr.Dataset, fields: Fields, argument: str, *, choose_times: bool
) -> tuple[Channel, ...]:
    """Read what names channels, and check it against the dataset."""
    found: list[Channel] = []
    for name, times in _entries(fields, argument):
        variable = _variable(dataset, name, argument)
        if TIME not in variable.dims or not choose_times:
            if times is not None:
                why = "has no times" if choose_times else "is taken at the time of each example"
                raise ValueError(f"{argument}: {name} {why}, got time {times!r}: leave it out")
            found.append(Channel(name))
            continue
        count = variable.sizes[TIME]
        if times is None:
            raise ValueError(
                f"{argument}: {name} has {count} times: choose one by its index, such as "
                f"{{{name!r}: 0}}, or several, each a channel; lead=1 makes pairs of times"
            )
        found += [Channel(name, index) for index in _indices(times, count, argument, name)]
    if not found:
        raise ValueError(f"{argument} is empty: wanted at least one of {_names(dataset)}")
    return tuple(found)


def _entries(fields: Fields, argument: str) -> Iterable[tuple[str, Any]]:
    if isinstance(fields, str):
        return [(fields, None)]
    if isinstance(fields, Mapping):
        return list(fields.items())
    if not isinstance(fields, Sequence):
        raise TypeError(f"{argument} is a {type(fields).__name__}: wanted names of variables")
    entries = [(item, None) if isinstance(item, str) else tuple(item) for item in fields]
    if bad := [entry for entry in entries if len(entry) != 2 or not isinstance(entry[0], str)]:
        raise ValueError(f"{argument} holds {bad[0]!r}: wanted a name, or a name and its times")
    return entries


def _variable(dataset: xr.Dataset, name: str, argument: str) -> xr.DataArray:
    if name not in dataset.data_vars:
        known = _names(dataset)
        match = difflib.get_close_matches(name, known, n=1)
        hint = f", did you mean {match[0]!r}?" if match else ""
        raise ValueError(f"{argument}: no variable {name!r}{hint}; the dataset has {known}")
    variable = dataset[name]
    if variable.dtype.kind not in "iufcb":
        raise ValueError(f"{argument}: {name} has dtype {variable.dtype}, wanted numbers")
    return variable


def _names(dataset: xr.Dataset) -> list[str]:
    return [str(name) for name in dataset.data_vars]


def _indices(times: Any, count: int, argument: str, name: str) -> list[int]:
    if isinstance(times, slice):
        return list(range(count))[times]
    chosen = [times] if np.ndim(times) == 0 else list(times)
    for index in chosen:
        if not isinstance(index, (int, np.integer)) or not -count <= index < count:
            raise ValueError(
                f"{argument}: {name} at time {index!r}: wanted an index from {-count} to "
                f"{count - 1}"
            )
    return [int(index) % count for index in chosen]


def grid_dimensions(dataset: xr.Dataset, channels: Iterable[Channel]) -> tuple[str, ...]:
    """Axes of space that any of the channels has, in the order x, y, z, then as in the data."""
    used = {d for channel in channels for d in dataset[channel.variable].dims}
    rest = [str(d) for d in dataset.sizes if d in used and d not in (SAMPLE, TIME, COMPONENT)]
    return (*(d for d in _SPACE if d in rest), *(d for d in rest if d not in _SPACE))


def sample_rows(dataset: xr.Dataset, samples: Any) -> np.ndarray:
    """Which samples are meant by a number, a slice or a list."""
    count = dataset.sizes.get(SAMPLE, 1)
    every = np.arange(count)
    if samples is None:
        return every
    if isinstance(samples, slice):
        rows = every[samples]
    elif isinstance(samples, (int, np.integer)):
        if not 1 <= samples <= count:
            raise ValueError(f"samples={samples}: the dataset has {count}")
        rows = every[:samples]
    else:
        rows = np.asarray(samples)
        whole = rows.ndim == 1 and rows.dtype.kind in "iu"
        if not whole or np.any(rows < 0) or np.any(rows >= count):
            raise ValueError(
                f"samples must be a number, a slice, or indices from 0 to {count - 1}, got "
                f"{samples!r}"
            )
    if len(rows) == 0:
        raise ValueError(f"samples={samples!r} leaves none of {count} samples")
    return rows


def read_channels(
    dataset: xr.Dataset,
    channels: Sequence[Channel],
    rows: np.ndarray,
    times: np.ndarray | None,
    grid: tuple[str, ...],
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Read channels of some samples, and nothing else.

    Parameters
    ----------
    dataset, channels
        What to read; a file that was opened lazily is read only where asked.
    rows : ndarray of int
        Samples.
    times : ndarray of int, optional
        Time of each row, where the channels name none.
    grid : tuple of str
        Axes of space, in order.
    dtype : torch.dtype, optional

    Returns
    -------
    Tensor, shape (len(rows), channel, *grid)
    """
    import torch

    sizes = tuple(dataset.sizes[d] for d in grid)
    blocks: dict[Channel, np.ndarray] = {}
    for name in dict.fromkeys(channel.variable for channel in channels):
        own = [channel for channel in channels if channel.variable == name]
        variable = dataset[name].transpose(*_order(dataset[name], grid))
        values = _read_variable(variable, rows, [channel.time for channel in own], times)
        # To (row, time, part, *grid), where only complex numbers have two parts.
        if COMPONENT in variable.dims:
            values = np.moveaxis(values, -1, 2)
        elif variable.dtype.kind == "c":
            values = np.stack([np.real(values), np.imag(values)], axis=2)
        else:
            values = values[:, :, None]
        shape = tuple(
            size if d in variable.dims else 1 for d, size in zip(grid, sizes, strict=True)
        )
        values = values.reshape(*values.shape[:3], *shape)
        blocks |= {channel: values[:, place] for place, channel in enumerate(own)}
    ordered = [blocks[channel] for channel in channels]
    joined = np.concatenate(
        [np.broadcast_to(each, (*each.shape[:2], *sizes)) for each in ordered], axis=1
    )
    return torch.from_numpy(joined).to(dtype or torch.float32)


def _order(variable: xr.DataArray, grid: tuple[str, ...]) -> tuple[str, ...]:
    """Order of the axes: sample, time, space, component."""
    order = (SAMPLE, TIME, *grid, COMPONENT)
    return tuple(d for d in order if d in variable.dims)


def _read_variable(
    variable: xr.DataArray,
    rows: np.ndarray,
    chosen: Sequence[int | None],
    times: np.ndarray | None,
) -> np.ndarray:
    """Values over (row, channel of this variable, *rest)."""
    if TIME not in variable.dims:
        values = _rows_of(variable, rows)[:, None]
    elif times is None:
        wanted, places = np.unique(np.asarray(chosen, dtype=int), return_inverse=True)
        values = _rows_of(variable.isel({TIME: wanted}), rows)[:, places.ravel()]
    else:
        # One read per sample: the times of a trajectory lie together on disk.
        values = np.empty((len(rows), 1, *_rest(variable)), dtype=variable.dtype)
        for row in np.unique(rows):
            here = np.flatnonzero(rows == row)
            wanted, places = np.unique(times[here], return_inverse=True)
            part = _rows_of(variable.isel({TIME: wanted}), np.array([row]))[0]
            values[here, 0] = part[places.ravel()]
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _rest(variable: xr.DataArray) -> tuple[int, ...]:
    return tuple(size for d, size in variable.sizes.items() if d not in (SAMPLE, TIME))


def _rows_of(variable: xr.DataArray, rows: np.ndarray) -> np.ndarray:
    """Values with the samples first; each sample is read once, in the order of the file."""
    if SAMPLE not in variable.dims:
        values = np.asarray(variable.values)
        return np.broadcast_to(values, (len(rows), *values.shape))
    wanted, places = np.unique(rows, return_inverse=True)
    first, last = int(wanted[0]), int(wanted[-1]) + 1
    run: Any = slice(first, last) if len(wanted) == last - first else wanted
    values = np.asarray(variable.isel({SAMPLE: run}).values)
    return values[places.ravel()]
