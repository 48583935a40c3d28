"""Random numbers of a run: apart from the caller's, and part of every checkpoint."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


def derived_seed(seed: int, *key: int) -> int:
    """Seed that depends on a root seed and on numbers such as a step, and looks like neither.

    Parameters
    ----------
    seed : int
        Root, not negative.
    *key : int
        What the numbers are for, such as a stream and a step.

    Returns
    -------
    int
        Between 0 and 2**63 - 1.

    Examples
    --------
    >>> derived_seed(0, 1) == derived_seed(0, 1), derived_seed(0, 1) == derived_seed(0, 2)
    (True, False)
    """
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def generator(seed: int, *key: int) -> torch.Generator:
    """Generator on the CPU, seeded by `derived_seed`."""
    return torch.Generator().manual_seed(derived_seed(seed, *key))


@contextlib.contextmanager
def own_random_numbers(seed: int, device: torch.device, rank: int = 0) -> Iterator[None]:
    """Seed what dropout and a loss may draw from, and give the caller's state back at the end.

    Parameters
    ----------
    seed : int
        Root seed.
    device : torch.device
        Where the model computes.
    rank : int, default 0
        Number of the process; each draws its own numbers.
    """
    before = random_state(device)
    try:
        value = derived_seed(seed, 0, rank)
        torch.manual_seed(value)
        random.seed(value)
        # A loss written by a user may draw from the old interface; it is ours for this while.
        np.random.seed(value % 2**32)  # noqa: NPY002
        yield
    finally:
        set_random_state(before, device)


def random_state(device: torch.device) -> dict[str, Any]:
    """State of the generators of torch, NumPy and Python, as nested plain data."""
    algorithm, keys, place, has_gauss, gauss = np.random.get_state()  # noqa: NPY002
    version, internal, spare = random.getstate()
    state: dict[str, Any] = {
        "torch": torch.get_rng_state(),
        "numpy": [str(algorithm), np.asarray(keys), int(place), int(has_gauss), float(gauss)],
        "python": [version, list(internal), spare],
    }
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def set_random_state(state: dict[str, Any], device: torch.device) -> None:
    """Set what `random_state` returned."""
    torch.set_rng_state(state["torch"])
    algorithm, keys, place, has_gauss, gauss = state["numpy"]
    np.random.set_state((algorithm, keys, place, has_gauss, gauss))  # noqa: NPY002
    version, internal, spare = state["python"]
    random.setstate((version, tuple(internal), spare))
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
