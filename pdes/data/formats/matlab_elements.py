"""The data elements of MATLAB 5 files, taken apart without trust in any length they give.

Source: MathWorks, *MAT-File Format*, chapter "MAT-File Level 5": every element is a tag (type,
number of bytes) and its data; a matrix is an element made of elements. The reader of scipy crashes
the interpreter on files with damaged tags, which is why it is not used here.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

import numpy as np

from pdes.data.errors import ReadError

Value = np.ndarray | list | dict | str
"""An array, the elements of a cell array, the fields of a struct, or why it was not read."""

_MATRIX, _COMPRESSED = 14, 15
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_NUMERIC = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
_CELL, _STRUCT, _OPAQUE = 1, 2, 17
_OTHER = {3: "a MATLAB object", 4: "text", 5: "a sparse matrix", 16: "a function"}
_COMPLEX, _LOGICAL = 0x0800, 0x0200


def read_variables(data: bytes) -> Iterator[tuple[str, Value]]:
    """Iterate over the variables of a MATLAB file of version 5, 6 or 7.

    Parameters
    ----------
    data
        The whole file.

    Yields
    ------
    tuple of str and Value
        Name and content of each variable.

    Raises
    ------
    ReadError
        If lengths do not agree with the bytes that there are.
    """
    order = "<" if data[126:128] == b"IM" else ">"
    for kind, body in _elements(memoryview(data)[128:], order):
        if kind == _COMPRESSED:
            unpacked = memoryview(zlib.decompress(body))
            yield from (_matrix(part, order) for kind, part in _elements(unpacked, order) if part)
        elif kind == _MATRIX and body:
            yield _matrix(body, order)


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    position = 0
    while position < len(data):
        if len(data) - position < 8:
            raise ReadError("it is truncated within the tag of an element")
        first, size = struct.unpack_from(f"{order}II", data, position)
        if first >> 16:  # a small element keeps its data, at most 4 bytes, in the tag
            kind, size, start, step = first & 0xFFFF, first >> 16, position + 4, 8
            if size > 4:
                raise ReadError(f"it is damaged: a small element of {size} bytes")
        else:
            kind, start = first, position + 8
            step = 8 + size + (0 if kind == _COMPRESSED else -size % 8)
        if kind not in _STORED and kind not in (_MATRIX, _COMPRESSED, 16, 17, 18):
            raise ReadError(f"it is damaged: no element is of type {kind}")
        if start + size > len(data):
            raise ReadError(
                f"it is truncated: an element needs {size} bytes, {len(data) - start} are there"
            )
        yield kind, data[start : start + size]
        position += step


def _matrix(body: memoryview, order: str) -> tuple[str, Value]:
    elements = _elements(body, order)
    flags = int(_numbers(next(elements, None), order)[0])
    kind = flags & 0xFF
    if kind == _OPAQUE:
        return _text(next(elements, None)), "a MATLAB object"
    shape = tuple(int(size) for size in _numbers(next(elements, None), order))
    if len(shape) < 2 or min(shape) < 0:
        raise ReadError(f"it is damaged: an array of shape {shape}")
    name = _text(next(elements, None))
    if kind in _NUMERIC:
        if flags & _LOGICAL:
            return name, "truth values"
        values = _array(next(elements, None), shape, _NUMERIC[kind], order)
        if flags & _COMPLEX:
            values = values + 1j * _array(next(elements, None), shape, _NUMERIC[kind], order)
        return name, values
    if kind == _CELL:
        # Cells lie in column order; as a list they are wanted row by row.
        parts = _nested(elements, math.prod(shape), order)
        rows = np.arange(len(parts)).reshape(shape, order="F").reshape(-1)
        return name, [parts[k] for k in rows]
    if kind == _STRUCT:
        return name, _struct(elements, shape, order)
    return name, _OTHER.get(kind, f"of the unknown class {kind}")


def _nested(elements: Iterator[tuple[int, memoryview]], count: int, order: str) -> list[Value]:
    parts: list[Value] = []
    for kind, body in elements:
        if kind != _MATRIX:
            raise ReadError(f"it is damaged: an element of type {kind} where an array is due")
        parts.append(_matrix(body, order)[1] if body else np.empty((0, 0)))
    if len(parts) != count:
        raise ReadError(f"it is damaged: {len(parts)} nested arrays, {count} announced")
    return parts


def _struct(
    elements: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], order: str
) -> Value:
    width = int(_numbers(next(elements, None), order)[0])
    names = bytes(_body(next(elements, None)))
    if width <= 0 or len(names) % width:
        raise ReadError(f"it is damaged: names of fields in pieces of {width} bytes")
    fields = [
        names[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(names), width)
    ]
    if math.prod(shape) != 1:
        return f"{math.prod(shape)} structs"
    return dict(zip(fields, _nested(elements, len(fields), order), strict=True))


def _body(element: tuple[int, memoryview] | None) -> memoryview:
    if element is None:
        raise ReadError("it is damaged: an array ends before its data")
    return element[1]


def _text(element: tuple[int, memoryview] | None) -> str:
    return bytes(_body(element)).split(b"\0")[0].decode("latin-1")


def _numbers(element: tuple[int, memoryview] | None, order: str) -> np.ndarray:
    body = _body(element)
    kind = element[0] if element is not None else 0
    if kind not in _STORED:
        raise ReadError(f"it is damaged: numbers of type {kind}")
    stored = np.dtype(order + _STORED[kind])
    if len(body) % stored.itemsize or not len(body):
        raise ReadError(f"it is damaged: {len(body)} bytes are no numbers of type {stored}")
    return np.frombuffer(body, stored)


def _array(
    element: tuple[int, memoryview] | None, shape: tuple[int, ...], kind: str, order: str
) -> np.ndarray:
    if not math.prod(shape):
        return np.empty(shape, kind)
    values = _numbers(element, order)
    if values.size != math.prod(shape):
        raise ReadError(f"it is damaged: {values.size} numbers for an array of shape {shape}")
    return values.astype(kind).reshape(shape, order="F")
