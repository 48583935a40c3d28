"""Where something is to be written, checked before it is computed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["check_writable", "given_path", "target_path"]


def given_path(given: Any, argument: str = "path") -> Path:
    """Path that was passed.

    Parameters
    ----------
    given : str or os.PathLike
        What was passed.
    argument : str
        Its name.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    TypeError
        If it is no path.

    Examples
    --------
    >>> given_path(3)
    Traceback (most recent call last):
    ...
    TypeError: path: got int 3, wanted a path such as 'set.zarr'
    """
    if not isinstance(given, str | os.PathLike):
        raise TypeError(
            f"{argument}: got {type(given).__name__} {given!r}, wanted a path such as 'set.zarr'"
        )
    return Path(given)


def target_path(given: Any, argument: str = "store") -> Path:
    """Absolute path of a target, see `given_path`.

    Examples
    --------
    >>> target_path("set.zarr").is_absolute()
    True
    """
    return given_path(given, argument).absolute()


def check_writable(path: Path) -> None:
    """Refuse a target whose folder takes no new files.

    Parameters
    ----------
    path : Path
        What is to be written; missing folders above it count as writable, as they are made.

    Raises
    ------
    OSError
        Of the kind that the file system raises, with what to do.
    """
    folder = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not folder.is_dir():
        raise NotADirectoryError(f"{path} cannot be written: {folder} is no folder")
    try:
        # Permissions do not tell the whole truth (read-only and virtual file systems), a try does.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(
            f"{path} cannot be written, since {folder} takes no new files "
            f"({error.strerror or type(error).__name__}): choose another place, or make it writable"
        ) from error
