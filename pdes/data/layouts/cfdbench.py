"""CFDBench: folders of cases with velocity arrays (Luo et al., arXiv:2310.05963)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.layouts.labeling import cell_centers, label, selection


def read_cfdbench(
    path: str | Path, *, samples: int | slice | None = None, frame_step: float = 0.1
) -> xr.Dataset:
    """Read cases of CFDBench.

    Parameters
    ----------
    path : path
        Folder of one case (with ``u.npy``, ``v.npy`` and ``case.json``), or a folder of cases
        ``case0000``, ``case0001``, ..., such as ``cavity/bc``.
    samples : int or slice, optional
        The first so many cases, or a slice; all by default.
    frame_step : float, default 0.1
        Time between frames in seconds; one class of the cylinder cases has 0.001.

    Returns
    -------
    xarray.Dataset
        ``u`` and ``v`` over ``(sample, time, x, y)``; shorter cases end in NaN, and ``frames``
        counts those that are there. The numbers of ``case.json`` are coordinates along ``sample``.
        For cylinders, the coordinate ``inside`` over ``(sample, x, y)`` is 1 within the obstacle.

    Raises
    ------
    ReadError
        If there are no cases, or files are missing or have other shapes.
    """
    path = Path(path)
    folders = [path] if (path / "u.npy").is_file() else sorted(path.glob("case*"))
    if not folders:
        raise ReadError(f"{path} holds no u.npy and no folders case0000, ...: no cases of CFDBench")
    if not frame_step > 0.0:
        raise ReadError(f"frame_step={frame_step}: wanted a time greater than 0")
    folders = folders[selection(samples, len(folders))]
    cases = [_case(folder) for folder in folders]
    shapes = {u.shape[1:] for u, _, _ in cases}
    if len(shapes) > 1:
        raise ReadError(f"{path}: the cases have different grids {sorted(shapes)}")
    frames = np.array([len(u) for u, _, _ in cases])
    longest = int(frames.max())
    u = _stacked([case[0] for case in cases], longest)
    v = _stacked([case[1] for case in cases], longest)
    dims = ("sample", "time", "x", "y")
    x, y = cell_centers(u.shape[2]), cell_centers(u.shape[3])
    numbers = _numbers([case[2] for case in cases])
    obstacle = _cylinders([case[2] for case in cases], u.shape[2:])
    return label(
        {"u": (dims, u), "v": (dims, v)},
        {
            "time": frame_step * np.arange(u.shape[1]),
            "x": x,
            "y": y,
            "frames": (("sample",), frames),
            "case": (("sample",), np.array([folder.name for folder in folders])),
            **numbers,
            **obstacle,
        },
        path=path,
        layout="cfdbench",
        assumed=[
            f"time: a frame every {frame_step:g} s",
            "x, y: cell centers, as shares of the width and height of each case",
        ],
    )


def _case(folder: Path) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    arrays = []
    for name in ("u.npy", "v.npy"):
        try:
            values = np.load(folder / name, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ReadError(f"{folder / name} cannot be read ({error})") from error
        if values.ndim != 3:
            raise ReadError(f"{folder / name} has shape {values.shape}, wanted (time, y, x)")
        arrays.append(values.transpose(0, 2, 1))  # rows are y
    if arrays[0].shape != arrays[1].shape:
        raise ReadError(f"{folder}: u and v have shapes {arrays[0].shape} and {arrays[1].shape}")
    try:
        entries = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(f"{folder / 'case.json'} cannot be read ({error})") from error
    return arrays[0], arrays[1], entries


def _stacked(arrays: list[np.ndarray], frames: int) -> np.ndarray:
    whole = np.full((len(arrays), frames, *arrays[0].shape[1:]), np.nan, dtype=arrays[0].dtype)
    for place, values in enumerate(arrays):
        whole[place, : len(values)] = values
    return whole


def _numbers(entries: list[Mapping[str, Any]]) -> dict[str, Any]:
    names = [
        name
        for name in entries[0]
        if all(isinstance(entry.get(name), int | float) for entry in entries)
    ]
    return {
        name if name not in ("u", "v", "x", "y", "time") else f"{name}_value": (
            ("sample",),
            np.array([float(entry[name]) for entry in entries]),
        )
        for name in names
    }


def _cylinders(entries: list[Mapping[str, Any]], shape: tuple[int, ...]) -> dict[str, Any]:
    """Points within a circle around the origin, from the extents of each case."""
    needed = ("radius", "x_min", "x_max", "y_min", "y_max")
    if not all(name in entry for entry in entries for name in needed):
        return {}
    masks = []
    for entry in entries:
        x = cell_centers(shape[0], entry["x_min"], entry["x_max"])
        y = cell_centers(shape[1], entry["y_min"], entry["y_max"])
        masks.append(x[:, np.newaxis] ** 2 + y**2 < entry["radius"] ** 2)
    return {"inside": (("sample", "x", "y"), np.stack(masks).astype(np.int8))}
