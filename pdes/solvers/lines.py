"""March a semi-discretized equation through output times: the method of lines.

Every solver that is not Fourier pseudo-spectral brings a kernel (what happens in space) and an
integrator, and is marched here: steps land on the output times, limits are checked before and
during the run, values that stop being finite are said.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pdes.solvers.errors import ResolutionWarning, SolverDivergence, StabilityError
from pdes.solvers.rollout import Progress, Rollout
from pdes.solvers.step_budget import check_named_step, over_budget

Array = Any
Step = Callable[[Array, float, Any], Array]

_STEPS_BETWEEN_CHECKS = 20
# Limits are measured at a state; until the next check speeds may grow a little.
_TOLERANCE = 1.0 + 1e-6

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class StepLimits:
    """Inverse time scales at a state, with the numbers that rate times step may reach.

    Parameters
    ----------
    rates : mapping of str to float
        What is limited, such as ``"the Courant number"``, and its value for a unit step.
    largest : mapping of str to float
        Refused above.
    default : mapping of str to float
        Aimed at when the step is chosen.

    Examples
    --------
    >>> limits = StepLimits(rates={"c": 10.0}, largest={"c": 1.0}, default={"c": 0.5})
    >>> limits.default_step, limits.excess(0.2)[1]
    (0.05, 2.0)
    """

    rates: Mapping[str, float]
    largest: Mapping[str, float]
    default: Mapping[str, float]

    @property
    def default_step(self) -> float:
        """Step at which every number is at most its default."""
        fastest = max((r / self.default[n] for n, r in self.rates.items()), default=0.0)
        return 1.0 / fastest if fastest > 0.0 else math.inf

    @property
    def largest_step(self) -> float:
        """Step above which a run is refused."""
        fastest = max((r / self.largest[n] for n, r in self.rates.items()), default=0.0)
        return 1.0 / fastest if fastest > 0.0 else math.inf

    def excess(self, time_step: float) -> tuple[str, float, float] | None:
        """Name, value and limit of the first number above its limit, or None."""
        for name, rate in self.rates.items():
            if rate * time_step > self.largest[name] * _TOLERANCE:
                return name, rate * time_step, self.largest[name]
        return None

    def check(self, time_step: float) -> None:
        """Raise `StabilityError` when a step is beyond a limit."""
        found = self.excess(time_step)
        if found is not None:
            name, value, limit = found
            raise StabilityError(
                f"time_step={time_step:g} makes {name} {value:.3g}, above {limit:g}: use "
                f"time_step <= {self.largest_step:.3g}, or None to have it chosen "
                f"({self.default_step:.3g})"
            )


def as_field(values: Any, xp: Any, dtype: str, device: Any) -> Array:
    """Array of a namespace in a precision and on a device; tensors keep their gradient."""
    if hasattr(values, "requires_grad"):
        return xp.astype(values, getattr(xp, dtype))
    return xp.asarray(values, dtype=getattr(xp, dtype), device=device)


class LinesKernel(Protocol):
    """What a solver does in space."""

    @property
    def xp(self) -> Any:
        """Namespace of its arrays."""
        ...

    @property
    def dimension(self) -> int:
        """Number of axes."""
        ...

    def forward(self, fields: Mapping[str, Array], time: float) -> Array:
        """State from fields."""
        ...

    def backward(self, state: Array, time: float) -> dict[str, Array]:
        """Fields from a state."""
        ...

    def limits(self, state: Array, time: float) -> StepLimits:
        """Limits of the step at a state."""
        ...


MakeStep = Callable[[float], Step]


def march_lines(
    kernel: LinesKernel,
    make_step: MakeStep,
    initial: Mapping[str, Array],
    times: np.ndarray,
    *,
    initial_time: float = 0.0,
    time_step: float | None = None,
    suggested_step: float | None = None,
    strides: tuple[int, ...] | None = None,
    strict: bool | None = None,
    progress: Progress | None = None,
) -> Rollout:
    """Solve and return the fields at the output times.

    Parameters
    ----------
    kernel : LinesKernel
        What happens in space.
    make_step : callable
        ``make_step(size)`` returns ``step(state, time, None) -> state``.
    initial : mapping of str to array, each of shape (*batch, *grid)
        Fields at `initial_time`.
    times : ndarray, shape (n,)
        Increasing output times.
    initial_time : float
        Time of the initial fields.
    time_step : float, optional
        Largest step, refused if beyond a limit.
    suggested_step : float, optional
        Taken when no step is given, lowered where the default is smaller.
    strides : tuple of int, optional
        Keep every so many points along each axis.
    strict : bool
        Raise when something goes wrong; otherwise the status says so.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    Rollout

    Raises
    ------
    StabilityError
        If `time_step` is beyond a limit; or if none was given, and the chosen one makes more than
        two million steps.
    SolverDivergence
        If something goes wrong on the way, unless `strict` is False.
    """
    end = max(map(float, times), default=initial_time)
    if time_step is not None:
        check_named_step(initial_time, end, time_step)
    run = _March(kernel, make_step, initial, initial_time, time_step, suggested_step, strict)
    run.end = end
    keep = (..., *(slice(None, None, stride) for stride in strides or (1,) * kernel.dimension))
    frames: list[dict[str, Array]] = []
    for done, target in enumerate(times, start=1):
        run.to(float(target))
        frames.append({n: v[keep] for n, v in kernel.backward(run.state, run.time).items()})
        if run.status in ("ok", "under_resolved"):
            run.last_good = (frames[-1], run.time)
        if progress is not None:
            progress(done, len(times))
    axis = -kernel.dimension - 1
    stacked = {n: kernel.xp.stack([frame[n] for frame in frames], axis=axis) for n in frames[0]}
    return Rollout(
        times=np.asarray(times),
        fields=stacked,
        status=run.status,
        message=run.message,
        time_step=run.largest,
        steps=run.steps,
        dealias=(),
        tail=0.0,
    )


class _March:
    """State of a run."""

    def __init__(
        self,
        kernel: LinesKernel,
        make_step: MakeStep,
        initial: Mapping[str, Array],
        start: float,
        time_step: float | None,
        suggested: float | None,
        strict: bool | None,
    ) -> None:
        self.kernel, self.time, self.strict = kernel, start, strict
        self.state = kernel.forward(initial, start)
        self.status, self.message, self.steps, self.largest = "ok", "", 0, 0.0
        self.last_good: tuple[Any, float | None] = (None, None)
        self.end, self._given_up = start, False
        self._make, self._made = make_step, {}
        self._given, self._suggested = time_step, suggested
        if time_step is not None:
            kernel.limits(self.state, start).check(time_step)
        complaint = getattr(kernel, "warning", lambda state, time: "")(self.state, start)
        if complaint and strict:
            raise ValueError(f"{complaint}; leave strict=True out to go on with a warning")
        if complaint:
            self.status, self.message = "under_resolved", complaint
            warnings.warn(complaint, ResolutionWarning, stacklevel=5)

    def to(self, target: float) -> None:
        """Advance to a time in equal steps."""
        interval = target - self.time
        wanted = self._wanted(target) if interval > 0.0 else math.inf
        self._keep_to_budget(wanted)
        if interval <= 0.0 or self._given_up:
            self.time = target
            return
        count = max(1, math.ceil(interval / wanted * (1.0 - 1e-9)))
        size, start = interval / count, self.time
        self.largest = max(self.largest, size)
        step = self._step(size)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for index in range(count):
                self.state = step(self.state, start + index * size, None)
                self.steps += 1
                if (index + 1) % _STEPS_BETWEEN_CHECKS == 0 or index + 1 == count:
                    self.time = start + (index + 1) * size
                    self._watch(size)
        self.time = target

    def _wanted(self, target: float) -> float:
        if self._given is not None:
            return self._given
        # Speeds may depend on time explicitly: look at the interval, not at its beginning only.
        moments = np.linspace(self.time, target, 5)
        limits = [self._limits(float(moment)) for moment in moments]
        chosen = min(limit.default_step for limit in limits)
        return chosen if self._suggested is None else min(chosen, self._suggested)

    def _keep_to_budget(self, step: float) -> None:
        """Refuse a run, or give it up, when the step that is chosen makes too many steps."""
        if self._given is not None or self._given_up:
            return
        reason = over_budget(self.end - self.time, step, self.steps)
        if reason and not self.steps:
            raise StabilityError(reason)
        if reason:
            self._stop(reason, "diverged")
            self._given_up = True
            self.state = self.kernel.xp.nan * self.state

    def _step(self, size: float) -> Step:
        # Intervals between equally spaced times differ in their last bits only: share a stepper.
        key = f"{size:.12g}"
        if key not in self._made:
            if len(self._made) > 8:
                self._made.clear()
            self._made[key] = self._make(size)
        return self._made[key]

    def _watch(self, size: float) -> None:
        xp = self.kernel.xp
        state = self.state.detach() if hasattr(self.state, "detach") else self.state
        finite = xp.isfinite(state)
        if not bool(xp.all(finite)):
            self._stop("values are not finite any more", "diverged")
            # Nothing half-broken is returned: a sample that has blown up is all NaN from here on.
            axes = tuple(range(-self.kernel.dimension - 1, 0))
            self.state = xp.where(xp.all(finite, axis=axes, keepdims=True), self.state, xp.nan)
        found = self._limits(self.time).excess(size)
        if found is not None:
            name, value, limit = found
            reason = f"{name} has grown to {value:.3g}, above {limit:g}"
            self._stop(reason, "step_too_large")

    def _limits(self, time: float) -> StepLimits:
        """Limits of the samples that are still finite."""
        xp = self.kernel.xp
        state = self.state.detach() if hasattr(self.state, "detach") else self.state
        axes = tuple(range(-self.kernel.dimension - 1, 0))
        whole = xp.all(xp.isfinite(state), axis=axes, keepdims=True)
        return self.kernel.limits(xp.where(whole, state, xp.zeros_like(state)), time)

    def _stop(self, reason: str, status: str) -> None:
        fields, time = self.last_good
        error = SolverDivergence(
            reason, step=self.steps, time=self.time, last_good=fields, last_good_time=time
        )
        if self.strict is not False:
            raise error
        if self.status != "diverged" and self.status != status:
            self.status, self.message = status, str(error)
            _log.info("%s: %s", status, error)
