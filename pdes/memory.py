"""How much memory a computation wants, and whether this machine has it: said before it starts."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["check_memory", "machine_memory", "size_text", "trajectory_bytes"]

WORKING_COPIES = 12
"""Arrays of the size of the state that a solver in time keeps beside its results, about."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size: float) -> str:
    """A number of bytes in a unit that suits it.

    Examples
    --------
    >>> size_text(700), size_text(3.2e6), size_text(8e12)
    ('700 bytes', '3.1 MiB', '7.3 TiB')
    """
    place = 0
    while size >= 1024.0 and place < len(_UNITS) - 1:
        size, place = size / 1024.0, place + 1
    return f"{size:.0f} {_UNITS[place]}" if place == 0 else f"{size:,.1f} {_UNITS[place]}"


def machine_memory() -> int | None:
    """Bytes of memory of this machine, or of the container; None where it cannot be told."""
    found = []
    # There is no sysconf on Windows.
    with contextlib.suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError):
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        found += [int(limit)] if limit.isdigit() else []
    return min(found, default=None)


def free_memory() -> int | None:
    """Bytes that a process could still have; None where it cannot be told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    told = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(told[0]) * 1024 if told else None


def check_memory(wanted: float, what: str, remedy: str) -> None:
    """Refuse what cannot fit into the memory of this machine, and warn where it hardly can.

    Parameters
    ----------
    wanted : float
        Bytes, estimated.
    what : str
        What needs them: the numbers that make the size.
    remedy : str
        What would make it smaller.

    Raises
    ------
    ValueError
        If the machine has less memory than that.

    Examples
    --------
    >>> check_memory(1e18, "10**15 points", "take fewer")
    Traceback (most recent call last):
    ...
    ValueError: 10**15 points: needs about 888.2 PiB of memory, this machine has ...: take fewer
    """
    total, free = machine_memory(), free_memory()
    if total is not None and wanted > total:
        raise ValueError(
            f"{what}: needs about {size_text(wanted)} of memory, this machine has "
            f"{size_text(total)}: {remedy}"
        )
    if free is not None and wanted > free:
        warnings.warn(
            f"{what}: needs about {size_text(wanted)} of memory, {size_text(free)} are free: "
            f"{remedy}",
            ResourceWarning,
            stacklevel=3,
        )


def trajectory_bytes(
    equation: Any,
    points: Sequence[int],
    stored: Sequence[int],
    times: int,
    samples: int,
    itemsize: int = 8,
) -> tuple[float, float]:
    """Size of trajectories of a problem, and of what a solver keeps while it computes them.

    Parameters
    ----------
    equation : Equation
        Says how many fields there are, and which are complex.
    points, stored : sequence of int
        Points along each axis that are computed and kept.
    times, samples : int
        Output times and trajectories.
    itemsize : {4, 8}
        Bytes of a real number.

    Returns
    -------
    tuple of float
        Bytes of the result and of the working arrays.

    Examples
    --------
    >>> import pdes
    >>> trajectory_bytes(pdes.get("heat").equation, [256], [128], 101, 10)
    (1034240.0, 245760.0)
    """
    complex_ones = len(set(equation.complex_fields) & set(equation.fields))
    width = float(itemsize * (len(equation.fields) + complex_ones)) * samples
    return (
        width * times * math.prod(map(float, stored)),
        width * WORKING_COPIES * math.prod(map(float, points)),
    )
