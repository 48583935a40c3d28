"""A bound of the error of a propagated field, without a reference solution.

The field that a generator produces solves the equation with a source that can be computed,
``F = sum exp(i phi)(i r_phi a + r_a + remainder) c``, and starts with a known error, what the
window cuts. An energy estimate turns both into a bound, which splits into what the window cuts
(tail), what training left (eikonal and transport) and what the form of the solution leaves
(parametrix). Derived here; the norms are those of `energy.energy_estimate`. The idea of bounding a
network's error by its residual through a semigroup is B. Hillebrecht and B. Unger, IJCNN (2022).

The integrals are sums over fine grids that are refined until they agree: a bound up to quadrature,
not interval arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sciml.propagators.base import AbstractGenerator
from sciml.propagators.energy import EnergyEstimate, Route, energy_estimate
from sciml.propagators.initial_state import InitialState
from sciml.propagators.oscillatory_integral import fourier_sum
from sciml.propagators.sources import sources
from sciml.propagators.spectrum import Spectrum

__all__ = ["Certificate", "a_priori_bound", "certify", "composed"]

_AGREEMENT = 0.02
_REFINEMENTS = 3
ENOUGH = 0.14
"""Trained share of the floor below which the total error is within 1% of it."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Bounds of the error at several times; arrays of shape (time, sample), in one norm.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times.
    total : ndarray
        Bound of the error. At most the sum of the parts.
    tail : ndarray
        What the window cuts.
    trainable : ndarray
        What is left in the eikonal and transport equations.
    parametrix : ndarray
        What the form of the solution leaves, whatever the training.
    reference : ndarray
        Lower bound of the norm of the exact field; 0 where the bound exceeds the field.
    to_l2 : float
        Factor from this norm to the usual one.
    norm : str
        The norm.
    quadrature_note : str
        How the integrals were taken and how well refined grids agreed.
    """

    times: np.ndarray
    total: np.ndarray
    tail: np.ndarray
    trainable: np.ndarray
    parametrix: np.ndarray
    reference: np.ndarray
    to_l2: float
    norm: str
    quadrature_note: str

    @property
    def relative(self) -> np.ndarray:
        """Bound of the relative error; infinite where the bound exceeds the field."""
        with np.errstate(divide="ignore"):
            return np.where(self.reference > 0.0, self.total / self.reference, np.inf)

    @property
    def l2(self) -> np.ndarray:
        """Bound of the error in the usual norm, ``sqrt(int e^2 dx)``."""
        return self.to_l2 * self.total

    @property
    def trained_enough(self) -> bool:
        """Whether the trained part is at most 0.14 of the tail everywhere: stop training."""
        return bool(np.all(self.trainable <= ENOUGH * self.tail))

    @property
    def advice(self) -> str:
        """What would lower the bound most."""
        last = {n: getattr(self, n)[-1].max() for n in ("tail", "trainable", "parametrix")}
        return {
            "tail": "the window cuts most: more modes",
            "trainable": "the generator leaves most: train longer, or fewer modes",
            "parametrix": "the form of the solution leaves most: amplitude_order=1 or low_modes",
        }[max(last, key=last.__getitem__)]

    def __str__(self) -> str:
        rows = [f"error in the norm {self.norm}, largest over the samples"]
        names = ("total", "tail", "trainable", "parametrix")
        rows.append("    time  relative " + "".join(f"{n:>11}" for n in names))
        for n, t in enumerate(self.times):
            parts = "".join(f"{getattr(self, name)[n].max():11.3g}" for name in names)
            rows.append(f"{t:8.4g} {self.relative[n].max():9.3g} {parts}")
        return "\n".join([*rows, self.quadrature_note, self.advice])

    def plot(self, ax: Any = None) -> Any:
        """Bounds against time, stacked parts and total; returns the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(6, 3.5), layout="constrained").add_subplot()
        worst = int(self.total[-1].argmax())
        parts = [p[:, worst] for p in (self.tail, self.trainable, self.parametrix)]
        ax.stackplot(self.times, *parts, labels=("tail", "trainable", "parametrix"), alpha=0.6)
        ax.plot(self.times, self.total[:, worst], "k-", label="total")
        ax.set(xlabel="time", ylabel=f"error, {self.norm}")
        ax.legend()
        return ax


def certify(
    generator: AbstractGenerator,
    state: InitialState,
    times: np.ndarray,
    *,
    quadrature: int = 41,
    points: int | None = None,
    route: Route = "auto",
) -> Certificate:
    """Bound the error of the fields of a generator.

    Parameters
    ----------
    generator : AbstractGenerator
        Anything that offers phase, amplitude and residuals.
    state : InitialState
        Initial fields.
    times : ndarray, shape (n,)
        Increasing.
    quadrature : int
        Times of the quadrature at first, at least 41.
    points : int, optional
        Points along each axis, at least 8 per mode; that many by default.
    route : {"auto", "plain", "weighted"}
        Norm, see `energy.energy_estimate`.

    Returns
    -------
    Certificate

    Raises
    ------
    UnsupportedEquation
        If no energy estimate is known for the equation.
    """
    times = np.atleast_1d(np.asarray(times, dtype=float))
    fewest = 8 * state.spectrum.n_modes
    points = points or max(fewest, 256 if state.spectrum.dimension == 1 else 48)
    if quadrature < 41 or points < fewest:
        raise ValueError(
            f"quadrature is {quadrature} and points {points}: wanted at least 41 times and 8 "
            f"points per mode, {fewest}"
        )
    run = _Run(generator, state, times, route, quadrature, 2 * points)
    bound, in_time, in_space = run.bounds()
    for level in range(1, _REFINEMENTS + 1):
        if max(in_time, in_space) <= _AGREEMENT:
            break
        points = points if in_space <= _AGREEMENT else 2 * points
        run = _Run(generator, state, times, route, (quadrature - 1) * 2**level + 1, 2 * points)
        bound, in_time, in_space = run.bounds()
    word = "agree" if max(in_time, in_space) <= _AGREEMENT else "DISAGREE"
    note = (
        f"{len(run.clock)} times and {run.points} points: the bound from half of the times and "
        f"from half of the points {word} to {in_time:.1e} and {in_space:.1e}. A sum over a fine "
        "grid, not interval arithmetic."
    )
    return Certificate(**bound, quadrature_note=note)


class _Run:
    """One evaluation on fine grids, of which halves tell how fine they are."""

    def __init__(self, generator, state, times, route, quadrature: int, points: int) -> None:
        self.generator, self.state, self.times, self.points = generator, state, times, points
        coarse = np.unique(np.r_[np.linspace(0.0, times[-1], quadrature), times, 0.0])
        # Times of output stay in the coarse half.
        self.clock = np.sort(np.r_[coarse, 0.5 * (coarse[1:] + coarse[:-1])])
        self.x, self.volume = _quadrature_points(generator, state.spectrum, points)
        self.estimate = energy_estimate(generator, self.x, float(times[-1]), route)

    def bounds(self) -> tuple[dict[str, Any], float, float]:
        """Bound, and its relative change with half of the times and half of the points."""
        clock = torch.as_tensor(self.clock)
        with torch.no_grad():
            found = sources(self.generator, self.state.spectrum, self.state.branches, clock, self.x)
            start = None
            if self.estimate.route == "wave":
                start = _initial_rate_error(self.state, self.x)
        measure = self.estimate.weight * self.volume
        tail = _weighted_tail(self.state.spectrum, self.generator, self.estimate)
        full = self._integrated(found, start, slice(None), slice(None), measure, tail)
        halves = [self._integrated(found, start, slice(None, None, 2), slice(None), measure, tail)]
        if self.state.spectrum.dimension == 1:
            every = slice(None, None, 2)
            halves.append(self._integrated(found, start, slice(None), every, 2 * measure, tail))
        changes = [_change(half["total"], full["total"]) for half in halves]
        size = np.stack([_norm(self.state.value(float(t), self.x), measure) for t in self.times])
        bound = {
            "times": self.times,
            **full,
            "reference": np.maximum(size - full["total"], 0.0),
            "to_l2": self.estimate.largest,
            "norm": self.estimate.name,
        }
        return bound, changes[0], changes[-1] if len(changes) > 1 else 0.0

    def _integrated(self, found, start, when: slice, where: slice, measure, tail):
        clock = self.clock[when]
        parts = {p: v[when, :, where] for p, v in found.items()}
        if start is None:
            trained, rest = parts["eikonal"] + parts["transport"], parts["parametrix"]
        else:
            # The source of a wave is integrated in time at every point before its norm is taken:
            # with E = int_0^t e ds the equation becomes E_tt - c^2 lap E = e_t(0) - int_0^s F,
            # whose energy bounds the norm of E_t = e.
            summed = {p: _running(clock, v) for p, v in parts.items()}
            trained = start[None, :, where] - summed["eikonal"] - summed["transport"]
            rest = -summed["parametrix"]
        rate = self.estimate.rate
        norms = [_norm(v, measure[where]) for v in (trained + rest, trained, rest)]
        both, left, parametrix = (_cumulative(clock, n, rate) for n in norms)
        cut = np.exp(rate * clock)[:, None] * tail
        if start is not None:
            cut = cut + clock[:, None] * self.state.velocity_tail.numpy()
        wanted = np.searchsorted(clock, self.times)
        rows = zip(_NAMES, (cut + both, cut, left, parametrix), strict=True)
        return {name: values[wanted] for name, values in rows}


def _initial_rate_error(state: InitialState, x: torch.Tensor) -> torch.Tensor:
    """Velocity within the window less that of the generator's field at the time 0."""
    own = state.rate(0.0, x)
    if state.velocity is None:
        return -own
    wanted = fourier_sum(state.velocity, state.spectrum.periods, x)
    return (wanted.real if state.spectrum.real else wanted) - own


def _running(clock: np.ndarray, values: torch.Tensor) -> torch.Tensor:
    """Integral in time up to every time, at every point."""
    steps = torch.as_tensor(0.5 * np.diff(clock))[:, None, None]
    parts = torch.cumsum(steps * (values[1:] + values[:-1]), dim=0)
    return torch.cat([torch.zeros_like(values[:1]), parts])


def _change(part: np.ndarray, whole: np.ndarray) -> float:
    return float(np.max(np.abs(part - whole) / np.maximum(whole, 1e-300)))


_NAMES = ("total", "tail", "trainable", "parametrix")


def _quadrature_points(
    generator: AbstractGenerator, spectrum: Spectrum, points: int
) -> tuple[torch.Tensor, float]:
    """Staggered points of the torus, or of where the generator was trained, and their volume."""
    trained = getattr(generator, "collocation", None)
    if generator.periodic:
        box = generator.domain
    elif trained is not None:
        box = trained
    else:
        middle = 0.5 * sum(generator.domain[0])
        box = [(middle - 0.5 * p, middle + 0.5 * p) for p in spectrum.periods]
    axes = [a + (b - a) * (np.arange(points) + 0.5) / points for a, b in box]
    volume = math.prod((b - a) / points for a, b in box)
    if len(axes) == 1:
        return torch.as_tensor(axes[0]), volume
    grids = np.meshgrid(*axes, indexing="ij")
    return torch.as_tensor(np.stack([g.ravel() for g in grids], axis=-1)), volume


def _norm(values: torch.Tensor, measure: torch.Tensor) -> np.ndarray:
    square = (values.abs().square() * measure).sum(-1)
    return torch.sqrt(square).detach().cpu().numpy()


def _cumulative(clock: np.ndarray, rows: np.ndarray, rate: float) -> np.ndarray:
    """Integral of ``exp(rate (t - s)) rows(s)`` up to every time, by the trapezoidal rule."""
    total = np.zeros_like(rows)
    for n, step in enumerate(np.diff(clock)):
        grown = math.exp(rate * step)
        total[n + 1] = grown * total[n] + 0.5 * step * (grown * rows[n] + rows[n + 1])
    return total


def _weighted_tail(
    spectrum: Spectrum,
    generator: AbstractGenerator,
    estimate: EnergyEstimate,
) -> np.ndarray:
    """Tail in the norm of the estimate.

    With a constant weight it is exact. Otherwise what was cut is integrated on a fine staggered
    grid where the field is known in closed form, scaled to the exact unweighted tail, and bounded
    by the largest weight where only its samples are known.
    """
    weight = estimate.weight
    plain = spectrum.tail.numpy()
    bound = plain * math.sqrt(float(weight.max()))
    spread = float(weight.max() / weight.min())
    if spread < 1.0 + 1e-12 or not spectrum.fields or spectrum.dimension > 1:
        return bound
    points = max(16384, 64 * spectrum.n_modes)
    fine, volume = _quadrature_points(generator, spectrum, points)
    finest = energy_estimate(generator, fine, 0.0).weight
    found = []
    for n, field in enumerate(spectrum.fields):
        images = range(-1, 2)
        exact = sum(field.value(fine.numpy() + m * spectrum.periods[0]) for m in images)
        inside = fourier_sum(spectrum.coefficients[n : n + 1], spectrum.periods, fine)[0].real
        cut = torch.as_tensor(exact) - inside
        weighted = _norm(cut, finest * volume)
        scale = plain[n] / max(float(_norm(cut, torch.full_like(fine, volume))), 1e-300)
        found.append(min(bound[n], float(weighted) * max(scale, 1.0)))
    return np.asarray(found)


def a_priori_bound(
    generator: AbstractGenerator, spectrum: Spectrum, t: float, points: int = 2048
) -> np.ndarray:
    """Bound of the trained part at constant speed, from the foot alone: one sup, no sum over x.

    ``t sup|r_X| |(S u0)'| (min X_x)^(-1/2)`` with the residual ``r_X = X_t + c X_x`` of the foot.

    Parameters
    ----------
    generator : AbstractGenerator
        With a foot, one branch and a constant speed in one dimension.
    spectrum : Spectrum
        Initial fields.
    t : float
        Time.
    points : int
        Points along time and position of the suprema: 65 times, and this many positions.

    Returns
    -------
    ndarray, shape (batch,)
    """
    symbols = generator.symbols
    if not (generator.has_foot and symbols.constant and symbols.time_order == 1):
        raise ValueError("a_priori_bound is for transport at a constant speed in one dimension")
    x, _ = _quadrature_points(generator, spectrum, points)
    clock = torch.linspace(0.0, float(t), 65, dtype=torch.float64)[:, None].expand(-1, points)
    here = x.expand(65, -1).contiguous()
    jets = generator.foot_jet(clock.contiguous(), here, 1, ("phi_t", "phi_x"))
    speed = float(symbols.velocity[0])
    largest = float((jets["phi_t"] + speed * jets["phi_x"]).detach().abs().max())
    least = float(jets["phi_x"].detach().min())
    if least <= 0.0:
        raise ValueError(f"X_x falls to {least:.3g}: feet cross, train longer or compare with rays")
    slope = spectrum.energy(1j * spectrum.frequencies[0] * spectrum.coefficients)
    return t * largest * torch.sqrt(slope).numpy() / math.sqrt(least)


def composed(steps: list[Certificate]) -> np.ndarray:
    """Bound after several unitary steps, in the usual norm: the totals of all steps add up.

    Each step's certificate is taken from the field with which it starts, so that its tail is what
    the step before pushed out of the window.

    Parameters
    ----------
    steps : list of Certificate
        One for each step, of the step's final time.

    Returns
    -------
    ndarray, shape (sample,)
    """
    return np.sum([step.l2[-1] for step in steps], axis=0)
