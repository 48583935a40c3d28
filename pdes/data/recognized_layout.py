"""Telling which published layout a file has, when it cannot be read as a plain recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["layout_hint"]


def layout_hint(path: Path) -> str:
    """What reads a file that looks like one of a published collection; "" if it looks like none.

    Only names are looked at, no values.

    Parameters
    ----------
    path : Path
        File or folder.

    Returns
    -------
    str
        A sentence with the call.

    Examples
    --------
    >>> layout_hint(Path("nowhere.hdf5"))
    ''
    """
    if path.is_dir() or path.suffix == ".npy":
        return _cfdbench(path)
    if path.suffix in (".pt", ".pth"):
        # pdes is used without torch: what reads these files lives in the other package.
        return (
            "It looks like tensors of torch, as published with the Fourier neural operator: "
            f"sciml.fno_pt.read_fno_pt({path.name!r}) reads that layout"
        )
    if path.suffix == ".mat":
        return _say("MATLAB files of the Fourier neural operator", "read_fno_mat", path)
    try:
        import h5py

        with h5py.File(path, "r") as file:
            names, attrs = set(file), set(file.attrs)
            parts: list[Any] = [file[name] for name in names if name.isdigit()]
            grouped = any(isinstance(part, h5py.Group) and "data" in part for part in parts)
    except (OSError, ImportError):
        return ""
    if {"dimensions", "t0_fields"} <= names or {"n_trajectories", "dataset_name"} <= attrs:
        return _say("The Well", "read_the_well", path)
    fields = {"velocity", "particles"} <= names or {"density", "pressure", "Vx"} <= names
    if "tensor" in names or grouped or fields:
        return _say("PDEBench", "read_pdebench", path)
    if {"a", "u"} <= names or {"coeff", "sol"} <= names:
        return _say("MATLAB files of the Fourier neural operator", "read_fno_mat", path)
    return ""


def _cfdbench(path: Path) -> str:
    """Cases of CFDBench are folders with ``u.npy``, ``v.npy`` and ``case.json``."""
    folder = path if path.is_dir() else path.parent
    case = (folder / "u.npy").exists() and (folder / "v.npy").exists()
    cases = path.is_dir() and any(path.glob("case*/u.npy"))
    return _say("CFDBench", "read_cfdbench", folder) if case or cases else ""


def _say(collection: str, reader: str, path: Path) -> str:
    return (
        f"It looks like {collection}: pdes.data.layouts.{reader}({path.name!r}) reads that layout"
    )
