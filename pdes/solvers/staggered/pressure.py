"""Poisson's equation for the pressure, solved directly in the eigenvectors of each axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
from array_api_compat import is_numpy_namespace

Array = Any

KINDS = ("periodic", "closed", "open", "open right", "open left")
"""Ends of an axis: closed ones have zero normal gradient, open ones zero pressure on the face."""


class PressureSolver:
    """Solves ``div grad p = d`` on equal cells to rounding.

    The discrete Laplacian of each axis has cosines or sines at the cell centers as its
    eigenvectors, whatever ends it has, so that a pair of fast transforms inverts it: numpy arrays
    go through fast cosine and sine transforms, arrays of other namespaces through products with
    the same orthogonal matrices, which are differentiable and run in a batch.

    Parameters
    ----------
    shape : tuple of int
        Cells along both axes.
    spacings : tuple of float
        Their sizes.
    kinds : tuple of str
        One of `KINDS` for each axis.
    xp : module
        Namespace of the arrays.
    dtype : dtype
        Of the arrays.
    device : object, optional
        Of the arrays.

    Examples
    --------
    >>> import array_api_compat.numpy as xp
    >>> solver = PressureSolver((8, 4), (0.5, 1.0), ("closed", "periodic"), xp, xp.float64)
    >>> d = np.zeros((8, 4))
    >>> d[0, 0], d[-1, 0] = 1.0, -1.0
    >>> p = solver(d)
    >>> bool(abs((p[1, 0] - p[0, 0]) / 0.25 + p[0, 1] + p[0, 3] - 2 * p[0, 0] - 1.0) < 1e-14)
    True
    """

    def __init__(
        self,
        shape: tuple[int, int],
        spacings: tuple[float, float],
        kinds: tuple[str, str],
        xp: Any,
        dtype: Any,
        device: Any = None,
    ) -> None:
        eigenvalues = [
            axis_eigenvalues(kind, n) / h**2
            for kind, n, h in zip(kinds, shape, spacings, strict=True)
        ]
        total = -(eigenvalues[0][:, None] + eigenvalues[1][None, :])
        self.singular = "open" not in " ".join(kinds)
        # Without an open end the pressure is known up to a constant: its mean is set to zero.
        inverse = np.divide(1.0, total, out=np.zeros(shape), where=np.abs(total) > 1e-13)
        self._inverse = xp.asarray(inverse, dtype=dtype, device=device)
        self._fast = is_numpy_namespace(xp)
        if self._fast:
            self._transforms = [axis_transforms(kind) for kind in kinds]
        else:
            self._matrices = [
                xp.asarray(axis_transforms(kind)[0](np.eye(n), 0), dtype=dtype, device=device)
                for kind, n in zip(kinds, shape, strict=True)
            ]

    def __call__(self, divergence: Array) -> Array:
        """Pressure of shape ``(*batch, nx, ny)`` whose gradient has this divergence."""
        if self._fast:
            (to_x, from_x), (to_y, from_y) = self._transforms
            spectrum = to_y(to_x(divergence, -2), -1) * self._inverse
            return from_x(from_y(spectrum, -1), -2)
        x, y = self._matrices
        spectrum = (x @ divergence @ y.T) * self._inverse
        return x.T @ spectrum @ y


def axis_eigenvalues(kind: str, points: int) -> np.ndarray:
    """Eigenvalues of minus the second difference, in the order of the transform's coefficients.

    Examples
    --------
    >>> axis_eigenvalues("periodic", 4).round(12)
    array([0., 2., 4., 2.])
    """
    k = np.arange(points)
    phase = {
        "periodic": 2.0 * k / points,
        "closed": k / points,
        "open": (k + 1.0) / points,
        "open right": (k + 0.5) / points,
        "open left": (k + 0.5) / points,
    }[kind]
    return 4.0 * np.sin(0.5 * np.pi * phase) ** 2


Transform = Callable[[np.ndarray, int], np.ndarray]


def axis_transforms(kind: str) -> tuple[Transform, Transform]:
    """Orthonormal transform into the eigenvectors of an axis, and its inverse.

    Examples
    --------
    >>> forward, backward = axis_transforms("periodic")
    >>> values = np.array([1.0, 2.0, 4.0])
    >>> bool(np.allclose(backward(forward(values, 0), 0), values))
    True
    """
    if kind == "periodic":
        return _hartley, _hartley
    table: dict[str, tuple[Any, Any, int]] = {
        "closed": (scipy.fft.dct, scipy.fft.idct, 2),
        "open": (scipy.fft.dst, scipy.fft.idst, 2),
        "open right": (scipy.fft.dct, scipy.fft.idct, 4),
        "open left": (scipy.fft.dst, scipy.fft.idst, 4),
    }
    forward, backward, number = table[kind]

    def to(values: np.ndarray, axis: int) -> np.ndarray:
        return forward(values, type=number, axis=axis, norm="ortho")

    def back(values: np.ndarray, axis: int) -> np.ndarray:
        return backward(values, type=number, axis=axis, norm="ortho")

    return to, back


def _hartley(values: np.ndarray, axis: int) -> np.ndarray:
    """Real orthogonal relative of the Fourier transform, its own inverse."""
    spectrum: Any = scipy.fft.fft(values, axis=axis, norm="ortho")
    return spectrum.real - spectrum.imag
