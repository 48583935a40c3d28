"""Random initial weights from a seed, without a trace in the global generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["seeded"]


@contextlib.contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Draw from ``seed`` inside and leave torch's global generator as it was.

    Without a seed the global generator is used, as torch's own layers do.

    Examples
    --------
    >>> import torch
    >>> with seeded(3):
    ...     first = torch.rand(2)
    >>> with seeded(3):
    ...     bool((torch.rand(2) == first).all())
    True
    """
    if seed is None:
        yield
        return
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
