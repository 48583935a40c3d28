"""From an error of the phase to an error of the field.

A propagator that is off by ``dphi`` in the phase and ``da`` in the amplitude is off by the factor
``q = exp(i dphi)(a + da) - a`` at every frequency. What that does to a field depends on whether
``q`` depends on position: without, errors add in squares; with, they may all add up at one place,
and **a small phase error does not bound the error of the field**.

Derived here. The bounds on rays are Gronwall's; the one on the phase is the comparison principle
for Hamilton-Jacobi equations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

__all__ = [
    "amplitude_bound",
    "best_window",
    "foot_bound",
    "multiplier_bound",
    "multiplier_error",
    "phase_bound",
    "phase_factor",
    "pointwise_bound",
    "position_bound",
    "ray_bound",
    "relation_bound",
    "shift_error",
    "shift_gain",
]


def phase_factor(phase_error: ArrayLike, amplitude_error: ArrayLike = 0.0, amplitude: Any = 1.0):
    """Return ``q = exp(i dphi)(a + da) - a``, what a frequency is multiplied by in the error.

    Parameters
    ----------
    phase_error, amplitude_error : array_like
        ``dphi`` in radians, and ``da``.
    amplitude : array_like
        Exact amplitude ``a``.

    Returns
    -------
    ndarray, complex

    Examples
    --------
    >>> float(abs(phase_factor(math.pi)))
    2.0
    """
    turned = np.exp(1j * np.asarray(phase_error, dtype=float))
    return turned * (np.asarray(amplitude) + np.asarray(amplitude_error)) - np.asarray(amplitude)


def multiplier_error(
    tail: float, factor: ArrayLike, coefficients: ArrayLike, *, length: float
) -> float:
    """Error of a field if phase and amplitude are off by the same factor everywhere, exact.

    Parameters
    ----------
    tail : float
        What the window cuts, see `sciml.theory.fourier_tail`.
    factor : array_like, shape (n,)
        ``q`` at every frequency kept, see `phase_factor`.
    coefficients : array_like, shape (n,)
        Fourier coefficients ``c_k = (1/L) int u exp(-i xi x) dx`` there.
    length : float
        Period.

    Returns
    -------
    float
        ``sqrt(tail^2 + L sum |q_k c_k|^2)``

    Examples
    --------
    >>> round(multiplier_error(3.0, [4.0, 0.0], [1.0, 1.0], length=1.0), 12)
    5.0
    """
    _positive(length=length)
    moved = np.abs(np.asarray(factor) * np.asarray(coefficients)) ** 2
    return math.sqrt(tail**2 + length * float(moved.sum()))


def multiplier_bound(phase_error: ArrayLike, amplitude_error: ArrayLike = 0.0) -> float:
    """Relative trained error at most ``sup |dphi| + sup |da|``: for multipliers **only**.

    Examples
    --------
    >>> round(multiplier_bound([0.01, -0.02], [0.005]), 12)
    0.025
    """
    return float(np.max(np.abs(phase_error)) + np.max(np.abs(amplitude_error)))


def pointwise_bound(factor: ArrayLike, coefficients: ArrayLike, *, length: float) -> float:
    """Error in the norm at most ``sqrt(L) sum |c_k| sup_x |q_k|``: holds always, and is loose.

    Parameters
    ----------
    factor : array_like, shape (points, n)
        ``q`` at every position and frequency.
    coefficients : array_like, shape (n,)
        Fourier coefficients of the field.
    length : float
        Length of the domain.

    Examples
    --------
    >>> pointwise_bound([[0.1, 0.0], [0.2, 0.1]], [1.0, 2.0], length=4.0)
    0.8
    """
    _positive(length=length)
    largest = np.abs(np.asarray(factor)).max(axis=0)
    return math.sqrt(length) * float((largest * np.abs(np.asarray(coefficients))).sum())


def position_bound(factor: ArrayLike, positions: ArrayLike, *, norm: float) -> float:
    """Error at most ``|u0| (min_x sup_xi |q| + int sup_xi |q_x| dx)`` about ``phi = x xi``.

    Sobolev's inequality in the position, Plancherel's in the frequency; loose as well.

    Parameters
    ----------
    factor : array_like, shape (points, n)
        ``q`` at every position and frequency.
    positions : array_like, shape (points,)
        Increasing, close enough for differences to stand for derivatives.
    norm : float
        Norm of the initial field.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 101)
    >>> round(position_bound(0.1 * x[:, None], x, norm=2.0), 12)
    0.2
    """
    factor = np.asarray(factor)
    steps = np.abs(np.diff(factor, axis=0)).max(axis=1)
    if len(steps) != len(np.atleast_1d(positions)) - 1:
        raise ValueError(f"factor has {len(factor)} rows for {np.size(positions)} positions")
    return norm * float(np.abs(factor).max(axis=1).min() + steps.sum())


def foot_bound(shift: float, slope_norm: float, least_stretch: float) -> float:
    """Error of a foot that is off by at most `shift`: ``sup|dX| |(S u0)'| (min X_x)^(-1/2)``.

    Parameters
    ----------
    shift : float
        ``sup |dX|``.
    slope_norm : float
        Norm of the derivative of the windowed field, ``sqrt(int ((S u0)')^2 dx)``.
    least_stretch : float
        Least ``X_x`` between the two feet.

    Examples
    --------
    >>> foot_bound(0.01, 5.0, 0.25)
    0.1
    """
    _positive(least_stretch=least_stretch)
    return shift * slope_norm / math.sqrt(least_stretch)


def shift_gain(z: ArrayLike) -> Any:
    """Return ``G(z) = Si(z) - (1 - cos z)/z``, which the shift law is made of.

    Examples
    --------
    >>> float(shift_gain(0.0)), round(float(shift_gain(1e9)), 4)
    (0.0, 1.5708)
    """
    z = np.asarray(z, dtype=float)
    safe = np.where(z == 0.0, 1.0, z)
    # 1 - cos z = 2 sin^2(z/2) does not cancel for small z.
    found = special.sici(safe)[0] - 2.0 * np.sin(0.5 * safe) ** 2 / safe
    return np.where(z == 0.0, 0.0, found)[()]


def shift_error(jumps: ArrayLike, cutoff: float, shift: float) -> float:
    """Total error of jumps that are cut at a frequency and end up a small distance off.

    ``sqrt(sum J^2 [1/(pi Xi) + (2 del/pi) G(Xi del)])``, for jumps that do not interfere.

    Parameters
    ----------
    jumps : array_like, shape (n,)
        Jumps of the field.
    cutoff : float
        Highest frequency ``Xi``.
    shift : float
        Distance ``del`` by which the foot of the rays is off, the same everywhere.

    Examples
    --------
    A wide window is no use if the foot is off: the error tends to ``sqrt(del sum J^2)``.

    >>> [round(shift_error([1.0, -1.0], cutoff, 1e-3), 4) for cutoff in (300.0, 1e6)]
    [0.0481, 0.0447]
    """
    _positive(cutoff=cutoff)
    shift = abs(shift)
    square = float(np.sum(np.asarray(jumps, dtype=float) ** 2))
    share = 1.0 / (math.pi * cutoff) + 2.0 * shift / math.pi * float(shift_gain(cutoff * shift))
    return math.sqrt(square * share)


def best_window(shift: float) -> float:
    """Cutoff at which the error of shifted jumps is least, ``pi/(3 del)``.

    The derivative of the shift law vanishes where ``cos(Xi del) = 1/2``; the least square error is
    ``0.6275 del sum J^2``.

    Examples
    --------
    >>> round(shift_error([1.0], best_window(0.01), 0.01) ** 2 / 0.01, 4)
    0.6275
    """
    _positive(shift=shift)
    return math.pi / (3.0 * shift)


def phase_bound(times: ArrayLike, residual: ArrayLike) -> np.ndarray:
    """Bound of the phase error by the eikonal residual, ``int_0^t sup|r| ds``, before caustics.

    Parameters
    ----------
    times : array_like, shape (n,)
        Increasing, from 0.
    residual : array_like, shape (n,)
        ``sup |r|`` over position (and frequency) at each of them.

    Returns
    -------
    ndarray, shape (n,)
        Trapezoidal rule. There is no exponential: both phases start alike, and a constant residual
        shifts the phase by its integral.

    Examples
    --------
    >>> phase_bound([0.0, 0.5, 1.0], [0.1, 0.1, 0.1])
    array([0.  , 0.05, 0.1 ])
    """
    return _integral(times, residual, 0.0)


def amplitude_bound(times: ArrayLike, residual: ArrayLike, growth: float) -> np.ndarray:
    """Bound of the amplitude error of advection, ``int_0^t exp(B (t - s)) sup|r_a| ds``.

    Parameters
    ----------
    times, residual
        As in `phase_bound`.
    growth : float
        ``B``, at least the size of the factor of ``a`` in the transport equation.

    Examples
    --------
    >>> bool(amplitude_bound([0.0, 1.0], [0.1, 0.1], 0.0)[-1] == 0.1)
    True
    """
    return _integral(times, residual, growth)


def ray_bound(time: float, gradient: float, curvature: float) -> float:
    """Distance of rays in phase space at most ``(exp(M t) - 1)/M sup|r_x|``.

    The learned phase is the exact phase of ``H - r``. Its rays therefore depend on the *derivative*
    of the residual: a small loss alone does not certify them.

    Parameters
    ----------
    time : float
        Elapsed time.
    gradient : float
        ``sup`` of the gradient of the eikonal residual in position and frequency.
    curvature : float
        ``M``, largest size of the second derivatives of the Hamiltonian.

    Examples
    --------
    >>> round(ray_bound(2.0, 0.01, 0.0), 12), ray_bound(2.0, 0.01, 0.5) > 0.02
    (0.02, True)
    """
    if curvature < 0.0:
        raise ValueError(f"curvature is {curvature}: it is a size, not negative")
    growth = time if curvature == 0.0 else math.expm1(curvature * time) / curvature
    return growth * gradient


def relation_bound(times: ArrayLike, residual_slope: ArrayLike, rate: float) -> np.ndarray:
    """Bound of the error of ``X_x`` for advection, ``int_0^t exp(C (t - s)) sup|r_X,x| ds``.

    Parameters
    ----------
    times : array_like, shape (n,)
        Increasing, from 0.
    residual_slope : array_like, shape (n,)
        ``sup`` of the derivative in x of ``X_t + c X_x``.
    rate : float
        ``C``, largest size of the slope of the speed.

    Examples
    --------
    >>> bool(relation_bound([0.0, 1.0], [0.1, 0.1], 1.0)[-1] > 0.1)
    True
    """
    return _integral(times, residual_slope, rate)


def _integral(times: ArrayLike, values: ArrayLike, growth: float) -> np.ndarray:
    """Values of ``int_0^t exp(growth (t - s)) v(s) ds``, stepwise trapezoidal."""
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if times.ndim != 1 or times.shape != values.shape:
        raise ValueError(
            f"times have shape {times.shape} and values {values.shape}: wanted one each"
        )
    if times[0] != 0.0 or np.any(np.diff(times) <= 0.0):
        raise ValueError(f"times start at {times[0]:.6g}: they must increase from 0")
    total = np.zeros_like(times)
    for n, step in enumerate(np.diff(times)):
        grown = math.exp(growth * step)
        total[n + 1] = grown * total[n] + 0.5 * step * (grown * values[n] + values[n + 1])
    return total


def _positive(**arguments: float) -> None:
    for name, value in arguments.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} is {value}: it must be positive and finite")
