"""What is refused or said before a dataset is begun: arguments, sizes, equal samples."""

from __future__ import annotations

import inspect
import numbers
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data.errors import GenerationWarning
from pdes.data.recipe import Recipe
from pdes.data.samples import Source
from pdes.data.schedulers import SCHEDULERS
from pdes.memory import check_memory, size_text, trajectory_bytes
from pdes.problem import Problem
from pdes.solvers.steady_size import unknowns
from pdes.tokens import closest

__all__ = ["check_options", "check_size", "check_source", "estimated_bytes", "warn_if_equal"]

LARGEST_NETCDF = 2**30
"""A netCDF file is put together in memory: beyond this many bytes a Zarr store is wanted."""

_TRIES = 10
"""Samples to look at before giving up: the first one may be one of those that fail."""

_COMPRESSION = 4.0
"""Smooth fields have been seen to take a fourth of their size on disk; noise takes all of it."""


def check_options(
    *,
    scheduler: Any = None,
    client: Any = None,
    workers: Any = None,
    chunk: Any = None,
    zarr_format: Any = 2,
    progress: Any = None,
) -> None:
    """Refuse arguments of `generate` that no dataset could be made with.

    Raises
    ------
    ValueError
        Naming the argument, what it is and what it could be.

    Examples
    --------
    >>> check_options(zarr_format=4)
    Traceback (most recent call last):
    ...
    ValueError: zarr_format=4: wanted 2 or 3
    """
    if scheduler is not None and scheduler not in SCHEDULERS:
        hint = closest(str(scheduler), SCHEDULERS)
        raise ValueError(f"scheduler={scheduler!r}: wanted one of {SCHEDULERS}.{hint}")
    if scheduler == "distributed" and client is None:
        raise ValueError(
            "scheduler='distributed' needs a client: client=dask.distributed.Client(...)"
        )
    if client is not None and not hasattr(client, "submit"):
        raise ValueError(f"client={client!r}: wanted a dask.distributed.Client")
    for name, value in (("workers", workers), ("chunk", chunk)):
        if value is not None and not (_is_whole(value) and value >= 1):
            raise ValueError(f"{name}={value!r}: wanted a whole number of at least 1")
    if not (_is_whole(zarr_format) and zarr_format in (2, 3)):
        raise ValueError(f"zarr_format={zarr_format!r}: wanted 2 or 3")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress={progress!r}: wanted a function (done, total)")


def check_source(source: Source) -> Any:
    """Build the problem of a sample, so that arguments that cannot work are refused at once.

    Parameters
    ----------
    source : Source
        What is to be sampled.

    Returns
    -------
    Problem, SteadyProblem or None
        Of the first sample that has one; None for functions.

    Raises
    ------
    ValueError, TypeError
        What building it raises, if it does for all of the first samples.
    """
    recipe = source.recipe
    if source.function is not None:
        _check_call(source)
        return None
    reasons: list[Exception] = []
    for index in range(min(_TRIES, recipe.samples)):
        try:
            problem = source.problem(recipe.parameters_of(index))
            break
        except (ValueError, TypeError) as error:
            reasons.append(error)
    else:
        raise reasons[0]
    if isinstance(problem, Problem) and problem.solver != "exact" and not callable(problem.initial):
        raise ValueError(
            f"the initial field of {problem.equation.name!r} is an array, the same for every "
            f"sample: give a family, such as initial={_random(problem)}"
        )
    _check_ends(source)
    return problem


def _random(problem: Problem) -> dict[str, Any]:
    """Random initial field that fits the fields of a problem."""
    fields = list(problem.equation.fields)
    family: dict[str, Any] = {"family": "RandomFourier", "modes": 4}
    return family if fields == ["u"] else {**family, "fields": fields}


def _check_ends(source: Source) -> None:
    """Refuse ranges that reach beyond what a parameter may be."""
    drawn = source.recipe.parameters_of(0)
    for name, entry in source.recipe.ranges.items():
        ((kind, values),) = entry.items()
        if kind != "choices":
            # The ends themselves are never drawn, and may be what is just not allowed.
            low, high = values
            inset = 1e-6 * (high - low)
            values = [low + inset, high - inset]
        for value in values:
            try:
                source.problem({**drawn, name: value})
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"ranges: {name} = {value:g} lies in the range {dict(entry)} and is not "
                    f"allowed ({error}): make the range narrower"
                ) from None


def warn_if_equal(problem: Any, source: Source) -> None:
    """Say that all samples will be the same, where nothing is drawn for them."""
    recipe = source.recipe
    if recipe.samples < 2 or recipe.ranges or not isinstance(problem, Problem):
        return
    family: Any = problem.initial
    if problem.solver != "exact":
        draws = [dict(family(problem.grid, recipe.generator_of(i))) for i in (0, 1)]
        if any(not np.array_equal(draws[0][name], draws[1][name]) for name in draws[0]):
            return
    own = sorted(problem.equation.parameters)
    if source.given is None:
        from pdes.registry import entry_of

        own = sorted(entry_of(recipe.problem).parameters)
    vary = f"ranges for some of its parameters ({', '.join(own)}), or " if own else ""
    warnings.warn(
        f"all {recipe.samples} samples of {recipe.problem!r} are the same, as nothing in it is "
        f"random: give {vary}a random initial field, such as initial={_random(problem)}",
        GenerationWarning,
        stacklevel=6,
    )


def estimated_bytes(problem: Any, recipe: Recipe) -> float:
    """Size of all samples before compression; 0 where only the first sample can tell.

    Parameters
    ----------
    problem : Problem, SteadyProblem or None
        Of a sample.
    recipe : Recipe
        Says how many samples there are, and in which precision.

    Returns
    -------
    float

    Examples
    --------
    >>> import pdes
    >>> recipe = Recipe(problem="burgers", samples=1000)
    >>> round(estimated_bytes(pdes.get("burgers"), recipe) / 2**20)
    196
    """
    itemsize = 4 if recipe.dtype == "float32" else 8
    beside = 8.0 * recipe.samples * (4 + len(recipe.ranges))
    if problem is None:
        return 0.0
    if isinstance(problem, Problem):
        kept = [n // k for n, k in zip(problem.grid.shape, problem.strides, strict=True)]
        points, times = problem.grid.shape, len(problem.times)
        return (
            beside
            + trajectory_bytes(problem.equation, points, kept, times, recipe.samples, itemsize)[0]
        )
    count = unknowns(problem, problem.options)
    return beside + itemsize * count * len(problem.fields) * float(recipe.samples)


def check_size(path: Path, total: float, recipe: Recipe, *, netcdf: bool) -> None:
    """Refuse a dataset that is larger than what there is room for.

    Parameters
    ----------
    path : Path
        Where it is to be.
    total : float
        Its size before compression.
    recipe : Recipe
        For the message.
    netcdf : bool
        Whether it is put together in memory.

    Raises
    ------
    ValueError
        With the size, the room and the remedy.
    """
    what = f"{recipe.samples} samples of {recipe.problem!r} are about {size_text(total)}"
    fewer = "take fewer samples, times or points, or keep fewer (stored_points)"
    check_memory(16.0 * recipe.samples, f"the numbers of {recipe.samples} samples", fewer)
    folder = next(each for each in path.absolute().parents if os.path.lexists(each))
    free = shutil.disk_usage(folder).free
    if total > _COMPRESSION * free:
        raise ValueError(f"{what}, {size_text(free)} are free at {folder}: {fewer}")
    if netcdf and total > LARGEST_NETCDF:
        raise ValueError(
            f"{what}, more than the {size_text(LARGEST_NETCDF)} that a netCDF file is made of in "
            "memory: give a name that ends in .zarr"
        )
    if total > free:
        warnings.warn(
            f"{what} before compression, {size_text(free)} are free at {folder}: {fewer} if it "
            "does not fit; a run that stops can be resumed",
            GenerationWarning,
            stacklevel=6,
        )


def _check_call(source: Source) -> None:
    """Refuse a function that cannot be called as it will be."""
    function: Any = source.function
    names = [*source.recipe.parameters, *source.recipe.ranges]
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(None, **dict.fromkeys(names, 0.0))
    except TypeError as error:
        called = ", ".join(["rng", *(f"{name}=..." for name in names)])
        raise TypeError(
            f"the function {getattr(function, '__name__', function)}{signature} cannot be called "
            f"with ({called}): {error}"
        ) from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
