"""What equal weights on a grid do to the moments of a function, in closed form.

Statements about samples of a smooth function f on ``[0, L]``: how far the plain mean of its values
is from its integral mean, and how far a layer that normalizes by such means is from one that
normalizes by integrals. All are derived here, after the consistency result of J. Kim et al.,
QuadNorm, arXiv:2605.07375.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = [
    "FaceMoments",
    "equal_weight_gap",
    "left_mean_error",
    "lipschitz_constant",
    "midpoint_error",
    "transfer_bound",
    "trapezoid_error",
]


def equal_weight_gap(
    mean: float, faces: Mapping[tuple[int, ...], float], points: Sequence[int]
) -> float:
    """Plain mean minus trapezoid mean, exactly, on a grid that holds both ends of every axis.

    Along one axis of M points the plain mean is ``(1 - 1/M) T + E/M``, T the trapezoid mean and E
    the mean of both ends. The product over the axes gives, in two dimensions, ``A - T =
    sum_k (e_k - T)/M_k + (e_12 - e_1 - e_2 + T)/(M_1 M_2)``.

    Parameters
    ----------
    mean : float
        Trapezoid mean T.
    faces : mapping of tuple of int to float
        Trapezoid mean over the two faces normal to axis k, under ``(k,)``; over the edges and
        corners normal to several axes, under these axes in order.
    points : sequence of int
        Points of each axis.

    Returns
    -------
    float

    Examples
    --------
    The parabola x^2 on 5 points of the unit interval has the trapezoid mean 11/32:

    >>> equal_weight_gap(11 / 32, {(0,): 0.5}, [5])
    0.03125
    >>> float(np.mean(np.linspace(0, 1, 5)**2)) - 11 / 32
    0.03125
    """
    axes = range(len(points))
    plain = 0.0
    for count in range(len(points) + 1):
        for chosen in itertools.combinations(axes, count):
            if chosen and chosen not in faces:
                raise ValueError(f"faces: no mean for the axes {chosen}, got {sorted(faces)}")
            share = math.prod(1 / n if k in chosen else 1 - 1 / n for k, n in enumerate(points))
            plain += share * (faces[chosen] if chosen else mean)
    return plain - mean


def trapezoid_error(slope_start: float, slope_stop: float, length: float, points: int) -> float:
    """Leading term of trapezoid mean minus mean: ``h^2/12 (f'(L) - f'(0))/L``, h = L/(M - 1).

    Examples
    --------
    >>> trapezoid_error(0.0, 2.0, 1.0, 11)  # x^2, exact: its higher derivatives vanish
    0.001667
    """
    return (length / (points - 1)) ** 2 / 12 * (slope_stop - slope_start) / length


def midpoint_error(slope_start: float, slope_stop: float, length: float, points: int) -> float:
    """Leading term of the mean over cell centers minus mean: ``-h^2/24 (f'(L) - f'(0))/L``."""
    return -((length / points) ** 2) / 24 * (slope_stop - slope_start) / length


def left_mean_error(start: float, stop: float, points: int) -> float:
    """Leading term of the plain mean of points with the last end left out, minus the mean.

    ``-h/2 (f(L) - f(0))/L`` with ``h = L/M``.
    """
    return -(stop - start) / (2 * points)


@dataclass(frozen=True, kw_only=True)
class FaceMoments:
    """Moments of a field inside and on the faces of a box, from which grid errors follow.

    Attributes
    ----------
    mean, variance : float
        Integral mean and variance.
    face_means : tuple of pair of float
        Mean over the first and the last face normal to each axis.
    face_squares : tuple of pair of float
        Mean of ``(f - mean)^2`` there.

    Examples
    --------
    >>> x = np.linspace(0, 1, 1025)
    >>> moments = FaceMoments.of(x**2)
    >>> round(moments.mean_gap([17]), 5)  # (1/2 - 1/3)/17
    0.0098
    """

    mean: float
    variance: float
    face_means: tuple[tuple[float, float], ...]
    face_squares: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, values: np.ndarray) -> FaceMoments:
        """Moments of samples on a fine grid that holds both ends of every axis (trapezoid rule).

        Parameters
        ----------
        values : ndarray
            One dimension for each axis, at least three points along each.
        """
        samples = np.asarray(values, dtype=float)
        if samples.ndim < 1 or min(samples.shape) < 3 or not np.all(np.isfinite(samples)):
            raise ValueError(
                f"values: got shape {samples.shape}, wanted finite samples, 3 or more along an axis"
            )
        mean = trapezoid_mean(samples)
        squares = (samples - mean) ** 2
        ends = [
            [
                tuple(trapezoid_mean(np.take(field, end, axis)) for end in (0, -1))
                for axis in range(samples.ndim)
            ]
            for field in (samples, squares)
        ]
        return cls(
            mean=mean,
            variance=trapezoid_mean(squares),
            face_means=tuple(ends[0]),  # pyright: ignore[reportArgumentType]
            face_squares=tuple(ends[1]),  # pyright: ignore[reportArgumentType]
        )

    def mean_gap(
        self,
        points: Sequence[int],
        other: Sequence[int] | None = None,
        axis_kinds: str | Sequence[str] = "node",
    ) -> float:
        """Plain mean minus integral mean, first order in 1/M: ``sum_k (e_k - mean)/M_k``.

        Parameters
        ----------
        points : sequence of int
            Points of each axis.
        other : sequence of int, optional
            Points of a second grid; the result is the gap between both.
        axis_kinds : str or sequence of str
            ``"node"`` (both ends), ``"left"`` (last end left out: ``(first - last face)/(2 M)``);
            ``"periodic"`` and ``"cell"`` have no gap of this order.
        """
        return self._gap(self.face_means, self.mean, points, other, axis_kinds)

    def variance_gap(
        self,
        points: Sequence[int],
        other: Sequence[int] | None = None,
        axis_kinds: str | Sequence[str] = "node",
    ) -> float:
        """Plain variance minus that of the function, ``sum_k (b_k - variance)/M_k``."""
        return self._gap(self.face_squares, self.variance, points, other, axis_kinds)

    def mismatch(
        self,
        points: Sequence[int],
        other: Sequence[int] | None = None,
        axis_kinds: str | Sequence[str] = "node",
    ) -> float:
        """Root mean square by which the normalized field is off: equal weights against integrals.

        ``sqrt((dm/s)^2 + (dv/(2 v))^2)`` with the gaps of mean and variance. With ``other`` it is
        how far the same layer is from itself on two grids.
        """
        mean = self.mean_gap(points, other, axis_kinds)
        spread = self.variance_gap(points, other, axis_kinds)
        return math.hypot(mean / math.sqrt(self.variance), spread / (2 * self.variance))

    @staticmethod
    def _gap(
        ends: Sequence[tuple[float, float]],
        inside: float,
        points: Sequence[int],
        other: Sequence[int] | None,
        axis_kinds: str | Sequence[str],
    ) -> float:
        kinds = [axis_kinds] * len(ends) if isinstance(axis_kinds, str) else list(axis_kinds)
        second = [math.inf] * len(ends) if other is None else list(other)
        if not len(points) == len(second) == len(kinds) == len(ends):
            raise ValueError(
                f"got {len(points)} numbers of points, {len(second)} of the other grid and "
                f"{len(kinds)} kinds for a field of {len(ends)} axes"
            )
        total = 0.0
        for (first, last), n, m, kind in zip(ends, points, second, kinds, strict=True):
            if kind not in ("node", "left", "periodic", "cell"):
                raise ValueError(f"axis_kinds: no formula for {kind!r}; node, left, periodic, cell")
            change = {"node": 0.5 * (first + last) - inside, "left": 0.5 * (first - last)}
            total += change.get(kind, 0.0) * (1 / n - 1 / m)
        return total


def lipschitz_constant(variance: float, eps: float = 1e-5) -> float:
    """Largest slope of the normalization layer at a field of this variance.

    Its Jacobian is ``r (I - 1 w^T - xhat (w xhat)^T)`` up to eps, r times an orthogonal projection
    in the weighted norm, so that r = 1/sqrt(v + eps) bounds it, not 1/sqrt(eps).

    Examples
    --------
    >>> lipschitz_constant(4.0, 0.0)
    0.5
    """
    if not variance >= 0.0 or not eps >= 0.0 or variance + eps == 0.0:
        raise ValueError(f"got variance {variance} and eps {eps}: wanted >= 0 and not both 0")
    return 1.0 / math.sqrt(variance + eps)


def transfer_bound(mismatches: Sequence[float], slopes: Sequence[float]) -> float:
    """Bound on how far a deep model is from itself on two grids.

    ``E <= sum_l (prod_(j > l) Lam_j) eps_l``: mismatch of layer l, carried on by the Lipschitz
    constants of the blocks behind it. With constants about 1 it grows linearly in depth, and keeps
    the order in the grid distance that the layers have.

    Parameters
    ----------
    mismatches : sequence of float
        eps_l of each layer, first to last.
    slopes : sequence of float
        Lam_l of each block.

    Examples
    --------
    >>> transfer_bound([0.1, 0.1, 0.1], [1.0, 1.0, 1.0])
    0.3
    """
    if len(mismatches) != len(slopes):
        raise ValueError(f"got {len(mismatches)} mismatches and {len(slopes)} slopes, wanted pairs")
    total = 0.0
    for mismatch, slope in zip(mismatches, slopes, strict=True):
        total = total * slope + mismatch
    return total


def trapezoid_mean(values: np.ndarray) -> float:
    """Mean by the trapezoid rule over all axes, both ends included."""
    for _ in range(np.ndim(values)):
        inner = values[1:-1].sum(0) + 0.5 * (values[0] + values[-1])
        values = inner / (len(values) - 1)
    return float(values)
