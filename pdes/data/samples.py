"""Solving samples of a recipe, each the same whoever solves it with whomever."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.recipe import Recipe
from pdes.problem import Problem
from pdes.solvers.kernels import kernel_class
from pdes.time.integrator import INTEGRATORS

STATUS = ("missing", "ok", "under_resolved", "step_too_large", "diverged", "failed")
"""What can become of a sample, in the order of the stored codes."""

SampleFunction = Callable[..., xr.Dataset]

# A full disk or a missing package says nothing about a sample: the run stops, and can be resumed.
_ENVIRONMENT = (MemoryError, OSError, ImportError)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A recipe, and the object it stands for where a name is not enough.

    Parameters
    ----------
    recipe : Recipe
        What is written down.
    given : Problem, SteadyProblem or callable, optional
        A problem, or a function ``(rng, **parameters) -> Dataset`` that makes one sample.
    """

    recipe: Recipe
    given: Any = None

    @property
    def function(self) -> SampleFunction | None:
        """The function that makes one sample, if there is one."""
        given: SampleFunction = self.given
        return given if callable(given) else None

    def problem(self, parameters: Mapping[str, float]) -> Any:
        """Problem of a sample with these drawn parameters."""
        recipe = self.recipe
        if self.given is None:
            from pdes.registry import get

            return get(recipe.problem, **recipe.parameters, **parameters, **recipe.overrides())
        values = {**recipe.parameters, **parameters}
        if not isinstance(self.given, Problem):
            unknown = sorted(set(values) - set(self.given.parameters))
            if unknown:
                raise ValueError(f"{self.given.name!r} has no parameters {unknown}")
            return dataclasses.replace(self.given, parameters={**self.given.parameters, **values})
        changes = recipe.overrides()
        if recipe.initial is not None and describes(recipe.initial, self.given):
            changes.pop("initial")
        if values:
            changes["equation"] = self.given.equation.with_parameters(**values)
        return dataclasses.replace(self.given, **changes)


def describes(entry: Mapping[str, Any], problem: Any) -> bool:
    """Whether a recipe's entry ``initial`` is the one that the problem already has."""
    from pdes.data.recipe import describe_family

    return describe_family(getattr(problem, "initial", None)) == dict(entry)


@dataclass(frozen=True, kw_only=True)
class Solved:
    """One sample.

    Parameters
    ----------
    fields : mapping of str to ndarray or None
        Values in double precision; None if it failed.
    status : str
        One of `STATUS`.
    steps : int
        Steps taken, 0 where that means nothing.
    time_step : float
        Largest step taken, NaN where that means nothing.
    message : str
        Exception, if it failed.
    """

    fields: Mapping[str, np.ndarray] | None
    status: str
    steps: int = 0
    time_step: float = math.nan
    message: str = ""


def solve_samples(source: Source, indices: Iterable[int]) -> dict[int, Solved]:
    """Solve some samples of a source.

    Samples of equal parameters are solved in one call as long as this cannot change a bit of them:
    their time step must be the one that each would have had alone. A sample that fails is solved
    again alone, so that it takes no other with it.

    Parameters
    ----------
    source : Source
        What to sample.
    indices : iterable of int
        Which samples.

    Returns
    -------
    dict of int to Solved
    """
    indices = list(indices)
    drawn = {index: source.recipe.parameters_of(index) for index in indices}
    groups: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for index in indices:
        groups.setdefault(tuple(drawn[index].items()), []).append(index)
    found: dict[int, Solved] = {}
    for parameters, members in groups.items():
        found |= _solve_group(source, dict(parameters), members)
    return {index: found[index] for index in indices}


def _solve_group(
    source: Source, parameters: dict[str, float], members: list[int]
) -> dict[int, Solved]:
    recipe = source.recipe
    if source.function is not None:
        return {i: _alone(lambda i=i: _from_function(source, parameters, i)) for i in members}
    try:
        problem = source.problem(parameters)
    except Exception as error:
        # Parameters out of range belong to these samples only.
        return dict.fromkeys(members, _failure(error))
    if not isinstance(problem, Problem):
        return {i: _alone(lambda i=i: _steady(source, parameters, i)) for i in members}
    if not (problem.solver in INTEGRATORS and callable(problem.initial)):
        return {i: _alone(lambda i=i: _simulated(problem, recipe, i)) for i in members}
    found = _together(problem, recipe, members) if len(members) > 1 else None
    if found is not None:
        return found
    return {i: _alone(lambda i=i: _marched(problem, recipe, [i])[0][i]) for i in members}


def _together(problem: Problem, recipe: Recipe, members: list[int]) -> dict[int, Solved] | None:
    """Samples of one batch, or None if the batch would not be what its samples are alone."""
    try:
        found, step = _marched(problem, recipe, members)
        own = _step_of_its_own(problem)
    except _ENVIRONMENT:
        raise
    except Exception:
        return None
    return found if math.isclose(step, own, rel_tol=1e-9) else None


def _marched(
    problem: Problem, recipe: Recipe, members: list[int]
) -> tuple[dict[int, Solved], float]:
    """Samples solved in one batch by a spectral method, and the step taken."""
    from pdes.simulate import simulate

    draws = [_draw(problem, recipe, index) for index in members]
    initial = {name: np.stack([draw[name] for draw in draws]) for name in draws[0]}
    # On all points: the spectrum of every sample is looked at below.
    data = simulate(dataclasses.replace(problem, stored_points=None), initial=initial)
    resolved = _are_resolved(problem, initial, data)
    record = json.loads(data.attrs["solver"])
    keep = (slice(None), *(slice(None, None, stride) for stride in problem.strides))
    found = {
        index: Solved(
            fields={str(name): values.values[place][keep] for name, values in data.items()},
            status="ok" if resolved[place] else "under_resolved",
            steps=int(record["steps"]),
            time_step=float(record["time_step"]),
        )
        for place, index in enumerate(members)
    }
    return found, float(record["time_step"])


def _are_resolved(
    problem: Problem, initial: Mapping[str, np.ndarray], data: xr.Dataset
) -> np.ndarray:
    """Whether each sample's spectrum falls off, at the start and at all output times."""
    kernel = kernel_class(problem.equation)(problem.equation, problem.grid)
    frames = [dict(initial)]
    frames += [
        {name: data[name].values[:, k] for name in kernel.fields} for k in range(data.sizes["time"])
    ]
    tails = [np.asarray(kernel.tail(kernel.forward(frame))) for frame in frames]
    return np.max(tails, axis=0) <= kernel.tail_limit


def _step_of_its_own(problem: Problem) -> float:
    """Largest step of a sample that has no reason to shorten it; NaN if every sample has its own.

    A linear problem is integrated exactly from one output to the next. Whatever else a batch
    reports is a step that its fastest sample has asked for.
    """
    marks = [problem.initial_time - problem.discard, problem.initial_time, *problem.times]
    gaps = np.diff(np.asarray(marks, dtype=np.float64))
    gaps = gaps[gaps > 0.0]
    if gaps.size == 0:
        return 0.0
    kernel = kernel_class(problem.equation)(problem.equation, problem.grid)
    if problem.solver == "etdrk4" and kernel.is_linear:
        return float(gaps.max())
    if problem.time_step is None:
        return math.nan
    counts = np.maximum(1, np.ceil(gaps / problem.time_step * (1.0 - 1e-9)))
    return float(np.max(gaps / counts))


def _draw(problem: Problem, recipe: Recipe, index: int) -> dict[str, np.ndarray]:
    if not callable(problem.initial):
        raise ValueError(
            f"the initial field of {problem.equation.name!r} is an array, the same for every "
            "sample: give a family, such as initial={'family': 'RandomFourier', 'modes': 4}"
        )
    return dict(problem.initial(problem.grid, recipe.generator_of(index)))


def _simulated(problem: Problem, recipe: Recipe, index: int) -> Solved:
    """One sample by whatever solver the problem names."""
    from pdes.simulate import simulate

    if problem.solver == "exact":
        return _solved(simulate(problem))
    return _solved(simulate(problem, initial=_draw(problem, recipe, index)))


def _steady(source: Source, parameters: dict[str, float], index: int) -> Solved:
    from pdes.data.steady_samples import solve_steady_sample

    return _solved(solve_steady_sample(source, parameters, index))


def _from_function(source: Source, parameters: dict[str, float], index: int) -> Solved:
    make, recipe = source.function, source.recipe
    assert make is not None
    return _solved(make(recipe.generator_of(index), **recipe.parameters, **parameters))


def _solved(data: xr.Dataset) -> Solved:
    record = json.loads(data.attrs.get("solver", "{}") or "{}")
    record = record if isinstance(record, dict) else {}
    status = data.attrs.get("status", "ok")
    return Solved(
        fields={str(name): np.asarray(values.values) for name, values in data.data_vars.items()},
        status=status if status in STATUS else "failed",
        steps=int(record.get("steps", 0)),
        time_step=float(record.get("time_step", math.nan)),
        message="" if status in STATUS else f"status {status}: {data.attrs.get('message', '')}",
    )


def _alone(solve: Callable[[], Solved]) -> Solved:
    """One sample; what goes wrong is written down, not lost and not in the way of the others."""
    try:
        return solve()
    except _ENVIRONMENT:
        raise
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> Solved:
    return Solved(fields=None, status="failed", message=f"{type(error).__name__}: {error}")
