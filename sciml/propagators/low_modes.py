"""The lowest modes of a field, moved by a spectral solver instead of rays.

The error of the leading amplitude falls with the frequency, so that it sits in the lowest modes.
A solver moves these exactly and cheaply, because they are smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch

from pdes.grid import Grid
from pdes.problem import Problem
from pdes.simulate import simulate
from sciml.propagators.base import AbstractGenerator
from sciml.propagators.oscillatory_integral import fourier_sum
from sciml.propagators.spectrum import Spectrum

__all__ = ["LowModes", "solve_low_modes"]

_POINTS = 128
_STEPS_PER_UNIT = 400


@dataclass(frozen=True)
class LowModes:
    """Solves the equation for the low modes up to any time, by `pdes.simulate`.

    Parameters
    ----------
    generator : AbstractGenerator
        Whose equation and domain.
    field, velocity : ndarray, shape (batch, n)
        Initial values on a uniform grid.
    """

    generator: AbstractGenerator
    field: np.ndarray
    velocity: np.ndarray | None

    def value(self, t: float, x: torch.Tensor) -> torch.Tensor:
        """Values at a time and points, shape (batch, m)."""
        values = self.field if t == 0.0 else self._solved(t)
        n = values.shape[-1]
        (start, stop), *_ = self.generator.domain
        spectrum = np.fft.fftshift(np.fft.fft(values, axis=-1) / n, axes=-1)[:, 1:]
        # Modes -n/2 + 1 .. n/2 - 1: the Nyquist mode, which a smooth field does not have, goes.
        found = fourier_sum(torch.as_tensor(spectrum), (stop - start,), x - start)
        return found.real

    def _solved(self, t: float) -> np.ndarray:
        equation = self.generator.symbols.equation
        (start, stop), *_ = self.generator.domain
        axis = equation.coordinates[0]
        grid = Grid.periodic(**{axis: (start, stop, self.field.shape[-1])})
        rows = []
        for place, u in enumerate(self.field):
            initial = {equation.fields[0]: u}
            if self.velocity is not None:
                initial = {_moving(equation): u, _velocity_name(equation): self.velocity[place]}
            problem = Problem(
                equation=equation,
                grid=grid,
                initial=initial,
                times=np.array([0.0, t]),
                time_step=t / max(1, math.ceil(_STEPS_PER_UNIT * t)),
                solver="rk4",
            )
            rows.append(simulate(problem)[_moving(equation)].values[-1])
        return np.stack(rows)


def solve_low_modes(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    velocity: torch.Tensor | None,
    low_modes: int,
    until: float,
) -> tuple[LowModes, Spectrum]:
    """Split off the modes ``|k| <= low_modes``.

    Parameters
    ----------
    generator : AbstractGenerator
        On a circle.
    spectrum : Spectrum
        Of the fields.
    velocity : Tensor or None
        Coefficients of the velocity.
    low_modes : int
        Highest mode that the solver moves, at least 0 and below the window.
    until : float
        Longest time; unused but for a check.

    Returns
    -------
    LowModes
    Spectrum
        Of what is left to the rays; tail and norm are those of the whole field.
    """
    if spectrum.dimension != 1 or not generator.periodic or not spectrum.real:
        raise ValueError("low_modes is built for real fields on a circle, in one dimension")
    if int(low_modes) != low_modes or not 0 <= low_modes < spectrum.n_modes:
        raise ValueError(
            f"low_modes is {low_modes}: wanted a whole number from 0 to {spectrum.n_modes - 1}"
        )
    k = torch.arange(-spectrum.n_modes, spectrum.n_modes + 1)
    kept = (k.abs() <= low_modes).to(torch.float64)
    points = max(_POINTS, 16 * (low_modes + 1))
    (start, stop), *_ = generator.domain
    x = torch.as_tensor(np.linspace(start, stop, points, endpoint=False))

    def on_grid(c: torch.Tensor) -> np.ndarray:
        return fourier_sum(c * kept, spectrum.periods, x).real.numpy()

    moving = None
    if generator.symbols.time_order == 2:
        moving = np.zeros((len(spectrum), points)) if velocity is None else on_grid(velocity)
    low = LowModes(generator, on_grid(spectrum.coefficients), moving)
    rest = replace(spectrum, coefficients=spectrum.coefficients * (1.0 - kept))
    return low, rest


def _moving(equation) -> str:
    """Of ``u_t = v, v_t = ...`` the field that is not a velocity."""
    first = equation.fields[0]
    if len(equation.fields) == 1:
        return first
    other = equation.fields[1]
    return first if equation.terms()[first] == {other: 1.0} else other


def _velocity_name(equation) -> str:
    return next(name for name in equation.fields if name != _moving(equation))
