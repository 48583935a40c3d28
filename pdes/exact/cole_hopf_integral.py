"""Burgers' equation on the line from any initial field, by the integral of Cole and Hopf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp, roots_hermite

__all__ = ["burgers_from"]

_FEWEST = 100
_MOST = 2000
_PANELS = 4096
Profile = Callable[[np.ndarray], np.ndarray]


def burgers_from(
    field: Profile,
    x: Any,
    times: Any,
    *,
    viscosity: float,
    antiderivative: Profile | None = None,
    nodes: int = 200,
    tolerance: float = 1e-8,
) -> np.ndarray:
    r"""Solution of ``u_t = -u u_x + nu u_xx`` on the line that starts from `field`.

    ``u(x, t)`` is the mean of ``u_0(y)`` with weights ``exp(-(x - y)^2/(4 nu t) - F(y)/(2 nu))``,
    where ``F' = u_0``. With ``y = x - sqrt(4 nu t) z`` Gauss-Hermite nodes take the mean, and the
    exponents are added as logarithms, so that no viscosity is too small for them to be numbers. A
    periodic field stays periodic.

    Parameters
    ----------
    field : callable
        ``u_0``, of an array of places, bounded and smooth between the nodes.
    x : array_like, shape (n,)
        Places.
    times : array_like, shape (m,)
        Not negative.
    viscosity : float
        ``nu``, positive.
    antiderivative : callable, optional
        ``F``, up to a constant; integrated from `field` otherwise.
    nodes : int, default 200
        At least 100. The weights are resolved while ``max|u_0| sqrt(t/nu)`` is some units below
        ``sqrt(2 nodes)``.
    tolerance : float, default 1e-8
        Largest difference allowed to the result of three quarters of the nodes, relative to the
        largest value of the field at the nodes (at least 1e-12).

    Returns
    -------
    ndarray, shape (m, n)

    Raises
    ------
    ValueError
        If an argument is out of range, the functions do not return finite real arrays of the shape
        of their argument, or the nodes are too few.

    Notes
    -----
    J. D. Cole, Quart. Appl. Math. 9 (1951) 225; E. Hopf, Comm. Pure Appl. Math. 3 (1950) 201.

    Examples
    --------
    >>> found = burgers_from(lambda y: -np.tanh(y / 0.2), [-1.0, 0.1], [0.5], viscosity=0.1)
    >>> np.allclose(found, -np.tanh(np.array([-1.0, 0.1]) / 0.2), atol=1e-10)
    True
    """
    places, moments = _array("x", x), _array("times", times)
    if np.any(moments < 0.0):
        raise ValueError(f"times={moments.min():g}: diffusion has no past; give times from 0 on")
    if not 0.0 < viscosity < np.inf:
        raise ValueError(f"viscosity={viscosity} must be positive and finite")
    if isinstance(nodes, bool) or nodes != int(nodes) or not _FEWEST <= nodes <= _MOST:
        raise ValueError(f"nodes={nodes}, wanted a whole number in [{_FEWEST}, {_MOST}]")
    if not 0.0 < tolerance < np.inf:
        raise ValueError(f"tolerance={tolerance} must be positive and finite")
    frames = []
    for time in moments:
        fine, size = _means(field, antiderivative, places, time, viscosity, int(nodes))
        coarse, _ = _means(field, antiderivative, places, time, viscosity, 3 * int(nodes) // 4)
        apart = float(np.abs(fine - coarse).max()) / max(size, 1e-12)
        if apart > tolerance:
            raise ValueError(
                f"nodes={nodes} do not resolve the integral at time {time:g}: with three quarters "
                f"of them the field differs by {apart:.1e} of its size, above "
                f"tolerance={tolerance:g}; take more nodes (up to {_MOST}), an earlier time or "
                "more viscosity"
            )
        frames.append(fine)
    return np.stack(frames)


def _means(
    field: Profile,
    antiderivative: Profile | None,
    x: np.ndarray,
    time: float,
    viscosity: float,
    nodes: int,
) -> tuple[np.ndarray, float]:
    """Weighted mean of the field around each place, and the largest value that entered."""
    z, weights = roots_hermite(nodes)
    kept = weights > 0.0  # the outermost weights of many nodes underflow
    z, weights = z[kept], weights[kept]
    y = x[:, None] - np.sqrt(4.0 * viscosity * time) * z
    values = _values("field", field, y)
    total = (
        _integrated(field, y)
        if antiderivative is None
        else _values("antiderivative", antiderivative, y)
    )
    exponents = np.log(weights) - total / (2.0 * viscosity)
    shares = np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True))
    return (shares * values).sum(axis=1), float(np.abs(values).max())


def _integrated(field: Profile, y: np.ndarray) -> np.ndarray:
    """Antiderivative at the nodes: Gauss-Legendre between neighbors, summed from the left."""
    knots = np.unique(np.concatenate([y.ravel(), np.linspace(y.min(), y.max(), _PANELS)]))
    roots, weights = np.polynomial.legendre.leggauss(6)
    half = 0.5 * np.diff(knots)
    inner = (knots[:-1] + half)[:, None] + half[:, None] * roots
    pieces = half * (_values("field", field, inner) @ weights)
    sums = np.concatenate([[0.0], np.cumsum(pieces)])
    return sums[np.searchsorted(knots, y)]


def _values(name: str, function: Profile, y: np.ndarray) -> np.ndarray:
    found = np.asarray(function(y))
    if found.shape != y.shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise ValueError(
            f"{name} returned {found.dtype} of shape {found.shape} for places of shape {y.shape}, "
            "wanted finite real numbers, one for each place; use NumPy functions"
        )
    return found.astype(np.float64)


def _array(name: str, given: Any) -> np.ndarray:
    found = np.asarray(given)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} has shape {found.shape} and type {found.dtype}, wanted a list of real numbers"
        )
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds numbers that are not finite; remove them")
    return found
