"""Predictions about windows and phases: the closed forms as statements to hold against a run."""

from __future__ import annotations

import math

import sympy
from numpy.typing import ArrayLike

from sciml.theory.fourier_tail import (
    GIBBS_OVERSHOOT,
    asymptotic_tail,
    disc_tail,
    gaussian_tail,
    line_tail,
    periodic_tail,
)
from sciml.theory.prediction import Prediction
from sciml.theory.wave_phase import multiplier_bound, shift_error

__all__ = [
    "predict_asymptotic_tail",
    "predict_disc_tail",
    "predict_gaussian_tail",
    "predict_multiplier_error",
    "predict_overshoot",
    "predict_shift_error",
    "predict_tail",
]

_JUMP, _CUTOFF, _SHIFT, _RADIUS, _WIDTH = sympy.symbols("J Xi del R s", positive=True)
_GAIN = sympy.Si(_CUTOFF * _SHIFT) - (1 - sympy.cos(_CUTOFF * _SHIFT)) / (_CUTOFF * _SHIFT)


def predict_tail(
    positions: ArrayLike,
    jumps: ArrayLike,
    *,
    norm: float = 1.0,
    length: float | None = None,
    n_modes: int | None = None,
    cutoff: float | None = None,
    rtol: float = 1e-6,
    name: str = "floor",
) -> Prediction:
    """Predict the tail of a piecewise polynomial field, exactly.

    Parameters
    ----------
    positions, jumps
        See `sciml.theory.fourier_tail.periodic_tail`.
    norm : float
        Norm of the field, to predict the relative tail.
    length, n_modes
        Period and highest mode, on a circle; or
    cutoff
        highest frequency, on the line.
    rtol : float
        Relative slack.
    name : str
        Name of the prediction.

    Examples
    --------
    >>> predict_tail([0.0, 1.0], [1.0, -1.0], cutoff=30.0).statement
    '0.1432 +- 1.4e-07'
    """
    if (cutoff is None) == (length is None or n_modes is None):
        raise ValueError("give either cutoff, or length and n_modes")
    if cutoff is not None:
        tail = line_tail(positions, jumps, cutoff=cutoff)
    else:
        assert length is not None
        assert n_modes is not None
        tail = periodic_tail(positions, jumps, length=length, n_modes=n_modes)
    return Prediction(
        name=name,
        value=tail / norm,
        kind="equals",
        rtol=rtol,
        source="Parseval's identity over the frequencies that the window cuts, derived here",
    )


def predict_asymptotic_tail(
    jumps: ArrayLike,
    cutoff: float,
    *,
    derivative: int = 0,
    norm: float = 1.0,
    rtol: float = 0.04,
    name: str = "floor",
) -> Prediction:
    """Predict the tail of jumps that do not interfere.

    Parameters
    ----------
    jumps, cutoff, derivative
        See `sciml.theory.fourier_tail.asymptotic_tail`.
    norm, rtol, name
        See `predict_tail`; neighboring jumps interfere by about 1/(distance * cutoff).

    Examples
    --------
    >>> predict_asymptotic_tail([1.0, -1.0], 30.0).statement
    '0.1457 +- 0.0058'
    """
    power = 2 * derivative + 1
    return Prediction(
        name=name,
        value=asymptotic_tail(jumps, cutoff, derivative=derivative) / norm,
        kind="equals",
        rtol=rtol,
        formula=sympy.sqrt(_JUMP**2 / (power * sympy.pi * _CUTOFF**power)),
        source="jumps far from each other, derived here",
    )


def predict_gaussian_tail(
    width: float, cutoff: float, *, rtol: float = 1e-6, name: str = "floor"
) -> Prediction:
    """Predict the relative tail of a Gaussian on the line.

    Examples
    --------
    >>> predict_gaussian_tail(0.1, 30.0).statement
    '0.0047 +- 4.7e-09'
    """
    return Prediction(
        name=name,
        value=gaussian_tail(width, cutoff),
        kind="equals",
        rtol=rtol,
        formula=sympy.sqrt(sympy.erfc(_WIDTH * _CUTOFF)),
        source="Gaussian integral",
    )


def predict_disc_tail(
    radius: float, cutoff: float, *, rtol: float = 1e-6, name: str = "floor"
) -> Prediction:
    """Predict the relative tail of a disc in the plane.

    Examples
    --------
    >>> predict_disc_tail(1.0, 30.5).statement
    '0.1448 +- 1.4e-07'
    """
    z = _RADIUS * _CUTOFF
    return Prediction(
        name=name,
        value=disc_tail(radius, cutoff),
        kind="equals",
        rtol=rtol,
        formula=sympy.sqrt(sympy.besselj(0, z) ** 2 + sympy.besselj(1, z) ** 2),
        source="integral of J1(R xi)^2/xi beyond the cutoff",
    )


def predict_overshoot(
    jump: float = 1.0, *, atol: float = 0.002, name: str = "overshoot"
) -> Prediction:
    """Predict the overshoot beside a jump: the same for every window and every time.

    Examples
    --------
    >>> predict_overshoot().statement
    '0.08949 +- 0.002'
    """
    return Prediction(
        name=name,
        value=abs(jump) * GIBBS_OVERSHOOT,
        kind="equals",
        atol=atol,
        formula=_JUMP * (sympy.Si(sympy.pi) / sympy.pi - sympy.Rational(1, 2)),
        source="Gibbs, Nature 59, 606 (1899)",
    )


def predict_shift_error(
    jumps: ArrayLike,
    cutoff: float,
    shift: float,
    *,
    norm: float = 1.0,
    rtol: float = 0.05,
    name: str = "total error",
) -> Prediction:
    """Predict the error of jumps that are cut at a frequency and end up a distance off.

    Examples
    --------
    >>> predict_shift_error([1.0, -1.0], 300.0, 1e-3, rtol=0.005).statement
    '0.04809 +- 0.00024'
    """
    return Prediction(
        name=name,
        value=shift_error(jumps, cutoff, shift) / norm,
        kind="equals",
        rtol=rtol,
        formula=sympy.sqrt(_JUMP**2 / sympy.pi * (1 / _CUTOFF + 2 * _SHIFT * _GAIN)),
        source="shift law, derived here",
    )


def predict_multiplier_error(
    phase_error: ArrayLike,
    amplitude_error: ArrayLike = 0.0,
    *,
    tail: float = 0.0,
    name: str = "relative error",
) -> Prediction:
    """Predict a bound of the relative error of a multiplier, tail included.

    Parameters
    ----------
    phase_error, amplitude_error : array_like
        Errors at every frequency of the window.
    tail : float
        Relative tail.

    Examples
    --------
    >>> predict_multiplier_error([0.03], tail=0.04).statement
    '<= 0.05'
    """
    bound = multiplier_bound(phase_error, amplitude_error)
    return Prediction(
        name=name,
        value=math.hypot(tail, bound),
        kind="at_most",
        source="orthogonality of the modes: holds for multipliers only, derived here",
    )
