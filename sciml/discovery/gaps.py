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

TOLERANCE = 1e-3
"""Root mean square that the cubics' error may add to a field, relative to its spread; where noise
is stronger, half of the noise."""

NODES = 4
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
    :data:`REACH` frames, and otherwise through the nearest four. A first or last frame is
    extrapolated linearly: a cubic would amplify noise eightfold there.

    Between noisy neighbors the cubic adds to the noise: it weighs them by -1/6, 2/3, 2/3, -1/6, so
    in the mean over a window a share ``p`` of filled points multiplies the variance by ``1 + 2 p``.

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
    if not 0 < share <= LARGEST_SHARE:
        return filled
    error = share**0.5 * _cubic_error(values, noise)
    if error > 0.5 * noise and error > TOLERANCE * float(np.nanstd(values)):
        return filled
    frames = values.shape[-1]
    before, after = _previous(~missing), _following(~missing)
    lines, frame = np.nonzero(wanted.reshape(-1, frames))
    nodes = _nodes(before.reshape(-1, frames), after.reshape(-1, frames), lines, frame)
    usable = (nodes >= 0) & (nodes < frames) & (np.abs(nodes - frame[:, None]) <= REACH)
    at_an_end = (frame == 0) | (frame == frames - 1)
    most = np.where(at_an_end, 2, NODES)[:, None]
    usable &= np.cumsum(usable, axis=1) <= most
    guess = _lagrange(values.reshape(-1, frames), lines, frame, nodes, usable)
    guess[usable.sum(axis=1) < 2] = np.nan
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


def _cubic_error(values: NDArray, noise: float) -> float:
    """Root mean square by which cubics miss measured frames, without what noise explains."""
    near = values[..., 1:-3] + values[..., 3:-1]
    far = values[..., :-4] + values[..., 4:]
    square = (values[..., 2:-2] - (4 * near - far) / 6) ** 2
    seen = ~np.isnan(square)
    if not seen.any():
        return 0.0
    expected = noise**2 * (1 + 34 / 36)
    return max(float(square[seen].mean()) - expected, 0.0) ** 0.5


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
    for _ in range(NODES - 1):
        back, on = left[-1] - 1, right[-1] + 1
        left.append(np.where(back >= 0, before[lines, np.maximum(back, 0)], -1))
        right.append(np.where(on < frames, after[lines, np.minimum(on, frames - 1)], frames))
    pairs = [side for pair in zip(left, right, strict=True) for side in pair]
    return np.stack(pairs, axis=1)


def _lagrange(
    table: NDArray, lines: NDArray, frame: NDArray, nodes: NDArray, usable: NDArray
) -> NDArray:
    """Value at each frame of the polynomial through its usable nodes."""
    known = table[lines[:, None], np.clip(nodes, 0, table.shape[-1] - 1)]
    total = np.zeros(len(frame))
    for k in range(nodes.shape[1]):
        weight = np.ones(len(frame))
        for j in range(nodes.shape[1]):
            both = usable[:, j] & usable[:, k] & (j != k)
            ratio = (frame - nodes[:, j]) / np.where(both, nodes[:, k] - nodes[:, j], 1)
            weight = np.where(both, weight * ratio, weight)
        total += np.where(usable[:, k], weight * np.where(usable[:, k], known[:, k], 0.0), 0.0)
    return total
