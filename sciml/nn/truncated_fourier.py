"""Truncated Fourier transform by quadrature, as small matrix products in real arithmetic.

Along each axis a field is multiplied by the cosines and sines of the modes that are kept, times the
quadrature weights of the points; a few sums of these numbers are the coefficients

    c_k = sum_i w_i f(x_i) exp(-2 pi i k x_i/P),

for any points and any period ``P``. With few modes this costs less than a fast transform that makes
all of them. Fields are real and have their channels last, shape (batch, *points, channels).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = [
    "analysis_matrix",
    "analyze",
    "from_modes",
    "left_analysis_matrix",
    "mode_numbers",
    "synthesis_matrix",
    "synthesize",
    "to_modes",
]


def mode_numbers(n_modes: int, last: bool) -> np.ndarray:
    """Modes of one axis in the order of our coefficients.

    Parameters
    ----------
    n_modes : int
        Number of modes, negative ones included, as neuraloperator counts them.
    last : bool
        The last axis keeps 0 to n_modes // 2: a real field has no more to say.

    Returns
    -------
    ndarray of int
        Not negative ones first, then -1, -2 and so on.

    Examples
    --------
    >>> mode_numbers(4, last=False), mode_numbers(4, last=True)
    (array([ 0,  1, -1, -2]), array([0, 1, 2]))
    """
    highest = n_modes // 2
    if last:
        return np.arange(highest + 1)
    return np.concatenate([np.arange((n_modes + 1) // 2), -np.arange(1, highest + 1)])


def analysis_matrix(
    positions: np.ndarray, weights: np.ndarray, highest: int, period: float
) -> np.ndarray:
    """Weighted cosines, then weighted sines, of modes 0 to ``highest``.

    Returns
    -------
    ndarray, shape (2 (highest + 1), points)
    """
    angles = 2 * np.pi / period * np.outer(np.arange(highest + 1), positions)
    return np.concatenate([np.cos(angles), np.sin(angles)]) * weights


def left_analysis_matrix(points: int, highest: int, period: float) -> np.ndarray:
    """`analysis_matrix` for an axis whose last end is left out.

    The field is continued to the end by a straight line, and multiplied by the waves there. To
    continue the product instead, which the weights of the axis do, is right for slow waves only:
    of a wave of a few points it makes something else on every grid.

    Returns
    -------
    ndarray, shape (2 (highest + 1), points)

    Examples
    --------
    >>> left_analysis_matrix(4, 0, 1.25)[0]  # of the constant wave: the weights of the axis
    array([0.125, 0.25 , 0.125, 0.5  ])
    """
    weights = np.full(points + 1, 1.0 / points)
    weights[[0, -1]] *= 0.5
    full = analysis_matrix(np.arange(points + 1) / points, weights, highest, period)
    matrix = full[:, :-1].copy()
    matrix[:, -1] += 2.0 * full[:, -1]
    matrix[:, -2] -= full[:, -1]
    return matrix


def synthesis_matrix(
    positions: np.ndarray, highest: int, period: float, last: bool, own_mirror: bool = False
) -> np.ndarray:
    """Cosines, then sines, at the points; on the last axis each mode stands for its mirror image.

    ``own_mirror`` says that the highest mode is its own mirror image, as it is on an even number of
    periodic points.

    Returns
    -------
    ndarray, shape (points, 2 (highest + 1))
    """
    angles = 2 * np.pi / period * np.outer(np.arange(highest + 1), positions)
    count = np.ones((highest + 1, 1))
    if last:
        count[1:] = 2.0
        if own_mirror:
            count[-1] = 1.0
    return np.ascontiguousarray(np.concatenate([np.cos(angles) * count, np.sin(angles) * count]).T)


def analyze(x: torch.Tensor, matrices: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Sums of a field times cosines and sines of all axes.

    Parameters
    ----------
    x : Tensor, shape (batch, *points, channels)
        Real, contiguous.
    matrices : tuple of Tensor, shapes (2 (n // 2 + 1), points)
        Of each axis, as `analysis_matrix` makes them.

    Returns
    -------
    Tensor, shape (batch, 2, n // 2 + 1, ..., channels)
        For each axis: cosine or sine, and the mode.
    """
    import torch

    batch, channels = x.shape[0], x.shape[-1]
    outer, inner = batch, x.shape[1:].numel()
    for matrix in matrices:
        rows, points = matrix.shape
        inner //= points
        x = torch.bmm(matrix.expand(outer, rows, points), x.reshape(outer, points, inner))
        outer *= rows
    halves = [n for m in matrices for n in (2, m.shape[0] // 2)]
    return x.view(batch, *halves, channels)


def synthesize(
    waves: torch.Tensor, matrices: tuple[torch.Tensor, ...], add_to: torch.Tensor | None = None
) -> torch.Tensor:
    """Field of given cosines and sines: the transpose of `analyze`.

    Parameters
    ----------
    waves : Tensor, shape (batch, 2, n // 2 + 1, ..., channels)
        Amplitudes.
    matrices : tuple of Tensor, shapes (points, 2 (n // 2 + 1))
        Of each axis, as `synthesis_matrix` makes them.
    add_to : Tensor, shape (batch, *points, channels), optional
        Contiguous; the field is added to it in place.

    Returns
    -------
    Tensor, shape (batch, *points, channels)
    """
    import torch

    batch, inner = waves.shape[0], waves.shape[-1]
    rows = [m.shape[1] for m in matrices]
    x = waves
    for axis in range(len(matrices) - 1, -1, -1):
        matrix = matrices[axis]
        outer = batch * math.prod(rows[:axis])
        x = x.reshape(outer, rows[axis], inner)
        spread = matrix.expand(outer, *matrix.shape)
        if axis == 0 and add_to is not None:
            add_to.view(batch, matrix.shape[0], inner).baddbmm_(spread, x)
            return add_to
        x = torch.bmm(spread, x)
        inner *= matrix.shape[0]
    return x.view(batch, *[m.shape[0] for m in matrices], waves.shape[-1])


def to_modes(waves: torch.Tensor, n_modes: tuple[int, ...]) -> torch.Tensor:
    """Complex coefficients of cosines and sines.

    Parameters
    ----------
    waves : Tensor, shape (batch, 2, n // 2 + 1, ..., channels)
        As `analyze` gives them.
    n_modes : tuple of int
        Number of modes of each axis.

    Returns
    -------
    Tensor, shape (modes of all axes, 2, batch, channels)
        Real and imaginary parts, in the order of `mode_numbers`.
    """
    import torch

    batch, channels = waves.shape[0], waves.shape[-1]
    # The last axis: c - i s.
    real, imaginary = waves.select(-3, 0), -waves.select(-3, 1)
    for axis in range(len(n_modes) - 2, -1, -1):
        # (real + i imaginary)_cosine - i sign (real + i imaginary)_sine, for both signs of k.
        place, n = 1 + 2 * axis, n_modes[axis]
        at = (slice(None),) * place
        up, down = (*at, slice(0, (n + 1) // 2)), (*at, slice(1, n // 2 + 1))
        rc, rs = real.select(place, 0), real.select(place, 1)
        ic, is_ = imaginary.select(place, 0), imaginary.select(place, 1)
        real = torch.cat([rc[up] + is_[up], rc[down] - is_[down]], place)
        imaginary = torch.cat([ic[up] - rs[up], ic[down] + rs[down]], place)
    kept = real.shape[1:-1].numel()
    modes = real.new_empty(kept, 2, batch, channels)
    modes[:, 0] = real.reshape(batch, kept, channels).transpose(0, 1)
    modes[:, 1] = imaginary.reshape(batch, kept, channels).transpose(0, 1)
    return modes


def from_modes(modes: torch.Tensor, n_modes: tuple[int, ...]) -> torch.Tensor:
    """Amplitudes of cosines and sines of complex coefficients: the transpose of `to_modes`.

    Parameters
    ----------
    modes : Tensor, shape (modes of all axes, 2, batch, channels)
        As `to_modes` gives them.
    n_modes : tuple of int
        Number of modes of each axis.

    Returns
    -------
    Tensor, shape (batch, 2, n // 2 + 1, ..., channels)
    """
    import torch

    batch, channels = modes.shape[2:]
    sizes = [*n_modes[:-1], n_modes[-1] // 2 + 1]
    parts = modes.permute(1, 2, 0, 3).reshape(2, batch, *sizes, channels)
    real, imaginary = parts[0], parts[1]
    for axis, n in enumerate(n_modes[:-1]):
        place = 1 + 2 * axis
        half = (n + 1) // 2
        shape = list(real.shape)
        shape[place : place + 1] = [2, n // 2 + 1]
        at = (slice(None),) * place
        up, down = (*at, slice(0, half)), (*at, slice(half, None))
        low, high = (*at, slice(0, half)), (*at, slice(1, n // 2 + 1))
        new = []
        # Cosine: the sum of both signs; sine: i times their difference.
        for first, second, sign in ((real, imaginary, 1.0), (imaginary, real, -1.0)):
            wave = real.new_zeros(shape)
            cosine, sine = wave.select(place, 0), wave.select(place, 1)
            cosine[low] = first[up]
            cosine[high] += first[down]
            sine[low] = -sign * second[up]
            sine[high] += sign * second[down]
            new.append(wave)
        real, imaginary = new
    return torch.stack([real, -imaginary], dim=-3)
