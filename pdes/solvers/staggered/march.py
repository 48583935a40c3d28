"""Step a staggered flow through time: three-stage Runge-Kutta or Adams-Bashforth, projected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pdes.solvers.errors import SolverDivergence, StabilityError
from pdes.solvers.staggered.flow import StaggeredFlow, State
from pdes.solvers.step_budget import check_named_step, over_budget
from pdes.time.runge_kutta import SSPRK3

Array = Any

LARGEST_COURANT = 0.3
"""Largest ``max|u| dt/h`` at the start of a run."""

_DEFAULT_COURANT = 0.25
_RUNAWAY_COURANT = 0.6
_STEPS_BETWEEN_CHECKS = 20


@dataclass(frozen=True, kw_only=True)
class Method:
    """A time integrator of staggered flows.

    Parameters
    ----------
    name : str
        Name under which `pdes.simulate` finds it.
    order : int
        Declared order in time.
    real_limit : float
        Extent of the stability region along the negative real axis.
    """

    name: str
    order: int
    real_limit: float


METHODS = {
    "mac_rk3": Method(name="mac_rk3", order=3, real_limit=2.5),
    "mac_ab2": Method(name="mac_ab2", order=2, real_limit=1.0),
}
"""Strong-stability-preserving Runge-Kutta method of order 3, Adams-Bashforth of order 2."""


class FlowMarch:
    """State of a run on a staggered grid.

    Parameters
    ----------
    flow : StaggeredFlow
        Right-hand side and projection.
    state : tuple of array
        Velocity on the faces, free of divergence.
    time : float
        Its time.
    method : {"mac_rk3", "mac_ab2"}
        Name of the integrator.
    time_step : float, optional
        Largest step, checked against the limits; chosen when absent.
    suggested : float, optional
        Step taken when none is given, lowered to the limits.
    strict : bool, optional
        Unless it is False, raise when something goes wrong, instead of noting it in `status`.
    end : float, optional
        Last time of the run; a chosen step that makes too many steps until then is refused.

    Raises
    ------
    StabilityError
        If the step is beyond ``real_limit/(4 nu (1/hx^2 + 1/hy^2))`` (4.62 for
        4 across walls) or Courant number 0.3; or if none was given, and the chosen one makes more
        than two million steps until `end`.

    Examples
    --------
    A flow from rest in a driven cavity:

    >>> import numpy as np
    >>> import pdes
    >>> problem = pdes.get("lid_driven_cavity")
    >>> flow = StaggeredFlow(problem.equation, problem.grid, problem.boundary)
    >>> march = FlowMarch(flow, flow.from_nodes({n: np.zeros(problem.grid.shape) for n in "uv"}))
    >>> march.to(0.05)
    >>> flow.largest_divergence(march.state) < 1e-11
    True
    """

    def __init__(
        self,
        flow: StaggeredFlow,
        state: State,
        time: float = 0.0,
        *,
        method: str = "mac_rk3",
        time_step: float | None = None,
        suggested: float | None = None,
        strict: bool | None = None,
        end: float | None = None,
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}; known: {sorted(METHODS)}")
        self.flow, self.state, self.time, self.strict = flow, state, time, strict
        self.method = METHODS[method]
        self.status, self.message = "ok", ""
        self.steps, self.largest, self.divergence = 0, 0.0, 0.0
        self.last_good: tuple[Any, float | None] = (None, None)
        self._given, self._suggested = time_step, suggested
        self._end, self._given_up = end, False
        self._previous: tuple[State, float] | None = None
        if time_step is not None:
            if end is not None:
                check_named_step(time, end, time_step)
            self._refuse(time_step)

    # -- limits ------------------------------------------------------------------------------

    def viscous_limit(self) -> float:
        """Largest step that the viscous terms allow."""
        flow = self.flow
        viscosity = flow.numbers["viscosity"]
        # Next to a wall the second difference has an eigenvalue of 8/sqrt(3) instead of 4.
        rate = viscosity * sum(
            (8.0 / 3.0**0.5 if wall else 4.0) / h**2
            for wall, h in zip(flow.box.has_walls, flow.grid.spacings, strict=True)
        )
        rate += flow.numbers.get("drag", 0.0)
        return self.method.real_limit / rate if rate > 0.0 else math.inf

    def courant_rate(self) -> float:
        """Courant number of a unit step: the largest speed over the size of a cell."""
        xp = self.flow.xp
        rates = [
            float(xp.max(xp.abs(_number(part)))) / h
            for part, h in zip(self.state, self.flow.grid.spacings, strict=True)
        ]
        walls = self.flow.box.wall_speeds(self.time)
        return max(
            *rates,
            *(walls[name] / h for name, h in zip("uv", self.flow.grid.spacings, strict=True)),
        )

    def _refuse(self, time_step: float) -> None:
        viscous, rate = self.viscous_limit(), self.courant_rate()
        if time_step > viscous * (1.0 + 1e-12):
            raise StabilityError(
                f"time_step={time_step:g} is beyond the viscous limit {viscous:.3g} of "
                f"{self.method.name}; use a smaller one, or None to have it chosen"
            )
        if time_step * rate > LARGEST_COURANT * (1.0 + 1e-12):
            raise StabilityError(
                f"time_step={time_step:g} makes the Courant number max|u| dt/h "
                f"{time_step * rate:.3g}, above {LARGEST_COURANT}: use time_step <= "
                f"{LARGEST_COURANT / rate:.3g}, or None to have it chosen"
            )

    def _step_size(self) -> float:
        if self._given is not None:
            return self._given
        rate = self.courant_rate()
        chosen = min(0.9 * self.viscous_limit(), _DEFAULT_COURANT / rate if rate else math.inf)
        # A fluid at rest under a force has no speed yet: look ahead by its acceleration.
        pushed = self._acceleration()
        if pushed:
            ahead = pushed * _STEPS_BETWEEN_CHECKS
            chosen = min(chosen, math.sqrt(_DEFAULT_COURANT / ahead))
        return min(chosen, self._suggested or math.inf)

    def _acceleration(self) -> float:
        """Largest acceleration by body forces over the size of a cell."""
        xp, spacings = self.flow.xp, self.flow.grid.spacings
        found = [0.0]
        for place, h in enumerate(spacings):
            force = self.flow.force(place, self.time)
            if force is not None:
                found.append(float(xp.max(xp.abs(xp.asarray(_number(force))))) / h)
        return max(found)

    # -- stepping ----------------------------------------------------------------------------

    def to(self, target: float) -> None:
        """Advance to a time, in steps that are equal between checks."""
        while self.time < target:
            remaining = target - self.time
            largest = self._step_size()
            self._keep_to_budget(largest)
            if self._given_up:
                self.time = target
                return
            # The guard keeps a step that divides the interval up to rounding from adding one.
            ratio = remaining / largest * (1.0 - 1e-9) if largest < math.inf else 0.0
            count = max(1, math.ceil(ratio))
            size, start = remaining / count, self.time
            self.largest = max(self.largest, size)
            for index in range(min(count, _STEPS_BETWEEN_CHECKS)):
                self._step(start + index * size, size)
                self.steps += 1
                self.time = start + (index + 1) * size
            if count <= _STEPS_BETWEEN_CHECKS:
                self.time = target
            self._watch(size)

    def _keep_to_budget(self, step: float) -> None:
        """Refuse a run, or give it up, when the step that is chosen makes too many steps."""
        if self._given is not None or self._end is None or self._given_up:
            return
        reason = over_budget(self._end - self.time, step, self.steps)
        if reason and not self.steps:
            raise StabilityError(reason)
        if reason:
            self._stop(reason, "diverged")
            self._given_up = True
            self.state = tuple(self.flow.xp.nan * part for part in self.state)

    def to_steady(self, tolerance: float, limit: float) -> float:
        """Advance until nothing changes any more, or to the time `limit`.

        Parameters
        ----------
        tolerance : float
            Largest rate of change of any velocity at which the flow counts as steady.
        limit : float
            Time at which to give up.

        Returns
        -------
        float
            The last rate of change.
        """
        xp, rate = self.flow.xp, math.inf
        while self.time < limit and rate > tolerance:
            size = self._step_size()
            before = self.state
            self.to(min(limit, self.time + 20.0 * size))
            before = self.state
            self.to(self.time + size)
            rate = (
                max(
                    float(xp.max(xp.abs(new - old)))
                    for new, old in zip(self.state, before, strict=True)
                )
                / size
            )
        return rate

    def _step(self, time: float, size: float) -> None:
        if self.method.name == "mac_rk3":
            self.state = self._runge_kutta(time, size)
            return
        rate = self.flow.rates(self.state, time)
        previous, self._previous = self._previous, (rate, size)
        if previous is None or abs(previous[1] - size) > 1e-6 * size:
            # A two-step method starts, and starts anew at another step, with a one-step one.
            self.state = self._runge_kutta(time, size)
            return
        moved = _sum(self.state, [(1.5 * size, rate), (-0.5 * size, previous[0])])
        self.state = self.flow.project(moved, time + size)

    def _runge_kutta(self, time: float, size: float) -> State:
        """One step of `SSPRK3`; every stage is projected, so all of them are flows."""
        flow, slopes = self.flow, []
        rows = [*SSPRK3.matrix[1:], SSPRK3.weights]
        nodes = [*(float(node) for node in SSPRK3.nodes[1:]), 1.0]
        stage, stage_time = self.state, time
        for row, node in zip(rows, nodes, strict=True):
            slopes.append(flow.rates(stage, stage_time))
            stage_time = time + node * size
            factors = [(size * float(a), slope) for a, slope in zip(row, slopes, strict=True) if a]
            stage = flow.project(_sum(self.state, factors), stage_time)
        return stage

    def _watch(self, size: float) -> None:
        """Stop at values that are not finite, or at a step that has become too large."""
        xp = self.flow.xp
        finite = all(bool(xp.all(xp.isfinite(part))) for part in self.state)
        reason = "" if finite else "values are not finite any more"
        if finite:
            self.divergence = max(self.divergence, self.flow.largest_divergence(self.state))
            courant = size * self.courant_rate()
            if courant > _RUNAWAY_COURANT:
                reason = f"the Courant number has grown to {courant:.3g}, above {_RUNAWAY_COURANT}"
        if reason:
            self._stop(reason, "step_too_large" if finite else "diverged")

    def _stop(self, reason: str, status: str) -> None:
        fields, good = self.last_good
        error = SolverDivergence(
            reason, step=self.steps, time=self.time, last_good=fields, last_good_time=good
        )
        if self.strict is not False:
            raise error
        if self.status != "diverged":
            self.status, self.message = status, str(error)


def _sum(state: State, terms: list[tuple[float, State]]) -> State:
    u, v = state
    for factor, (du, dv) in terms:
        u, v = u + factor * du, v + factor * dv
    return u, v


def _number(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value
