"""Tables whose column heads are values of an axis."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pdes.data.contents import Variable
from pdes.data.names import canonical_axis
from pdes.data.table import pivot

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_HEAD = re.compile(rf"^(?:(\w+)[^@]*@\s*)?(?:([A-Za-z]\w*)\s*=\s*)?({_NUMBER})$")
_CORNER = re.compile(r"^\s*(\w+)\s*[\\/|]\s*(\w+)\s*$")


def labeled_columns(
    header: Sequence[str], numbers: np.ndarray
) -> tuple[dict[str, Variable], list[str]] | None:
    r"""Arrange a table in the wide form.

    Parameters
    ----------
    header
        Head of every column. The first are names of axes; all others end in the value of one more
        axis: ``0.1``, ``t=0.1`` or ``u @ t=0.1``. The corner may name both axes, ``x\t``.
    numbers
        Body of the table, shape (rows, columns).

    Returns
    -------
    tuple or None
        Variables and sentences on what was assumed; None if the table is not in this form.

    Examples
    --------
    >>> table, assumed = labeled_columns(["x", "0.0", "0.5"], np.array([[1, 3, 4], [2, 5, 6.0]]))
    >>> table["u"].values.tolist(), table["u"].dims, table["time"].values.tolist()
    ([[3.0, 4.0], [5.0, 6.0]], ('x', 'time'), [0.0, 0.5])
    >>> assumed
    ['column heads taken as values of the axis time']
    """
    heads = [_HEAD.match(label.strip()) for label in header]
    count = next((k for k, head in enumerate(heads) if head is not None), len(heads))
    if count == 0 or count == len(heads) or any(head is None for head in heads[count:]):
        return None
    columns = [head for head in heads[count:] if head is not None]
    named = {head[2] for head in columns}
    corner = _CORNER.match(header[0]) if count == 1 else None
    rows = [corner[1]] if corner else list(header[:count])
    axes = [canonical_axis(_without_unit(name)) for name in rows]
    label = next(iter(named)) or (corner[2] if corner else None)
    across = canonical_axis(label) if label else None
    if len(named) > 1 or (label and across is None):
        return None
    sentences = []
    if across is None and None not in axes:
        across = "x" if axes == ["time"] else "time"
        sentences.append(f"column heads taken as values of the axis {across}")
    # Unknown names stay, so that the caller can be asked for the order of the axes.
    row_axes = [axis or name or "rows" for axis, name in zip(axes, rows, strict=True)]
    variables: dict[str, Variable] = {}
    for field in dict.fromkeys(head[1] or "u" for head in columns):
        chosen = [k for k, head in enumerate(columns) if (head[1] or "u") == field]
        values = np.array([float(columns[k][3]) for k in chosen])
        body = numbers[:, [count + k for k in chosen]]
        lines = {name: np.repeat(numbers[:, k], values.size) for k, name in enumerate(row_axes)} | {
            across or "columns": np.tile(values, len(numbers))
        }
        variables |= pivot(lines, {field: body.reshape(-1)})
    for name, k in zip(row_axes, range(count), strict=True):
        if np.any(np.diff(numbers[:, k]) < 0):
            sentences.append(f"rows sorted by {name}")
    return variables, sentences


def _without_unit(label: str) -> str:
    return re.sub(r"\s*[(\[].*$", "", label).strip()
