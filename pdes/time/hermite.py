"""Dense output: the cubic through values and slopes at both ends of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True, kw_only=True)
class HermiteCubic:
    """Cubic Hermite interpolant of one step; its error is of order four in the step.

    Parameters
    ----------
    start, stop : float
        Times at the ends of the step.
    left, right : array
        Values at the ends.
    left_slope, right_slope : array
        Time derivatives at the ends.

    Examples
    --------
    A cubic is reproduced:

    >>> cubic = HermiteCubic(start=0.0, stop=2.0, left=0.0, right=8.0,
    ...                      left_slope=0.0, right_slope=12.0)
    >>> cubic(1.0)
    1.0
    """

    start: float
    stop: float
    left: Array
    right: Array
    left_slope: Array
    right_slope: Array

    def __call__(self, time: float) -> Array:
        """Value at a time within the step.

        Raises
        ------
        ValueError
            If the time is outside the step.
        """
        step = self.stop - self.start
        s = (time - self.start) / step
        if not -1e-12 <= s <= 1.0 + 1e-12:
            raise ValueError(
                f"time={time:g} is outside the step [{self.start:g}, {self.stop:g}]; dense output "
                "does not extrapolate"
            )
        value = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * self.left + s * s * (3.0 - 2.0 * s) * self.right
        slope = s * (1.0 - s) ** 2 * self.left_slope - s * s * (1.0 - s) * self.right_slope
        return value + step * slope
