"""Flow in time on Taylor-Hood elements: vortex streets, with the forces on bodies.

Second-order backward differences; convection is extrapolated from the last two steps, so that one
factorization serves all steps. The step is limited by the flow crossing a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import skfem
import xarray as xr
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.boundary import Outflow
from pdes.solvers.errors import SolverDivergence, StabilityError
from pdes.solvers.step_budget import check_budget
from pdes.solvers.taylor_hood import Flow
from pdes.steady import SteadyProblem

__all__ = ["ORDER", "default_step", "march", "march_flow"]

ORDER = 2


def march_flow(
    problem: SteadyProblem,
    *,
    resolution: int,
    time_step: float | None = None,
    end: float,
    initial: np.ndarray | None = None,
    watch: Callable[..., None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> xr.Dataset:
    """Follow a flow from slow (Stokes) flow, with the data of a steady problem.

    Parameters
    ----------
    problem : SteadyProblem
        A flow that `pdes.solvers.taylor_hood` can solve.
    resolution : int
        For the mesh recipe.
    time_step : float, optional
        Of all steps. By default the flow crosses 0.15 of the flattest cell in a step, which was
        stable in all trials; at low Reynolds numbers several times that is.
    end : float
        Last time; the first is 0.
    initial : ndarray, shape (2, points), optional
        Velocity at the nodes instead of that of Stokes flow.
    watch : callable, optional
        Called as ``watch(step, fields, told)`` at the start and after each step: ``fields()`` gives
        the fields at the nodes, ``told`` the numbers of the step.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Returns
    -------
    xarray.Dataset
        ``force_<side>`` with dims ``(time, direction)`` for every side that meets no other, the
        kinetic energy, and the fields at the last time.

    Raises
    ------
    ValueError
        If the step or the end is not positive.
    StabilityError
        Before the first step, if the flow crosses more than two cells in it: never stable;
        or if the step that is chosen makes more than two million steps.
    SolverDivergence
        If the velocity stops being finite: the step was too long.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("cylinder_flow")
    >>> data = march_flow(problem, resolution=4, time_step=0.01, end=0.03)
    >>> data.force_cylinder.dims, data.sizes["time"]
    (('time', 'direction'), 3)
    """
    if not (end > 0.0 and (time_step is None or 0.0 < time_step <= end)):
        raise ValueError(f"time_step={time_step} and end={end}: wanted 0 < time_step <= end")
    march = _March(Flow.of(problem, resolution))
    now = march.started(initial)
    crossing = march.crossing_time(now)
    if time_step is None:
        check_budget(end, 0.15 * crossing)
        time_step = end / math.ceil(end / (0.15 * crossing))
    elif time_step > 2.0 * crossing:
        raise StabilityError(
            f"time_step={time_step}: the flow crosses {time_step / crossing:.3g} cells in a step, "
            f"above 2; take {0.15 * crossing:.3g}, or more where viscosity is large"
        )
    march.dt, steps = time_step, round(end / time_step)
    before, carried = None, None
    forces: dict[str, list[list[float]]] = {side: [] for side in march.bodies}
    energy = []
    if watch is not None:
        watch(0, lambda: march.fields(now), {})
    for step in range(1, steps + 1):
        # An overflow is found below and told as what it is.
        with np.errstate(all="ignore"):
            after, told, carried_now = march.step(now, before, carried)
            moving = march.energy(after)
        if not np.isfinite(moving):
            raise SolverDivergence(
                "velocity is not finite",
                step=step,
                time=step * time_step,
                last_good={"u": now[: march.n], "v": now[march.n : 2 * march.n]},
                last_good_time=(step - 1) * time_step,
            )
        before, now, carried = now, after, carried_now
        for side, force in told.items():
            forces[side].append(force)
        energy.append(moving)
        if watch is not None:
            numbers = {"energy": moving} | {f"force_{side}": f for side, f in told.items()}
            watch(step, lambda: march.fields(now), numbers)  # noqa: B023
        if progress is not None:
            progress(step, steps)
    return _dataset(march.flow, time_step, now, forces, energy, resolution)


march = march_flow


def default_step(
    problem: SteadyProblem, resolution: int, end: float, initial: np.ndarray | None = None
) -> float:
    """Step in which the flow crosses 0.15 of the flattest cell, checked against the budget.

    Examples
    --------
    >>> import pdes
    >>> default_step(pdes.get("cylinder_flow"), 4, 1.0) < 0.1
    True
    """
    state = _March(Flow.of(problem, resolution))
    longest = 0.15 * state.crossing_time(state.started(initial))
    check_budget(end, longest)
    return longest


class _March:
    """Matrices that do not change, and one step."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.dt = flow, math.nan
        self.n = flow.space.size
        _, slow = flow.linearized(np.zeros(flow.size), convection=False, newton=False)
        basis: Any = flow.space.basis
        mass = _mass.assemble(basis)
        empty = sparse.csr_matrix((int(flow.pressure.N),) * 2)
        self.mass = sparse.block_diag([mass, mass, empty], format="csr")
        self.slow = sparse.csr_matrix(slow)
        self.load = flow.load()
        self.fixed, self.values = flow.fixed()
        self.free = np.setdiff1d(np.arange(flow.size), self.fixed)
        self.factors: dict[float, Any] = {}
        self.bodies = flow.bodies()

    def started(self, initial: np.ndarray | None) -> np.ndarray:
        """State at time zero: Stokes flow, or given velocities."""
        state = np.zeros(self.flow.size)
        state[self.fixed] = self.values
        if initial is not None:
            state[: 2 * self.n] = np.asarray(initial, float).reshape(-1)
            return state
        matrix = self.slow
        rest = (self.load - matrix @ state)[self.free]
        state[self.free] = splu(sparse.csc_matrix(matrix[self.free][:, self.free])).solve(rest)
        return state

    def crossing_time(self, state: np.ndarray) -> float:
        """Least time in which the flow crosses a cell, by the height over its longest edge."""
        basis: Any = self.flow.space.basis
        speed = np.hypot(state[: self.n], state[self.n : 2 * self.n])[basis.element_dofs].max(
            axis=0
        )
        corners = basis.mesh.p[:, basis.mesh.t[:3]]
        edges = corners - np.roll(corners, 1, axis=1)
        twice = np.abs(edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0])
        height = twice / np.hypot(*edges).max(axis=0)
        return float(np.min(height / np.maximum(speed, 1e-300)))

    def step(
        self, now: np.ndarray, before: np.ndarray | None, carried: np.ndarray | None
    ) -> tuple[np.ndarray, dict[str, list[float]], np.ndarray]:
        """Next state, forces at its time, and the convection at the present one."""
        convection = self.convection(now)
        if before is None or carried is None:
            rate, history, pushed = 1.0 / self.dt, now / self.dt, convection
        else:
            rate = 1.5 / self.dt
            history = (2.0 * now - 0.5 * before) / self.dt
            pushed = 2.0 * convection - carried
        right = self.load + self.mass @ history - pushed
        matrix, factors = self.factored(rate)
        after = np.zeros_like(now)
        after[self.fixed] = self.values
        after[self.free] = factors.solve((right - matrix @ after)[self.free])
        residual = matrix @ after - right
        told = {side: [-float(residual[dofs + k * self.n].sum()) for k in (0, 1)]
                for side, dofs in self.bodies.items()}  # fmt: skip
        return after, told, convection

    def factored(self, rate: float) -> tuple[Any, Any]:
        """Matrix with this weight of the mass, and its factors, made once."""
        if rate not in self.factors:
            matrix = (self.slow + rate * self.mass).tocsr()
            inner = sparse.csc_matrix(matrix[self.free][:, self.free])
            self.factors[rate] = matrix, splu(inner)
        return self.factors[rate]

    def convection(self, state: np.ndarray) -> np.ndarray:
        basis: Any = self.flow.space.basis
        u, v = (basis.interpolate(state[k * self.n : (k + 1) * self.n]) for k in (0, 1))
        parts = [
            _source.assemble(basis, f=np.asarray(u) * w.grad[0] + np.asarray(v) * w.grad[1])
            for w in (u, v)
        ]
        return np.concatenate([*parts, np.zeros(int(self.flow.pressure.N))])

    def energy(self, state: np.ndarray) -> float:
        return float(0.5 * state @ (self.mass @ state))

    def fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """Velocity and pressure at the nodes."""
        pressure = self.flow.pressure_at_nodes(state[2 * self.n :])
        return {"u": state[: self.n], "v": state[self.n : 2 * self.n], "p": pressure}


def _dataset(
    flow: Flow,
    time_step: float,
    state: np.ndarray,
    forces: dict[str, list[list[float]]],
    energy: list[float],
    resolution: int,
) -> xr.Dataset:
    n = flow.space.size
    basis: Any = flow.space.basis
    times = time_step * np.arange(1, len(energy) + 1)
    variables: dict[str, Any] = {
        f"force_{side}": (("time", "direction"), np.array(rows)) for side, rows in forces.items()
    }
    variables |= {
        "energy": ("time", np.array(energy)),
        "u": ("point", state[:n]),
        "v": ("point", state[n : 2 * n]),
        "p": ("point", flow.pressure_at_nodes(state[2 * n :])),
        "cells": (("cell", "vertex"), basis.element_dofs.T.copy(), {"cell_type": "triangle6"}),
    }
    coordinates = {
        "time": times,
        "direction": list(flow.problem.coordinates),
        "x": ("point", basis.doflocs[0].copy()),
        "y": ("point", basis.doflocs[1].copy()),
    }
    attributes = {
        "name": flow.problem.name,
        "equation": flow.problem.equation,
        "status": "ok",
        "time_step": time_step,
        "resolution": resolution,
        "order": ORDER,
        "open": int(any(isinstance(row["u"], Outflow) for row in flow.conditions.values())),
    }
    return xr.Dataset(variables, coordinates, attributes)


@skfem.BilinearForm
def _mass(u: Any, v: Any, w: Any) -> Any:
    return u * v


@skfem.LinearForm
def _source(v: Any, w: Any) -> Any:
    return w["f"] * v
