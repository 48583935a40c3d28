"""Datasets of many samples: the same bytes whoever makes them, however often interrupted."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from pdes.data.errors import GenerationWarning
from pdes.data.make import Progress, make
from pdes.data.recipe import Recipe, describe_family, describe_grid
from pdes.data.samples import Source
from pdes.grid import Grid
from pdes.keywords import offers_closest_keyword
from pdes.problem import Problem
from pdes.steady import SteadyProblem

__all__ = ["GenerationWarning", "generate"]


@offers_closest_keyword
def generate(
    problem: str | Problem | SteadyProblem | Callable[..., xr.Dataset],
    samples: int,
    store: str | Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    ranges: Mapping[str, Any] | None = None,
    times: Any = None,
    seed: int = 0,
    grid: Any = None,
    initial: Any = None,
    settings: Mapping[str, Any] | None = None,
    dtype: str = "float32",
    client: Any = None,
    scheduler: str | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    zarr_format: int = 2,
    progress: Progress | None = None,
    resume: bool = True,
    check: bool = True,
) -> xr.Dataset:
    """Make a dataset of many samples of a problem.

    Sample ``i`` draws its random numbers from ``SeedSequence(seed, spawn_key=(i,))``: it does not
    depend on how many samples there are, who computes it, or together with which others. A run
    that was interrupted goes on where it stopped when the same call is made again, and ends with
    the same bytes as if nothing had happened.

    Parameters
    ----------
    problem : str, Problem, SteadyProblem or callable
        Name in the registry; or a problem whose initial field is a function ``(grid, rng)``; or a
        steady problem, with `ranges`; or a function ``(rng, **parameters) -> Dataset`` that makes
        one sample.
    samples : int
        How many.
    store : path
        ``.zarr``, written block by block; or ``.nc`` for sets that fit into memory.
    parameters : mapping, optional
        Physical parameters that all samples share.
    ranges : mapping, optional
        Parameters drawn for every sample: ``(low, high)``, ``{"log": [low, high]}`` or
        ``{"choices": [...]}``.
    times : array_like or mapping, optional
        Output times, or ``{"start": 0, "stop": 1, "count": 101}``.
    seed : int, default 0
        Root of all seeds.
    grid : Grid or mapping, optional
        Replaces the problem's: axis name to ``[start, stop, points]``.
    initial : family of `pdes.initial` or mapping, optional
        Replaces the problem's: a family, or ``{"family": name, ...}``.
    settings : mapping, optional
        Further arguments of the problem: ``time_step``, ``solver``, ``stored_points``, ``discard``.
    dtype : {"float32", "float64"}
        Precision on disk; computed is in double precision.
    client : distributed.Client, optional
        Run on a dask cluster, whose workers must see the path of the store.
    scheduler : {"sync", "threads", "processes", "distributed"}, optional
        ``"distributed"`` if there is a client, else ``"sync"``.
    workers : int, optional
        Number of threads or processes.
    chunk : int, optional
        Samples in a chunk of the store, which is also what is solved together and what is lost when
        a run is killed. By default about 4 MiB, and at least 16 chunks.
    zarr_format : {2, 3}
        Version of the Zarr format.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of samples.
    resume : bool, default True
        Go on with a store that is already there; otherwise refuse.
    check : bool, default True
        Compare what is already there with its checksums; what is damaged is made again, to the
        same bits, and a warning says what. Without, a store that calls itself complete is trusted.

    Returns
    -------
    xarray.Dataset
        The finished dataset, opened without reading it into memory. ``status`` and the drawn
        parameters are coordinates along ``sample``; a failed sample is NaN, and its exception is in
        the attribute ``failures``.

    Raises
    ------
    ValueError
        If an argument does not fit, or the store holds another dataset.
    FileExistsError
        If the store exists and `resume` is False.
    StoreFullError
        If the disk is full; what is complete stays.
    TypeError
        If an argument is of the wrong kind or unknown.
    RuntimeError
        If all samples fail on the way, or another process is at work on the store.

    Examples
    --------
    >>> import tempfile, pdes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = pdes.generate(
    ...         "burgers", 4, f"{folder}/burgers.nc", ranges={"viscosity": (0.2, 0.4)},
    ...         times=[0.0, 0.5], grid={"x": [0.0, 6.283185307179586, 128]},
    ...         settings={"stored_points": 64},
    ...     )
    ...     data.u.dims, data.u.shape, data.attrs["complete"]
    (('sample', 'time', 'x'), (4, 2, 64), 1)
    """
    source = _source(
        problem,
        {"grid": grid, "initial": initial, "times": times},
        samples=samples,
        seed=seed,
        parameters=parameters or {},
        ranges=ranges or {},
        settings=settings or {},
        dtype=dtype,
    )
    return make(
        source.recipe,
        store,
        given=source.given,
        client=client,
        scheduler=scheduler,
        workers=workers,
        chunk=chunk,
        zarr_format=zarr_format,
        progress=progress,
        resume=resume,
        check=check,
    )


def _source(problem: Any, changes: Mapping[str, Any], **entries: Any) -> Source:
    """Everything given, as a recipe and the object it is about."""
    found = {name: value for name, value in changes.items() if value is not None}
    if isinstance(problem, str):
        name = problem
    elif isinstance(problem, Problem):
        name = problem.equation.name
        own = {"grid": problem.grid, "initial": problem.initial, "times": problem.times}
        found = own | found
    elif isinstance(problem, SteadyProblem):
        name = problem.name
        if found or entries["settings"]:
            raise ValueError("a steady problem has no initial field, times or settings to replace")
    elif callable(problem):
        name = f"{problem.__module__}.{problem.__qualname__}"
        if found or entries["settings"]:
            raise ValueError("grid, initial, times and settings are up to the function given")
    else:
        raise TypeError(
            f"problem is {reprlib.repr(problem)}; wanted a name, a Problem or a function"
        )
    if isinstance(found.get("grid"), Grid):
        found["grid"] = describe_grid(found["grid"])
    if "initial" in found and not _is_described(found["initial"]):
        described = describe_family(found["initial"])
        if described is None and changes["initial"] is not None:
            shown = reprlib.repr(changes["initial"])
            raise ValueError(
                f"initial={shown} cannot be written down: give a family of "
                "pdes.initial, or put it into a Problem and give that"
            )
        found["initial"] = described
    given = None if isinstance(problem, str) else problem
    return Source(recipe=Recipe(problem=name, **entries, **found), given=given)


def _is_described(initial: Any) -> bool:
    return isinstance(initial, Mapping) and "family" in initial
