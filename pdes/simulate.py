"""Simulate a problem: one call from a problem to a labeled, documented dataset."""

from __future__ import annotations

import hashlib
import importlib
import json
import numbers
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import xarray as xr

from pdes.initial_arrays import initial_arrays, to_host
from pdes.keywords import offers_closest_keyword
from pdes.memory import check_memory, trajectory_bytes
from pdes.problem import Problem, check_times
from pdes.solvers.errors import SolverDivergence, StabilityError
from pdes.solvers.rollout import Rollout
from pdes.solvers.table import SOLVERS
from pdes.steady import SteadyProblem
from pdes.tokens import closest

__all__ = ["SolverDivergence", "StabilityError", "simulate"]

Array = Any


@offers_closest_keyword
def simulate(
    problem: Problem | SteadyProblem | str,
    times: Any = None,
    *,
    initial: Mapping[str, Array] | Callable[..., Mapping[str, Array]] | None = None,
    samples: int | None = None,
    solver: str | None = None,
    time_step: float | None = None,
    rtol: float | None = None,
    dtype: str = "float64",
    backend: str = "numpy",
    device: Any = None,
    seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    strict: bool | None = None,
) -> xr.Dataset:
    """Solve a problem and return its trajectory as a labeled dataset.

    Parameters
    ----------
    problem : Problem, SteadyProblem or str
        From `pdes.get`, made by hand, or the name of an entry with its own parameters. Steady
        problems of flow on Taylor-Hood elements and of heated elastic bodies are followed in time
        from rest (`pdes.solvers.mesh_march`): their fields have the dims ``(time, point)``, and
        what is told at every step has ``step``.
    times : array_like, shape (n,), optional
        Output times, increasing; the problem's own by default. Steps land on them exactly.
    initial : mapping or callable, optional
        Replaces the problem's initial field. Arrays of shape ``(*grid)``, or
        ``(samples, *grid)`` for a batch; or a function ``(grid, rng) -> mapping``.
    samples : int, optional
        Solve a batch of this many draws of a random initial field. Each draw depends on `seed`
        and its number only, not on the size of the batch.
    solver : str, optional
        ``"etdrk4"``, ``"rk4"`` or ``"ssprk3"``: the Fourier pseudo-spectral method with this
        time integrator. ``"mac_rk3"`` or ``"mac_ab2"``: the staggered grid, for flow between
        walls. ``"taylor_hood_bdf2"`` and ``"thermoelastic_midpoint"``: finite elements, for
        problems on meshes. ``"exact"``: the problem's closed form, sampled. The problem's own by
        default.
    time_step : float, optional
        Largest step. By default the problem's, lowered to Courant number 0.5 if need be, or one
        chosen from the initial field.
    rtol : float, optional
        Let the Fourier solvers choose every step such that its estimated error, relative to the
        norm of each field, stays below this number. Data sets are better made with equal steps.
    dtype : {"float64", "float32"}
        Precision of the computation and of the result.
    backend : {"numpy", "torch"}
        Arrays that the solver computes with; results agree to rounding.
    device : optional
        Device of the backend, such as ``"cuda"``.
    seed : int, optional
        Seed of random initial fields. By default the problem's `initial_seed`, so that a
        benchmark gives its published field.
    progress : callable, optional
        Called as ``progress(done, total)`` after each output time.
    strict : bool, optional
        Without it, raise when values stop being finite or the step becomes too large; a field that
        the points do not resolve, or that is not periodic where the solver wants it to be, gives a
        `pdes.solvers.ResolutionWarning` and the status ``"under_resolved"``, and raises only in
        periodic incompressible flow, as its errors grow. True raises for such a field everywhere.
        False never raises on the way, and returns what there is with a status that says so.

    Returns
    -------
    xarray.Dataset
        One variable for each field with dims ``(time, x[, y])``, preceded by ``sample`` in a
        batch. The attributes hold equation, parameters, solver, status, seed and version; each
        variable carries the SHA-256 of its values.

    Raises
    ------
    StabilityError
        Before the first step, if `time_step` is beyond a stability limit; or if none was given,
        and the one that the field allows makes more than two million steps.
    SolverDivergence
        During a run, if values stop being finite or the step has become too large; with
        ``strict=True`` also if the spectrum stops being resolved.
    ValueError
        If an argument does not fit; the message says what would. With ``strict=True`` also if
        the points do not resolve the initial field, or it is not periodic.

    Examples
    --------
    >>> import pdes
    >>> data = pdes.simulate(pdes.get("heat"), times=[0.0, 1.0])
    >>> data.u.dims, data.attrs["status"]
    (('time', 'x'), 'ok')
    """
    _check_numbers(time_step, samples, seed, progress)
    if strict is not None and not isinstance(strict, bool):
        raise ValueError(f"strict must be None, True or False, got {strict!r}")
    if isinstance(problem, str):
        problem = importlib.import_module("pdes.registry").get(problem)
    if isinstance(problem, SteadyProblem):
        from pdes.solvers.mesh_march import simulate_on_mesh

        return simulate_on_mesh(
            problem,
            times,
            initial=initial,
            solver=solver,
            time_step=time_step,
            strict=strict,
            progress=progress,
            samples=samples,
            rtol=rtol,
            seed=seed,
            device=device,
            dtype=None if dtype == "float64" else dtype,
            backend=None if backend == "numpy" else backend,
        )
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problem: got {type(problem).__name__}, wanted a Problem, from pdes.get or made by "
            "hand, or a name of pdes.available(); steady ones are for pdes.solve"
        )
    times = problem.times if times is None else check_times(times, problem.initial_time)
    solver = problem.solver if solver is None else solver
    seed = problem.initial_seed if seed is None else int(seed)
    _check_size(problem, times, samples, dtype)
    if solver == "exact":
        options = {"initial": initial, "samples": samples, "time_step": time_step, "rtol": rtol}
        fields, run = _sample_exact(problem, times, dtype, options), None
    elif solver in SOLVERS:
        problem.check_spacing()
        adaptive = {} if rtol is None else _adaptive(solver, rtol)
        arrays = initial_arrays(problem, initial, samples, seed)
        arrays = _to_backend(arrays, backend, device, dtype)
        run = SOLVERS[solver].run(
            problem,
            arrays,
            times,
            time_step=time_step,
            dtype=dtype,
            strict=strict,
            progress=progress,
            **adaptive,
        )
        fields = {name: to_host(values) for name, values in run.fields.items()}
    else:
        known = [*SOLVERS, "exact"]
        raise ValueError(f"unknown solver {solver!r}.{closest(str(solver), known)} Known: {known}")
    return _dataset(problem, times, fields, solver, run, seed, backend, rtol)


def _adaptive(solver: str, rtol: float) -> dict[str, float]:
    """Option of an adaptive run, refused by solvers of equal steps."""
    if isinstance(rtol, bool) or not isinstance(rtol, numbers.Real) or not 0.0 < float(rtol) < 1.0:
        raise ValueError(f"rtol must be a number between 0 and 1, got {rtol!r}")
    if not SOLVERS[solver].adaptive:
        able = [name for name, one in SOLVERS.items() if one.adaptive]
        raise ValueError(
            f"rtol={rtol}: solver {solver!r} takes equal steps; give time_step, or use one of "
            f"{able}"
        )
    return {"rtol": rtol}


def _check_numbers(time_step: Any, samples: Any, seed: Any, progress: Any) -> None:
    """Refuse a step that is not a positive number, and a batch or a seed that is not whole."""
    if time_step is not None:
        real = isinstance(time_step, numbers.Real) and not isinstance(time_step, bool)
        if not real or not 0.0 < float(time_step) < float("inf"):
            raise ValueError(f"time_step must be a positive finite number, got {time_step!r}")
    whole = isinstance(samples, numbers.Integral) and not isinstance(samples, bool)
    if samples is not None and not (whole and int(samples) >= 1):
        raise ValueError(f"samples must be a whole number of at least 1, got {samples!r}")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function (done, total), got {progress!r}")
    whole = isinstance(seed, numbers.Integral) and not isinstance(seed, bool)
    if seed is not None and not (whole and int(seed) >= 0):
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")


def _check_size(problem: Problem, times: np.ndarray, samples: int | None, dtype: str) -> None:
    """Refuse a run whose arrays do not fit into memory, before any of them is made."""
    points, count = problem.grid.shape, samples or 1
    stored = [n // stride for n, stride in zip(points, problem.strides, strict=True)]
    itemsize = 4 if dtype == "float32" else 8
    result, work = trajectory_bytes(problem.equation, points, stored, len(times), count, itemsize)
    axes = " x ".join(map(str, points))
    check_memory(
        result + work,
        f"{count} sample{'s' * (count > 1)} of {problem.equation.name!r} on {axes} points at "
        f"{len(times)} times",
        "take fewer samples, times or points, keep fewer (stored_points), or use pdes.generate, "
        "which writes sample by sample",
    )


def _to_backend(
    fields: dict[str, Array], backend: str, device: Any, dtype: str
) -> dict[str, Array]:
    """Arrays of the backend's namespace, in double or single precision."""
    if backend == "numpy":
        xp = xnp
    elif backend == "torch":
        xp = importlib.import_module("array_api_compat.torch")
    else:
        raise ValueError(f"backend must be 'numpy' or 'torch', got {backend!r}")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    single = dtype == "float32"
    converted = {}
    for name, values in fields.items():
        host = to_host(values)
        real, twin = ("float32", "complex64") if single else ("float64", "complex128")
        kind = twin if np.iscomplexobj(host) else real
        converted[name] = _on_device(xp, host.astype(kind), backend, device)
    return converted


def _on_device(xp: Any, values: np.ndarray, backend: str, device: Any) -> Array:
    """Array on a device, or an error that names it."""
    try:
        return xp.asarray(values, device=device)
    except (RuntimeError, AssertionError, ValueError, TypeError) as error:
        if device is None:
            raise
        wanted = "None or 'cpu'" if backend == "numpy" else "None, 'cpu' or a device that is here"
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"device={device!r}: not to be had with backend={backend!r} ({first}); wanted {wanted}"
        ) from error


def _sample_exact(
    problem: Problem, times: np.ndarray, dtype: str, options: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Closed form on the stored points; nothing is integrated."""
    given = [name for name, value in options.items() if value is not None]
    given += ["discard"] if problem.discard else []
    if given:
        raise ValueError(
            f"solver='exact' samples a closed form: {', '.join(given)} would have no effect; leave "
            "it out, or choose another solver"
        )
    if problem.exact_name is None:
        raise ValueError(
            f"problem {problem.equation.name!r} names no closed form of its initial field "
            f"(exact_name); it knows {sorted(problem.exact)}: evaluate one of them on the grid"
        )
    keep = (slice(None), *(slice(None, None, stride) for stride in problem.strides))
    found = problem.exact[problem.exact_name].evaluate(problem.grid, times)
    single = {"f": "float32", "c": "complex64"}
    return {
        name: values[keep].astype(single[values.dtype.kind] if dtype == "float32" else values.dtype)
        for name, values in found.items()
    }


def _dataset(
    problem: Problem,
    times: np.ndarray,
    fields: Mapping[str, np.ndarray],
    solver: str,
    run: Rollout | None,
    seed: int,
    backend: str,
    rtol: float | None,
) -> xr.Dataset:
    """Label fields and write down where they come from."""
    names = tuple(problem.grid.names)
    batch = next(iter(fields.values())).ndim > len(names) + 1
    dims = (*(("sample",) if batch else ()), "time", *names)
    coordinates: dict[str, Any] = {"time": ("time", times, {"long_name": "time", "units": "1"})}
    for axis, stride in zip(problem.grid.axes, problem.strides, strict=True):
        attributes = {
            "long_name": f"coordinate {axis.name}",
            "units": "1",
            "periodic": int(axis.periodic),
            "length": float(axis.length),
        }
        coordinates[axis.name] = (axis.name, axis.values()[::stride], attributes)
    variables = {
        name: (dims, values, {"long_name": name, "units": "1", "sha256": checksum(values)})
        for name, values in fields.items()
    }
    attributes = _attributes(problem, solver, run, seed, backend, rtol)
    return xr.Dataset(variables, coordinates, attributes)


def _attributes(
    problem: Problem,
    solver: str,
    run: Rollout | None,
    seed: int,
    backend: str,
    rtol: float | None,
) -> dict[str, Any]:
    version = importlib.import_module("pdes").__version__
    equation = problem.equation
    record: dict[str, Any] = {
        "name": solver,
        "points": list(problem.grid.shape),
        "discard": problem.discard,
    }
    if run is None:
        record["closed_form"] = problem.exact_name
    else:
        record |= {
            "order": SOLVERS[solver].order,
            "time_step": run.time_step,
            "steps": run.steps,
            "dealias": list(run.dealias),
            SOLVERS[solver].watches: run.tail,
            "backend": backend,
        }
        record |= {} if rtol is None else {"rtol": rtol, "rejected": run.rejected}
    return {
        "name": equation.name,
        "equation": equation.text(),
        "latex": equation.latex(),
        "parameters": json.dumps(dict(equation.parameters)),
        "arguments": json.dumps(dict(problem.arguments)),
        "solver": json.dumps(record),
        "status": "ok" if run is None else run.status,
        "message": "" if run is None else run.message,
        "seed": seed,
        "source": problem.source,
        "notes": problem.notes,
        "version": f"pdes {version}",
        "library_versions": json.dumps({"numpy": np.__version__, "xarray": xr.__version__}),
    }


def checksum(values: np.ndarray) -> str:
    """SHA-256 over the values in C order as little-endian bytes, whatever the file they lie in.

    Parameters
    ----------
    values : ndarray
        Any shape and dtype.

    Returns
    -------
    str
        Hexadecimal.

    Examples
    --------
    >>> import numpy as np
    >>> checksum(np.zeros(1))[:8]
    'af5570f5'
    """
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return hashlib.sha256(little.tobytes()).hexdigest()


class _CallableModule(types.ModuleType):
    """Importing this module binds it to ``pdes.simulate``, where users expect the function."""

    def __call__(self, *arguments: Any, **options: Any) -> xr.Dataset:
        return simulate(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
