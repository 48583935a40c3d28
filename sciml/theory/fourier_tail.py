"""What a frequency window cuts from a field: closed forms for jumps and kinks.

A field that is a polynomial between its breaks is known to its Fourier transform by the jumps
``J`` of its values and derivatives alone. The energy beyond the window is then a finite sum of
trigamma functions and sine integrals. A jump costs nothing to move; what is cut from it stays cut,
so that this tail is the floor of every method that keeps the frequencies ``|k| <= K``.

All closed forms are derived here unless another source is named. A tail is a norm,
``sqrt(int |u - S u|^2 dx)``, with ``S`` the sharp window.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sciml.theory.trigonometric_tails import oscillatory_tail, trigonometric_tail

__all__ = [
    "GIBBS_OVERSHOOT",
    "asymptotic_tail",
    "box_tail",
    "disc_tail",
    "edge_frequency",
    "gaussian_tail",
    "line_tail",
    "modes_for_tolerance",
    "periodic_tail",
    "region_tail",
    "sampled_box_tail",
    "sampled_tail",
    "transported_tail",
    "variation_bound",
    "wave_jumps",
]

GIBBS_OVERSHOOT: float = float(special.sici(math.pi)[0]) / math.pi - 0.5
"""Overshoot beside a jump, as a share of it, for every window: ``Si(pi)/pi - 1/2``."""


def edge_frequency(length: float, n_modes: int) -> float:
    """Frequency at which a window of whole modes ends, ``2 pi (K + 1/2)/L``.

    Parameters
    ----------
    length
        Period ``L``.
    n_modes
        Highest mode ``K`` that is kept.

    Examples
    --------
    >>> round(edge_frequency(2 * math.pi, 32), 12)
    32.5
    """
    _positive(length=length)
    return 2.0 * math.pi * (_modes(n_modes) + 0.5) / length


def periodic_tail(positions: ArrayLike, jumps: ArrayLike, *, length: float, n_modes: int) -> float:
    """Tail of a piecewise polynomial field on a circle, exact.

    Parameters
    ----------
    positions : array_like, shape (n,)
        Where the field or a derivative jumps.
    jumps : array_like, shape (n,) or (n, p)
        Jumps of the field; column ``p`` those of its p-th derivative. Right side less left.
    length : float
        Period.
    n_modes : int
        Highest mode kept, at least 0.

    Returns
    -------
    float
        ``sqrt(int |u - S u|^2 dx)``

    Raises
    ------
    ValueError
        If the jumps of the highest derivative do not add up to 0, as they must on a circle.

    Examples
    --------
    A box of width 1 and height 1 on a circle of length 6:

    >>> round(periodic_tail([0.0, 1.0], [1.0, -1.0], length=6.0, n_modes=28), 6)
    0.143474
    """
    places, heights = _jumps(positions, jumps)
    _positive(length=length)
    # The highest derivative is constant between breaks, so that its jumps close the circle.
    order, total = heights.shape[1] - 1, float(heights[:, -1].sum())
    if abs(total) > 1e-9 * max(np.abs(heights[:, -1]).max(), 1e-300):
        what = "the field" if order == 0 else f"its derivative of order {order}"
        raise ValueError(
            f"jumps of {what} add up to {total:.6g}: on a circle they must add up to 0. Did you "
            "leave out the jump where the period closes?"
        )
    angles = 2.0 * math.pi * (places[:, None] - places[None, :]) / length

    def pair(power: int, sine: bool) -> np.ndarray:
        scale = 2.0 / length * (length / (2.0 * math.pi)) ** power
        return scale * np.asarray(trigonometric_tail(angles, n_modes, power, sine=sine))

    return _pair_sum(heights, pair)


def line_tail(positions: ArrayLike, jumps: ArrayLike, *, cutoff: float) -> float:
    """Tail of a piecewise polynomial field on the line, exact.

    Parameters
    ----------
    positions, jumps
        As in `periodic_tail`.
    cutoff : float
        Highest frequency kept, positive.

    Returns
    -------
    float

    Examples
    --------
    >>> round(line_tail([0.0, 1.0], [1.0, -1.0], cutoff=30.0), 6)
    0.143245
    """
    places, heights = _jumps(positions, jumps)
    _positive(cutoff=cutoff)
    distances = places[:, None] - places[None, :]

    def pair(power: int, sine: bool) -> np.ndarray:
        found = oscillatory_tail(distances, cutoff, power)
        return (found.imag if sine else found.real) / math.pi

    return _pair_sum(heights, pair)


def box_tail(
    width: float, height: float = 1.0, *, length: float | None = None, **window: Any
) -> float:
    """Tail of a box; give ``length`` and ``n_modes`` on a circle, ``cutoff`` on the line.

    Examples
    --------
    >>> round(box_tail(1.0, cutoff=100.0), 6), round(box_tail(1.0, length=6.0, n_modes=28), 6)
    (0.079579, 0.143474)
    """
    _positive(width=width)
    edges, jumps = [0.0, width], [height, -height]
    if length is None:
        return line_tail(edges, jumps, **window)
    return periodic_tail(edges, jumps, length=length, **window)


def asymptotic_tail(jumps: ArrayLike, cutoff: float, *, derivative: int = 0) -> float:
    """Tail of jumps that do not interfere, ``sqrt(sum J^2/((2p + 1) pi Xi^(2p + 1)))``.

    Parameters
    ----------
    jumps : array_like, shape (n,)
        Jumps of the derivative of order `derivative`.
    cutoff : float
        Highest frequency, `edge_frequency` on a circle.
    derivative : int
        ``p``; 0 for the field itself.

    Notes
    -----
    Neighboring jumps interfere, by a few percent for a box and by a quarter for a tent of width 1
    at the frequency 30. `periodic_tail` and `line_tail` are exact.

    Examples
    --------
    >>> round(asymptotic_tail([1.0, -1.0], 30.0), 4)
    0.1457
    """
    _positive(cutoff=cutoff)
    power = 2 * derivative + 1
    square = np.sum(np.asarray(jumps, dtype=float) ** 2)
    return float(math.sqrt(square / (power * math.pi * cutoff**power)))


def variation_bound(variation: float, *, length: float, n_modes: int) -> float:
    """Upper bound of the tail of any field of bounded variation on a circle.

    ``sqrt(L V^2 psi1(K + 1)/(2 pi^2))``, because ``|c_k| <= V/(2 pi k)``.

    Examples
    --------
    >>> box_tail(1.0, length=6.0, n_modes=28) <= variation_bound(2.0, length=6.0, n_modes=28)
    True
    """
    _positive(length=length)
    trigamma = float(special.zeta(2.0, _modes(n_modes) + 1))
    return abs(variation) * math.sqrt(length * trigamma / (2.0 * math.pi**2))


def gaussian_tail(width: float, cutoff: float) -> float:
    """Relative tail of ``exp(-x^2/(2 width^2))`` on the line, ``sqrt(erfc(width cutoff))``.

    Examples
    --------
    >>> round(gaussian_tail(0.1, 30.0), 6)
    0.0047
    """
    _positive(width=width, cutoff=cutoff)
    return math.sqrt(math.erfc(width * cutoff))


def sampled_tail(values: ArrayLike, n_modes: int) -> float:
    """Root mean square of what the window cuts from samples on a circle.

    Energy beyond the Nyquist frequency of the samples is unknown, and not counted.

    Parameters
    ----------
    values : array_like, shape (..., n)
        Samples at equal distances; the root mean square runs over the last axis.
    n_modes : int
        Highest mode kept.

    Examples
    --------
    >>> box = np.arange(64) < 16
    >>> bool(np.isclose(sampled_tail(box, 10), sampled_box_tail(16, 64, 10)))
    True
    """
    values = np.asarray(values)
    modes = np.abs(np.fft.fftfreq(values.shape[-1], 1.0 / values.shape[-1]))
    spectrum = np.fft.fft(values, axis=-1) / values.shape[-1]
    return np.sqrt((np.abs(spectrum[..., modes > _modes(n_modes)]) ** 2).sum(-1))[()]


def sampled_box_tail(inside: int, points: int, n_modes: int) -> float:
    """Root mean square of what the window cuts from a sampled box, ``inside`` of ``points`` ones.

    Sum over ``K < |k| <= N/2`` of ``sin^2(pi k m/N)/(N^2 sin^2(pi k/N))``.

    Examples
    --------
    >>> round(sampled_box_tail(16, 64, 10), 6)
    0.091216
    """
    if not 0 < inside < points:
        raise ValueError(f"inside is {inside} of {points} points: wanted some, but not all")
    modes = np.fft.fftfreq(points, 1.0 / points)
    modes = modes[np.abs(modes) > _modes(n_modes)]
    ratio = np.sin(math.pi * modes * inside / points) / (points * np.sin(math.pi * modes / points))
    return float(np.sqrt((ratio**2).sum()))


def disc_tail(radius: float, cutoff: float) -> float:
    """Relative tail of a disc in the plane, ``sqrt(J0(R Xi)^2 + J1(R Xi)^2)``.

    Examples
    --------
    >>> round(disc_tail(1.0, 30.5), 6)
    0.144798
    """
    _positive(radius=radius, cutoff=cutoff)
    z = radius * cutoff
    return float(math.hypot(special.j0(z), special.j1(z)))


def region_tail(jump: float, perimeter: float, cutoff: float) -> float:
    """Tail of a jump along a smooth closed curve in the plane, asymptotic in the cutoff.

    Examples
    --------
    A disc of radius 1, relative to its norm:

    >>> round(region_tail(1.0, 2 * math.pi, 30.5) / math.sqrt(math.pi), 4)
    0.1445
    """
    _positive(perimeter=perimeter, cutoff=cutoff)
    return abs(jump) * math.sqrt(perimeter / (math.pi * cutoff))


def transported_tail(jumps: ArrayLike, stretch: ArrayLike, cutoff: float) -> float:
    """Tail after transport at variable speed, ``sqrt(sum J^2 (dx/dy)/(pi Xi))``, asymptotic.

    Parameters
    ----------
    jumps : array_like, shape (n,)
        Jumps of the initial field.
    stretch : array_like, shape (n,)
        ``dx/dy`` of the flow at each of them.
    cutoff : float
        Highest frequency, `edge_frequency` on a circle.

    Notes
    -----
    What was cut is carried along and stretched, so that the tail follows its surroundings. The
    tail of a single jump is symmetric about it, therefore the error is of second order.

    Examples
    --------
    >>> round(transported_tail([1.0, -1.0], [1.0, 1.0], 30.0), 4)
    0.1457
    """
    jumps, stretch = np.asarray(jumps, dtype=float), np.asarray(stretch, dtype=float)
    if np.any(stretch <= 0.0):
        raise ValueError(f"stretch is {stretch.min():.3g} somewhere: a flow keeps dx/dy positive")
    return asymptotic_tail(jumps * np.sqrt(stretch), cutoff)


def wave_jumps(
    positions: ArrayLike, jumps: ArrayLike, displacement: float
) -> tuple[np.ndarray, np.ndarray]:
    """Jumps of a wave that started at rest: half of each to the right, half to the left.

    Parameters
    ----------
    positions, jumps
        As in `periodic_tail`.
    displacement : float
        Speed times time.

    Returns
    -------
    positions : ndarray, shape (2n,)
    jumps : ndarray, shape (2n,) or (2n, p)

    Examples
    --------
    Separated, the halves carry half the energy each, so that the squared tail is halved:

    >>> start = line_tail([0.0, 1.0], [1.0, -1.0], cutoff=400.0)
    >>> later = line_tail(*wave_jumps([0.0, 1.0], [1.0, -1.0], 3.3), cutoff=400.0)
    >>> round(later**2 / start**2, 2)
    0.5
    """
    places, heights = np.asarray(positions, dtype=float), 0.5 * np.asarray(jumps, dtype=float)
    moved = np.concatenate((places + displacement, places - displacement))
    return moved, np.concatenate((heights, heights))


def modes_for_tolerance(jumps: ArrayLike, *, length: float, tolerance: float, norm: float) -> int:
    """Modes after which the relative tail of these jumps is below a tolerance, asymptotically.

    Parameters
    ----------
    jumps : array_like, shape (n,)
        Jumps of the field.
    length : float
        Period.
    tolerance : float
        Wanted relative tail.
    norm : float
        Norm of the field, ``sqrt(int u^2 dx)``.

    Examples
    --------
    >>> K = modes_for_tolerance([1.0, -1.0], length=6.0, tolerance=0.1, norm=1.0)
    >>> K, round(box_tail(1.0, length=6.0, n_modes=K), 4)
    (61, 0.1002)
    """
    _positive(length=length, tolerance=tolerance, norm=norm)
    square = float(np.sum(np.asarray(jumps, dtype=float) ** 2))
    return math.ceil(square * length / (2.0 * math.pi**2 * tolerance**2 * norm**2))


def _pair_sum(heights: np.ndarray, pair: Any) -> float:
    """Root of the sum over pairs of jumps and of derivatives; see the module's first lines.

    With ``(i xi)^-(p+1)`` for a jump of the p-th derivative, a pair brings
    ``Re(i^(q-p) exp(-i xi d)) xi^-(p+q+2)``: a cosine if ``q - p`` is even, else a sine.
    """
    total, orders = 0.0, heights.shape[1]
    for p in range(orders):
        for q in range(orders):
            sine = (q - p) % 2 == 1
            sign = (-1.0) ** ((q - p - int(sine)) // 2)
            weight = np.outer(heights[:, p], heights[:, q])
            if np.any(weight):
                total += sign * float((weight * pair(p + q + 2, sine)).sum())
    # Rounding may leave a tiny negative number where nothing is cut.
    return math.sqrt(max(total, 0.0))


def _jumps(positions: ArrayLike, jumps: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    places, heights = np.asarray(positions, dtype=float), np.asarray(jumps, dtype=float)
    heights = heights[:, None] if heights.ndim == 1 else heights
    if places.ndim != 1 or heights.ndim != 2 or len(places) != len(heights):
        raise ValueError(
            f"positions have shape {places.shape} and jumps {np.shape(jumps)}: wanted one row of "
            "jumps for each position"
        )
    if not (np.all(np.isfinite(places)) and np.all(np.isfinite(heights))):
        raise ValueError("positions and jumps must be finite numbers")
    return places, heights


def _modes(n_modes: int) -> int:
    if int(n_modes) != n_modes or n_modes < 0:
        raise ValueError(f"n_modes is {n_modes}: wanted a whole number, not negative")
    return int(n_modes)


def _positive(**arguments: float) -> None:
    for name, value in arguments.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} is {value}: it must be positive and finite")
