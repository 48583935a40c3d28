"""Tables as text: comma, semicolon, tab or blank separated, with or without a header line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pdes.data.contents import Contents, Variable
from pdes.data.errors import ReadError
from pdes.data.wide_table import labeled_columns

_COMMENT = ("#", "%", "//")
_MISSING = {"", "nan", "na", "n/a", "null", "none", "-"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"^(.*?\S)\s*[(\[]([^()\[\]]*)[)\]]$")


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Header cells (empty if there are none) and the matrix of numbers below them."""

    header: tuple[str, ...]
    numbers: np.ndarray
    assumed: tuple[str, ...]


def load(path: Path) -> Contents:
    """Read a table.

    Two forms are known by their header line. Long: one column per axis and field, one row per grid
    point (``t,x,u``). Wide: the first columns are axes, the heads of the others are the values of
    the remaining one (``x,0.0,0.1,0.2`` or ``x, u @ t=0, u @ t=0.1``). Without a header the table
    is taken as one array.

    Parameters
    ----------
    path
        A text file. Lines that begin with ``#`` or ``%`` are comments; the last of them before the
        numbers is the header if it has as many cells as the rows.

    Returns
    -------
    Contents
        One vector per column for the long form, arrays over named axes for the wide form.

    Raises
    ------
    ReadError
        If rows differ in length, or a cell is not a number.
    """
    table = _parse(path.read_bytes(), path.name)
    if not table.header:
        variables = {"u": Variable(values=table.numbers)}
        return Contents(format="text", variables=variables, unnamed=True, assumed=table.assumed)
    wide = labeled_columns(table.header, table.numbers)
    if wide is not None:
        variables, sentences = wide
        assumed = (*table.assumed, *sentences)
        return Contents(format="text", variables=variables, assumed=assumed)
    variables = {}
    for label, values in zip(table.header, table.numbers.T, strict=True):
        match = _UNIT.match(label)
        name, attrs = (match[1], {"units": match[2]}) if match else (label, {})
        if name in variables:
            raise ReadError(f"{path.name} has two columns called {name!r}: rename one")
        variables[name] = Variable(values=values, attrs=attrs)
    return Contents(format="text", variables=variables, assumed=table.assumed)


def _parse(data: bytes, name: str) -> _Table:
    lines = [(k, line) for k, line in enumerate(_decode(data).splitlines(), 1) if line.strip()]
    comments = [line for _, line in lines if line.lstrip().startswith(_COMMENT)]
    rows = [(k, line) for k, line in lines if not line.lstrip().startswith(_COMMENT)]
    if not rows:
        raise ReadError(f"{name} is a text file without numbers")
    separator = _separator(rows[-1][1])
    cells = [(k, _split(line, separator)) for k, line in rows]
    decimal_comma = separator == ";" and any(
        _DECIMAL_COMMA.fullmatch(cell) for _, row in cells for cell in row
    )
    assumed = ("decimal commas read as points",) if decimal_comma else ()
    if decimal_comma:
        cells = [
            (k, [c.replace(",", ".") if _DECIMAL_COMMA.fullmatch(c) else c for c in row])
            for k, row in cells
        ]
    header: list[str] = []
    if not all(_is_number(cell) for cell in cells[0][1]):
        header = cells.pop(0)[1]
    if not cells:
        raise ReadError(f"{name} has a header line but no rows of numbers")
    if not header and comments:
        header = _header_from_comment(comments[-1], separator, len(cells[0][1]))
    width = len(header) or len(cells[0][1])
    if header and all(len(row) == width + 1 and not row[-1] for _, row in cells):
        cells = [(k, row[:-1]) for k, row in cells]  # each row ends in a separator
    numbers = np.empty((len(cells), width))
    for i, (k, row) in enumerate(cells):
        values = [_number(cell, name, k, j) for j, cell in enumerate(row, 1)]
        if len(row) != width:
            raise ReadError(
                f"{name}, line {k}: {len(row)} cells, wanted {width} as in the lines before. If it "
                "is the last line, the file is truncated"
            )
        numbers[i] = values
    return _Table(header=tuple(header), numbers=numbers, assumed=assumed)


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _separator(line: str) -> str | None:
    return next((mark for mark in (";", "\t", ",") if mark in line.strip()), None)


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [cell.strip().strip('"').strip() for cell in line.rstrip("\r\n").split(separator)]


def _header_from_comment(comment: str, separator: str | None, width: int) -> list[str]:
    text = comment.lstrip().lstrip("#%/").strip()
    # Heads of columns may contain single blanks; columns are then set apart by several.
    for cells in (_split(text, separator), re.split(r"\s{2,}|\t", text)):
        if len(cells) == width:
            return cells
    return []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, name: str, line: int, column: int) -> float:
    if cell.lower() in _MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError as error:
        raise ReadError(
            f"{name}, line {line}, column {column}: {cell[:40]!r} is not a number; wanted a table "
            "of numbers below at most one header line, such as t,x,u. Use nan for missing values"
        ) from error
