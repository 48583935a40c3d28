"""What a repair of forecasts does to their error, before it is measured.

A repair ``C`` maps a forecast ``x`` to a state that obeys a rule; ``K = I - C`` is what it takes
away, ``u`` the truth, and ``e = x - u``. A repair is *exact* if it is the orthogonal projection
onto an affine set that holds the truth; then ``K u = 0``. Everything is stated for mean squares,
whatever the inner product is, as long as the projection is orthogonal in it.

Derived here; the question, and the terms target distortion, post hoc and in the loop, are those of
B. J. Kim, Exactness matters for physical rule enforcement, arXiv:2605.08285 (2026).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy

from sciml.theory.prediction import Prediction

__all__ = [
    "LinearRollout",
    "drift",
    "optimal_strength",
    "post_hoc_error",
    "predict_post_hoc",
    "relaxed_error",
    "repair_harms",
    "strongest_gain",
]

ERROR, REMOVED, DISTORTION, CROSS, STRENGTH = sympy.symbols("E S_e S_u c lambda", real=True)
RELAXED_ERROR = (
    ERROR - 2 * STRENGTH * (REMOVED + CROSS) + STRENGTH**2 * (REMOVED + DISTORTION + 2 * CROSS)
)
"""Mean square of ``e - lambda (K e + K u)`` for an orthogonal projection ``K``."""


def post_hoc_error(
    error: float, removed: float, distortion: float = 0.0, cross: float = 0.0
) -> float:
    """Mean squared error of a repaired forecast.

    ``|C x - u|^2 = |e|^2 - |K e|^2 + |K u|^2`` for an orthogonal projection, whatever the cross
    term is, because ``K u`` is orthogonal to what ``C`` leaves. With an exact repair this is
    Pythagoras' theorem: the repair never hurts. For other linear maps with the symmetric ``K e``
    the general identity is ``|C e|^2 + |K u|^2 - 2 <C e, K u>``; `cross` is its ``-2 <C e, K u>``.

    Parameters
    ----------
    error : float
        Mean square of the forecast's error, ``|e|^2``.
    removed : float
        What the repair removes of it, ``|e|^2 - |C e|^2``.
    distortion : float, default 0
        Target distortion ``|K u|^2``.
    cross : float, default 0
        ``-2 <C e, K u>``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a mean square is negative or not finite.

    Examples
    --------
    >>> post_hoc_error(1.0, 0.75)
    0.25
    """
    _check(error=error, distortion=distortion)
    _check_finite(removed=removed, cross=cross)
    return error - removed + distortion + cross


def repair_harms(removed: float, distortion: float) -> bool:
    """Whether a repair raises the error when errors and distortion are uncorrelated.

    If and only if the target distortion exceeds what the repair removes of the error.

    Examples
    --------
    >>> repair_harms(removed=1e-4, distortion=6e-4), repair_harms(1e-4, 0.0)
    (True, False)
    """
    _check(distortion=distortion)
    return distortion > removed


def optimal_strength(removed: float, distortion: float, cross: float = 0.0) -> float:
    """Strength of a relaxed repair ``I - lambda K`` with the least mean squared error.

    ``lambda = (S_e + c)/(S_e + S_u + 2 c)`` for an orthogonal projection ``K``: 1 for an exact
    repair, and near 0 where distortion outweighs what can be removed. Mode by mode it is Wiener's
    filter.

    Parameters
    ----------
    removed : float
        ``S_e = |K e|^2``.
    distortion : float
        ``S_u = |K u|^2``.
    cross : float, default 0
        ``c = <K e, K u>``.

    Returns
    -------
    float
        Not clipped: a strong negative correlation may ask for more than 1. Zero if there is
        nothing to remove and nothing to distort.

    Examples
    --------
    >>> optimal_strength(3.0, 1.0), optimal_strength(2.0, 0.0)
    (0.75, 1.0)
    """
    _check(removed=removed, distortion=distortion)
    _check_finite(cross=cross)
    whole = removed + distortion + 2.0 * cross
    return (removed + cross) / whole if whole > 0.0 else 0.0


def relaxed_error(
    error: float, removed: float, distortion: float, strength: float, cross: float = 0.0
) -> float:
    """Mean squared error of the relaxed repair ``x - lambda K x``.

    Parameters
    ----------
    error, removed, distortion, cross : float
        ``|e|^2``, ``|K e|^2``, ``|K u|^2`` and ``<K e, K u>``.
    strength : float
        ``lambda``.

    Returns
    -------
    float

    Examples
    --------
    >>> relaxed_error(4.0, 3.0, 1.0, 0.75)
    1.75
    """
    _check(error=error, removed=removed, distortion=distortion)
    _check_finite(strength=strength, cross=cross)
    linear = removed + cross
    return error - 2.0 * strength * linear + strength**2 * (linear + distortion + cross)


def strongest_gain(removed: float, distortion: float, cross: float = 0.0) -> float:
    """How much the best strength lowers the mean squared error; never negative.

    Examples
    --------
    >>> strongest_gain(3.0, 1.0)
    2.25
    """
    return (removed + cross) * optimal_strength(removed, distortion, cross)


def predict_post_hoc(
    error: float, removed: float, distortion: float = 0.0, *, name: str = "post hoc error"
) -> Prediction:
    """The mean squared error after an orthogonal projection, as a prediction.

    Parameters
    ----------
    error, removed, distortion : float
        ``|e|^2``, ``|K e|^2`` and ``|K u|^2``.
    name : str
        Of the measurement.

    Returns
    -------
    Prediction
        Of kind "equals" within 1e-6: an identity, up to rounding of the sums.

    Examples
    --------
    >>> predict_post_hoc(1.0, 0.75).value
    0.25
    """
    return Prediction(
        name=name,
        value=post_hoc_error(error, removed, distortion),
        kind="equals",
        rtol=1e-6,
        formula=ERROR - REMOVED + DISTORTION,
        source="Pythagoras' theorem for orthogonal projections",
    )


def drift(bias: float, gain: float, steps: int) -> float:
    """Size of an error component after some steps of ``d <- gain d + bias`` from zero.

    ``bias (gain^n - 1)/(gain - 1)``, which is ``n bias`` at gain 1: a forecaster of increments
    keeps the part of its error that breaks the rule, and it grows linearly.

    Examples
    --------
    >>> drift(0.5, 1.0, 4), drift(1.0, 0.5, 3)
    (2.0, 1.75)
    """
    _check_finite(bias=bias, gain=gain)
    _check_steps(steps)
    if gain == 1.0:
        return bias * steps
    if gain > 0.0 and abs(gain - 1.0) < 0.5:
        return bias * math.expm1(steps * math.log(gain)) / (gain - 1.0)
    return bias * (gain**steps - 1.0) / (gain - 1.0)


@dataclass(frozen=True, kw_only=True)
class LinearRollout:
    """Error of a rollout split into the part that obeys the rule and the part that breaks it.

    To first order in the error a forecaster acts on both parts as a matrix of four blocks, and adds
    a bias in each step: ``s <- ss s + sd d + bias_s`` and ``d <- ds s + dd d + bias_d``, from zero.
    Repaired after the loop, ``d`` is dropped from what is reported. Repaired in the loop, it never
    enters the next step, so that its leak ``sd d`` into the admissible part is gone too. The sign
    of that leak is free: **a repair in the loop can lose against the same repair after it, even an
    exact one.**

    Parameters
    ----------
    ss, sd, ds, dd : float
        Gains: admissible from admissible, admissible from breaking, breaking from admissible,
        breaking from breaking.
    bias_s, bias_d : float
        Bias of one step in both parts.
    distortion : float, default 0
        Admissible part of ``(C - I) u`` that an inexact repair adds in every step.

    Examples
    --------
    >>> flow = LinearRollout(ss=1.0, sd=-0.1, ds=0.0, dd=1.0, bias_s=0.01, bias_d=0.05)
    >>> raw, after, inside = (e(3) for e in (flow.raw, flow.post_hoc, flow.in_loop))
    >>> round(raw, 9), round(after, 9), round(inside, 9)
    (0.022725, 0.000225, 0.0009)
    """

    ss: float
    sd: float
    ds: float
    dd: float
    bias_s: float
    bias_d: float
    distortion: float = 0.0

    def __post_init__(self) -> None:
        _check_finite(**vars(self))

    def components(self, steps: int) -> tuple[float, float]:
        """Admissible and breaking part of the raw error after some steps."""
        _check_steps(steps)
        # The geometric sum of a matrix is a block of one power of an augmented matrix: no
        # division by I - A, which is singular for forecasters of increments.
        augmented = np.array(
            [
                [self.ss, self.sd, self.bias_s],
                [self.ds, self.dd, self.bias_d],
                [0.0, 0.0, 1.0],
            ]
        )
        power = np.linalg.matrix_power(augmented, steps)
        return float(power[0, 2]), float(power[1, 2])

    def raw(self, steps: int) -> float:
        """Squared error without repair."""
        admissible, breaking = self.components(steps)
        return admissible**2 + breaking**2

    def post_hoc(self, steps: int) -> float:
        """Squared error if what is reported is repaired."""
        return (self.components(steps)[0] + (self.distortion if steps else 0.0)) ** 2

    def in_loop(self, steps: int) -> float:
        """Squared error if every step is repaired."""
        return drift(self.bias_s + self.distortion, self.ss, steps) ** 2


def _check(**squares: float) -> None:
    for name, value in squares.items():
        if not (math.isfinite(value) and value >= 0.0):
            raise ValueError(f"{name}={value!r}: a mean square is finite and not negative")


def _check_finite(**numbers: float) -> None:
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise ValueError(f"{name}={value!r}: wanted a finite number")


def _check_steps(steps: int) -> None:
    number = isinstance(steps, int | float) and math.isfinite(steps)
    if isinstance(steps, bool) or not number or int(steps) != steps or steps < 0:
        raise ValueError(f"steps={steps!r}: wanted a whole number, not negative")
