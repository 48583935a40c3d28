"""One numpy array in a file, never with pickled objects."""

from __future__ import annotations

from pathlib import Path

from pdes.data.contents import Contents, Variable, is_numeric
from pdes.data.errors import ReadError
from pdes.data.formats import numpy_archive
from pdes.data.formats.numpy_stream import read_array


def load(path: Path) -> Contents:
    """Read an ``.npy`` file; coordinates may lie beside it.

    Parameters
    ----------
    path
        File written by ``numpy.save``. If ``<stem>.npz`` or ``<stem>_coords.npz`` lies beside it,
        the arrays in there are read too.

    Returns
    -------
    Contents
        The array, called ``u`` for want of a name.
    """
    with path.open("rb") as file:
        values = read_array(file, path.stat().st_size, path.name)
    if not is_numeric(values):
        raise ReadError(f"{path.name} has dtype {values.dtype}; wanted an array of numbers")
    variables = {"u": Variable(values=values)}
    assumed: tuple[str, ...] = ()
    for beside in (path.with_suffix(".npz"), path.with_name(f"{path.stem}_coords.npz")):
        if beside.is_file():
            extra = numpy_archive.load(beside).variables
            variables |= {name: value for name, value in extra.items() if name != "u"}
            assumed = (f"coordinates taken from {beside.name}, which lies beside {path.name}",)
            break
    return Contents(format="npy", variables=variables, unnamed=True, assumed=assumed)
