"""Recordings as the weak form wants them: real float64 fields on uniform axes, time last."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sciml.discovery.gaps import fill_short_gaps, noise_of_measured
from sciml.discovery.soundness import check_constant, check_names, check_size, doubts

UNIFORMITY = 1e-3
"""Largest deviation of a grid step from the mean step, relative to it."""


class DiscoveryWarning(UserWarning):
    """Something about the data or the result that a careful reader should know."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One trajectory.

    Attributes
    ----------
    fields : dict of str to ndarray
        Real fields, axes (space..., time), short gaps filled, other missing values zero.
    coordinates : dict of str to ndarray
        Space axes in order, then ``"t"``.
    periodic : tuple of bool
        For each space axis.
    missing : ndarray of bool or None
        Where any field is missing and was not filled.
    noise : dict of str to float
        Estimated standard deviation of the noise of each field.
    complex_fields : tuple of str
        Complex fields that were split into ``_re`` and ``_im``.
    """

    fields: dict[str, NDArray]
    coordinates: dict[str, NDArray]
    periodic: tuple[bool, ...]
    missing: NDArray | None
    noise: dict[str, float]
    complex_fields: tuple[str, ...]

    @property
    def space(self) -> tuple[str, ...]:
        """Names of the space axes."""
        return tuple(name for name in self.coordinates if name != "t")

    @property
    def shape(self) -> tuple[int, ...]:
        """Grid points along each space axis, then time."""
        return tuple(len(values) for values in self.coordinates.values())

    def spread(self, field: str) -> float:
        """Standard deviation of a field over the points that were measured."""
        values = self.fields[field]
        return float(np.std(values if self.missing is None else values[~self.missing]))

    @property
    def spacings(self) -> tuple[float, ...]:
        """Grid spacing along each axis."""
        return tuple(
            float(values[-1] - values[0]) / (len(values) - 1)
            for values in self.coordinates.values()
        )


def as_recordings(
    data: Any,
    coords: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    periodic: bool | Sequence[str] | None = None,
) -> list[Recording]:
    """Bring what a user may have into a list of recordings.

    Parameters
    ----------
    data : DataArray, Dataset, array, or list of these
        Dimensions ``time`` (or ``t``), ``x``, ``y``, ``z`` and, for several runs, ``sample``.
    coords : mapping or list of mappings, optional
        Coordinates of the axes of a plain array, in axis order: ``{"x": x, "t": t}``; a list gives
        one for each recording of a list.
    periodic : bool or sequence of str, optional
        Which space axes wrap around. By default the attribute ``periodic`` of the coordinate
        decides; without it an axis counts as not periodic.

    Returns
    -------
    list of Recording

    Raises
    ------
    ValueError
        For data from which no equation can be found, with the remedy.
    """
    if isinstance(data, (list, tuple)) and len(data) == 0:
        raise ValueError("data is an empty list: give at least one recording")
    if isinstance(data, (list, tuple)) and not np.isscalar(data[0]) and not _is_nested(data):
        if isinstance(coords, (list, tuple)):
            if len(coords) != len(data):
                raise ValueError(
                    f"coords is a list of {len(coords)} for {len(data)} recordings: give one each"
                )
            each: list[Any] = list(coords)
        else:
            each = [coords] * len(data)
        runs = [
            run
            for item, own in zip(data, each, strict=True)
            for run in as_recordings(item, own, periodic)
        ]
        _check_same_fields(runs)
        return runs
    from pdes.data import as_dataset

    if coords is not None and not isinstance(coords, Mapping):
        raise ValueError("coords is a list, but data is a single recording: give one mapping")
    dataset = as_dataset(data, coords)
    if "sample" in dataset.dims:
        runs = [
            _one_recording(dataset.isel(sample=k), periodic) for k in range(dataset.sizes["sample"])
        ]
        if not runs:
            raise ValueError("the dimension 'sample' is empty: give at least one recording")
        return runs
    return [_one_recording(dataset, periodic)]


def _is_nested(data: Sequence[Any]) -> bool:
    """Whether a list is an array written as nested lists of numbers."""
    return isinstance(data[0], (list, tuple)) and not hasattr(data[0][0], "shape")


def _check_same_fields(runs: list[Recording]) -> None:
    first = (tuple(runs[0].fields), runs[0].space)
    for number, run in enumerate(runs[1:], start=1):
        if (tuple(run.fields), run.space) != first:
            raise ValueError(
                f"recording {number} has fields {tuple(run.fields)} on axes {run.space}, the first "
                f"has {first[0]} on {first[1]}: all must share fields and axes"
            )


def _one_recording(dataset: xr.Dataset, periodic: bool | Sequence[str] | None) -> Recording:
    if "time" not in dataset.dims:
        raise ValueError(
            f"data has dimensions {tuple(map(str, dataset.dims))} and no time: rename the time "
            "dimension to 'time' or give coords={'x': x, 't': t}"
        )
    space = tuple(str(name) for name in dataset.dims if name not in ("time", "sample"))
    space = tuple(sorted(space))
    if not space:
        raise ValueError("data has no space dimension: an equation in space and time needs one")
    if not dataset.data_vars:
        raise ValueError("data holds no field: give at least one variable over time and space")
    coordinates = {name: _uniform(dataset, name) for name in space}
    coordinates["t"] = _uniform(dataset, "time")
    dataset = _ascending(dataset, coordinates)
    fields, complex_fields = _split_fields(dataset.transpose(*space, "time"))
    _check_missing(fields)
    check_size(fields)
    check_constant(fields)
    for doubt in doubts(fields, space):
        warnings.warn(doubt, DiscoveryWarning, stacklevel=2)
    noise = {name: noise_of_measured(values) for name, values in fields.items()}
    fields, missing = _fill(fields, noise)
    return Recording(
        fields=fields,
        coordinates=coordinates,
        periodic=_periodic_axes(dataset, space, periodic),
        missing=missing,
        noise=noise,
        complex_fields=complex_fields,
    )


def _uniform(dataset: xr.Dataset, dimension: str) -> NDArray:
    """Coordinate values along a dimension, checked to be uniform."""
    count = dataset.sizes[dimension]
    if dimension not in dataset.coords:
        raise ValueError(
            f"dimension {dimension!r} has no coordinate values: assign them, for instance "
            f"data.assign_coords({dimension}=np.linspace(start, stop, {count}))"
        )
    values = np.asarray(dataset[dimension].values)
    if np.issubdtype(values.dtype, np.datetime64) or np.issubdtype(values.dtype, np.timedelta64):
        raise ValueError(
            f"coordinate {dimension!r} holds dates: convert it to numbers in the unit you want the "
            "coefficients in, for instance (time - time[0]) / np.timedelta64(1, 's')"
        )
    values = values.astype(float)
    if count < 2:
        what = "a single snapshot" if dimension == "time" else "a single point"
        raise ValueError(
            f"data has {what} along {dimension!r}: a rate of change needs a series along it"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"coordinate {dimension!r} contains NaN or infinite values")
    steps = np.diff(values)
    mean = float(values[-1] - values[0]) / (count - 1)
    if mean == 0 or np.any(np.sign(steps) != np.sign(mean)):
        raise ValueError(
            f"coordinate {dimension!r} does not increase or decrease strictly: sort the data along "
            f"it and drop repeated values (data.sortby({dimension!r}))"
        )
    worst = float(np.max(np.abs(steps - mean)) / abs(mean))
    if worst > UNIFORMITY:
        raise ValueError(
            f"coordinate {dimension!r} is not uniform: its steps range from {steps.min():g} to "
            f"{steps.max():g}; interpolate first, for instance data.interp({dimension}="
            f"np.linspace({values[0]:g}, {values[-1]:g}, {count}), method='cubic')"
        )
    return values


def _ascending(dataset: xr.Dataset, coordinates: dict[str, NDArray]) -> xr.Dataset:
    """Flip descending axes; the derivative's sign would otherwise be wrong."""
    for name, values in list(coordinates.items()):
        if values[0] > values[-1]:
            dimension = "time" if name == "t" else name
            dataset = dataset.isel({dimension: slice(None, None, -1)})
            coordinates[name] = values[::-1].copy()
    return dataset


def _split_fields(dataset: xr.Dataset) -> tuple[dict[str, NDArray], tuple[str, ...]]:
    fields: dict[str, NDArray] = {}
    complex_fields = []
    dimensions = set(dataset.dims) - {"sample"}
    for key, variable in dataset.data_vars.items():
        name = str(key)
        check_names([name])
        if set(variable.dims) != dimensions:
            raise ValueError(
                f"field {name!r} has dimensions {tuple(map(str, variable.dims))}, expected all of "
                f"{tuple(sorted(map(str, dimensions)))}: drop it or expand it"
            )
        values = np.asarray(variable.values)
        if values.dtype.kind not in "fiubc":
            raise ValueError(f"field {name!r} has dtype {values.dtype}, expected numbers")
        if values.dtype.kind == "c":
            real, imaginary = np.real(values).astype(float), np.imag(values).astype(float)
            if not np.any(imaginary):
                fields[name] = real
                continue
            complex_fields.append(name)
            fields[f"{name}_re"], fields[f"{name}_im"] = real, imaginary
            continue
        fields[name] = values.astype(float)
    return fields, tuple(complex_fields)


def _check_missing(fields: dict[str, NDArray]) -> None:
    """Refuse infinities, since they are not a way to mark gaps, and fields that hold nothing."""
    for name, values in fields.items():
        if np.isinf(values).any():
            raise ValueError(
                f"field {name!r} contains {int(np.isinf(values).sum())} infinite values: mark "
                "missing values with NaN, or cut the recording before it blows up"
            )
        if np.isnan(values).all():
            raise ValueError(f"field {name!r} is NaN everywhere: nothing to learn from")


def _fill(
    fields: dict[str, NDArray], noise: Mapping[str, float]
) -> tuple[dict[str, NDArray], NDArray | None]:
    """Fields with short gaps filled and zeros elsewhere, and where any is still missing."""
    absent = sum(int(np.isnan(values).sum()) for values in fields.values())
    if absent == 0:
        return fields, None
    filled = {name: fill_short_gaps(values, noise[name]) for name, values in fields.items()}
    left = sum(int(np.isnan(values).sum()) for values in filled.values())
    total = sum(values.size for values in fields.values())
    # Interpolated values carry their neighbors' noise: up to 1 + 2 p times the variance.
    excess = (1 + 2 * (absent - left) / total) ** 0.5 - 1
    note = f" (standard errors may be up to {excess:.0%} too small for it)" if excess > 0.02 else ""
    warnings.warn(
        f"{absent / total:.1%} of the values are missing (NaN): {absent - left} in short gaps are "
        f"interpolated along time{note}, {left} stay missing: windows that touch them are dropped",
        DiscoveryWarning,
        stacklevel=2,
    )
    if left == 0:
        return filled, None
    missing = np.any([np.isnan(values) for values in filled.values()], axis=0)
    return {name: np.where(missing, 0.0, values) for name, values in filled.items()}, missing


def _periodic_axes(
    dataset: xr.Dataset, space: tuple[str, ...], periodic: bool | Sequence[str] | None
) -> tuple[bool, ...]:
    if isinstance(periodic, bool):
        return (periodic,) * len(space)
    if periodic is not None:
        wanted = (periodic,) if isinstance(periodic, str) else tuple(periodic)
        unknown = set(wanted) - set(space)
        if unknown:
            raise ValueError(
                f"periodic names {sorted(unknown)}, but the space axes are {list(space)}"
            )
        return tuple(name in wanted for name in space)
    return tuple(bool(int(dataset[name].attrs.get("periodic", 0))) for name in space)


def describe(recordings: list[Recording]) -> str:
    """Short JSON text that says what was used, for provenance."""
    return json.dumps(
        [
            {
                "fields": list(run.fields),
                "axes": {name: len(values) for name, values in run.coordinates.items()},
                "periodic": dict(zip(run.space, run.periodic, strict=True)),
            }
            for run in recordings
        ]
    )
