"""Sizes of steps from estimates of their errors: a proportional-integral controller.

Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.2.
"""

from __future__ import annotations

import math


def retried_size(size: float, error: float, k: int) -> float:
    """Size of another try after a step whose error was too large.

    Parameters
    ----------
    size : float
        Size of the step that was rejected.
    error : float
        Its estimated error over the tolerance, above 1 or not finite.
    k : int
        Power of the size that the estimate is proportional to.

    Returns
    -------
    float

    Examples
    --------
    >>> round(retried_size(1.0, 32.0, 5), 12), retried_size(1.0, float("nan"), 5)
    (0.45, 0.1)
    """
    return size * max(0.1, 0.9 * error ** (-1.0 / k) if math.isfinite(error) else 0.1)


def next_size(size: float, error: float, last_error: float, k: int) -> float:
    """Size of the next step by a proportional-integral controller.

    Parameters
    ----------
    size : float
        Size of the step that was accepted.
    error, last_error : float
        Estimated errors over the tolerance of this step and of the one before, positive.
    k : int
        Power of the size that the estimate is proportional to.

    Returns
    -------
    float
        Between a fifth of the size and five times it.

    Examples
    --------
    >>> round(next_size(1.0, 1.0, 1.0, 5), 12), round(next_size(1.0, 1e-9, 1.0, 5), 12)
    (0.9, 5.0)
    """
    return size * min(5.0, max(0.2, 0.9 * error ** (-0.7 / k) * last_error ** (0.4 / k)))
