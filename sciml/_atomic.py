"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write ``content`` to ``path`` so that no reader ever sees half of it.

    The bytes go to a temporary file in the same folder, which then takes the place of ``path`` in
    one step. Missing parent folders are made. If writing fails, what stood at ``path`` stands
    unchanged.

    Parameters
    ----------
    path
        Where to write. An existing file is replaced.
    content
        Text, written as UTF-8 with its line ends as they are, or bytes.

    Returns
    -------
    pathlib.Path
        ``path``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     write(Path(scratch) / "deep" / "note.txt", "whole").read_text()
    'whole'
    """
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(
        prefix=f".{target.name}-", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
