"""Advance a spectral state through time and watch what happens to it."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from pdes.solvers.errors import SolverDivergence
from pdes.solvers.limits import LARGEST_COURANT
from pdes.solvers.spectral import PseudoSpectral
from pdes.solvers.step_budget import check_budget, check_named_step
from pdes.time.integrator import Integrator, Step

Array = Any

_STEPS_BETWEEN_CHECKS = 100
_RESOLVE = "Use more points or a smoother initial field, or strict=False to keep what there is."

_log = logging.getLogger(__name__)


class March:
    """State of a run: advances to a time, watches what happens.

    Parameters
    ----------
    kernel : PseudoSpectral
        The right-hand side.
    method : Integrator
        One-step method.
    start : float
        Time of the state.
    time_step : float or None
        Largest step, checked against the stability limits; None to choose it.
    suggested : float or None
        Step to take when none is given, lowered where it would not be stable.
    state : array, shape (*batch, fields, *modes)
        Fourier coefficients.
    strict : bool or None
        None raises when something goes wrong; True also where the spectrum is not resolved; False
        notes either in `status`.
    end : float, optional
        Last time of the run; a chosen step that makes too many steps until then is refused.
    """

    takes_back_steps = False

    def __init__(
        self,
        kernel: PseudoSpectral,
        method: Integrator,
        start: float,
        time_step: float | None,
        suggested: float | None,
        state: Array,
        strict: bool | None,
        end: float | None = None,
    ) -> None:
        self.kernel, self.method, self.strict = kernel, method, strict
        self.state, self.time = state, start
        self.status, self.message, self.tail = "ok", "", 0.0
        self.steps, self.rejected, self.largest = 0, 0, 0.0
        self.last_good: tuple[Any, float | None] = (None, None)
        self._meter = kernel.rate_meter(method)
        self._steppers: dict[str, Step] = {}
        rates = self._meter.measure(state, start)
        if kernel.is_linear and method.name == "etdrk4":
            # The exponential is exact, however long the step.
            time_step = suggested = np.inf
        if time_step is not None:
            rates.check(time_step, reaction=not self.takes_back_steps)
            self.time_step = time_step
        else:
            self.time_step = rates.default_step
            if suggested is not None:
                self.time_step = min(suggested, rates.stable_step)
        if end is not None:
            named = self.time_step in (time_step, suggested)
            if named:
                check_named_step(start, end, self.time_step)
            else:
                check_budget(end - start, self.time_step)
        self._watch(rates.advective)

    def to(self, target: float) -> None:
        """Advance to a time in equal steps."""
        interval = target - self.time
        if interval > 0.0:
            self._advance(target, interval)
        self.time = target

    def _advance(self, target: float, interval: float) -> None:
        # The guard keeps a step that divides the interval up to rounding from adding another one.
        count = max(1, math.ceil(interval / self.time_step * (1.0 - 1e-9)))
        size = interval / count
        rate, start = self.kernel.nonlinear, self.time
        self.largest = max(self.largest, size)
        with np.errstate(over="ignore", invalid="ignore"):
            step = self._stepper(size)
            for index in range(count):
                self.state = step(self.state, start + index * size, rate)
                self.steps += 1
                if self.steps % _STEPS_BETWEEN_CHECKS == 0:
                    self._check_finite(start + (index + 1) * size)
            self._check_finite(target)
            self.time = target
            self._watch(self._meter.advective(self.state, target))

    def _stepper(self, size: float) -> Step:
        # Intervals between equally spaced times differ in their last bits only: share a stepper.
        key = f"{size:.12g}"
        if key not in self._steppers:
            if len(self._steppers) > 8:
                self._steppers.clear()
            kernel = self.kernel
            self._steppers[key] = self.method.stepper(
                kernel.linear, size, kernel.basis.complex_dtype
            )
        return self._steppers[key]

    def _check_finite(self, time: float) -> None:
        """Stop at values that are not finite, or go on with the rest of the batch."""
        xp = self.kernel.xp
        finite = xp.isfinite(self.state)
        if bool(xp.all(finite)):
            return
        fields, good_time = self.last_good
        kernel = self.kernel
        mask = kernel.basis.asarray(kernel.basis.mask.astype(float))
        growth = float(xp.max(xp.real(_detached(kernel.linear)) * mask))
        error = SolverDivergence(
            "values are not finite any more"
            + (f" (the fastest linear mode grows at the rate {growth:.3g})" if growth > 0 else ""),
            step=self.steps,
            time=time,
            last_good=fields,
            last_good_time=good_time,
        )
        if self.strict is not False:
            raise error
        if self.status != "diverged":
            self._note("diverged", str(error))
        axes = tuple(range(self.kernel.basis.field_axis, 0))
        whole = xp.all(finite, axis=axes, keepdims=True)
        # Nothing half-broken is returned: a sample that has blown up is all NaN from here on.
        self.state = xp.where(whole, self.state, xp.nan * self.state)

    def _watch(self, advective: float) -> None:
        """Notice a spectrum that is not resolved, and a step that has become too large."""
        tails = self.kernel.tail(_detached(self.state))
        tail = float(self.kernel.xp.max(tails))
        # After a divergence the comparison with NaN is false, and the status stays.
        self.tail = max(self.tail, tail)
        if tail > self.kernel.tail_limit and self.status == "ok":
            reason = f"{self.kernel.tail_meaning.format(tail=tail)} at t={self.time:.4g} (limit "
            reason += f"{self.kernel.tail_limit:g}): the field is not resolved, or not periodic"
            if self.kernel.tail_refused or (self.strict and self.steps):
                self._stop(reason if self.steps else f"initial field: {reason}", _RESOLVE)
            if self.strict:
                self._refuse_data(reason)
            self._note("under_resolved", f"{reason}; use more points or a smoother initial field")
        courant = advective * self._courant_step()
        if courant > LARGEST_COURANT:
            reason = f"the Courant number has grown to {courant:.3g}, above {LARGEST_COURANT}"
            self._stop(reason)
            if self.status in ("ok", "under_resolved"):
                self._note("step_too_large", f"{reason} at t={self.time:.4g}")

    def _courant_step(self) -> float:
        """Step that the Courant number is formed with."""
        return self.largest

    def _stop(self, reason: str, advice: str | None = None) -> None:
        """Raise, unless the run is to go on whatever happens."""
        if self.strict is not False:
            fields, time = self.last_good
            raise SolverDivergence(
                reason,
                step=self.steps,
                time=self.time,
                last_good=fields,
                last_good_time=time,
                advice=advice,
            )

    def _refuse_data(self, reason: str) -> None:
        """Refuse initial data that the points do not resolve."""
        xp, fields = self.kernel.xp, self.kernel.fields
        shares = xp.reshape(self.kernel.basis.tail(_detached(self.state)), (-1, len(fields)))
        worst = fields[int(xp.argmax(xp.max(shares, axis=0)))]
        raise ValueError(
            f"initial field {worst!r}: {reason}; use more points or a smoother field, or leave "
            "strict=True out to go on with a warning"
        )

    def _note(self, status: str, message: str) -> None:
        self.status, self.message = status, message
        _log.info("%s: %s", status, message)


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
