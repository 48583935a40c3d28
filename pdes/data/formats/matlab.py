"""MATLAB files up to version 7, through scipy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from pdes.data.contents import Contents, Variable, is_numeric


def load(path: Path) -> Contents:
    """Read numeric arrays, cell arrays of them, and the fields of structs.

    Parameters
    ----------
    path
        A ``.mat`` file of version 5, 6 or 7.

    Returns
    -------
    Contents
        A struct field is called ``struct/field``. Sparse matrices, strings and structs with more
        than one element are refused.
    """
    stored = scipy.io.loadmat(str(path), appendmat=False)
    variables: dict[str, Variable] = {}
    cells: dict[str, tuple[np.ndarray, ...]] = {}
    refused: dict[str, str] = {}
    pending = {name: value for name, value in stored.items() if not name.startswith("__")}
    while pending:
        name, value = pending.popitem()
        if not isinstance(value, np.ndarray):
            refused[name] = f"a {type(value).__name__}"
        elif value.dtype.names is not None:
            if value.size == 1:
                pending |= {f"{name}/{part}": value[part].flat[0] for part in value.dtype.names}
            else:
                refused[name] = f"{value.size} structs"
        elif value.dtype == object:
            _add_cell(name, value, cells, refused)
        elif is_numeric(value):
            variables[name] = Variable(values=value)
        else:
            refused[name] = f"dtype {value.dtype}"
    return Contents(
        format="mat",
        variables=dict(sorted(variables.items())),
        cells=dict(sorted(cells.items())),
        refused=refused,
    )


def _add_cell(name: str, value: Any, cells: dict, refused: dict) -> None:
    parts = tuple(value.reshape(-1))
    if parts and all(isinstance(part, np.ndarray) and is_numeric(part) for part in parts):
        cells[name] = parts
    else:
        refused[name] = "a cell array that holds more than arrays of numbers"
