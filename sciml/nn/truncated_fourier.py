"""Truncated Fourier transform by quadrature, as small matrix products in real arithmetic.

Along each axis a field is multiplied by the cosines and sines of the modes that are kept, times the
quadrature weights of the points; a few sums of these numbers are the coefficients

    c_k = sum_i w_i f(x_i) exp(-2 pi i k x_i/P),

for any points and any period ``P``. With few modes this costs less than a fast transform that makes
all of them. Fields are real and have their channels last, shape (batch, *points, channels).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["analysis_matrix", "from_modes", "mode_numbers", "synthesis_matrix", "to_modes"]


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


def to_modes(
    x: torch.Tensor, matrices: tuple[torch.Tensor, ...], n_modes: tuple[int, ...]
) -> torch.Tensor:
    """Coefficients of a real field.

    Parameters
    ----------
    x : Tensor, shape (batch, *points, channels)
        Contiguous.
    matrices : tuple of Tensor, shapes (2 (n // 2 + 1), points)
        Of each axis.
    n_modes : tuple of int
        Number of modes of each axis.

    Returns
    -------
    Tensor, shape (modes of all axes, 2, batch, channels)
        Real and imaginary parts, in the order of `mode_numbers`.
    """
    import torch

    batch, channels = x.shape[0], x.shape[-1]
    outer, inner = batch, x.shape[1:].numel()
    for matrix in matrices:
        rows, points = matrix.shape
        inner //= points
        x = x.reshape(outer, points, inner)
        x = torch.bmm(matrix.expand(outer, rows, points), x)
        outer *= rows
    halves = [n for m in matrices for n in (2, m.shape[0] // 2)]
    x = x.view(batch, *halves, channels)
    # The last axis: c - i s.
    real, imaginary = x.select(-3, 0), -x.select(-3, 1)
    for axis in range(len(matrices) - 2, -1, -1):
        # (real + i imaginary)_cosine - i sign (real + i imaginary)_sine, for both signs of k.
        place, n = 1 + 2 * axis, n_modes[axis]
        zero_up, one_up = slice(0, (n + 1) // 2), slice(1, n // 2 + 1)
        at = (slice(None),) * place
        rc, rs = real.select(place, 0), real.select(place, 1)
        ic, is_ = imaginary.select(place, 0), imaginary.select(place, 1)
        up, down = (*at, zero_up), (*at, one_up)
        real = torch.cat([rc[up] + is_[up], rc[down] - is_[down]], place)
        imaginary = torch.cat([ic[up] - rs[up], ic[down] + rs[down]], place)
    kept = real.shape[1:-1].numel()
    modes = real.new_empty(kept, 2, batch, channels)
    modes[:, 0] = real.reshape(batch, kept, channels).transpose(0, 1)
    modes[:, 1] = imaginary.reshape(batch, kept, channels).transpose(0, 1)
    return modes


def from_modes(
    modes: torch.Tensor,
    matrices: tuple[torch.Tensor, ...],
    n_modes: tuple[int, ...],
    add_to: torch.Tensor | None = None,
) -> torch.Tensor:
    """Real field of coefficients: the transpose of `to_modes`.

    Parameters
    ----------
    modes : Tensor, shape (modes of all axes, 2, batch, channels)
        As `to_modes` gives them.
    matrices : tuple of Tensor, shapes (points, 2 (n // 2 + 1))
        Of each axis.
    n_modes : tuple of int
        Number of modes of each axis.
    add_to : Tensor, shape (batch, *points, channels), optional
        Contiguous; the field is added to it in place.

    Returns
    -------
    Tensor, shape (batch, *points, channels)
    """
    import torch

    batch, channels = modes.shape[2:]
    sizes = [*n_modes[:-1], n_modes[-1] // 2 + 1]
    parts = modes.permute(1, 2, 0, 3).reshape(2, batch, *sizes, channels)
    real, imaginary = parts[0], parts[1]
    for axis, n in enumerate(n_modes[:-1]):
        place = 1 + 2 * axis
        half, highest = (n + 1) // 2, n // 2
        shape = list(real.shape)
        shape[place : place + 1] = [2, highest + 1]
        at = (slice(None),) * place
        up, down = (*at, slice(0, half)), (*at, slice(half, None))
        cosine, sine = real.new_zeros(shape), real.new_zeros(shape)
        for new, first, second, sign in (
            (cosine, real, imaginary, 1.0),
            (sine, imaginary, real, -1.0),
        ):
            # Cosine: the sum of both signs; sine: i times their difference.
            c, s = new.select(place, 0), new.select(place, 1)
            c[(*at, slice(0, half))] = first[up]
            c[(*at, slice(1, highest + 1))] += first[down]
            s[(*at, slice(0, half))] = -sign * second[up]
            s[(*at, slice(1, highest + 1))] += sign * second[down]
        real, imaginary = cosine, sine
    x = torch.stack([real, -imaginary], dim=-3)
    rows = [m.shape[1] for m in matrices]
    inner = channels
    for axis in range(len(matrices) - 1, -1, -1):
        outer = batch * int(np.prod(rows[:axis]))
        matrix = matrices[axis]
        x = x.reshape(outer, rows[axis], inner)
        inner *= matrices[axis].shape[0]
        spread = matrix.expand(outer, *matrix.shape)
        if axis == 0 and add_to is not None:
            return (
                add_to.view(batch, matrix.shape[0], inner // matrix.shape[0])
                .baddbmm_(spread, x)
                .view(add_to.shape)
            )
        x = torch.bmm(spread, x)
    return x.view(batch, *[m.shape[0] for m in matrices], channels)
