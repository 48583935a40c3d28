"""From a learned exponent to the nearest one that satisfies the edge conditions exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdes.exact import Cone, Sectors
from sciml.powerlaw.wedge_model import characteristic_matrix

STEPS = 50
SINGULAR = 1e-9
"""Singular values of the scaled matrix below which a vector is in its null space."""


def admissible_exponent(corner: Sectors | Cone, start: float) -> float | None:
    """Root of the characteristic matrix that Newton's method reaches from a start.

    The smallest singular value of the matrix, with rows and columns of unit length, takes the
    place of its determinant: it has simple zeros also where two angular functions share an
    exponent.

    Parameters
    ----------
    corner : Sectors, Wedge or Cone
    start : float
        Positive.

    Returns
    -------
    float or None
        None if the iteration leads nowhere.

    Raises
    ------
    ValueError
        For another corner, or a start that is no positive number.

    Examples
    --------
    >>> from pdes.exact import Wedge
    >>> round(admissible_exponent(Wedge(1.5 * np.pi, "DD"), 0.7), 14)
    0.66666666666667
    """
    if not isinstance(corner, (Sectors, Cone)):
        raise ValueError(f"corner={corner!r}, wanted a Wedge, Sectors or Cone of pdes.exact")
    if not (isinstance(start, (int, float, np.number)) and np.isfinite(start) and start > 0.0):
        raise ValueError(f"start={start!r}, wanted a positive number")
    mu, step = float(start), np.inf
    for _ in range(STEPS):
        matrix, slope = _scaled(corner, mu)
        left, values, right = np.linalg.svd(matrix)
        turn = float(left[:, -1] @ slope @ right[-1])
        if turn == 0.0:
            return None
        previous, step = abs(step), -float(values[-1]) / turn
        # Far away the linearization overshoots; an exponent stays positive.
        step = float(np.clip(step, -0.25 * mu, 0.25))
        mu += step
        if abs(step) <= 4e-16 * (1.0 + mu) or (abs(step) < 1e-12 and abs(step) >= previous):
            return mu
    return None


def angular_factors(corner: Sectors | Cone, exponent: float) -> NDArray:
    """Angular functions that satisfy all conditions, as coefficients of the free ones.

    Parameters
    ----------
    corner : Sectors, Wedge or Cone
    exponent : float
        Admissible.

    Returns
    -------
    ndarray, shape (multiplicity, functions)
        Largest entry of each 1; coefficients of ``cos mu theta, sin mu theta`` of each sector.
    """
    matrix, _ = characteristic_matrix(corner, exponent)
    scale = np.linalg.norm(matrix, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    scaled = matrix / scale
    _, values, right = np.linalg.svd(scaled / _lengths(scaled, 1))
    count = max(1, int(np.sum(values < SINGULAR)))
    found = right[-count:] / scale
    if count > 1:  # the same vectors on every machine: reduced echelon form
        pivots: list[int] = []
        for row in range(count):
            pivot = int(np.argmax(np.abs(found[row:]).max(axis=0)))
            best = row + int(np.argmax(np.abs(found[row:, pivot])))
            found[[row, best]] = found[[best, row]]
            found[row] /= found[row, pivot]
            others = [k for k in range(count) if k != row]
            found[others] -= found[others, pivot, None] * found[row]
            pivots.append(pivot)
        found = found[np.argsort(pivots)]
    largest = found[np.arange(count), np.argmax(np.abs(found), axis=1)]
    clean = found / largest[:, None]
    return np.where(np.abs(clean) < 1e-13, 0.0, clean)


def _scaled(corner: Sectors | Cone, mu: float) -> tuple[NDArray, NDArray]:
    """The matrix with columns, then rows, of unit length, and its derivative scaled alike."""
    matrix, slope = characteristic_matrix(corner, mu)
    if matrix.shape == (1, 1):  # a cone: scaling would leave its sign alone
        return matrix, slope
    columns = _lengths(matrix, 0)
    rows = _lengths(matrix / columns, 1)
    return matrix / columns / rows, slope / columns / rows


def _lengths(matrix: NDArray, axis: int) -> NDArray:
    length = np.linalg.norm(matrix, axis=axis, keepdims=True)
    return np.where(length > 0.0, length, 1.0)
