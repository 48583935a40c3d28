"""Adaptive explicit Runge-Kutta: embedded pairs, a proportional-integral controller, dense output.

Data are generated with fixed steps, so that a seed determines the bits; this is for single runs to
a tolerance, and for references.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from array_api_compat import array_namespace

from pdes.solvers.errors import SolverDivergence
from pdes.time.hermite import HermiteCubic
from pdes.time.step_control import next_size, retried_size

Array = Any
Rate = Callable[[float, Array], Array]


@dataclass(frozen=True, kw_only=True)
class EmbeddedPair:
    """Two explicit methods that share their stages; the difference estimates the error.

    Parameters
    ----------
    name : str
        What it is called.
    order, embedded_order : int
        Declared orders of the solution that is kept and of the one that it is compared with.
    matrix : tuple of tuples of Fraction
        Rows of the strictly lower triangle. The last row equals `weights`, so that the last stage
        is the first of the next step.
    weights, embedded_weights : tuple of Fraction
        One weight a stage.
    """

    name: str
    order: int
    embedded_order: int
    matrix: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]
    embedded_weights: tuple[Fraction, ...]

    @property
    def nodes(self) -> tuple[Fraction, ...]:
        """Stage times as fractions of the step."""
        return tuple(sum(row, Fraction(0)) for row in self.matrix)

    def stages(self, rate: Rate, time: float, state: Array, first: Array, step: float) -> list:
        """Slopes of all stages; `first` is the slope at the beginning."""
        slopes = [first]
        for row, node in zip(self.matrix[1:], self.nodes[1:], strict=True):
            stage = state
            for a, slope in zip(row, slopes, strict=True):
                if a:
                    stage = stage + step * float(a) * slope
            slopes.append(rate(time + step * float(node), stage))
        return slopes


BS32 = EmbeddedPair(
    name="bs32",
    order=3,
    embedded_order=2,
    matrix=(
        (),
        (Fraction(1, 2),),
        (Fraction(0), Fraction(3, 4)),
        (Fraction(2, 9), Fraction(1, 3), Fraction(4, 9)),
    ),
    weights=(Fraction(2, 9), Fraction(1, 3), Fraction(4, 9), Fraction(0)),
    embedded_weights=(Fraction(7, 24), Fraction(1, 4), Fraction(1, 3), Fraction(1, 8)),
)
"""Bogacki and Shampine, Appl. Math. Lett. 2 (1989) 321."""

DP54 = EmbeddedPair(
    name="dp54",
    order=5,
    embedded_order=4,
    matrix=(
        (),
        (Fraction(1, 5),),
        (Fraction(3, 40), Fraction(9, 40)),
        (Fraction(44, 45), Fraction(-56, 15), Fraction(32, 9)),
        (
            Fraction(19372, 6561),
            Fraction(-25360, 2187),
            Fraction(64448, 6561),
            Fraction(-212, 729),
        ),
        (
            Fraction(9017, 3168),
            Fraction(-355, 33),
            Fraction(46732, 5247),
            Fraction(49, 176),
            Fraction(-5103, 18656),
        ),
        (
            Fraction(35, 384),
            Fraction(0),
            Fraction(500, 1113),
            Fraction(125, 192),
            Fraction(-2187, 6784),
            Fraction(11, 84),
        ),
    ),
    weights=(
        Fraction(35, 384),
        Fraction(0),
        Fraction(500, 1113),
        Fraction(125, 192),
        Fraction(-2187, 6784),
        Fraction(11, 84),
        Fraction(0),
    ),
    embedded_weights=(
        Fraction(5179, 57600),
        Fraction(0),
        Fraction(7571, 16695),
        Fraction(393, 640),
        Fraction(-92097, 339200),
        Fraction(187, 2100),
        Fraction(1, 40),
    ),
)
"""Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19."""

PAIRS: dict[str, EmbeddedPair] = {pair.name: pair for pair in (BS32, DP54)}


@dataclass
class AdaptiveRun:
    """What an adaptive integration returns.

    Parameters
    ----------
    states : list of array
        One a requested time.
    accepted, rejected : int
        Numbers of steps.
    """

    states: list[Array] = field(default_factory=list)
    accepted: int = 0
    rejected: int = 0


def integrate_adaptive(
    rate: Rate,
    state: Array,
    times: Sequence[float],
    *,
    pair: EmbeddedPair = DP54,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    first_step: float | None = None,
    max_steps: int = 100_000,
) -> AdaptiveRun:
    """Integrate ``v' = rate(t, v)`` to a tolerance, with output by dense interpolation.

    The step is controlled by the present and the last error estimate (a PI controller with
    exponents 0.7/k and 0.4/k; Hairer and Wanner, Solving Ordinary Differential Equations II,
    section IV.2), in a root-mean-square norm weighted by ``atol + rtol*abs(v)``.

    Parameters
    ----------
    rate : callable
        ``rate(time, state)``.
    state : array, any shape
        Value at ``times[0]``.
    times : sequence of float
        Increasing; the first is where the integration begins.
    pair : EmbeddedPair
        `DP54` or `BS32`.
    rtol, atol : float
        Relative and absolute tolerance of one step.
    first_step : float, optional
        Trial size of the first step.
    max_steps : int
        Give up after so many.

    Returns
    -------
    AdaptiveRun

    Raises
    ------
    ValueError
        If a tolerance is not positive or the times do not increase.
    SolverDivergence
        If the step shrinks to nothing, values stop being finite or `max_steps` is reached.

    Examples
    --------
    >>> import numpy as np
    >>> run = integrate_adaptive(lambda t, v: -v, np.array([1.0]), [0.0, 1.0], rtol=1e-8)
    >>> bool(abs(run.states[1][0] - np.exp(-1)) < 1e-7)
    True
    """
    _check(times, rtol, atol)
    run, now, targets = AdaptiveRun(states=[state]), float(times[0]), list(times[1:])
    slope = rate(now, state)
    stop = float(times[-1])
    size = first_step or _first_step(state, slope, stop - now, rtol, atol)
    last_error, k = 1.0, pair.embedded_order + 1
    while targets:
        if run.accepted + run.rejected >= max_steps or not size > 1e-14 * max(abs(now), 1e-300):
            raise SolverDivergence(
                f"no step meets rtol={rtol:g}, atol={atol:g}", step=run.accepted, time=now
            )
        size = min(size, stop - now)
        slopes = pair.stages(rate, now, state, slope, size)
        new = _combined(state, size, pair.weights, slopes)
        other = _combined(state, size, pair.embedded_weights, slopes)
        error = _norm(new - other, state, new, rtol, atol)
        if not error <= 1.0:
            run.rejected += 1
            size = retried_size(size, error, k)
            continue
        run.accepted += 1
        end = stop if stop - now <= size else now + size
        cubic = HermiteCubic(
            start=now, stop=end, left=state, right=new, left_slope=slope, right_slope=slopes[-1]
        )
        while targets and targets[0] <= end:
            target = float(targets.pop(0))
            run.states.append(new if target == end else cubic(target))
        error = max(error, 1e-10)
        size = next_size(size, error, last_error, k)
        state, slope, now, last_error = new, slopes[-1], end, error
    return run


def _check(times: Sequence[float], rtol: float, atol: float) -> None:
    if not (rtol > 0.0 and atol > 0.0):
        raise ValueError(f"rtol={rtol} and atol={atol} must be positive")
    if any(not b > a for a, b in pairwise(times)) or len(times) < 2:
        raise ValueError("times must be at least two, and increase; sort them")


def _combined(state: Array, size: float, weights: tuple, slopes: list) -> Array:
    for weight, slope in zip(weights, slopes, strict=True):
        if weight:
            state = state + size * float(weight) * slope
    return state


def _norm(difference: Array, old: Array, new: Array, rtol: float, atol: float) -> float:
    xp = array_namespace(difference)
    scale = atol + rtol * xp.maximum(xp.abs(old), xp.abs(new))
    size = xp.mean(xp.abs(difference / scale) ** 2)
    # The size of the step is a number: gradients do not flow through it.
    return math.sqrt(float(size.detach() if hasattr(size, "detach") else size))


def _first_step(state: Array, slope: Array, span: float, rtol: float, atol: float) -> float:
    size, change = (_norm(a, state, state, rtol, atol) for a in (state, slope))
    guess = 0.01 * size / change if size > 1e-5 and change > 1e-5 else 1e-6
    return min(guess, span)
