"""Start values of exponents: from the data by a matrix pencil, from bins at random, from a scan.

None of them knows anything but the rows and the range of exponents that is allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.rows import RadialRows
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import reduced_residuals

SAMPLES = 96
"""Points, uniform in ``log r``, at which the pencil sees the profile."""

DEGREES = (3, 5, 7, 9, 12, 15, 19, 24, 30)
"""Chebyshev degrees in ``log r`` that compete by BIC to become the profile."""

SCAN_POINTS = 41


@dataclass(frozen=True)
class LogProfile:
    """Values resampled uniformly in ``log r``.

    Attributes
    ----------
    step : float
        Distance of the samples in ``log r``.
    values : ndarray, shape (samples,)
    misfit : float
        Relative residual of the polynomial that was resampled.
    """

    step: float
    values: NDArray
    misfit: float


def log_profile(rows: RadialRows, samples: int = SAMPLES) -> LogProfile:
    """Resample values uniformly in ``log r`` by a Chebyshev fit whose degree BIC chooses.

    Sums of powers are entire functions of ``log r``: the polynomial converges faster than any
    power of its degree where samples are exact, and smooths them where they are noisy.

    Parameters
    ----------
    rows : RadialRows
        Values at three or more different positive radii.
    samples : int, default 96
        How many points.

    Returns
    -------
    LogProfile

    Examples
    --------
    >>> from sciml.powerlaw.rows import values
    >>> r = np.linspace(0.1, 1.0, 50)
    >>> log_profile(values(r, np.sqrt(r)), samples=3).values ** 2
    array([0.1   , 0.3162, 1.    ])
    """
    logs = np.log(rows.r)
    low, high = float(logs.min()), float(logs.max())
    place = (2.0 * logs - low - high) / (high - low)
    distinct = len(np.unique(logs))
    weighted = rows.weights * rows.y
    size = float(np.linalg.norm(weighted))
    best, chosen, misfit = math.inf, np.zeros(1), math.inf
    for degree in DEGREES:
        if degree > DEGREES[0] and 3 * degree > 2 * distinct:
            break
        basis = np.polynomial.chebyshev.chebvander(place, min(degree, distinct - 1))
        basis *= rows.weights[:, None]
        scale = np.linalg.norm(basis, axis=0)
        found = np.linalg.lstsq(basis / scale, weighted, rcond=1e-14)[0] / scale
        left = float(np.linalg.norm(weighted - basis @ found))
        score = 2.0 * len(rows) * math.log(max(left, 1e-15 * size, 1e-300))
        score += (degree + 1) * math.log(len(rows))
        if score < best:
            best, chosen, misfit = score, found, left / max(size, 1e-300)
        if left <= 1e-14 * size:
            break
    grid = np.linspace(-1.0, 1.0, samples)
    step = (high - low) / (samples - 1)
    return LogProfile(step, np.polynomial.chebyshev.chebval(grid, chosen), misfit)


def profiles(rows: RadialRows) -> list[LogProfile]:
    """Profiles of the whole range of radii and of its denser parts, while these have five radii.

    Volume-uniform points leave few small radii, where the profile is uncertain.
    """
    found = []
    for share in (0.0, 0.1, 0.4):
        part = rows.take(np.flatnonzero((rows.r >= np.quantile(rows.r, share)) & (rows.r > 0)))
        if len(np.unique(part.r)) >= 5:
            found.append(log_profile(part))
    return found


def matrix_pencil(step: float, profile: NDArray, order: int) -> NDArray:
    """Exponents of a sum of powers from values uniform in ``log r``.

    The shift by one point acts on the signal space of the Hankel matrix as multiplication by
    ``e^(mu step)`` (Hua and Sarkar, IEEE Trans. ASSP 38 (1990) 814).

    Parameters
    ----------
    step : float
        Distance in ``log r``.
    profile : ndarray, shape (..., samples)
        One or many profiles.
    order : int
        Number of exponents, at most a third of the samples.

    Returns
    -------
    ndarray of complex, shape (..., order)

    Raises
    ------
    ValueError
        If the order is too large for the samples.

    Examples
    --------
    >>> step = 0.1
    >>> profile = np.exp(0.5 * step * np.arange(60)) - 2.0 * np.exp(-step * np.arange(60))
    >>> np.sort(matrix_pencil(step, profile, 2).real)
    array([-1. ,  0.5])
    """
    samples = profile.shape[-1]
    if not 1 <= order <= samples // 3:
        raise ValueError(f"order is {order}: wanted 1 to {samples // 3}, a third of the samples")
    window = samples // 2
    # Hankel matrices, one window a row; windows shift by one
    hankel = np.lib.stride_tricks.sliding_window_view(profile, window, axis=-1)
    signal = np.linalg.svd(hankel, full_matrices=False)[2][..., :order, :]
    before = np.swapaxes(signal[..., :-1], -1, -2)
    after = np.swapaxes(signal[..., 1:], -1, -2)
    shift = np.linalg.pinv(before) @ after
    factors = np.linalg.eigvals(shift).astype(complex)
    # a vanishing factor is an exponent beyond any range: its size is what counts
    return np.log(np.where(factors == 0, 1e-30, factors)) / step


def pencil_start(profile: LogProfile, order: int, bounds: tuple[float, float]) -> NDArray:
    """Exponents that the pencil sees in a profile, in the range, complex ones in pairs.

    Parameters
    ----------
    profile : LogProfile
    order : int
        Number of exponents.
    bounds : tuple of float
        Range that exponents are clipped to.

    Returns
    -------
    ndarray of complex, shape (order,)

    Examples
    --------
    >>> from sciml.powerlaw.rows import values
    >>> r = np.linspace(0.1, 1.0, 50)
    >>> pencil_start(log_profile(values(r, np.sqrt(r))), 1, (-3.0, 5.0)).real
    array([0.5])
    """
    exponents = matrix_pencil(profile.step, profile.values, order)
    inside = np.clip(np.real(exponents), *bounds) + 1j * np.imag(exponents)
    return _as_real_field(inside, order)


def _as_real_field(exponents: NDArray, order: int) -> NDArray:
    """Keep complex exponents whose conjugates are there too; the rest are real."""
    paired = exponents[np.imag(exponents) > 1e-8]
    kept = [z for z in paired if np.any(np.abs(exponents - z.conjugate()) < 1e-6)]
    # faster oscillations are noise that the samples cannot show
    kept = [z for z in kept if abs(z.imag) < 4.5][: order // 2]
    real = [z.real for z in exponents if abs(z.imag) <= 1e-8]
    others = [z.real for z in exponents if z.imag > 1e-8 and z not in kept]
    filled = [*real, *(x for x in others for x in (x - 0.1, x + 0.1))]
    return np.array([*kept, *(z.conjugate() for z in kept), *filled][:order], complex)


def stratified_starts(
    order: int, bounds: tuple[float, float], starts: int, rng: np.random.Generator
) -> NDArray:
    """Random exponents, one in each of ``order`` equal bins of the range.

    Parameters
    ----------
    order : int
        Number of exponents.
    bounds : tuple of float
        Range.
    starts : int
        How many vectors.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (starts, order)

    Examples
    --------
    >>> drawn = stratified_starts(2, (0.0, 2.0), 3, np.random.default_rng(0))
    >>> bool(np.all(drawn[:, 0] <= 1.0) and np.all(drawn[:, 1] >= 1.0))
    True
    """
    low, high = bounds
    width = (high - low) / order
    return low + width * (np.arange(order) + rng.uniform(size=(starts, order)))


def scan_starts(
    rows: RadialRows,
    structure: Structure,
    parameters: NDArray,
    bounds: tuple[float, float],
    keep: int = 3,
) -> tuple[Structure, NDArray]:
    """Add one power: scan its exponent with all others held, and keep the best local minima.

    Parameters
    ----------
    rows : RadialRows
        Rows of any kind.
    structure : Structure
        What is there already; may be empty.
    parameters : ndarray, shape (p,)
        Its parameters.
    bounds : tuple of float
        Range of the scan.
    keep : int, default 3
        How many starts to return at most.

    Returns
    -------
    Structure
        With one power more, the last of them.
    ndarray, shape (starts, p + 1)

    Examples
    --------
    >>> from sciml.powerlaw.rows import values
    >>> r = np.linspace(0.1, 1.0, 50)
    >>> _, starts = scan_starts(values(r, r**1.5), Structure(), np.zeros(0), (0.0, 4.0))
    >>> starts[0]
    array([1.5])
    """
    larger = Structure(structure.powers + 1, structure.pairs, structure.fixed)
    grid = np.linspace(*bounds, SCAN_POINTS)
    powers, pairs = parameters[: structure.powers], parameters[structure.powers :]
    trials = np.stack([np.concatenate([powers, [mu], pairs]) for mu in grid])
    model = RadialSum(rows.r, larger, rows.operator)
    costs = reduced_residuals(model, rows.y, trials, rows.weights)
    padded = np.concatenate([[math.inf], costs, [math.inf]])
    minima = np.flatnonzero((costs <= padded[:-2]) & (costs <= padded[2:]))
    order = minima[np.argsort(costs[minima], kind="stable")][:keep]
    return larger, trials[order]


def split_starts(structure: Structure, parameters: NDArray) -> tuple[Structure, NDArray] | None:
    """Let each power in turn become a pair at ``q = 0``: how a close pair starts.

    Parameters
    ----------
    structure : Structure
    parameters : ndarray, shape (p,)

    Returns
    -------
    tuple of Structure and ndarray of shape (powers, p + 1), or None
        None if there is no power to split.

    Examples
    --------
    >>> split_starts(Structure(powers=1), np.array([0.5]))
    (Structure(powers=0, pairs=1, fixed=()), array([[0.5, 0. ]]))
    """
    a = structure.powers
    if a == 0:
        return None
    larger = Structure(a - 1, structure.pairs + 1, structure.fixed)
    starts = [
        np.concatenate([np.delete(parameters[:a], i), parameters[a:], [parameters[i], 0.0]])
        for i in range(a)
    ]
    return larger, np.stack(starts)
