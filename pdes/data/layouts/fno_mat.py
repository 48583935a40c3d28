"""MATLAB files published with the Fourier neural operator (Li et al., arXiv:2010.08895)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import ReadError
from pdes.data.layouts.labeling import hdf5, label, part, selection
from pdes.data.signature import identify

_KNOWN = {"burgers": ("a", "u"), "darcy": ("coeff", "sol"), "navier_stokes": ("a", "u", "t")}


def read_fno_mat(
    path: str | Path, *, samples: int | slice | None = None, final_time: float = 1.0
) -> xr.Dataset:
    """Read Burgers, Darcy or Navier-Stokes data of the Fourier neural operator.

    Parameters
    ----------
    path : path
        MATLAB file, of version 5 or 7.3: told apart by its first bytes.
    samples : int or slice, optional
        The first so many, or a slice; all by default.
    final_time : float, default 1
        Time of the output of Burgers' equation, which the file does not hold.

    Returns
    -------
    xarray.Dataset
        Burgers: ``u`` over ``(sample, time, x)`` with the input at time 0. Darcy: ``a`` and ``u``
        over ``(sample, x, y)``. Navier-Stokes: vorticity ``w`` over ``(sample, time, x, y)`` with
        the input at time 0.

    Raises
    ------
    ReadError
        If the file holds other variables.
    """
    path = Path(path)
    found = identify(path)
    if found == "mat":
        values = _version_5(path, samples)
    elif found in ("mat-7.3", "hdf5"):
        values = _version_73(path, samples)
    else:
        raise ReadError(f"{path.name} is {found}, wanted a MATLAB file")
    if "coeff" in values:
        return _darcy(path, values)
    if values["u"].ndim == values["a"].ndim + 1:
        return _navier_stokes(path, values)
    return _burgers(path, values, final_time)


def _wanted(path: Path, names: Any) -> tuple[str, ...]:
    held = set(names)
    for needed in sorted(_KNOWN.values(), key=len, reverse=True):
        if set(needed) <= held:
            return needed
    raise ReadError(
        f"{path.name} holds {sorted(n for n in held if not n.startswith(('_', '#')))}: wanted "
        "a and u, coeff and sol, or a, u and t"
    )


def _version_5(path: Path, samples: Any) -> dict[str, np.ndarray]:
    from scipy.io import loadmat, whosmat

    try:
        names = _wanted(path, [name for name, _, _ in whosmat(str(path))])
        held = loadmat(str(path), variable_names=list(names))
    except ReadError:
        raise
    except Exception as error:
        # A damaged file can make the reader fail in any way.
        raise ReadError(f"{path.name} is a damaged MATLAB file ({error})") from error
    chosen = selection(samples, len(held[names[0]]))
    return {n: held[n].reshape(-1) if n == "t" else held[n][chosen] for n in names}


def _version_73(path: Path, samples: Any) -> dict[str, np.ndarray]:
    with hdf5(path, "the Fourier neural operator") as file:
        names = _wanted(path, list(file))
        # MATLAB counts the first axis fastest: everything is stored the other way round.
        chosen = selection(samples, file[names[0]].shape[-1])
        return {
            n: file[n][()].reshape(-1) if n == "t" else part(file[n], (..., chosen)).T
            for n in names
        }


def _burgers(path: Path, values: Mapping[str, np.ndarray], final_time: float) -> xr.Dataset:
    u = np.stack((values["a"], values["u"]), axis=1)
    return label(
        {"u": (("sample", "time", "x"), u)},
        {"time": np.array([0.0, final_time]), "x": np.arange(u.shape[-1]) / u.shape[-1]},
        path=path,
        layout="fno_mat",
        assumed=[
            f"time: input at 0, output at {final_time:g}",
            "x: periodic on the unit interval, end left out",
        ],
        periodic=("x",),
    )


def _darcy(path: Path, values: Mapping[str, np.ndarray]) -> xr.Dataset:
    dims, a = ("sample", "x", "y"), values["coeff"]
    x, y = (np.linspace(0.0, 1.0, size) for size in a.shape[1:])
    return label(
        {"a": (dims, a), "u": (dims, values["sol"])},
        {"x": x, "y": y},
        path=path,
        layout="fno_mat",
        assumed=["x, y: nodes of the unit square, both ends included"],
    )


def _navier_stokes(path: Path, values: Mapping[str, np.ndarray]) -> xr.Dataset:
    w = np.concatenate((values["a"][..., np.newaxis], values["u"]), axis=-1)
    size_x, size_y = w.shape[1:3]
    return label(
        {"w": (("sample", "time", "x", "y"), np.moveaxis(w, -1, 1))},
        {
            "time": np.concatenate(([0.0], values["t"])),
            "x": np.arange(size_x) / size_x,
            "y": np.arange(size_y) / size_y,
        },
        path=path,
        layout="fno_mat",
        assumed=["input at time 0", "x, y: periodic on the unit square, ends left out"],
        periodic=("x", "y"),
    )
