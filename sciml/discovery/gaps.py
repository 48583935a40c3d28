"""Short gaps in a recording: filled along time; and the noise of what was measured around them.

A window of the weak form spans hundreds of grid points, so a few scattered missing points would
touch every window. Points that are missing for at most three frames are interpolated in time by a
cubic; longer gaps stay missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.noise import DIFFERENCE_ORDER, noise_level

LONGEST = 3
"""Most consecutive frames that are filled; at the first and the last frame only one."""

LARGEST_SHARE = 0.2
"""Largest share of a field in short gaps that is filled."""

REACH = 8
"""Farthest frame, from a missing one, that its cubic may use."""

CLEAN = 2e-3
"""Noise, relative to a field's spread, below which :data:`TOLERANCE` counts instead of noise."""

TOLERANCE = 1e-3
"""Share of a clean field's spread by which filled gaps may move its local means."""

NOISE_TOLERANCE = 0.1
"""The same as a share of the noise of a noisy field."""

SCATTER_TOLERANCE = 0.5
"""Root mean square that the cubics' error may add to a noisy field, as a share of the noise."""

SIDE = 4
"""Measured frames on each side that a cubic may use."""

CHUNK = 100_000
MAX_STENCILS = 200_000


def short_gaps(missing: NDArray) -> NDArray:
    """Points of the runs of missing frames that are short enough to be filled.

    Parameters
    ----------
    missing : ndarray of bool
        Where values are missing, time last.

    Returns
    -------
    ndarray of bool
        A part of ``missing``.

    Examples
    --------
    >>> short_gaps(np.array([[True, False, True, True, False, True, True]])).astype(int)
    array([[1, 0, 1, 1, 0, 0, 0]])
    """
    frames = missing.shape[-1]
    before, after = _previous(~missing), _following(~missing)
    length = after - before - 1
    at_an_end = (before < 0) | (after >= frames)
    return missing & (length <= np.where(at_an_end, 1, LONGEST))


def fill_short_gaps(values: NDArray, noise: float = 0.0) -> NDArray:
    """Interpolate short gaps along time by cubics through the nearest measured frames.

    Parameters
    ----------
    values : ndarray
        One field, time last, missing values NaN.
    noise : float, optional
        Standard deviation of the noise of the measured values.

    Returns
    -------
    ndarray
        A copy in which short gaps are filled; unchanged values if short gaps make up more than
        :data:`LARGEST_SHARE` of the field, or if the frames are too far apart for a cubic: where
        it fails on measured values, by more than noise explains, it would fail in gaps as well.

    Notes
    -----
    The cubic runs through two measured frames on each side, where there are so many within
    :data:`REACH` frames, and otherwise through the nearest four. If it misses measured frames by
    little more than noise, a cubic fitted to four on each side averages over more of it. A first
    or last frame is extrapolated linearly: a cubic would amplify noise eightfold there.

    In the mean over a window, a share ``p`` of points filled with weights ``w`` multiplies the
    variance of the noise by ``1 + p (1 + |w|^2)``: ``1 + 1.94 p`` with two frames on each side and
    ``1 + 1.34 p`` with four.

    Examples
    --------
    >>> t = np.arange(6.0)
    >>> gap = np.where(t == 2, np.nan, t**3)
    >>> fill_short_gaps(gap[None])[0]
    array([  0.,   1.,   8.,  27.,  64., 125.])
    """
    missing = np.isnan(values)
    wanted = short_gaps(missing)
    filled = values.copy()
    share = float(wanted.mean())
    count = _how_many(values, noise, share) if 0 < share <= LARGEST_SHARE else 0
    if count == 0:
        return filled
    frames = values.shape[-1]
    before = _previous(~missing).reshape(-1, frames)
    after = _following(~missing).reshape(-1, frames)
    lines, frame = np.nonzero(wanted.reshape(-1, frames))
    guess = np.full(len(lines), np.nan)
    for start in range(0, len(lines), CHUNK):
        part = slice(start, start + CHUNK)
        nodes = _nodes(before, after, lines[part], frame[part])
        known = values.reshape(-1, frames)[lines[part, None], np.clip(nodes, 0, frames - 1)]
        guess[part] = _fitted(known, nodes, frame[part], frames, count)
    filled[wanted] = guess
    return filled


def noise_of_measured(values: NDArray) -> float:
    """Standard deviation of white noise on a smooth field with missing values.

    Divided differences of high order over consecutive measured points, however they are spaced,
    remove what is smooth. Their weights have unit norm, so white noise keeps its standard
    deviation. Without missing values this is :func:`~sciml.discovery.noise.noise_level`.

    Parameters
    ----------
    values : ndarray
        Samples on a uniform grid, missing values NaN and none of them filled.

    Returns
    -------
    float
        The smallest of the estimates along the axes; 0 if no axis has enough measured points.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noisy = 3.0 + 0.1 * rng.normal(size=(200, 100))
    >>> noisy[rng.uniform(size=noisy.shape) < 0.1] = np.nan
    >>> round(noise_of_measured(noisy), 2)
    0.1
    """
    if not np.isnan(values).any():
        return noise_level(values)
    levels = [_noise_along(np.moveaxis(values, axis, -1)) for axis in range(values.ndim)]
    return min((level for level in levels if level is not None), default=0.0)


def _how_many(values: NDArray, noise: float, share: float) -> int:
    """How many frames a cubic should use: eight, four, or none if cubics fail on measured ones."""
    spread = float(np.nanstd(values))
    error = _cubic_error(values, noise, 2)
    if noise < CLEAN * spread:
        return 4 if share * error <= TOLERANCE * spread else 0
    if share * _cubic_error(values, noise, SIDE) <= 0.5 * NOISE_TOLERANCE * noise:
        return 2 * SIDE
    fits = share * error <= NOISE_TOLERANCE * noise
    return 4 if fits and share**0.5 * error <= SCATTER_TOLERANCE * noise else 0


def _cubic_error(values: NDArray, noise: float, side: int) -> float:
    """Root mean square by which cubics miss measured frames, without what noise explains."""
    frames = values.shape[-1]
    if frames <= 2 * side:
        return 0.0
    offsets = np.arange(1.0, side + 1)
    # Least squares with even powers up to the second; the odd ones vanish in the middle.
    second, fourth = 2 * np.sum(offsets**2), 2 * np.sum(offsets**4)
    weights = (fourth - second * offsets**2) / (2 * side * fourth - second**2)
    miss = values[..., side : frames - side].copy()
    for k, weight in enumerate(weights, start=1):
        miss -= weight * values[..., side - k : frames - side - k]
        miss -= weight * values[..., side + k : frames - side + k]
    seen = miss[~np.isnan(miss)]
    if len(seen) == 0:
        return 0.0
    expected = noise**2 * (1 + 2 * float(np.sum(weights**2)))
    return max(float(np.mean(seen**2)) - expected, 0.0) ** 0.5


def _noise_along(values: NDArray) -> float | None:
    """Noise from divided differences along the last axis; None with fewer than 8 stencils."""
    points = values.shape[-1]
    order = DIFFERENCE_ORDER if points >= 4 * DIFFERENCE_ORDER else 6
    table = values.reshape(-1, points)
    lines, places = np.nonzero(~np.isnan(table))
    measured = table[lines, places]
    first = np.arange(max(len(lines) - order, 0))
    span = places[first + order] - places[first]
    # Differences over wider spans would see more of the field itself.
    first = first[(lines[first] == lines[first + order]) & (span <= 1.6 * order)]
    if len(first) < 8:
        return None
    first = first[:: -(-len(first) // MAX_STENCILS)]
    stencils = first[:, None] + np.arange(order + 1)
    at = places[stencils].astype(float)
    gaps = at[:, :, None] - at[:, None, :] + np.eye(order + 1)
    weights = 1.0 / np.prod(gaps, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return float(np.sqrt(np.mean(np.sum(weights * measured[stencils], axis=1) ** 2)))


def _previous(valid: NDArray) -> NDArray:
    """Index of the last valid frame up to each frame, -1 before the first."""
    frames = np.arange(valid.shape[-1])
    return np.maximum.accumulate(np.where(valid, frames, -1), axis=-1)


def _following(valid: NDArray) -> NDArray:
    """Index of the first valid frame from each frame on, the number of frames after the last."""
    count = valid.shape[-1]
    return count - 1 - _previous(valid[..., ::-1])[..., ::-1]


def _nodes(before: NDArray, after: NDArray, lines: NDArray, frame: NDArray) -> NDArray:
    """Nearest valid frames in turn on the left and on the right, four each, shape (points, 8)."""
    frames = before.shape[-1]
    left, right = [before[lines, frame]], [after[lines, frame]]
    for _ in range(SIDE - 1):
        back, on = left[-1] - 1, right[-1] + 1
        left.append(np.where(back >= 0, before[lines, np.maximum(back, 0)], -1))
        right.append(np.where(on < frames, after[lines, np.minimum(on, frames - 1)], frames))
    pairs = [side for pair in zip(left, right, strict=True) for side in pair]
    return np.stack(pairs, axis=1)


def _fitted(known: NDArray, nodes: NDArray, frame: NDArray, frames: int, count: int) -> NDArray:
    """Value at each frame of the least-squares cubic through its nearest usable nodes."""
    usable = (nodes >= 0) & (nodes < frames) & (np.abs(nodes - frame[:, None]) <= REACH)
    at_an_end = (frame == 0) | (frame == frames - 1)
    usable &= np.cumsum(usable, axis=1) <= np.where(at_an_end, 2, count)[:, None]
    degree = np.minimum(usable.sum(axis=1) - 1, 3)
    offsets = (nodes - frame[:, None]) / SIDE
    known = np.where(usable, known, 0.0)
    guess = np.full(len(frame), np.nan)
    for d in (1, 2, 3):
        of_it = degree == d
        powers = offsets[of_it, :, None] ** np.arange(d + 1) * usable[of_it, :, None]
        across = np.swapaxes(powers, 1, 2)
        moments = across @ known[of_it, :, None]
        guess[of_it] = np.linalg.solve(across @ powers, moments)[:, 0, 0]
    return guess
