"""The error of a solver that did not reach its tolerance."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any


class ConvergenceError(RuntimeError):
    """An iteration stopped before its tolerance: its field is not a solution.

    Parameters
    ----------
    reason : str
        What was seen.
    history : sequence of float
        Norm of the residual after each iteration.
    tolerance : float
        What was wanted.

    Examples
    --------
    >>> ConvergenceError("conjugate gradients", history=[1.0, 0.5], tolerance=1e-8).history
    (1.0, 0.5)
    """

    def __init__(self, reason: str, *, history: Sequence[float], tolerance: float) -> None:
        last = f"{history[-1]:.3g}" if len(history) else "unknown"
        super().__init__(
            f"{reason}: residual {last} after {len(history)} iterations, wanted {tolerance:.3g}; "
            "allow more iterations, loosen the tolerance or check that the problem has one solution"
        )
        self.reason = reason
        self.history = tuple(history)
        self.tolerance = tolerance


LOOSEST_TOLERANCE = 1e-2
"""A larger residual leaves a field that does not solve its equations in any useful sense."""


def check_tolerance(tolerance: Any) -> float:
    """Refuse a tolerance that no residual can meet, or that fields which solve nothing do.

    Parameters
    ----------
    tolerance : float
        Norm of the residual relative to the data, wanted in ``(0, 0.01]``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If it is no number, or outside.

    Examples
    --------
    >>> check_tolerance(1e-10)
    1e-10
    """
    real = isinstance(tolerance, numbers.Real) and not isinstance(tolerance, bool)
    value = float(tolerance) if real else math.nan
    if not 0.0 < value <= LOOSEST_TOLERANCE:
        raise ValueError(
            f"tolerance={tolerance!r}, wanted a number above 0 and at most {LOOSEST_TOLERANCE:g}: "
            "it bounds the residual relative to the data, which is 1 for a field of zeros; take "
            "tolerance=1e-10, or leave it out"
        )
    return value
