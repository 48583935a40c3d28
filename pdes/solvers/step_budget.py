"""How many steps a run may take before it is said instead of begun."""

from __future__ import annotations

import math

from pdes.solvers.errors import StabilityError

MOST_STEPS = 2_000_000
"""Steps that a solver takes by its own choice; a caller who names the step may have more."""

MOST_STEPS_BY_NAME = 1_000_000_000
"""Steps that nobody means to wait for: a day at ten microseconds each, faster than any solver."""


def steps_wanted(duration: float, step: float) -> float:
    """Number of steps of a size that cover a duration; infinite for a step of zero.

    Parameters
    ----------
    duration : float
        Time that is left.
    step : float
        Size that the field and the grid allow.

    Returns
    -------
    float

    Examples
    --------
    >>> steps_wanted(3.0, 0.5), steps_wanted(3.0, 0.0), steps_wanted(3.0, math.inf)
    (6.0, inf, 0.0)
    """
    if duration <= 0.0:
        return 0.0
    return duration / step if step > 0.0 else math.inf


def over_budget(duration: float, step: float, done: int = 0) -> str:
    """What is wrong with a step that is too small for what is left, and the remedy; "" if nothing.

    Parameters
    ----------
    duration : float
        Time that is left.
    step : float
        Size that the field and the grid allow.
    done : int
        Steps taken already.

    Returns
    -------
    str

    Examples
    --------
    >>> over_budget(1.0, 1e-3)
    ''
    >>> over_budget(10.0, 1e-6)[:52]
    'the field and the grid allow steps of 1e-06: another'
    """
    count = steps_wanted(duration, step)
    if not done + count > MOST_STEPS:
        return ""
    return (
        f"the field and the grid allow steps of {step:.3g}: another {count:.3g} steps"
        f"{f' after {done}' if done else ''} to cover a time of {duration:.4g}, above "
        f"{MOST_STEPS} in all. Take a smaller field, a coarser grid or a shorter time, or insist "
        f"with time_step={step:.3g}"
    )


def check_budget(duration: float, step: float) -> None:
    """Refuse a run before its first step.

    Parameters
    ----------
    duration : float
        Time that the run covers.
    step : float
        Size that was chosen for it.

    Raises
    ------
    StabilityError
        If it takes more than `MOST_STEPS` steps.

    Examples
    --------
    >>> check_budget(1.0, 1e-3)
    """
    reason = over_budget(duration, step)
    if reason:
        raise StabilityError(reason)


def check_named_step(start: float, end: float, step: float) -> None:
    """Refuse a step that the caller named and with which the run would never end.

    Parameters
    ----------
    start, end : float
        First and last time of the run.
    step : float
        Size that was named.

    Raises
    ------
    StabilityError
        If the step is lost in the rounding of the last time, or makes more than
        `MOST_STEPS_BY_NAME` steps.

    Examples
    --------
    >>> check_named_step(0.0, 1.0, 1e-6)
    """
    count = steps_wanted(end - start, step)
    if count == 0.0:
        return
    enough = max((end - start) / MOST_STEPS_BY_NAME, 4.0 * math.ulp(max(abs(start), abs(end))))
    remedy = f"take time_step >= {enough:.2g}, or leave it out to have it chosen"
    if abs(end) + step == abs(end) or abs(start) + step == abs(start):
        raise StabilityError(
            f"time_step={step:.3g} is lost in the rounding of times between {start:g} and {end:g}: "
            f"the run would never end; {remedy}"
        )
    if count > MOST_STEPS_BY_NAME:
        raise StabilityError(
            f"time_step={step:.3g} makes {count:.3g} steps from {start:g} to {end:g}, above "
            f"{MOST_STEPS_BY_NAME:.0e} even for a step that is named; {remedy}"
        )
