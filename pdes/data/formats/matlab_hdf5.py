"""MATLAB files of version 7.3, which are HDF5 with the axes in reversed order."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from pdes.data.contents import Contents, Variable, is_numeric


def load(path: Path) -> Contents:
    """Read numeric arrays, cell arrays of them, and the fields of structs.

    Parameters
    ----------
    path
        A ``.mat`` file written with ``save(..., '-v7.3')``.

    Returns
    -------
    Contents
        Axes in MATLAB's order. A struct field is called ``struct/field``.
    """
    variables: dict[str, Variable] = {}
    cells: dict[str, tuple[np.ndarray, ...]] = {}
    refused: dict[str, str] = {}

    def visit(name: str, item: h5py.Dataset | h5py.Group) -> None:
        # '#refs#' holds the elements of cell arrays, '#subsystem#' those of MATLAB objects.
        if not isinstance(name, str) or not isinstance(item, h5py.Dataset) or name.startswith("#"):
            return
        kind = _kind(item)
        if kind == "cell":
            parts = [_elements(item.file[reference]) for reference in item[()].T.reshape(-1)]
            if parts and all(part is not None for part in parts):
                cells[name] = tuple(part for part in parts if part is not None)
            else:
                refused[name] = "a cell array that holds more than arrays of numbers"
            return
        values = _elements(item)
        if values is None:
            refused[name] = f"of MATLAB class {kind}" if kind else f"dtype {item.dtype}"
        else:
            variables[name] = Variable(values=values)

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return Contents(format="mat-7.3", variables=variables, cells=cells, refused=refused)


def _kind(item: h5py.Dataset) -> str:
    kind = item.attrs.get("MATLAB_class", b"")
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _elements(item: h5py.Dataset | h5py.Group | h5py.Datatype) -> np.ndarray | None:
    if not isinstance(item, h5py.Dataset) or _kind(item) in ("char", "cell", "logical"):
        return None
    if item.attrs.get("MATLAB_empty", 0) or "MATLAB_sparse" in item.attrs:
        return None
    values = np.asarray(item[()])
    if values.dtype.names == ("real", "imag"):
        values = values["real"] + 1j * values["imag"]
    return values.T if is_numeric(values) else None
