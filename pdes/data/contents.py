"""What a format reader hands over: named arrays, before anything is known about their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One stored array.

    Parameters
    ----------
    values
        Numbers of any shape.
    dims
        Names of the array axes where the format stores them.
    attrs
        Attributes stored with the array, such as ``units``.
    """

    values: np.ndarray
    dims: tuple[str, ...] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Everything numeric in a file.

    Parameters
    ----------
    format
        Name of the format that was found.
    variables
        Arrays of numbers by name.
    cells
        Lists of arrays by name (cell arrays of MATLAB).
    groups
        Names of variables that belong together, by the name under which the file keeps them.
    refused
        Variables that were left aside, with the reason.
    assumed
        Sentences on what had to be assumed while reading.
    attrs
        Attributes of the whole file.
    unnamed
        Whether the single array of the file has no name of its own.
    """

    format: str
    variables: Mapping[str, Variable]
    cells: Mapping[str, tuple[np.ndarray, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    unnamed: bool = False

    def listing(self) -> str:
        """Phrase names and shapes of all variables, and what was refused, for a message."""
        parts = [f"{name} {variable.values.shape}" for name, variable in self.variables.items()]
        parts += [f"{name} (not read: {reason})" for name, reason in self.refused.items()]
        return ", ".join(parts) if parts else "nothing"


def is_numeric(values: np.ndarray) -> bool:
    """Whether an array holds real or complex numbers.

    Examples
    --------
    >>> is_numeric(np.array([1, 2])), is_numeric(np.array(["a"])), is_numeric(np.array([True]))
    (True, False, False)
    """
    return values.dtype.kind in "iufc"
