"""Advance a spectral state to a tolerance: step doubling and a proportional-integral controller."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pdes.solvers.errors import SolverDivergence
from pdes.solvers.march import March
from pdes.time.step_control import next_size, retried_size

Array = Any

_SMALLEST = 1e-10
_SMALL_FIELD = 1e-3
_WORTHWHILE = 1.25


class AdaptiveMarch(March):
    """A march whose steps keep the estimated error of each below a tolerance.

    Each step is taken once whole and twice halved; the halves are kept, and their distance from
    the whole over ``2^order - 1`` estimates their error (Hairer, Norsett and Wanner, Solving
    Ordinary Differential Equations I, section II.4). The order is that of the method.

    A new size costs new coefficients of an exponential method. Therefore steps divide what is left
    until the next output time evenly, and grow only where that pays.

    Parameters
    ----------
    *arguments
        As for `March`; its `time_step` is the largest step allowed.
    rtol : float
        Tolerance of one step, relative to the norm of each field; a field below a thousandth of
        the largest counts as one.
    """

    takes_back_steps = True

    def __init__(self, *arguments: Any, rtol: float) -> None:
        if not 0.0 < rtol < 1.0:
            raise ValueError(f"rtol must be between 0 and 1, got {rtol}")
        super().__init__(*arguments)
        given = arguments[3]
        self.rtol, self.rejected = rtol, 0
        self._ceiling = math.inf if given is None else given
        self._size, self._last_error = self.time_step, 1.0

    def _advance(self, target: float, interval: float) -> None:
        if self.kernel.is_linear and self.method.name == "etdrk4":
            super()._advance(target, interval)
            return
        now, k = self.time, self.method.order + 1
        size = self._fitted(interval, self._size)
        with np.errstate(over="ignore", invalid="ignore"):
            while now < target:
                state, error = self._trial(now, size)
                if not error <= 1.0:
                    self.rejected += 1
                    size = self._fitted(target - now, retried_size(size, error, k))
                    if size < _SMALLEST * interval or self.status == "diverged":
                        self._give_up(now, target)
                        break
                    continue
                left = round((target - now) / size) - 1
                now = now + size if left > 0 else target
                self.state, self.time = state, now
                self.steps += 1
                self.largest = max(self.largest, size)
                error = max(error, 1e-10)
                self._size = min(self._ceiling, next_size(size, error, self._last_error, k))
                self._last_error = error
                if left > 0 and not size <= self._size < _WORTHWHILE * size:
                    size = self._fitted(target - now, self._size)
        self.time = target
        self._watch(self._meter.advective(self.state, target))

    def _trial(self, now: float, size: float) -> tuple[Array, float]:
        """State after two half steps, and its error over the tolerance: the worst of a batch."""
        xp, rate = self.kernel.xp, self.kernel.nonlinear
        whole = self._stepper(size)(self.state, now, rate)
        half = self._stepper(0.5 * size)
        halved = half(half(self.state, now, rate), now + 0.5 * size, rate)
        axes = tuple(range(self.kernel.basis.field_axis + 1, 0))

        def norm(state: Array) -> np.ndarray:
            held = state.detach() if hasattr(state, "detach") else state
            found = xp.sqrt(xp.sum(xp.abs(held) ** 2, axis=axes))
            return np.asarray(found.cpu() if hasattr(found, "cpu") else found)

        size_of = np.maximum(norm(self.state), norm(halved))
        scale = np.maximum(size_of, _SMALL_FIELD * size_of.max(axis=-1, keepdims=True))
        distance = norm(halved - whole) / (2.0**self.method.order - 1.0)
        ratio = distance / np.maximum(self.rtol * scale, np.finfo(np.float64).tiny)
        return halved, float(np.max(ratio))

    @staticmethod
    def _fitted(interval: float, size: float) -> float:
        """Largest size up to the given one that divides the interval."""
        return interval / max(1, math.ceil(interval / size * (1.0 - 1e-9)))

    def _courant_step(self) -> float:
        # The estimate of the error sees an unstable step before a Courant number does.
        return 0.0

    def _give_up(self, now: float, target: float) -> None:
        error = SolverDivergence(
            f"no step meets rtol={self.rtol:g}: values grow without bound, or rounding is above it",
            step=self.steps,
            time=now,
            last_good=self.last_good[0],
            last_good_time=self.last_good[1],
        )
        if self.strict is not False:
            raise error
        self._note("diverged", str(error))
        self.state = self.kernel.xp.nan * self.state
        self.time = target
