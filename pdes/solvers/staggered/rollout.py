"""March a flow in a box through output times: fields on the grid in, fields on the grid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from pdes.boundary import Boundary
from pdes.grid import Grid
from pdes.incompressible import VelocityEquation
from pdes.solvers.rollout import Rollout
from pdes.solvers.staggered.flow import StaggeredFlow
from pdes.solvers.staggered.march import FlowMarch

Array = Any


def staggered_rollout(
    equation: VelocityEquation,
    grid: Grid,
    boundary: Boundary,
    initial: Mapping[str, Array],
    times: np.ndarray,
    *,
    initial_time: float = 0.0,
    discard: float = 0.0,
    method: str = "mac_rk3",
    time_step: float | None = None,
    suggested_step: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    dtype: str = "float64",
    strides: tuple[int, ...] | None = None,
    strict: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Rollout:
    """Solve the incompressible Navier-Stokes equations in a box with walls, inlets and outlets.

    Arrays come back in the namespace in which they came in, with gradients with respect to the
    initial fields and to `parameters`.

    Parameters
    ----------
    equation : VelocityEquation
        What is solved.
    grid : Grid
        Its points are the corners of the cells.
    boundary : mapping
        Side to condition, see `pdes.solvers.staggered.sides.read_sides`.
    initial : mapping of str to array, each of shape (*batch, *grid)
        Velocities ``"u"``, ``"v"`` at the grid's points; averaged to the faces and projected.
    times : array, shape (n,)
        Increasing output times.
    initial_time : float, default 0
        Time of the initial fields.
    discard : float, default 0
        Time integrated before the clock starts.
    method : {"mac_rk3", "mac_ab2"}
        Time integrator.
    time_step : float, optional
        Largest step; by default within the viscous limit and Courant number 0.25, chosen anew at
        each output time.
    suggested_step : float, optional
        Upper bound on the step that is chosen.
    parameters : mapping, optional
        Values that replace the equation's.
    dtype : {"float64", "float32"}
        Precision of the run.
    strides : tuple of int, optional
        Keep every so many points along each axis.
    strict : bool, optional
        Unless it is False, raise on divergence; otherwise return what there is and say so in the
        status.
    progress : callable, optional
        Called as ``progress(done, total)`` after each output time.

    Returns
    -------
    Rollout
        Fields ``u``, ``v`` and ``p``; `tail` holds the largest divergence of the velocity.

    Raises
    ------
    StabilityError
        If `time_step` is beyond a limit; or if none was given, and the chosen one makes more than
        two million steps.
    SolverDivergence
        If values stop being finite or the Courant number runs away, unless `strict` is False.

    Examples
    --------
    >>> import numpy as np, pdes
    >>> problem = pdes.get("channel_flow")
    >>> start = problem.initial(problem.grid, None)
    >>> run = staggered_rollout(
    ...     problem.equation, problem.grid, problem.boundary, start, np.array([0.1])
    ... )
    >>> sorted(run.fields), run.status, run.tail < 1e-11
    (['p', 'u', 'v'], 'ok', True)
    """
    first = next(iter(initial.values()))
    flow = StaggeredFlow(
        equation,
        grid,
        boundary,
        xp=array_namespace(first),
        dtype=dtype,
        device=device_of(first),
        parameters=parameters,
    )
    start = initial_time - discard
    march = FlowMarch(
        flow,
        flow.from_nodes(initial, start),
        start,
        method=method,
        time_step=time_step,
        suggested=suggested_step,
        strict=strict,
        end=float(times[-1]) if len(times) else initial_time,
    )
    march.to(initial_time)
    keep = (..., *(slice(None, None, stride) for stride in strides or (1, 1)))
    frames: list[dict[str, Array]] = []
    for done, target in enumerate(times, start=1):
        march.to(float(target))
        nodes = flow.to_nodes(march.state, march.time)
        frames.append({name: values[keep] for name, values in nodes.items()})
        if march.status != "diverged":
            march.last_good = (frames[-1], march.time)
        if progress is not None:
            progress(done, len(times))
    return Rollout(
        times=np.asarray(times),
        fields={
            name: flow.xp.stack([frame[name] for frame in frames], axis=-3) for name in frames[0]
        },
        status=march.status,
        message=march.message,
        time_step=march.largest,
        steps=march.steps,
        dealias=(),
        tail=march.divergence,
    )
