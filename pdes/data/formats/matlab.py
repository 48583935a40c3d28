"""MATLAB files of the versions 5 to 7."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pdes.data.contents import Contents, Variable
from pdes.data.formats.matlab_elements import Value, read_variables


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
    variables: dict[str, Variable] = {}
    cells: dict[str, tuple[np.ndarray, ...]] = {}
    refused: dict[str, str] = {}

    def add(name: str, value: Value) -> None:
        if isinstance(value, dict):
            for part, content in value.items():
                add(f"{name}/{part}", content)
        elif isinstance(value, np.ndarray):
            variables[name] = Variable(values=value)
        elif isinstance(value, str):
            refused[name] = value
        elif value and all(isinstance(part, np.ndarray) for part in value):
            cells[name] = tuple(value)
        else:
            refused[name] = "a cell array that holds more than arrays of numbers"

    for name, value in read_variables(path.read_bytes()):
        if name:  # MATLAB keeps data of its own in a variable without name
            add(name, value)
    return Contents(format="mat", variables=variables, cells=cells, refused=refused)
