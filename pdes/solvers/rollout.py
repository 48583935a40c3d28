"""March an equation through output times: fields in, fields out, in any array namespace."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.solvers.errors import ResolutionWarning, SolverDivergence
from pdes.solvers.limits import LARGEST_COURANT, RateMeter
from pdes.solvers.spectral import PseudoSpectral
from pdes.time.integrator import INTEGRATORS, Integrator, Step

Array = Any
Progress = Callable[[int, int], None]

TAIL_LIMIT = 1e-6
"""A spectrum whose highest modes exceed this fraction of its peak is not resolved."""

_STEPS_BETWEEN_CHECKS = 100

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """Fields at the output times, and how the run went.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Output times reached.
    fields : mapping of str to array, each of shape (*batch, n, *stored grid)
        Arrays of the namespace that came in; not finite after a divergence.
    status : {"ok", "under_resolved", "step_too_large", "diverged"}
        Worst of the batch.
    message : str
        Explanation, empty if all is well.
    time_step : float
        Largest step taken.
    steps : int
        Number of steps taken.
    dealias : tuple of int
        Highest mode kept along each axis.
    tail : float
        Largest spectral tail seen.
    """

    times: np.ndarray
    fields: Mapping[str, Array]
    status: str
    message: str
    time_step: float
    steps: int
    dealias: tuple[int, ...]
    tail: float


def rollout(
    equation: Equation,
    grid: Grid,
    initial: Mapping[str, Array],
    times: np.ndarray,
    *,
    initial_time: float = 0.0,
    discard: float = 0.0,
    integrator: str | Integrator = "etdrk4",
    time_step: float | None = None,
    suggested_step: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    dtype: str = "float64",
    dealias: bool = True,
    strides: tuple[int, ...] | None = None,
    strict: bool = True,
    progress: Progress | None = None,
) -> Rollout:
    """Solve an equation on a periodic box by the Fourier pseudo-spectral method.

    This is `pdes.simulate` without files and names: arrays come back in the namespace in which
    they came in, with gradients with respect to the initial fields and to `parameters`.

    Parameters
    ----------
    equation : Equation
        What is solved.
    grid : Grid
        Periodic axes.
    initial : mapping of str to array, each of shape (*batch, *grid)
        Numpy arrays or torch tensors.
    times : array, shape (n,)
        Increasing output times; steps land on them exactly.
    initial_time : float, default 0
        Time of the initial fields.
    discard : float, default 0
        Time integrated before the clock starts.
    integrator : str or Integrator, default "etdrk4"
        Name (``"etdrk4"``, ``"rk4"``, ``"ssprk3"``) or object.
    time_step : float, optional
        Largest step. Chosen from the initial fields when absent: Courant number 0.5, and fast
        enough for the other nonlinear terms.
    suggested_step : float, optional
        Taken where `time_step` is absent, but lowered to Courant number 0.5.
    parameters : mapping, optional
        Values that replace the equation's, floats or scalars of the namespace.
    dtype : {"float64", "float32"}
        Precision of the run.
    dealias : bool, default True
        See `PseudoSpectral`.
    strides : tuple of int, optional
        Keep every so many points along each axis.
    strict : bool, default True
        Raise on divergence; otherwise return what there is and say so in the status.
    progress : callable, optional
        Called as ``progress(done, total)`` after each output time.

    Returns
    -------
    Rollout

    Raises
    ------
    StabilityError
        If `time_step` is beyond a stability limit.
    SolverDivergence
        If values stop being finite or the Courant number passes 1.3 on the way, and `strict`.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 32))
    >>> u = np.sin(grid.coordinates()["x"])
    >>> heat = Equation.from_text("u_t = 0.5*u_xx", name="heat")
    >>> run = rollout(heat, grid, {"u": u}, np.array([0.0, 2.0]))
    >>> bool(np.allclose(run.fields["u"][1], np.exp(-1.0) * u, rtol=0, atol=1e-15))
    True
    """
    method = _method(integrator)
    _keep_heap()
    first = next(iter(initial.values()))
    kernel = PseudoSpectral(
        equation,
        grid,
        xp=array_namespace(first),
        dtype=dtype,
        device=device_of(first),
        parameters=parameters,
        dealias=dealias,
    )
    state = kernel.forward({n: kernel.basis.asarray(initial[n]) for n in kernel.fields})
    start = initial_time - discard
    march = _March(kernel, method, start, time_step, suggested_step, state, strict)
    march.to(initial_time)
    keep = (..., *(slice(None, None, stride) for stride in strides or (1,) * len(grid.shape)))
    frames: list[dict[str, Array]] = []
    for done, target in enumerate(times, start=1):
        march.to(float(target))
        frames.append({name: values[keep] for name, values in kernel.backward(march.state).items()})
        march.last_good = (
            (frames[-1], march.time) if march.status != "diverged" else march.last_good
        )
        if progress is not None:
            progress(done, len(times))
    axis = -len(grid.shape) - 1
    stacked = {
        name: kernel.xp.stack([frame[name] for frame in frames], axis=axis) for name in frames[0]
    }
    if march.status == "under_resolved":
        warnings.warn(march.message, ResolutionWarning, stacklevel=3)
    return Rollout(
        times=np.asarray(times),
        fields=stacked,
        status=march.status,
        message=march.message,
        time_step=march.largest,
        steps=march.steps,
        dealias=kernel.basis.cutoffs,
        tail=march.tail,
    )


class _March:
    """State of a run: advances to a time, watches what happens."""

    def __init__(
        self,
        kernel: PseudoSpectral,
        method: Integrator,
        start: float,
        time_step: float | None,
        suggested: float | None,
        state: Array,
        strict: bool,
    ) -> None:
        self.kernel, self.method, self.strict = kernel, method, strict
        self.state, self.time = state, start
        self.status, self.message, self.tail = "ok", "", 0.0
        self.steps, self.largest = 0, 0.0
        self.last_good: tuple[Any, float | None] = (None, None)
        self._meter = RateMeter(kernel, method)
        self._steppers: dict[str, Step] = {}
        rates = self._meter.measure(state, start)
        if kernel.is_linear and method.name == "etdrk4":
            # The exponential is exact, however long the step.
            time_step = suggested = np.inf
        if time_step is not None:
            rates.check(time_step)
            self.time_step = time_step
        else:
            self.time_step = rates.default_step
            if suggested is not None:
                self.time_step = min(suggested, rates.courant_step)
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
        step, rate, start = self._stepper(size), self.kernel.nonlinear, self.time
        self.largest = max(self.largest, size)
        with np.errstate(over="ignore", invalid="ignore"):
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
        error = SolverDivergence(
            "values are not finite any more",
            step=self.steps,
            time=time,
            last_good=fields,
            last_good_time=good_time,
        )
        if self.strict:
            raise error
        if self.status != "diverged":
            self._note("diverged", str(error))
        axes = tuple(range(-self.kernel.basis.dimension - 1, 0))
        whole = xp.all(finite, axis=axes, keepdims=True)
        # Nothing half-broken is returned: a sample that has blown up is all NaN from here on.
        self.state = xp.where(whole, self.state, xp.nan * self.state)

    def _watch(self, advective: float) -> None:
        """Notice a spectrum that is not resolved, and a step that has become too large."""
        tails = self.kernel.tail(_detached(self.state))
        tail = float(self.kernel.xp.max(tails))
        # After a divergence the comparison with NaN is false, and the status stays.
        self.tail = max(self.tail, tail)
        if tail > TAIL_LIMIT and self.status == "ok":
            self._note(
                "under_resolved",
                f"the highest modes hold {tail:.1e} of the spectrum's peak at t={self.time:.4g} "
                f"(limit {TAIL_LIMIT:g}): the field is not resolved, or not periodic; use more "
                "points or a smoother initial field",
            )
        courant = advective * self.largest
        if courant > LARGEST_COURANT:
            reason = f"the Courant number has grown to {courant:.3g}, above {LARGEST_COURANT}"
            if self.strict:
                fields, time = self.last_good
                raise SolverDivergence(
                    reason, step=self.steps, time=self.time, last_good=fields, last_good_time=time
                )
            if self.status in ("ok", "under_resolved"):
                self._note("step_too_large", f"{reason} at t={self.time:.4g}")

    def _note(self, status: str, message: str) -> None:
        self.status, self.message = status, message
        _log.info("%s: %s", status, message)


def _keep_heap() -> None:
    """Have the C library keep freed blocks instead of handing their pages back.

    Each step makes and drops a dozen arrays of the size of the state. By default glibc maps blocks
    above 128 KiB anew each time, and touching fresh pages made a batched step three times slower.
    Freeing one larger block raises that limit for the process; its pages are never touched.
    """
    np.empty(30 * 2**20, dtype=np.uint8)


def _method(integrator: str | Integrator) -> Integrator:
    if not isinstance(integrator, str):
        return integrator
    if integrator not in INTEGRATORS:
        raise ValueError(f"unknown solver {integrator!r}; known: {sorted(INTEGRATORS)}")
    return INTEGRATORS[integrator]


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
