"""One array in numpy's own encoding, checked before memory is set aside for it."""

from __future__ import annotations

import math
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from pdes.data.errors import ReadError

_HEADER_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_array(file: BinaryIO, size: int, name: str) -> np.ndarray:
    """Read one array after checking what its header promises.

    Parameters
    ----------
    file
        Open at the start of the array.
    size
        Bytes that there are, header included.
    name
        Name of the file or entry, for messages.

    Returns
    -------
    numpy.ndarray
        The array.

    Raises
    ------
    ReadError
        If it holds Python objects, or fewer bytes than its header promises.
    """
    start = file.tell()
    version = npy.read_magic(file)
    if version in _HEADER_READERS:
        shape, _, dtype = _HEADER_READERS[version](file)
        if dtype.hasobject:
            raise ReadError(
                f"{name} holds Python objects, and reading them could run any code: save it again "
                "as arrays of numbers, e.g. numpy.savez('data.npz', u=u.astype(float), x=x, t=t)"
            )
        promised = math.prod(shape) * dtype.itemsize
        present = size - (file.tell() - start)
        # Checked first, since numpy would allocate whatever a damaged header asks for.
        if present < promised:
            raise ReadError(
                f"{name} is truncated: shape {shape} of {dtype} needs {promised} bytes, "
                f"{present} are there; copy or write it again"
            )
    file.seek(start)
    return npy.read_array(file, allow_pickle=False)
