"""Test functions of the weak form: piecewise-polynomial bumps along each axis.

A test function is a product of one bump per axis,
``phi(z) = (1 - z**2)**p`` on ``z`` in [-1, 1], supported on ``2 m + 1`` grid points. The exponent
is high enough that ``phi`` and the derivatives that are used vanish at the ends to rounding error,
so that the plain sum over grid points is a spectrally accurate quadrature.

The choice of width and exponent follows Messenger and Bortz, "Weak SINDy for partial differential
equations", J. Comput. Phys. 443 (2021) 110525, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

END_VALUE = 1e-10
"""Size of the bump one grid point inside its support."""

RESOLVED_WIDTH = 1.3
"""Least standard deviation of the bump, in grid points, that a plain sum integrates well."""

NARROWEST = 9
"""Half-width that is kept where the axis is long enough, however rough the data."""

FEWEST = 4
"""Half-width below which sums differ from integrals by a percent and more."""

SPECTRAL_WIDTH = 2.0
"""How many standard deviations of the bump's spectrum lie below the corner wavenumber."""


def bump_exponent(half_width: int, order: int) -> int:
    """Exponent ``p`` of the bump ``(1 - z**2)**p``.

    Parameters
    ----------
    half_width : int
        Half-width ``m`` of the support in grid points, at least 2.
    order : int
        Highest derivative of the bump that is used.

    Returns
    -------
    int
        Smallest exponent for which the bump is below 1e-10 one point inside its support and
        ``order`` derivatives vanish at the ends; below half-width 8 smaller, so that the bump stays
        wider than the grid spacing.

    Examples
    --------
    >>> bump_exponent(25, 4)
    10
    """
    by_decay = math.log(END_VALUE) / math.log((2 * half_width - 1) / half_width**2)
    # on few points a bump with such thin ends would be narrower than the grid can integrate
    resolved = math.floor(((half_width / RESOLVED_WIDTH) ** 2 - 3) / 2)
    return max(math.ceil(by_decay), order + 1) if by_decay <= resolved else max(resolved, order + 3)


def bump_derivatives(z: NDArray, exponent: int, order: int) -> NDArray:
    """Derivatives 0 to ``order`` of ``(1 - z**2)**exponent``, zero outside [-1, 1].

    They are evaluated in the factored form ``(1 - z**2)**(p - k) q_k(z)`` with
    ``q_{k+1} = (1 - z**2) q_k' - 2 (p - k) z q_k``: expanding the power would cancel digits.

    Parameters
    ----------
    z : ndarray
        Scaled distances from the center.
    exponent : int
        Exponent ``p``, larger than ``order``.
    order : int
        Highest derivative.

    Returns
    -------
    ndarray, shape (order + 1, *z.shape)
        The derivatives with respect to ``z``.

    Examples
    --------
    >>> bump_derivatives(np.array([0.0, 0.5]), 2, 1).round(4)
    array([[ 1.    ,  0.5625],
           [ 0.    , -1.5   ]])
    """
    inside = np.abs(z) < 1.0
    base = np.where(inside, 1.0 - z**2, 0.0)
    factor = np.polynomial.Polynomial([1.0])
    edge = np.polynomial.Polynomial([1.0, 0.0, -1.0])
    slope = np.polynomial.Polynomial([0.0, 1.0])
    out = np.empty((order + 1, *z.shape))
    for k in range(order + 1):
        out[k] = base ** (exponent - k) * factor(z) * inside
        factor = edge * factor.deriv() - 2.0 * (exponent - k) * slope * factor
    return out


def corner_wavenumber(spectrum: NDArray) -> int:
    """Wavenumber index where signal gives way to noise in a mean amplitude spectrum.

    The spectrum is summed from the highest wavenumber inwards; noise gives a straight line, signal
    a steep rise. The corner is the break of the best pair of straight pieces through the ends,
    errors taken relative to the curve.

    Parameters
    ----------
    spectrum : ndarray, shape (n,)
        Mean amplitude of the wavenumbers 0 to n - 1.

    Returns
    -------
    int
        Corner index, between 1 and n - 2.

    Examples
    --------
    >>> corner_wavenumber(np.where(np.arange(100) < 10, 1.0, 1e-3))
    10
    """
    curve = np.cumsum(spectrum[::-1])
    n = len(curve)
    if n < 4 or not curve[-1] > 0:
        return 1
    curve = np.maximum(curve / curve[-1], 1e-14)
    index = np.arange(n, dtype=float)
    errors = np.full(n, np.inf)
    for k in range(1, n - 1):
        left = curve[0] + (curve[k] - curve[0]) * index[: k + 1] / k
        right = curve[k] + (curve[-1] - curve[k]) * (index[k:] - k) / (n - 1 - k)
        errors[k] = math.hypot(
            np.linalg.norm(left / curve[: k + 1] - 1.0), np.linalg.norm(right / curve[k:] - 1.0)
        )
    return max(1, n - 1 - int(np.argmin(errors)))


def spectral_half_width(points: int, corner: float) -> float:
    """Half-width whose spectrum has decayed at the corner wavenumber.

    Solves ``ln((2m-1)/m^2) (4 pi^2 k^2 m^2 - 3 N^2 h^2) - 2 N^2 h^2 ln(tau) = 0`` for ``m``.

    Parameters
    ----------
    points : int
        Grid points ``N`` along the axis.
    corner : float
        Corner wavenumber ``k``.

    Returns
    -------
    float
        The half-width ``m`` in grid points.

    Examples
    --------
    >>> round(spectral_half_width(256, 20.0), 1)
    19.5
    """
    spread = (points * SPECTRAL_WIDTH) ** 2

    def mismatch(m: float) -> float:
        decay = math.log((2 * m - 1) / m**2)
        return decay * (4 * math.pi**2 * corner**2 * m**2 - 3 * spread) - 2 * spread * math.log(
            END_VALUE
        )

    low = max(math.sqrt(3.0) * points * SPECTRAL_WIDTH / (2 * math.pi * corner), 1.5)
    high = 2 * low + 4
    while mismatch(high) > 0 and high < 1e7:
        high *= 2
    if mismatch(low) <= 0:
        return low
    return float(cast(float, brentq(mismatch, low, high, xtol=1e-6)))


@dataclass(frozen=True)
class AxisWindows:
    """The windows along one axis and the matrices that integrate against their derivatives.

    Attributes
    ----------
    points : int
        Grid points ``N`` of the axis.
    spacing : float
        Grid spacing.
    half_width : int
        Half-width ``m`` of the support, in grid points.
    order : int
        Highest derivative.
    stride : float
        Wanted distance of neighboring centers, in grid points.
    periodic : bool
        Whether the axis wraps around; other axes use only the windows that fit.
    """

    points: int
    spacing: float
    half_width: int
    order: int
    stride: float
    periodic: bool

    @cached_property
    def exponent(self) -> int:
        """Exponent of the bump."""
        return bump_exponent(self.half_width, self.order)

    @property
    def corner_fraction(self) -> float:
        """Wavenumber where the bump's spectrum has decayed, relative to the Nyquist wavenumber."""
        decay = math.log(END_VALUE) / math.log((2 * self.half_width - 1) / self.half_width**2)
        return SPECTRAL_WIDTH * math.sqrt(3 + 2 * decay) / (math.pi * self.half_width)

    @cached_property
    def quadrature_error(self) -> float:
        """Relative error of the sum against the first derivative, for waves the bump resolves."""
        z = np.arange(-self.half_width, self.half_width + 1) / self.half_width
        bump, slope = bump_derivatives(z, self.exponent, 1)
        ratios = []
        for wavenumber in (1.0, 2.0, 3.0):
            wave = np.exp(1j * wavenumber * z)
            ratios.append(-(slope @ wave) / (1j * wavenumber * (bump @ wave)))
        return float(np.max(np.abs(np.array(ratios) - 1.0)))

    @cached_property
    def centers(self) -> NDArray:
        """Centers in grid points, not necessarily whole."""
        if self.periodic:
            count = max(1, round(self.points / self.stride))
            return np.arange(count) * (self.points / count)
        first, last = self.half_width, self.points - 1 - self.half_width
        count = int((last - first) / self.stride + 1e-9) + 1
        return np.linspace(first, last, count) if count > 1 else np.array([(first + last) / 2])

    @cached_property
    def matrices(self) -> NDArray:
        """Matrices ``(-1)^k phi^(k)(x_i - x_c)``, shape (order + 1, centers, points)."""
        distance = np.arange(self.points)[None, :] - self.centers[:, None]
        if self.periodic:
            half = self.points / 2
            distance = (distance + half) % self.points - half
        values = bump_derivatives(distance / self.half_width, self.exponent, self.order)
        on_grid = np.arange(-self.half_width, self.half_width + 1) / self.half_width
        norm = np.linalg.norm((1 - on_grid**2) ** self.exponent)
        signs = (-1.0 / (self.half_width * self.spacing)) ** np.arange(self.order + 1)
        return values * (signs / norm)[:, None, None]

    @cached_property
    def overlaps(self) -> tuple[NDArray, NDArray]:
        """All ordered pairs of windows ``(c, c')`` whose supports overlap."""
        distance = np.abs(self.centers[:, None] - self.centers[None, :])
        if self.periodic:
            distance = np.minimum(distance, self.points - distance)
        first, second = np.nonzero(distance < 2 * self.half_width)
        return first, second

    def touched(self, mask: NDArray, axis: int) -> NDArray:
        """Whether each window's support touches a set point of ``mask`` along ``axis``."""
        support = (self.matrices[0] > 0).astype(np.float32)
        moved = np.moveaxis(mask.astype(np.float32), axis, -1) @ support.T
        return np.moveaxis(moved > 0, -1, axis)


def choose_half_width(points: int, spectra: list[NDArray], order: int) -> int:
    """Half-width of the windows along one axis.

    Parameters
    ----------
    points : int
        Grid points of the axis.
    spectra : list of ndarray
        Mean amplitude spectrum along this axis of every field (and trajectory); their corners are
        averaged.
    order : int
        Highest derivative used along the axis.

    Returns
    -------
    int
        Half-width between ``order + 2`` (9 where the axis is long enough: narrower bumps are too
        steep for the grid to integrate) and a sixth of the axis. Wider windows would leave too
        few rows, however noisy the data.

    Examples
    --------
    >>> choose_half_width(256, [np.exp(-np.arange(129) / 4.0)], 4)
    9
    """
    corner = float(np.mean([corner_wavenumber(spectrum) for spectrum in spectra]))
    wanted = round(spectral_half_width(points, corner))
    least = max(order + 2, FEWEST, min(NARROWEST, max((points - 1) // 3, 6), (points - 1) // 2))
    return max(least, min(wanted, points // 6))


def mean_spectrum(field: NDArray, axis: int) -> NDArray:
    """Mean amplitude along ``axis``, wavenumbers 0 to N // 2, averaged over the other axes."""
    amplitude = np.abs(np.fft.rfft(field, axis=axis))
    return np.moveaxis(amplitude, axis, -1).reshape(-1, amplitude.shape[axis]).mean(axis=0)
