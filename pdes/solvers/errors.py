"""Errors of the solvers: said before or during a run, never a silent NaN."""

from __future__ import annotations

from typing import Any


class StabilityError(ValueError):
    """The time step breaks a stability limit; raised before the first step."""


class ResolutionWarning(UserWarning):
    """The highest modes of a spectrum are not small: the field is not resolved, or not periodic."""


class SolverDivergence(RuntimeError):  # noqa: N818
    """A run went wrong on the way.

    Parameters
    ----------
    reason : str
        What was seen.
    step : int
        Number of steps done.
    time : float
        Time at which it was seen.
    last_good : mapping of str to ndarray, optional
        Fields at the last output time at which everything was fine.
    last_good_time : float, optional
        That time.
    advice : str, optional
        What to do, if not what helps against most divergences; the reason then says the time.
    """

    def __init__(
        self,
        reason: str,
        *,
        step: int,
        time: float,
        last_good: Any = None,
        last_good_time: float | None = None,
        advice: str | None = None,
    ) -> None:
        place = f" (step {step})" if advice else f" at t={time:.6g} (step {step})"
        if last_good_time is not None:
            place += f"; the last good state is at t={last_good_time}"
        causes = (
            "Likely causes: (a) the time step is too large, (b) too few points for the structures "
            "that form, (c) the equation itself blows up. Try a smaller time_step, more points, or "
            "strict=False to keep what there is."
        )
        # Before the first step there is neither a step to name nor a state to go back to.
        begun = place if step or not advice else ""
        super().__init__(f"{reason}{begun}. {advice or causes}")
        self.reason = reason
        self.step = step
        self.time = time
        self.last_good = last_good
        self.last_good_time = last_good_time
