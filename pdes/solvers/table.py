"""Solvers of evolution problems by the name that `pdes.simulate` knows them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pdes.solvers.line_solvers import LINE_SOLVERS, rollout_lines
from pdes.solvers.rollout import Rollout, rollout
from pdes.solvers.shocks import refuse_shocks
from pdes.time.integrator import INTEGRATORS

if TYPE_CHECKING:
    from pdes.incompressible import VelocityEquation
    from pdes.problem import Problem

Array = Any


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A method that marches a problem through output times.

    Parameters
    ----------
    name : str
        What `pdes.simulate` calls it.
    order : int
        Declared order in time.
    run : callable
        ``run(problem, fields, times, *, time_step, dtype, strict, progress) -> Rollout`` with the
        initial fields as arrays of any namespace.
    watches : str, default "spectral_tail"
        What `Rollout.tail` is the largest value of.
    adaptive : bool, default False
        Whether `run` takes ``rtol``.
    """

    name: str
    order: int
    run: Callable[..., Rollout]
    watches: str = "spectral_tail"
    adaptive: bool = False


def _spectral(name: str) -> Callable[..., Rollout]:
    def run(problem: Problem, fields: Mapping[str, Array], times: Any, **options: Any) -> Rollout:
        refuse_shocks(problem.equation)
        return rollout(
            problem.equation,
            problem.grid,
            fields,
            times,
            initial_time=problem.initial_time,
            discard=problem.discard,
            integrator=name,
            suggested_step=problem.time_step,
            strides=problem.strides,
            **options,
        )

    return run


def _staggered(name: str) -> Callable[..., Rollout]:
    def run(problem: Problem, fields: Mapping[str, Array], times: Any, **options: Any) -> Rollout:
        from pdes.solvers.staggered.rollout import staggered_rollout

        return staggered_rollout(
            cast("VelocityEquation", problem.equation),
            problem.grid,
            problem.boundary,
            fields,
            times,
            initial_time=problem.initial_time,
            discard=problem.discard,
            method=name,
            suggested_step=problem.time_step,
            strides=problem.strides,
            **options,
        )

    return run


def _lines(name: str) -> Callable[..., Rollout]:
    def run(problem: Problem, fields: Mapping[str, Array], times: Any, **options: Any) -> Rollout:
        if problem.discard:
            raise ValueError(f"discard={problem.discard} is for spectral solvers: set it to 0")
        return rollout_lines(
            problem.equation,
            problem.grid,
            fields,
            times,
            boundary=problem.boundary or None,
            initial_time=problem.initial_time,
            solver=name,
            suggested_step=problem.time_step,
            strides=problem.strides,
            **options,
        )

    return run


SOLVERS: dict[str, Solver] = {
    **{
        name: Solver(name=name, order=method.order, run=_spectral(name), adaptive=True)
        for name, method in INTEGRATORS.items()
    },
    "mac_rk3": Solver(name="mac_rk3", order=3, run=_staggered("mac_rk3"), watches="divergence"),
    "mac_ab2": Solver(name="mac_ab2", order=2, run=_staggered("mac_ab2"), watches="divergence"),
    **{
        name: Solver(name=name, order=solver.order, run=_lines(name))
        for name, solver in LINE_SOLVERS.items()
    },
}
"""A new solver joins by a line here."""
