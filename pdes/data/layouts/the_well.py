"""The Well: one HDF5 file of trajectories (Ohana et al., arXiv:2412.00568)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.layouts.labeling import hdf5, label, number, part, selection

_ROOT = ("dataset_name", "grid_type", "n_spatial_dims", "n_trajectories")


def read_the_well(path: str | Path, *, samples: int | slice | None = None) -> xr.Dataset:
    """Read a file of The Well.

    Parameters
    ----------
    path : path
        ``data/{train,valid,test}/*.hdf5``.
    samples : int or slice, optional
        The first so many trajectories, or a slice; all by default. Nothing else is read.

    Returns
    -------
    xarray.Dataset
        Scalar fields by their names over ``(sample, time, *space)``; components of vectors and
        tensors have the axes appended: ``velocity_x``, ``D_xy``. What the file keeps without an
        axis, because nothing changes along it, is repeated. Numbers that differ from sample to
        sample are coordinates, the others parameters; boundary conditions are in the attribute
        ``boundary``.

    Raises
    ------
    ReadError
        If the file has another layout.
    """
    path = Path(path)
    with hdf5(path, "The Well") as file:
        missing = [name for name in _ROOT if name not in file.attrs]
        if missing or "dimensions" not in file:
            raise ReadError(f"{path.name} lacks {missing or ['dimensions']}: no file of The Well")
        chosen = selection(samples, int(file.attrs["n_trajectories"]))
        count = len(range(*chosen.indices(chosen.stop)))
        axes = tuple(number(name) for name in file["dimensions"].attrs["spatial_dims"])
        coords, assumed = _coordinates(file["dimensions"], axes)
        sizes = {"sample": count, **{name: len(coords[name]) for name in ("time", *axes)}}
        fields = {}
        for order in range(3):
            fields |= _fields(file.get(f"t{order}_fields"), order, axes, sizes, chosen)
        numbers, parameters = _scalars(file.get("scalars"), chosen)
        boundary, periodic = _boundary(file.get("boundary_conditions"), axes)
        attrs = {name: number(file.attrs[name]) for name in ("dataset_name", "grid_type")}
    return label(
        fields,
        {**coords, **numbers},
        path=path,
        layout="the_well",
        assumed=assumed,
        parameters=parameters,
        attrs={**attrs, "boundary": json.dumps(boundary)},
        periodic=periodic,
    )


def _coordinates(group: Any, axes: tuple[str, ...]) -> tuple[dict[str, Any], list[str]]:
    found, assumed = {}, []
    for name in ("time", *axes):
        values = group[name][()]
        if values.ndim > 1:
            first = values.reshape(-1, values.shape[-1])
            if not np.all(first == first[0]):
                raise ReadError(f"the axis {name} differs between samples: read them one by one")
            assumed.append(f"{name}: the same for all samples")
            values = first[0]
        found[name] = values
    return found, assumed


def _fields(
    group: Any, order: int, axes: tuple[str, ...], sizes: dict[str, int], chosen: slice
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    found: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    if group is None:
        return found
    names = [number(name) for name in group.attrs.get("field_names", sorted(group))]
    for name in names:
        stored = group[name]
        varying = [bool(stored.attrs.get(key, True)) for key in ("sample_varying", "time_varying")]
        varying += [bool(flag) for flag in stored.attrs.get("dim_varying", [True] * len(axes))]
        values = part(stored, chosen) if varying[0] else stored[()]
        dims = ("sample", "time", *axes)
        # An axis along which nothing changes is not in the file.
        index = tuple(slice(None) if flag else np.newaxis for flag in varying)
        full = tuple(sizes[dim] for dim in dims)
        values = np.broadcast_to(values[index], full + (len(axes),) * order)
        for component in itertools.product(range(len(axes)), repeat=order):
            suffix = "".join(axes[k] for k in component)
            label_ = f"{name}_{suffix}" if suffix else name
            found[label_] = (dims, np.ascontiguousarray(values[(..., *component)]))
    return found


def _scalars(group: Any, chosen: slice) -> tuple[dict[str, Any], dict[str, Any]]:
    numbers: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, stored in sorted(group.items()) if group is not None else []:
        if bool(stored.attrs.get("sample_varying", False)):
            numbers[name] = (("sample",), stored[chosen].reshape(-1))
        elif not bool(stored.attrs.get("time_varying", False)):
            parameters[name] = number(stored[()])
        else:
            numbers[name] = (("time",), stored[()].reshape(-1))
    return numbers, parameters


def _boundary(group: Any, axes: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    kinds = {
        name: str(number(one.attrs.get("bc_type", "")))
        for name, one in (sorted(group.items()) if group is not None else [])
    }
    periodic = [
        axis
        for axis in axes
        if any(kind.lower() == "periodic" and name.startswith(axis) for name, kind in kinds.items())
    ]
    return kinds, periodic
