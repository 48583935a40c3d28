"""Solve a found equation from an initial field, to hold it against the recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pdes import Axis, Equation, Grid, Problem, simulate
from sciml.discovery.recording import as_recordings

WRAP_TOLERANCE = 0.05
"""Largest break across the ends, relative to the field's range, that counts as periodic."""

LEAST_POINTS = 256
"""Coarser grids are refined, so that products of resolved fields stay resolved."""


def simulate_equation(
    equation: Equation,
    u0: Any,
    times: Any,
    domain: Mapping[str, NDArray],
    periodic: tuple[bool, ...],
    *,
    boundary: Any = None,
    **options: Any,
) -> xr.Dataset:
    """Solve an equation on the grid of a recording.

    Parameters
    ----------
    equation : Equation
        What to solve.
    u0 : DataArray, Dataset, mapping or array
        Initial field(s). A complex field stands for its two parts.
    times : array_like
        Output times; the first is the time of ``u0``.
    domain : mapping of str to ndarray
        Coordinates of the recording, used where ``u0`` carries none.
    periodic : tuple of bool
        Which space axes wrap around. An axis that is not marked so but whose ends meet, without a
        step or kink beyond five percent of the field's range, is treated as periodic.
    boundary : DataArray or Dataset, optional
        A recording that covers ``times``; its outermost points drive the solution on an axis that
        is not marked periodic (one space axis, real fields).
    **options
        Passed to :func:`pdes.simulate`.

    Returns
    -------
    xarray.Dataset
        Fields over ``(time, x[, y])``.

    Raises
    ------
    ValueError
        If the ends do not meet and no boundary is given, or names and shapes do not fit.
    """
    space = equation.coordinates
    fields, coordinates = _initial_fields(equation, u0, domain)
    times = np.asarray(times, dtype=float)
    if times.ndim != 1 or len(times) < 2:
        raise ValueError(f"times must be a list of at least two times, got shape {times.shape}")
    if boundary is not None and not all(periodic):
        return _between_recorded_edges(equation, fields, coordinates, times, boundary)
    broken = {
        name: jump
        for axis, name in enumerate(space)
        if not periodic[axis] and (jump := _jump(fields, axis)) > WRAP_TOLERANCE
    }
    for name, jump in broken.items():
        raise ValueError(
            f"the field jumps by {jump:.0%} of its range across the ends of {name!r}, so it is "
            "not periodic: pass boundary=recording to let the recorded edges drive the "
            f"solution, or periodic={name!r} to the estimator if the axis does wrap around"
        )
    axes, refined, refinement = [], dict(fields), 1
    for axis, name in enumerate(space):
        values = coordinates[name]
        spacing = (values[-1] - values[0]) / (len(values) - 1)
        factor = _refinement(len(values)) if len(space) == 1 else 1
        points = len(values) * factor
        axes.append(Axis(name=name, start=values[0], stop=values[-1] + spacing, points=points))
        if factor > 1 or points != len(values):
            refined = {key: _refine(item, axis, points) for key, item in refined.items()}
            refinement = factor
    problem = Problem(
        equation=equation,
        grid=Grid(axes=tuple(axes)),
        initial=refined,
        times=times,
        initial_time=float(times[0]),
        stored_points=tuple(len(coordinates[name]) for name in space) if refinement > 1 else None,
        notes="found by equation discovery",
    )
    return simulate(problem, **options)


def _refinement(points: int) -> int:
    factor = 1
    while points * factor < LEAST_POINTS or (points * factor) % 2:
        factor *= 2
    return factor


def _refine(values: NDArray, axis: int, points: int) -> NDArray:
    from scipy.signal import resample

    return np.asarray(resample(values, points, axis=axis))


def _jump(fields: Mapping[str, NDArray], axis: int) -> float:
    """Break across the ends, relative to the range: second differences there beyond those inside.

    A step shows in them as much as a kink; noise shows inside as well.
    """
    widest = max(float(np.ptp(values)) for values in fields.values())
    largest = 0.0
    for values in fields.values():
        around = np.moveaxis(values, axis, 0)
        second = np.abs(around - 2 * np.roll(around, 1, axis=0) + np.roll(around, 2, axis=0))
        beyond = float(np.max(second[:2].max(axis=0) - 1.2 * second[2:].max(axis=0)))
        largest = max(largest, beyond / max(widest, 1e-300))
    return largest


def _initial_fields(
    equation: Equation, u0: Any, domain: Mapping[str, NDArray]
) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    space = equation.coordinates
    coordinates = {name: np.asarray(domain[name], float) for name in space}
    if isinstance(u0, xr.DataArray):
        u0 = u0.to_dataset(name=u0.name or equation.fields[0])
    if isinstance(u0, xr.Dataset):
        for name in ("time", "t", "sample"):
            if name in u0.dims:
                raise ValueError(
                    f"u0 has a dimension {name!r}: select the initial field, for instance "
                    f"data.isel({name}=0)"
                )
        coordinates = {name: np.asarray(u0[name].values, float) for name in space}
        given: dict[str, NDArray] = {
            str(name): np.asarray(item.transpose(*space).values)
            for name, item in u0.data_vars.items()
        }
    elif isinstance(u0, Mapping):
        given = {str(name): np.asarray(item) for name, item in u0.items()}
    else:
        array = np.asarray(u0)
        given = {equation.fields[0] if array.dtype.kind != "c" else _whole(equation): array}
    parts: dict[str, NDArray] = {}
    for name, item in given.items():
        if name not in equation.fields and f"{name}_re" in equation.fields:
            parts[f"{name}_re"], parts[f"{name}_im"] = np.real(item), np.imag(item)
        else:
            parts[name] = np.real(item)
    shape = tuple(len(coordinates[name]) for name in space)
    for name in equation.fields:
        if name not in parts:
            raise ValueError(f"u0 lacks the field {name!r}; it has {sorted(parts)}")
        if parts[name].shape != shape:
            raise ValueError(
                f"u0 field {name!r} has shape {parts[name].shape}, the grid needs {shape}"
            )
        if not np.isfinite(parts[name]).all():
            raise ValueError(f"u0 field {name!r} contains NaN or infinite values")
    for name in space:
        if coordinates[name][0] > coordinates[name][-1]:
            coordinates[name] = coordinates[name][::-1]
            axis = space.index(name)
            parts = {key: np.flip(item, axis) for key, item in parts.items()}
    return {name: parts[name].astype(float) for name in equation.fields}, coordinates


def _whole(equation: Equation) -> str:
    """Name of the complex field whose parts the equation has."""
    return equation.fields[0].removesuffix("_re")


def _between_recorded_edges(
    equation: Equation,
    fields: dict[str, NDArray],
    coordinates: dict[str, NDArray],
    times: NDArray,
    boundary: Any,
) -> xr.Dataset:
    from pdes.solvers.recorded_boundary import solve_with_recorded_boundary

    (run, *_) = as_recordings(boundary)
    (name,) = equation.coordinates
    solution = solve_with_recorded_boundary(
        equation, coordinates[name], fields, times, run.fields, run.coordinates["t"]
    )
    return xr.Dataset(
        {key: (("time", name), values) for key, values in solution.items()},
        coords={"time": times, name: coordinates[name]},
        attrs={
            "equation": equation.text(),
            "solver": json.dumps({"name": "method of lines between recorded edges", "order": 4}),
            "status": "ok",
        },
    )
