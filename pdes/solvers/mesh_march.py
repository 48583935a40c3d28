"""Coupled systems on meshes in time, behind the door that grids go through: `pdes.simulate`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from pdes.initial_arrays import refuse_mask
from pdes.memory import check_memory
from pdes.problem import check_times
from pdes.solvers.errors import SolverDivergence
from pdes.solvers.finite_element_space import make_space
from pdes.solvers.steady_size import check_solver_memory
from pdes.solvers.step_budget import MOST_STEPS, check_named_step

if TYPE_CHECKING:
    from pdes.steady import SteadyProblem

__all__ = ["MESH_MARCHES", "MeshMarch", "common_step", "march_of", "simulate_on_mesh"]


@dataclass(frozen=True, kw_only=True)
class MeshMarch:
    """A method that follows the fields of a steady problem in time.

    Parameters
    ----------
    name : str
        What `pdes.simulate` calls it.
    order : int
        Declared order in time.
    module : str
        Has ``march(problem, *, resolution, time_step, end, initial, watch, ...)``.
    fits : callable
        Whether it follows a problem.
    started : tuple of str
        Fields that an initial field has.
    options : mapping
        Further arguments with their defaults.
    """

    name: str
    order: int
    module: str
    fits: Callable[[SteadyProblem], bool]
    started: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


MESH_MARCHES: dict[str, MeshMarch] = {
    march.name: march
    for march in (
        MeshMarch(
            name="taylor_hood_bdf2",
            order=2,
            module="pdes.solvers.taylor_hood_march",
            fits=lambda problem: problem.solver == "taylor_hood",
            started=("u", "v"),
        ),
        MeshMarch(
            name="thermoelastic_midpoint",
            order=2,
            module="pdes.solvers.thermoelastic_march",
            fits=lambda problem: problem.fields == ("T", "u", "v"),
            started=("T",),
            options={"heat_capacity": 1.0, "reference_temperature": 1.0},
        ),
    )
}
"""A new one joins by an entry here."""


def march_of(problem: SteadyProblem) -> MeshMarch | None:
    """Method that follows a problem in time, if there is one.

    Examples
    --------
    >>> import pdes
    >>> march_of(pdes.get("cylinder_flow")).name
    'taylor_hood_bdf2'
    >>> march_of(pdes.get("motz")) is None
    True
    """
    return next((march for march in MESH_MARCHES.values() if march.fits(problem)), None)


def simulate_on_mesh(
    problem: SteadyProblem,
    times: Any = None,
    *,
    initial: Any = None,
    solver: str | None = None,
    time_step: float | None = None,
    strict: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
    **others: Any,
) -> xr.Dataset:
    """Follow the fields of a steady problem from time zero; see `pdes.simulate`.

    Parameters
    ----------
    problem : SteadyProblem
        One that `march_of` knows.
    times : array_like, shape (n,), optional
        Output times, whole multiples of a common step; by default those of ``problem.in_time``.
    initial : mapping or callable, optional
        Field to values at the nodes, or a function ``(x, y) -> mapping``. By default slow flow,
        or temperature zero.
    solver : str, optional
        Name in `MESH_MARCHES`.
    time_step : float, optional
        Largest step; steps land on the output times.
    strict : bool, optional
        Unless it is False, raise when values stop being finite; otherwise what follows is NaN,
        and the status says so.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of steps.
    **others
        Arguments of `pdes.simulate` that mean nothing here: refused unless they are None.

    Returns
    -------
    xarray.Dataset
        Fields with dims ``(time, point)``; what is told at every step, such as the energy and the
        forces on bodies, has the dim ``step`` with the coordinate ``step_time``.

    Raises
    ------
    ValueError
        If an argument does not fit.

    Examples
    --------
    >>> import pdes
    >>> data = pdes.simulate(pdes.get("thermoelastic_mode", resolution=4), times=[0.0, 0.1])
    >>> data.T.dims, data.attrs["status"], data.sizes["time"]
    (('time', 'point'), 'ok', 2)
    """
    march = march_of(problem)
    if march is None:
        raise ValueError(
            f"problem: {problem.name!r} is a SteadyProblem, for pdes.solve. In time go "
            f"{', '.join(MESH_MARCHES)}: flow on Taylor-Hood elements, and heated elastic bodies"
        )
    if solver not in (None, march.name):
        raise ValueError(f"solver={solver!r}: {problem.name!r} is followed by {march.name!r}")
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name}={value!r} is for problems on grids: leave it out")
    settings = dict(problem.in_time)
    own = settings.pop("times", None)
    asked = own if times is None else times
    if asked is None:
        raise ValueError(f"times: {problem.name!r} has none of its own: give output times")
    moments = check_times(asked, 0.0)
    unknown = sorted(set(settings) - set(march.options))
    if unknown:
        raise ValueError(f"in_time has {unknown}; {march.name} knows {['times', *march.options]}")
    return _run(problem, march, moments, initial, time_step, strict, progress, settings)


def _run(
    problem: SteadyProblem,
    march: MeshMarch,
    times: np.ndarray,
    initial: Any,
    time_step: float | None,
    strict: bool | None,
    progress: Callable[[int, int], None] | None,
    settings: Mapping[str, Any],
) -> xr.Dataset:
    module = importlib.import_module(march.module)
    degree = 2 if march.name == "taylor_hood_bdf2" else problem.options.get("degree", 2)
    check_solver_memory(
        problem, problem.solver, {"resolution": problem.resolution, "degree": degree}
    )
    space = make_space(problem, problem.resolution, degree)
    nodes = space.basis.doflocs
    size = nodes.shape[1]
    check_memory(
        8.0 * size * len(times) * len(problem.fields),
        f"{problem.name} at {len(times)} times on {size} nodes",
        "take fewer times, or a smaller resolution",
    )
    start = _initial(march, initial, nodes)
    if not times[-1] > 0.0:
        raise ValueError(f"times: got {times.tolist()}, wanted at least one after 0")
    if time_step is not None:
        check_named_step(0.0, float(times[-1]), time_step)
    longest = time_step or module.default_step(problem, problem.resolution, times[-1], start)
    step = common_step(times, longest)
    record = _Record(problem.fields, times, step, size)
    status, message = "ok", ""
    try:
        module.march(
            problem,
            resolution=problem.resolution,
            time_step=step,
            end=float(times[-1]),
            initial=start,
            watch=record,
            progress=progress,
            **({"degree": degree} if degree != 2 else {}),
            **settings,
        )
    except SolverDivergence as error:
        if strict is not False:
            raise
        status, message = "diverged", str(error)
    about = {"name": march.name, "order": march.order, "time_step": step, "steps": record.steps}
    about |= {"resolution": problem.resolution, "degree": degree, **settings}
    return _dataset(problem, space, times, record, about, status, message)


class _Record:
    """Listens to a march: keeps the fields at output times, and the numbers of every step."""

    def __init__(self, fields: tuple[str, ...], times: np.ndarray, step: float, size: int) -> None:
        self.step = step
        places = np.rint(times / step).astype(int)
        self.wanted = {int(place): k for k, place in enumerate(places)}
        self.frames = {name: np.full((len(times), size), np.nan) for name in fields}
        self.numbers: dict[str, list[Any]] = {}
        self.steps = 0

    def __call__(
        self, step: int, fields: Callable[[], Mapping[str, np.ndarray]], told: Mapping[str, Any]
    ) -> None:
        if step in self.wanted:
            for name, values in fields().items():
                self.frames[name][self.wanted[step]] = values
        if step:
            self.steps = step
            for name, number in told.items():
                self.numbers.setdefault(name, []).append(number)


def common_step(times: np.ndarray, longest: float) -> float:
    """Longest step, up to a given one, of which all times are whole multiples.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Increasing, not negative, the last one positive.
    longest : float
        Upper bound.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there is none that makes less than two million steps.

    Examples
    --------
    >>> common_step(np.array([0.0, 0.3, 0.5]), 0.04)
    0.0333...
    >>> common_step(np.array([1.0, np.pi]), 0.1)
    Traceback (most recent call last):
    ...
    ValueError: times: [1.0, 3.14159...] are no multiples of a common step: space them evenly
    """
    end = float(times[-1])
    common = 0.0
    for value in map(float, times):
        first, second = common, value
        while second > 1e-9 * end:
            first, second = second, first % second
            second = 0.0 if abs(second - first) < 1e-9 * end else second
        common = first or common
    counts = times / common
    if end / common > MOST_STEPS or np.max(np.abs(counts - np.rint(counts))) > 1e-6:
        shown = [float(value) for value in times[:4]]
        raise ValueError(f"times: {shown} are no multiples of a common step: space them evenly")
    return common / max(1, int(np.ceil(common / longest * (1.0 - 1e-9))))


def _initial(march: MeshMarch, given: Any, nodes: np.ndarray) -> np.ndarray | None:
    """Initial values at the nodes, one row for each field that starts."""
    if given is None:
        return None
    wanted = (
        f"wanted a mapping of {list(march.started)} to values at the {nodes.shape[1]} nodes, or a "
        "function (x, y) that returns one"
    )
    found = given(*nodes) if callable(given) else given
    if not isinstance(found, Mapping) or set(found) != set(march.started):
        what = sorted(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise ValueError(f"initial: got {what}, {wanted}")
    for name in march.started:
        refuse_mask(name, found[name])
    try:
        rows = [np.broadcast_to(np.asarray(found[n], float), nodes.shape[1]) for n in march.started]
    except (TypeError, ValueError):
        shapes = {name: np.shape(values) for name, values in found.items()}
        raise ValueError(f"initial: got shapes {shapes}, {wanted}") from None
    if not np.all(np.isfinite(rows)):
        raise ValueError("initial: some values are not finite; fill them")
    return np.array(rows)


def _dataset(
    problem: SteadyProblem,
    space: Any,
    times: np.ndarray,
    record: _Record,
    about: Mapping[str, Any],
    status: str,
    message: str,
) -> xr.Dataset:
    from pdes.simulate import checksum

    cells = space.basis.element_dofs.T.copy()
    kinds = {3: "triangle", 4: "quad", 6: "triangle6", 9: "quad9"}
    variables: dict[str, Any] = {
        name: (
            ("time", "point"),
            values,
            {"long_name": name, "units": "1", "sha256": checksum(values)},
        )
        for name, values in record.frames.items()
    }
    coordinates: dict[str, Any] = {"time": ("time", times, {"long_name": "time", "units": "1"})}
    for name, series in record.numbers.items():
        values = np.array(series)
        dims = ("step",) if values.ndim == 1 else ("step", "direction")
        variables[name] = (dims, values, {"long_name": name.replace("_", " "), "units": "1"})
        if values.ndim == 2:
            coordinates["direction"] = list(problem.coordinates)
    if record.numbers:
        moments = record.step * np.arange(1, record.steps + 1)
        coordinates["step_time"] = ("step", moments, {"long_name": "time of a step", "units": "1"})
    variables["cells"] = (
        ("cell", "vertex"),
        cells,
        {"long_name": "points of each cell", "cell_type": kinds[cells.shape[1]]},
    )
    for place, axis in enumerate(problem.coordinates):
        attributes = {"long_name": f"coordinate {axis}", "units": "1"}
        coordinates[axis] = ("point", space.basis.doflocs[place].copy(), attributes)
    from pdes.steady import provenance

    attributes = {
        **provenance(problem),
        "solver": json.dumps(dict(about)),
        "status": status,
        "message": message,
    }
    return xr.Dataset(variables, coordinates, attributes)
