"""Cell arrays: one variable that holds several axes, or several fields."""

from __future__ import annotations

from dataclasses import replace

from pdes.data.axes import is_vector
from pdes.data.contents import Contents, Variable
from pdes.data.names import SPACE

FIELD_NAMES = ("u", "v", "w")
"""Names of two or three fields that were kept in one cell array called ``U``."""


def expand_cells(contents: Contents) -> Contents:
    """Turn cell arrays into named variables.

    A cell array of vectors holds the axes: space first, time last. A cell array of equally shaped
    arrays holds the fields of one system: a single one keeps its name (lower case if it is one
    letter), two or three under the name ``U`` are called ``u, v, w``, others ``name_1``,
    ``name_2`` and so on.

    Parameters
    ----------
    contents
        As a format reader hands it over.

    Returns
    -------
    Contents
        Without cells; the fields of each are remembered as a group.

    Examples
    --------
    >>> import numpy as np
    >>> cells = {"U": (np.ones((3, 2)), np.zeros((3, 2))), "xs": (np.arange(3.0), np.arange(2.0))}
    >>> found = expand_cells(Contents(format="mat", variables={}, cells=cells))
    >>> list(found.variables), found.groups
    (['u', 'v', 'x', 't'], {'U': ('u', 'v')})
    """
    variables = dict(contents.variables)
    groups = dict(contents.groups)
    refused = dict(contents.refused)
    assumed = list(contents.assumed)
    for name, parts in contents.cells.items():
        if all(is_vector(part) for part in parts) and len(parts) <= len(SPACE) + 1:
            # In the literature space comes first in such a list, as it does in the array.
            names = (*SPACE[: len(parts) - 1], "t") if len(parts) > 1 else (name,)
            if any(axis in variables for axis in names):
                refused[name] = "a cell array of axes beside variables of the same names"
                continue
            if len(parts) > 1:
                assumed.append(f"{name}: cell array of axes, read in the order {', '.join(names)}")
        elif parts[0].size > 1 and len({part.shape for part in parts}) == 1:
            names = _field_names(name.rsplit("/", 1)[-1], len(parts), variables)
            groups[name] = names
        else:
            refused[name] = "a cell array of arrays of different shapes"
            continue
        variables |= {key: Variable(values=part) for key, part in zip(names, parts, strict=True)}
    return replace(
        contents,
        variables=variables,
        cells={},
        groups=groups,
        refused=refused,
        assumed=tuple(assumed),
    )


def _field_names(name: str, count: int, taken: dict[str, Variable]) -> tuple[str, ...]:
    if count == 1:
        names: tuple[str, ...] = (name.lower() if len(name) == 1 else name,)
    elif name.lower() == "u" and count <= len(FIELD_NAMES):
        names = FIELD_NAMES[:count]
    else:
        names = tuple(f"{name}_{k}" for k in range(1, count + 1))
    return tuple(f"{name}_{k}" for k in range(1, count + 1)) if set(names) & set(taken) else names
