"""PDEBench: HDF5 files of five kinds (Takamoto et al., arXiv:2210.07182).

Only the arrangement of the files is known here; their license restricts commercial use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.layouts.labeling import (
    cell_centers,
    check_fits,
    hdf5,
    label,
    number,
    part,
    selection,
)

_LAYOUT = "pdebench"
_AXES = ("x", "y", "z")
_COMPRESSIBLE = ("density", "pressure", "Vx", "Vy", "Vz")


def read_pdebench(
    path: str | Path,
    *,
    samples: int | slice | None = None,
    fields: Sequence[str] = ("u", "v", "w"),
    periodic: Sequence[str] = (),
) -> xr.Dataset:
    """Read a file of PDEBench.

    Parameters
    ----------
    path : path
        One dimensional advection, Burgers and the like (``tensor``), Darcy flow (``tensor`` and
        ``nu``), compressible flow (``density``, ``Vx``, ...), one group for each sample
        (reaction-diffusion, sorption, shallow water) or incompressible flow (``velocity``).
    samples : int or slice, optional
        The first so many, or a slice; all by default. Nothing else is read.
    fields : sequence of str
        Names of the channels where the file has none.
    periodic : sequence of str
        Axes to mark as periodic; the files do not say.

    Returns
    -------
    xarray.Dataset
        Over ``(sample, time, x[, y[, z]])``; Darcy flow has ``a`` and ``u`` without time.

    Raises
    ------
    ReadError
        If the file is none of these.
    """
    path = Path(path)
    with hdf5(path, "PDEBench") as file:
        if "tensor" in file and "nu" in file:
            parts = _darcy(file, samples)
        elif "tensor" in file:
            parts = _tensor(file, samples)
        elif "density" in file:
            parts = _compressible(file, samples)
        elif "velocity" in file:
            parts = _incompressible(file, samples)
        elif (groups := sorted(name for name in file if name.isdigit())) and "data" in file[
            groups[0]
        ]:
            parts = _groups(file, groups, samples, fields)
        else:
            raise ReadError(
                f"{path.name} holds {sorted(file)}: no file of PDEBench, which has 'tensor', "
                "'density', 'velocity' or groups '0000', '0001', ..."
            )
    return label(**parts, path=path, layout=_LAYOUT, periodic=periodic)


def _parameters(file: Any, assumed: list[str]) -> dict[str, Any]:
    found = {key: number(value) for key, value in file.attrs.items()}
    kept = {key: v for key, v in found.items() if isinstance(v, int | float | str)}
    if "Nu" in kept and "rho" not in kept:
        kept["viscosity"] = float(kept["Nu"]) / math.pi
        assumed.append("Burgers' equation: viscosity is Nu/pi")
    return kept


def _space(
    file: Any, shape: Sequence[int], assumed: list[str], pattern: str = "{}-coordinate"
) -> dict[str, np.ndarray]:
    found = {}
    for axis, size in zip(_AXES, shape, strict=False):
        name = pattern.format(axis)
        if name in file:
            found[axis] = file[name][()]
        else:
            assumed.append(f"{axis}: cell centers of the unit interval")
            found[axis] = cell_centers(size)
    return found


def _time(values: np.ndarray, frames: int, assumed: list[str]) -> np.ndarray:
    if len(values) == frames + 1:
        assumed.append("time: the last entry has no frame, dropped")
        return values[:-1]
    return values


def _tensor(file: Any, samples: Any) -> dict[str, Any]:
    assumed: list[str] = []
    chosen = selection(samples, len(file["tensor"]))
    values = part(file["tensor"], chosen)
    axes = _AXES[: values.ndim - 2]
    coords: dict[str, Any] = _space(file, values.shape[2:], assumed)
    coords["time"] = _time(file["t-coordinate"][()], values.shape[1], assumed)
    return {
        "fields": {"u": (("sample", "time", *axes), values)},
        "coords": coords,
        "parameters": _parameters(file, assumed),
        "assumed": assumed,
    }


def _darcy(file: Any, samples: Any) -> dict[str, Any]:
    assumed: list[str] = []
    chosen = selection(samples, len(file["tensor"]))
    solution, coefficient = part(file["tensor"], chosen), part(file["nu"], chosen)
    dims = ("sample", "x", "y")
    return {
        "fields": {"a": (dims, coefficient), "u": (dims, solution[:, 0])},
        "coords": _space(file, coefficient.shape[1:], assumed),
        "parameters": _parameters(file, assumed),
        "assumed": assumed,
    }


def _compressible(file: Any, samples: Any) -> dict[str, Any]:
    assumed: list[str] = []
    chosen = selection(samples, len(file["density"]))
    held = [name for name in _COMPRESSIBLE if name in file]
    values = {name: part(file[name], chosen, arrays=len(held)) for name in held}
    shape = values["density"].shape
    dims = ("sample", "time", *_AXES[: len(shape) - 2])
    coords: dict[str, Any] = _space(file, shape[2:], assumed)
    coords["time"] = _time(file["t-coordinate"][()], shape[1], assumed)
    return {
        "fields": {name: (dims, array) for name, array in values.items()},
        "coords": coords,
        "parameters": _parameters(file, assumed),
        "assumed": assumed,
    }


def _groups(
    file: Any, groups: Sequence[str], samples: Any, fields: Sequence[str]
) -> dict[str, Any]:
    chosen = list(groups)[selection(samples, len(groups))]
    first = file[chosen[0]]
    data = first["data"]
    check_fits(float(data.size) * data.dtype.itemsize * len(chosen), len(chosen))
    values = np.stack([file[name]["data"][()] for name in chosen])
    channels, axes = values.shape[-1], _AXES[: values.ndim - 3]
    if channels > len(fields):
        raise ReadError(f"{channels} channels but {len(fields)} names: give fields=(...)")
    dims = ("sample", "time", *axes)
    config = number(first.attrs.get("config", file.attrs.get("config", "")))
    return {
        "fields": {fields[k]: (dims, values[..., k]) for k in range(channels)},
        "coords": {axis: first["grid"][axis][()] for axis in axes}
        | {"time": first["grid"]["t"][()]},
        "attrs": {"config": config},
        "assumed": [f"channels called {', '.join(fields[:channels])}", "grid of the first sample"],
    }


def _incompressible(file: Any, samples: Any) -> dict[str, Any]:
    chosen = selection(samples, len(file["velocity"]))
    velocity, times = part(file["velocity"], chosen), file["t"][chosen]
    if not np.all(times == times[0]):
        raise ReadError("the samples have different times: read them one by one with samples=")
    dims, still = ("sample", "time", "x", "y"), ("sample", "x", "y")
    fields = {"u": (dims, velocity[..., 0]), "v": (dims, velocity[..., 1])}
    if "particles" in file:
        fields["particles"] = (dims, part(file["particles"], chosen)[..., 0])
    if "force" in file:
        force = file["force"][chosen]
        fields |= {"force_x": (still, force[..., 0]), "force_y": (still, force[..., 1])}
    coords = {axis: cell_centers(n) for axis, n in zip("xy", velocity.shape[2:4], strict=True)}
    return {
        "fields": fields,
        "coords": {**coords, "time": times[0]},
        "assumed": ["x, y: cell centers of the unit interval"],
    }
