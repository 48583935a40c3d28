"""Samples of problems without time: random coefficients, or parameters drawn from ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from pdes.data.samples import Source

LARGEST_SEED = 2**29
"""Seeds of registered problems lie below."""


def solve_steady_sample(source: Source, parameters: dict[str, float], index: int) -> xr.Dataset:
    """Solve one sample; coefficients that are functions are kept beside the solution.

    Parameters
    ----------
    source : Source
        Of a steady problem. Where its builder takes a ``seed``, every sample has its own.
    parameters : dict of str to float
        Drawn for this sample.
    index : int
        Number of the sample.

    Returns
    -------
    xarray.Dataset
    """
    from pdes.steady import solve

    if takes_seed(source):
        parameters = {**parameters, "seed": seed_of(source.recipe.seed, index)}
    elif not source.recipe.ranges:
        raise ValueError(
            f"all samples of {source.recipe.problem!r} would be the same: give ranges for some of "
            "its parameters"
        )
    problem: Any = source.problem(parameters)
    data = solve(problem)
    axes = [str(name) for name in data.dims if name in data.coords]
    places: Any = np.meshgrid(*[data[name].values for name in axes], indexing="ij", sparse=True)
    for name, coefficient in problem.coefficients.items():
        if callable(coefficient) and axes == list(problem.coordinates):
            given: Any = coefficient(**dict(zip(axes, places, strict=True)))
            shape = tuple(data.sizes[axis] for axis in axes)
            data[name] = (tuple(axes), np.broadcast_to(given, shape))
    return data


def seed_of(root: int, index: int) -> int:
    """Seed of one sample, as a number that a problem's builder takes.

    Examples
    --------
    >>> 0 <= seed_of(0, 3) < LARGEST_SEED
    True
    """
    sequence = np.random.SeedSequence(root, spawn_key=(index,))
    return int(sequence.generate_state(1, np.uint64)[0] % LARGEST_SEED)


def takes_seed(source: Source) -> bool:
    """Whether the builder of a registered problem draws something by a seed."""
    if source.given is not None:
        return False
    from pdes.registry import entry_of

    return "seed" in entry_of(source.recipe.problem).parameters
