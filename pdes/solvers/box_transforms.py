"""Transforms into the eigenvectors of the second difference on one axis, for every pair of ends.

Unknowns sit at the centers of cells, or at nodes of which those with a given value are left out.
Between two homogeneous ends the eigenvectors are cosines, sines or waves, whatever the ends are
(G. Strang, SIAM Rev. 41 (1999) 135).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.fft

from pdes.tokens import closest

__all__ = ["Kind", "Place", "axis_eigenvalues", "axis_matrices", "axis_transforms", "end_kinds"]

Kind = str | tuple[str, str]
"""``"periodic"``, ``"neumann"`` or ``"dirichlet"``, or a pair of the last two: low and high end."""
Place = Literal["centers", "nodes"]
Transform = Callable[[np.ndarray, int], np.ndarray]

_KINDS = ("neumann", "dirichlet", "periodic")
# Kinds of both ends, and the type of the cosine or sine transform at centers and at nodes.
_TYPES: dict[tuple[str, str], tuple[Any, Any, int, int]] = {
    ("neumann", "neumann"): (scipy.fft.dct, scipy.fft.idct, 2, 1),
    ("dirichlet", "dirichlet"): (scipy.fft.dst, scipy.fft.idst, 2, 1),
    ("neumann", "dirichlet"): (scipy.fft.dct, scipy.fft.idct, 4, 3),
    ("dirichlet", "neumann"): (scipy.fft.dst, scipy.fft.idst, 4, 3),
}


def end_kinds(kind: Kind) -> tuple[str, str]:
    """Kinds of the low and the high end of an axis.

    Raises
    ------
    ValueError
        For an unknown kind, or an axis with one periodic end.

    Examples
    --------
    >>> end_kinds("neumann"), end_kinds(("neumann", "dirichlet"))
    (('neumann', 'neumann'), ('neumann', 'dirichlet'))
    """
    pair = (kind, kind) if isinstance(kind, str) else tuple(kind)
    for end in pair:
        if end not in _KINDS:
            raise ValueError(
                f"kinds: unknown kind {end!r}.{closest(str(end), _KINDS)} An axis is "
                "'periodic', 'neumann', 'dirichlet' or a pair of the last two"
            )
    if len(pair) != 2 or pair.count("periodic") == 1:
        raise ValueError(f"kinds: got {kind!r}, wanted one kind or a pair, both or none periodic")
    return pair[0], pair[1]


def axis_eigenvalues(kind: Kind, points: int, at: Place = "centers") -> np.ndarray:
    """Eigenvalues of minus the second difference on unit spacing, in the order of the transforms.

    Parameters
    ----------
    kind : str or pair of str
        Of the two ends.
    points : int
        Number of unknowns.
    at : {"centers", "nodes"}
        Where they sit.

    Returns
    -------
    ndarray, shape (points,)
        None negative.

    Examples
    --------
    >>> axis_eigenvalues("periodic", 4).round(12)
    array([0., 2., 4., 2.])
    """
    k, ends = np.arange(points), end_kinds(kind)
    if ends[0] == "periodic":
        phase = 2.0 * k / points
    elif ends[0] != ends[1]:
        phase = (k + 0.5) / points
    elif ends[0] == "neumann":
        phase = k / points if at == "centers" else k / (points - 1.0)
    else:
        phase = (k + 1.0) / (points if at == "centers" else points + 1.0)
    return 4.0 * np.sin(0.5 * np.pi * phase) ** 2


def axis_transforms(kind: Kind, at: Place = "centers") -> tuple[Transform, Transform]:
    """Transform of numpy arrays into the eigenvectors of an axis, and its inverse.

    Parameters
    ----------
    kind : str or pair of str
        Of the two ends.
    at : {"centers", "nodes"}
        Where the unknowns sit. At centers the transforms are orthonormal.

    Returns
    -------
    tuple of callable
        ``(values, axis) -> values``, of real arrays.

    Examples
    --------
    >>> forward, backward = axis_transforms("periodic")
    >>> values = np.array([1.0, 2.0, 4.0])
    >>> bool(np.allclose(backward(forward(values, 0), 0), values))
    True
    """
    ends = end_kinds(kind)
    if ends[0] == "periodic":
        return _hartley, _hartley
    forward, backward, centers, nodes = _TYPES[ends]
    options: dict[str, Any] = {"type": nodes}
    if at == "centers":
        options = {"type": centers, "norm": "ortho"}

    def to(values: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(forward(values, axis=axis, **options))

    def back(values: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(backward(values, axis=axis, **options))

    return to, back


def axis_matrices(kind: Kind, points: int, at: Place = "centers") -> tuple[np.ndarray, np.ndarray]:
    """The same transforms as dense matrices, for arrays that scipy cannot transform.

    Parameters
    ----------
    kind : str or pair of str
        Of the two ends.
    points : int
        Number of unknowns.
    at : {"centers", "nodes"}
        Where they sit.

    Returns
    -------
    tuple of ndarray, shapes (points, points)
        Transform and inverse: ``matrix @ values`` along the axis.

    Examples
    --------
    >>> to, back = axis_matrices(("neumann", "dirichlet"), 5, "nodes")
    >>> bool(np.allclose(to @ back, np.eye(5)))
    True
    """
    forward, backward = axis_transforms(kind, at)
    return forward(np.eye(points), 0), backward(np.eye(points), 0)


def _hartley(values: np.ndarray, axis: int) -> np.ndarray:
    """Real orthogonal relative of the Fourier transform, its own inverse."""
    spectrum: Any = scipy.fft.fft(values, axis=axis, norm="ortho")
    return spectrum.real - spectrum.imag
