"""Eigenvectors of the second difference between two sides: sines, cosines, or computed ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdes.boundary import Condition, Dirichlet, Periodic, Robin


@dataclass(frozen=True)
class SideModes:
    """One axis: ``second difference = vectors @ diag(values) @ inverse``.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues, none positive unless a Robin side feeds the field.
    vectors, inverse : ndarray, shape (n, n)
        Eigenvectors in columns, and the inverse of that matrix.
    """

    values: np.ndarray
    vectors: np.ndarray
    inverse: np.ndarray


def side_modes(
    points: int,
    spacing: float,
    low: Condition,
    high: Condition,
    *,
    coefficients: tuple[float, float] = (0.0, 0.0),
    exact: bool = False,
) -> SideModes:
    """Eigenvectors and eigenvalues of the second difference with homogeneous conditions.

    Points whose value is given have the eigenvalue zero and stay out of all other vectors.

    Parameters
    ----------
    points : int
        Number of points, both ends included (one end for a periodic axis).
    spacing : float
        Distance between them.
    low, high : Condition
        At the two ends.
    coefficients : tuple of float
        For Robin sides the coefficient over the diffusivity.
    exact : bool
        Eigenvalues of the second derivative, ``-k^2``, instead of those of the difference,
        ``-4 sin^2(k h/2)/h^2``. Not for Robin sides, whose vectors differ.

    Returns
    -------
    SideModes

    Examples
    --------
    >>> modes = side_modes(5, 0.25, Dirichlet(), Dirichlet(), exact=True)
    >>> np.round(np.sort(modes.values / np.pi**2), 12)
    array([-9., -4., -1.,  0.,  0.])
    """
    if exact and isinstance(low, Robin) | isinstance(high, Robin):
        raise ValueError("sines and cosines do not satisfy Robin conditions; use finite_difference")
    matrix, weights = _second_difference(points, spacing, low, high, coefficients)
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * matrix / root)
    if exact:
        values = _exact_values(values, spacing, points, low, high)
    return SideModes(values, vectors / root[:, None], vectors.T * root)


def _second_difference(
    n: int, h: float, low: Condition, high: Condition, coefficients: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Matrix, and the weights of the inner product in which it is symmetric."""
    matrix = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    weights = np.ones(n)
    if isinstance(low, Periodic):
        matrix[0, -1] = matrix[-1, 0] = 1.0
        return matrix / h**2, weights
    for end, inner, condition, coefficient in (
        (0, 1, low, coefficients[0]),
        (n - 1, n - 2, high, coefficients[1]),
    ):
        if isinstance(condition, Dirichlet):
            matrix[end, :] = matrix[:, end] = 0.0
            continue
        matrix[end, inner] = 2.0
        matrix[end, end] -= 2.0 * h * coefficient
        weights[end] = 0.5
    return matrix / h**2, weights


def _exact_values(
    values: np.ndarray, h: float, n: int, low: Condition, high: Condition
) -> np.ndarray:
    """The same vectors sample sines and cosines, whose wave numbers are multiples of pi/(2 L)."""
    cosine = np.clip(1.0 + 0.5 * values * h**2, -1.0, 1.0)
    length = h * (n if isinstance(low, Periodic) else n - 1)
    unit = 0.5 * np.pi / length
    # Rounding to the multiple that is meant removes the error of arccos at long waves.
    return -((np.rint(np.arccos(cosine) / h / unit) * unit) ** 2)
