"""Initial fields of a propagator: their coefficients on every branch, and how they move."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from pdes.grid import Axis, Grid
from sciml.propagators.base import AbstractGenerator
from sciml.propagators.branches import MeanMotion, split_branches
from sciml.propagators.fields import AbstractField
from sciml.propagators.low_modes import LowModes, solve_low_modes
from sciml.propagators.oscillatory_integral import (
    check_period,
    reconstruct,
    reconstruct_rate,
    required_period,
)
from sciml.propagators.spectrum import Field, Spectrum, Window, spectrum_of

__all__ = ["InitialState", "prepare"]


@dataclass(frozen=True, kw_only=True)
class InitialState:
    """Initial fields, split and ready.

    Parameters
    ----------
    generator : AbstractGenerator
        What moves them.
    spectrum : Spectrum
        Of the field.
    branches : dict of int to Tensor
        Coefficients of every branch.
    mean : MeanMotion or None
        What the frequency 0 does (second order in time).
    velocity : Tensor or None
        Coefficients ``(batch, 2K + 1)`` of the initial velocity itself, or None at rest.
    velocity_tail : Tensor, shape (batch,)
        What the window cuts of the velocity (over the speed).
    drift : Tensor or None
        Constant velocity that was split off where the speed varies: the field ``drift*t`` solves
        the equation.
    low : LowModes or None
        Modes that a spectral solver moves.
    """

    generator: AbstractGenerator
    spectrum: Spectrum
    branches: dict[int, torch.Tensor]
    mean: MeanMotion | None = None
    velocity: torch.Tensor | None = None
    velocity_tail: torch.Tensor = field(default_factory=lambda: torch.zeros(1, dtype=torch.float64))
    low: LowModes | None = None

    def value(self, t: float, x: torch.Tensor) -> torch.Tensor:
        """Fields at a time and points, shape (batch, m)."""
        total = reconstruct(self.generator, self.spectrum, t, x, branches=self.branches)
        if self.mean is not None:
            mean = self.mean(t)[:, None]
            total = total + (mean.real if self.spectrum.real else mean)
        return total if self.low is None else total + self.low.value(t, x)

    def rate(self, t: float, x: torch.Tensor) -> torch.Tensor:
        """Their derivatives in time."""
        total = reconstruct_rate(self.generator, self.spectrum, t, x, branches=self.branches)
        if self.mean is not None:
            mean = self.mean.rate(t)[:, None]
            total = total + (mean.real if self.spectrum.real else mean)
        if self.low is not None:
            raise NotImplementedError("the rate of low modes moved by a solver is not available")
        return total

    def check(self, t: float, x: torch.Tensor, check: bool = True) -> None:
        """Refuse a period at which images arrive in the domain; see `check_period`."""
        if check:
            check_period(self.generator, self.spectrum, t, x)


def prepare(
    generator: AbstractGenerator,
    u0: Field | Sequence[Field],
    *,
    v0: Field | Sequence[Field] | None = None,
    n_modes: int | None = None,
    period: float | None = None,
    window: Window = "sharp",
    until: float = 0.0,
    low_modes: int | None = None,
    check: bool = True,
) -> InitialState:
    """Coefficients of initial fields on every branch; the arguments are those of `propagate`.

    Parameters
    ----------
    generator : AbstractGenerator
        What will move them; ``n_modes`` is its default window.
    u0, v0
        Initial fields and velocities.
    n_modes, period, window, low_modes, check
        See `AbstractPhasePropagator.propagate`.
    until : float
        Longest time, for which a period on the line is chosen.

    Returns
    -------
    InitialState
    """
    kept = int(n_modes or getattr(generator, "n_modes", 32))
    _check_trained(generator, kept)
    transform = _Transform(generator, kept, period, window, until)
    spectrum = transform(u0, "u0")
    velocity, drift, tail = None, None, torch.zeros(len(spectrum), dtype=torch.float64)
    scaled = None
    if v0 is not None:
        scaled, velocity, drift = _velocity(generator, transform, v0, low_modes)
        tail = scaled.tail
    low = None
    if low_modes is not None:
        low, spectrum = solve_low_modes(generator, spectrum, velocity, low_modes, until)
    branches, mean = split_branches(generator.symbols, spectrum, scaled)
    if mean is not None and drift is not None:
        mean = MeanMotion(mean.value, mean.slope + drift, mean.restoring, mean.damping)
    if low is not None:
        mean = None
    return InitialState(
        generator=generator,
        spectrum=spectrum,
        branches=branches,
        mean=mean,
        velocity=velocity,
        velocity_tail=tail,
        low=low,
    )


@dataclass(frozen=True)
class _Transform:
    """Takes fields to coefficients, with a period on the line that reaches far enough."""

    generator: AbstractGenerator
    n_modes: int
    period: float | None
    window: Window
    until: float

    def __call__(self, fields: Field | Sequence[Field], name: str) -> Spectrum:
        own = self.generator
        lengths = [stop - start for start, stop in own.domain]
        cutoff = 2.0 * math.pi * self.n_modes / max(lengths)
        periods, modes = lengths, self.n_modes
        if not own.periodic:
            period = self.period or self._reach(fields, cutoff, name)
            periods = [period] * len(lengths)
            modes = max(1, math.floor(cutoff * period / (2.0 * math.pi) + 1e-9))
        elif self.period is not None:
            raise ValueError("period is given, but the domain is a torus, which has its own")
        return spectrum_of(
            fields,
            domain=own.domain,
            n_modes=modes,
            periods=periods,
            periodic=own.periodic,
            real=own.symbols.real,
            name=name,
        ).windowed(self.window)

    def _reach(self, fields: Field | Sequence[Field], cutoff: float, name: str) -> float:
        """Period at which no image arrives, at the ends of the time and halfway."""
        own = self.generator
        given = list(fields) if isinstance(fields, list | tuple) else [fields]
        edges = [max(abs(a), abs(b)) for a, b in own.domain]
        radius = max(
            max(map(abs, f.support)) if isinstance(f, AbstractField) else max(edges) for f in given
        )
        period = 2.0 * radius
        if own.symbols.dimension > 1:
            return max(period, 2.0 * max(edges) + radius)
        points = torch.linspace(*own.domain[0], 65, dtype=torch.float64)
        # Three frequencies, the outer ones at the ends of the window.
        probe = Spectrum(
            coefficients=torch.zeros(1, 3, dtype=torch.complex128),
            periods=(2.0 * math.pi / cutoff,),
            real=True,
            tail=torch.zeros(1),
            norm=torch.ones(1),
            radius=radius,
        )
        times = (0.0, 0.5 * self.until, self.until)
        return max(period, *[required_period(own, probe, t, points) for t in times]) * (1 + 1e-9)


def _velocity(generator: Any, transform: _Transform, v0: Any, low_modes: int | None):
    """Spectrum to split, coefficients of the velocity itself, and a drift split off from it."""
    symbols = generator.symbols
    spectrum = transform(v0, "v0")
    if symbols.time_order == 1 or symbols.constant:
        return spectrum, spectrum.coefficients, None
    speed = _speed_function(generator)
    given = list(v0) if isinstance(v0, list | tuple) else [v0]
    axes = _fine_axes(generator, transform.n_modes)
    grid = Grid(axes)
    slowness = 1.0 / speed(*grid.mesh().values())
    scaled, drifts = [], []
    for one, c in zip(_expanded(given), spectrum.coefficients, strict=True):
        values = _on_grid(one, grid, c, spectrum, low_modes)
        drift = (values * slowness).mean() / slowness.mean() if low_modes is None else 0.0
        drifts.append(drift)
        scaled.append((values - drift) * slowness)
    stacked = torch.as_tensor(np.stack(scaled))[:, None]
    return transform(stacked, "v0"), spectrum.coefficients, torch.as_tensor(drifts)


def _expanded(given: list[Any]) -> list[Any]:
    found: list[Any] = []
    for one in given:
        found += list(one[:, 0]) if isinstance(one, torch.Tensor) else [one]
    return found


def _on_grid(one: Any, grid: Grid, c: torch.Tensor, spectrum: Spectrum, low_modes: int | None):
    """Values of a velocity on a fine grid; of samples those of their trigonometric polynomial."""
    values = (
        one(grid, np.random.default_rng(0))["u"]
        if isinstance(one, AbstractField)
        else _synthesized(c, grid)
    )
    if low_modes is not None:
        k = np.abs(np.arange(-spectrum.n_modes, spectrum.n_modes + 1)) <= low_modes
        values = values - _synthesized(c * torch.as_tensor(k), grid)
    return values


def _synthesized(c: torch.Tensor, grid: Grid) -> np.ndarray:
    from sciml.propagators.oscillatory_integral import fourier_sum

    mesh = np.meshgrid(*grid.coordinates().values(), indexing="ij")
    points = torch.as_tensor(np.stack([m.ravel() for m in mesh], axis=-1))
    return fourier_sum(c[None], grid.lengths, points)[0].real.reshape(grid.shape).numpy()


def _fine_axes(generator: AbstractGenerator, n_modes: int) -> tuple[Axis, ...]:
    points = max(4096 if len(generator.domain) == 1 else 128, 16 * n_modes)
    names = generator.symbols.equation.coordinates
    return tuple(Axis(n, a, b, points) for n, (a, b) in zip(names, generator.domain, strict=True))


def _speed_function(generator: AbstractGenerator) -> Callable[..., np.ndarray]:
    symbols = generator.symbols
    if not symbols.homogeneous:
        raise ValueError(
            f"v0 is given for {symbols.equation.name!r}, which disperses in a medium that varies: "
            "the split between its branches is built for wave equations. Use v0=None"
        )
    axes = symbols.equation.coordinates
    program = symbols.compile("hamiltonian", backend="numpy")

    def speed(*coordinates: np.ndarray) -> np.ndarray:
        jets = {f"phi_{n}": np.full_like(coordinates[0], float(i == 0)) for i, n in enumerate(axes)}
        values = dict(zip(axes, coordinates, strict=True)) | {"t": np.zeros(())}
        return np.asarray(program(jets, values)["hamiltonian"])

    return speed


def _check_trained(generator: AbstractGenerator, n_modes: int) -> None:
    limit = generator.largest_frequency
    if limit is None:
        return
    edge = 2.0 * math.pi * n_modes / max(stop - start for start, stop in generator.domain)
    if edge > limit * (1.0 + 1e-9):
        fits = math.floor(limit * max(b - a for a, b in generator.domain) / (2.0 * math.pi))
        raise ValueError(
            f"n_modes is {n_modes}, up to the frequency {edge:.4g}: the phase was trained up to "
            f"{limit:.4g} only. Use at most n_modes={fits}, train with a wider window, or take "
            "the homogeneous parametrization, which holds at all frequencies"
        )
