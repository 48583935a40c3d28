"""A wave speed from measurements: coefficients of ``c(x)`` through differentiable rays.

The rays are steps of the Runge-Kutta method, and the field is a sum over frequencies at their
feet; both are differentiated by torch, and L-BFGS fits the Fourier coefficients of the speed.
Derived here. Start from smooth data: where the data oscillate faster than the first guess is off,
the fit locks on to the wrong cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sciml.propagators.spectrum import spectrum_of

__all__ = ["SpeedEstimate", "WaveSpeedInversion"]


@dataclass(frozen=True)
class SpeedEstimate:
    """A fitted speed.

    Parameters
    ----------
    coefficients : ndarray, shape (2m + 1,)
        Mean, then cosines, then sines of the modes 1 to m.
    start, length : float
        The circle.
    misfit : float
        Root mean square of what is left of the data.
    evaluations : int
        Times the rays were traced.
    """

    coefficients: np.ndarray
    start: float
    length: float
    misfit: float
    evaluations: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Speed at positions."""
        angle = 2.0 * math.pi * (np.asarray(x, dtype=float) - self.start) / self.length
        m = len(self.coefficients) // 2
        k = np.arange(1, m + 1)
        mean, even, odd = np.split(self.coefficients, [1, m + 1])
        waves = angle[..., None] * k
        return mean[0] + np.cos(waves) @ even + np.sin(waves) @ odd

    def error(self, speed: Callable[[np.ndarray], np.ndarray], points: int = 512) -> float:
        """Relative error against a known speed, ``|c - speed|/|speed|`` over the circle."""
        x = self.start + self.length * np.arange(points) / points
        wanted = np.asarray(speed(x)) + 0.0 * x
        return float(np.linalg.norm(self(x) - wanted) / np.linalg.norm(wanted))

    def __str__(self) -> str:
        waves = len(self.coefficients) // 2
        return (
            f"speed of mean {self.coefficients[0]:.4f} with {waves} modes, misfit "
            f"{self.misfit:.3g} after {self.evaluations} evaluations"
        )

    def plot(self, ax: Any = None) -> Any:
        """Speed over the circle; returns the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(5, 3), layout="constrained").add_subplot()
        x = self.start + self.length * np.linspace(0.0, 1.0, 257)
        ax.plot(x, self(x))
        ax.set(xlabel="x", ylabel="speed")
        return ax


@dataclass(frozen=True, kw_only=True)
class WaveSpeedInversion:
    """Fit the speed of ``u_t + c(x) u_x = 0`` or of ``u_tt = c(x)^2 u_xx`` on a circle.

    Parameters
    ----------
    domain : (start, stop)
        The circle.
    n_speed_modes : int, default 4
        Modes of the speed, whose ``2 n + 1`` coefficients are fitted.
    n_modes : int, default 24
        Window of the field.
    wave : bool, default False
        Fit the wave equation, started at rest, instead of advection.
    n_steps : int, default 24
        Runge-Kutta steps of the rays.
    penalty : float, default 1e-6
        Weight of ``sum k^4 |c_k|^2`` beside the mean square misfit: how smooth the speed must be.

    Examples
    --------
    >>> from sciml.propagators import Gaussian
    >>> fit = WaveSpeedInversion(domain=(0.0, 2 * np.pi), n_speed_modes=0, n_modes=12, n_steps=4)
    >>> u0, x, t = Gaussian(3.0, 0.5), np.linspace(0.0, 6.0, 12), np.array([0.5])
    >>> data = u0.value(x - 0.5 * 1.3)[None]
    >>> round(float(fit(u0, t, x, data, guess=1.1).coefficients[0]), 3)
    1.3
    """

    domain: tuple[float, float]
    n_speed_modes: int = 4
    n_modes: int = 24
    wave: bool = False
    n_steps: int = 24
    penalty: float = 1e-6

    def __call__(
        self,
        u0: Any,
        times: Sequence[float] | np.ndarray,
        x: Sequence[float] | np.ndarray,
        data: np.ndarray,
        *,
        guess: float,
        iterations: int = 60,
        callback: Callable[[int, float], None] | None = None,
    ) -> SpeedEstimate:
        """Fit.

        Parameters
        ----------
        u0 : field
            Initial field, see `spectrum.spectrum_of`.
        times : array_like, shape (n,)
            Times of measurement, positive.
        x : array_like, shape (m,)
            Positions.
        data : ndarray, shape (n, m)
            Measured fields.
        guess : float
            Constant speed to start from, positive.
        iterations : int
            Iterations of L-BFGS at most.
        callback : callable, optional
            Called with the evaluation and the objective.

        Returns
        -------
        SpeedEstimate
        """
        clock, places, wanted = self._checked(times, x, data, guess)
        spectrum = spectrum_of(u0, domain=[self.domain], n_modes=self.n_modes)
        unknown = torch.zeros(2 * self.n_speed_modes + 1, dtype=torch.float64)
        unknown[0] = guess
        unknown.requires_grad_(True)
        k = torch.arange(1, self.n_speed_modes + 1).to(torch.float64) ** 4
        weights = torch.cat([torch.zeros(1, dtype=torch.float64), k, k])
        optimizer = torch.optim.LBFGS(
            [unknown],
            max_iter=iterations,
            tolerance_grad=1e-12,
            tolerance_change=1e-14,
            history_size=20,
            line_search_fn="strong_wolfe",
        )
        evaluations = 0

        def objective() -> torch.Tensor:
            nonlocal evaluations
            optimizer.zero_grad()
            left = self.simulated(unknown, spectrum, clock, places) - wanted
            loss = left.square().mean() + self.penalty * (weights * unknown.square()).sum()
            loss.backward()
            evaluations += 1
            if callback is not None:
                callback(evaluations, float(loss.detach()))
            return loss

        optimizer.step(objective)
        with torch.no_grad():
            left = self.simulated(unknown, spectrum, clock, places) - wanted
        return SpeedEstimate(
            coefficients=unknown.detach().numpy().copy(),
            start=self.domain[0],
            length=self.domain[1] - self.domain[0],
            misfit=float(left.square().mean().sqrt()),
            evaluations=evaluations,
        )

    def simulated(
        self, coefficients: torch.Tensor, spectrum: Any, times: torch.Tensor, x: torch.Tensor
    ) -> torch.Tensor:
        """Fields of a speed at times and positions, shape (n, m); differentiable."""
        branches = (1, -1) if self.wave else (1,)
        (xi,) = spectrum.frequencies
        positive = xi >= 0.0
        c = spectrum.coefficients[0, positive] * torch.where(xi[positive] > 0.0, 2.0, 1.0)
        t, here = torch.broadcast_tensors(times[:, None], x[None])
        total = torch.zeros_like(here)
        for branch in branches:
            foot = self._foot(coefficients, t, here, branch)
            values = (torch.exp(1j * foot[..., None] * xi[positive]) @ c).real
            if self.wave:
                ratio = self._speed(coefficients, here) / self._speed(coefficients, foot)
                values = 0.5 * torch.sqrt(ratio.clamp(min=1e-12)) * values
            total = total + values
        return total

    def _foot(self, coefficients, t, x, branch):
        step = t / self.n_steps
        for _ in range(self.n_steps):
            k1 = self._speed(coefficients, x)
            k2 = self._speed(coefficients, x - 0.5 * branch * step * k1)
            k3 = self._speed(coefficients, x - 0.5 * branch * step * k2)
            k4 = self._speed(coefficients, x - branch * step * k3)
            x = x - branch * step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return x

    def _speed(self, coefficients: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        m = self.n_speed_modes
        angle = 2.0 * math.pi / (self.domain[1] - self.domain[0]) * (x - self.domain[0])
        waves = angle[..., None] * torch.arange(1, m + 1).to(torch.float64)
        even, odd = coefficients[1 : m + 1], coefficients[m + 1 :]
        return coefficients[0] + torch.cos(waves) @ even + torch.sin(waves) @ odd

    def _checked(self, times, x, data, guess):
        times, x, wanted = (
            torch.as_tensor(np.atleast_1d(np.asarray(v, dtype=float))) for v in (times, x, data)
        )
        if wanted.shape != (len(times), len(x)):
            raise ValueError(
                f"data has shape {tuple(wanted.shape)}: wanted (times, positions) = "
                f"({len(times)}, {len(x)})"
            )
        for name, values in (("times", times), ("x", x), ("data", wanted)):
            if not bool(torch.isfinite(values).all()):
                raise ValueError(f"{name} holds NaN or infinity: leave such measurements out")
        if not bool((times > 0.0).all()):
            raise ValueError(f"times start at {float(times.min())}: wanted positive times")
        if not (math.isfinite(guess) and guess > 0.0):
            raise ValueError(f"guess is {guess}: wanted a positive speed to start from")
        unknowns = 2 * self.n_speed_modes + 1
        if wanted.numel() < unknowns:
            raise ValueError(
                f"data has {wanted.numel()} values for {unknowns} unknowns: give more, or a "
                "smaller n_speed_modes"
            )
        return times, x, wanted
