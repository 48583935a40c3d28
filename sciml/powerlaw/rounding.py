"""Printed errors are no smaller than what rounding leaves of a number."""

from __future__ import annotations

import sys

ROUNDINGS = 4.0
"""So many units in the last place are lost at least."""


def at_least_rounding(error: complex, value: complex, unit: float = 0.0) -> complex:
    """Error of a number, raised to four roundings of it; NaN stays NaN.

    Parameters
    ----------
    error : float or complex
        Complex ones hold the errors of both parts.
    value : float or complex
    unit : float, default 0
        Rounding of smaller numbers is counted in this unit.

    Returns
    -------
    float or complex

    Examples
    --------
    >>> at_least_rounding(1e-20, 1.0) == 4 * sys.float_info.epsilon, at_least_rounding(0.1, 1.0)
    (True, 0.1)
    """
    least = ROUNDINGS * sys.float_info.epsilon * max(abs(value), unit)
    parts = complex(error)
    if parts.imag == 0.0:
        return max(parts.real, least)
    return complex(max(parts.real, least), max(parts.imag, least))
