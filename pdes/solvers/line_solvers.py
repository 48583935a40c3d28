"""Solvers by the method of lines, by name: what `pdes.simulate` calls besides the spectral ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from pdes.boundary import Boundary
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.solvers.finite_difference import FiniteDifference
from pdes.solvers.finite_volume import FiniteVolume
from pdes.solvers.leapfrog import Leapfrog
from pdes.solvers.lines import LinesKernel, MakeStep, march_lines
from pdes.solvers.rollout import Progress, Rollout
from pdes.solvers.split_step import SplitStep
from pdes.time.etdrk import ETDRK4
from pdes.time.imex import ARS443, CNAB2, CNAB2_DAMPED, SBDF2
from pdes.time.runge_kutta import SSPRK3
from pdes.time.splitting import STRANG, YOSHIDA4

Array = Any
Build = Callable[..., tuple[LinesKernel, MakeStep]]


@dataclass(frozen=True, kw_only=True)
class LineSolver:
    """A solver: how it is built, and the orders that it declares.

    Parameters
    ----------
    name : str
        Name under which `pdes.simulate` finds it.
    order : int
        Order in time.
    space_order : int or None
        Order in space for smooth fields; None for spectral accuracy.
    build : callable
        ``build(equation, grid, boundary, **options)`` returns a kernel and its step maker.
    """

    name: str
    order: int
    space_order: int | None
    build: Build


def _integrated(kernel_class: Any, method: Any, **fixed: Any) -> Build:
    def build(
        equation: Equation, grid: Grid, boundary: Boundary | None, **options: Any
    ) -> tuple[LinesKernel, MakeStep]:
        kernel = kernel_class(equation, grid, boundary, **fixed, **options)

        def make_step(size: float) -> Callable[[Array, float, Any], Array]:
            xp = kernel.xp
            linear = kernel.linear
            if isinstance(linear, float):
                linear = xp.asarray(linear, dtype=xp.float64, device=kernel.device)
            step = method.stepper(linear, size, getattr(xp, kernel.dtype))
            return lambda state, time, _: step(state, time, kernel.nonlinear)

        return kernel, make_step

    return build


def _own_step(kernel_class: Any, **fixed: Any) -> Build:
    def build(
        equation: Equation, grid: Grid, boundary: Boundary | None, **options: Any
    ) -> tuple[LinesKernel, MakeStep]:
        if kernel_class is SplitStep:
            if boundary is not None:
                raise ValueError("boundary: splitting works on periodic boxes, leave it out")
            kernel = kernel_class(equation, grid, **fixed, **options)
        else:
            kernel = kernel_class(equation, grid, boundary, **fixed, **options)
        return kernel, kernel.make_step

    return build


LINE_SOLVERS: dict[str, LineSolver] = {
    solver.name: solver
    for solver in (
        LineSolver(name="weno5", order=3, space_order=5, build=_integrated(FiniteVolume, SSPRK3)),
        LineSolver(
            name="finite_difference",
            order=2,
            space_order=2,
            build=_integrated(FiniteDifference, CNAB2, real_limit=CNAB2.real_limit),
        ),
        LineSolver(
            name="finite_difference_damped",
            order=2,
            space_order=2,
            build=_integrated(FiniteDifference, CNAB2_DAMPED, real_limit=CNAB2.real_limit),
        ),
        LineSolver(
            name="finite_difference_sbdf2",
            order=2,
            space_order=2,
            build=_integrated(FiniteDifference, SBDF2, real_limit=SBDF2.real_limit),
        ),
        LineSolver(
            name="finite_difference_ars443",
            order=3,
            space_order=2,
            build=_integrated(FiniteDifference, ARS443, real_limit=ARS443.real_limit),
        ),
        LineSolver(
            name="sine_cosine",
            order=4,
            space_order=None,
            build=_integrated(FiniteDifference, ETDRK4(), exact=True),
        ),
        LineSolver(name="leapfrog", order=2, space_order=2, build=_own_step(Leapfrog)),
        LineSolver(
            name="strang", order=2, space_order=None, build=_own_step(SplitStep, method=STRANG)
        ),
        LineSolver(
            name="yoshida4", order=4, space_order=None, build=_own_step(SplitStep, method=YOSHIDA4)
        ),
    )
}


def rollout_lines(
    equation: Equation,
    grid: Grid,
    initial: Mapping[str, Array],
    times: np.ndarray,
    *,
    solver: str,
    boundary: Boundary | None = None,
    initial_time: float = 0.0,
    time_step: float | None = None,
    suggested_step: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    dtype: str = "float64",
    strides: tuple[int, ...] | None = None,
    strict: bool | None = None,
    progress: Progress | None = None,
) -> Rollout:
    """Solve an equation with one of `LINE_SOLVERS`; the counterpart of `pdes.solvers.rollout`.

    Parameters
    ----------
    equation : Equation
        What is solved.
    grid : Grid
        Centers of cells for ``"weno5"``; points, ends included, for the others.
    initial : mapping of str to array, each of shape (*batch, *grid)
        Numpy arrays or torch tensors.
    times : array, shape (n,)
        Increasing output times.
    solver : str
        Name in `LINE_SOLVERS`.
    boundary : mapping, optional
        Conditions at the sides; every axis is periodic without.
    initial_time, time_step, suggested_step, parameters, dtype, strides, strict, progress
        As for `pdes.solvers.rollout`.

    Returns
    -------
    Rollout

    Raises
    ------
    ValueError
        If the solver is unknown or does not take this equation, grid or boundary.
    StabilityError
        If `time_step` is beyond a stability limit.
    SolverDivergence
        If something goes wrong on the way, unless `strict` is False.

    Examples
    --------
    >>> grid = Grid.periodic(x=(0.0, 1.0, 50))
    >>> box = np.where(abs(grid.coordinates()["x"] - 0.5) < 0.2, 1.0, 0.0)
    >>> step = Equation.from_text("u_t = -u_x", name="advection")
    >>> run = rollout_lines(step, grid, {"u": box}, np.array([1.0]), solver="weno5")
    >>> bool(run.fields["u"].max() < 1.001), bool(abs(run.fields["u"].sum() - box.sum()) < 1e-12)
    (True, True)
    """
    if solver not in LINE_SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known: {sorted(LINE_SOLVERS)}")
    first = next(iter(initial.values()))
    kernel, make_step = LINE_SOLVERS[solver].build(
        equation,
        grid,
        boundary,
        xp=array_namespace(first),
        dtype=dtype,
        device=device_of(first),
        parameters=parameters,
    )
    return march_lines(
        kernel,
        make_step,
        initial,
        times,
        initial_time=initial_time,
        time_step=time_step,
        suggested_step=suggested_step,
        strides=strides,
        strict=strict,
        progress=progress,
    )
