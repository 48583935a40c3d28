"""Ordinary differential equations of rays, compiled from the symbol of an equation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch

from sciml.propagators.base import coordinate_values
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["Ray", "RayEquations"]


@dataclass(frozen=True)
class Ray:
    """End of a ray, with the tangents of the family that shares its frequency.

    Parameters
    ----------
    position, momentum : Tensor
        ``x`` and the gradient of the phase; with a last axis in several dimensions.
    phase, loss : Tensor
        Phase, and integral of the damping: the amplitude is ``exp(-loss)``.
    spread, bend : Tensor, shape (..., d, d)
        Derivatives of position and momentum by the start.
    """

    position: torch.Tensor
    momentum: torch.Tensor
    phase: torch.Tensor
    loss: torch.Tensor
    spread: torch.Tensor
    bend: torch.Tensor

    @property
    def determinant(self) -> torch.Tensor:
        """``det dx/dy``: positive until the first caustic, ``1/det(phi_x,xi)``."""
        return torch.linalg.det(self.spread)

    def solve(self, miss: torch.Tensor) -> torch.Tensor:
        """Change of the start that moves the end by `miss`."""
        if miss.ndim == self.spread.ndim - 2:
            return miss / self.spread[..., 0, 0]
        return torch.linalg.solve(self.spread, miss[..., None])[..., 0]

    def where(self, found: torch.Tensor) -> Ray:
        """NaN in phase and loss where no ray was found."""
        nan = torch.full_like(self.phase, torch.nan)
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["phase"] = torch.where(found, self.phase, nan)
        values["loss"] = torch.where(found, self.loss, nan)
        return Ray(**values)


class RayEquations:
    """Right-hand sides of the ray equations of one equation.

    Parameters
    ----------
    symbols : PhaseSymbols
        Of the equation.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> rays = RayEquations(phase_symbols(Equation.from_text("h_t = I/2*h_xx - I/2*x^2*h")))
    >>> t, y, xi = (torch.tensor(v, dtype=torch.float64) for v in (0.5, 1.0, 0.0))
    >>> round(rays.trace(t, y, xi, 1, 32).position.item(), 6)         # cos(1/2)
    0.877583
    """

    def __init__(self, symbols: PhaseSymbols) -> None:
        self.symbols = symbols
        axes = symbols.equation.coordinates
        self._velocity = [f"velocity_{c}" for c in axes]
        self._force = [f"force_{c}" for c in axes]
        self._transport = symbols.compile(*self._velocity, "damping")
        self._motion = symbols.compile(*self._velocity, *self._force)
        self._rest = symbols.compile("hamiltonian", "damping")

    def transport(self, t: torch.Tensor, x: torch.Tensor, branch: int, correction: Any = None):
        """Velocity, damping and source of the correction where the phase is linear."""
        jets = self._first_jets(torch.ones_like(x))
        values = self._call(self._transport, jets, t, x, branch)
        speed = self._vector(values, self._velocity)
        gain = torch.zeros_like(t) if correction is None else correction.source(x)
        return speed, values["damping"], gain

    def constants(self, xi: torch.Tensor, branch: int) -> dict[str, torch.Tensor]:
        """Signed frequency and damping where nothing depends on position."""
        jets = self._first_jets(xi)
        shape = xi.shape if self.symbols.dimension == 1 else xi.shape[:-1]
        zero = torch.zeros(shape, dtype=xi.dtype, device=xi.device)
        jets |= {n: zero for n in self.symbols.phase_jets if n not in jets}
        values = self._call(self._rest, jets, zero, torch.zeros_like(xi), branch)
        sign = branch if self.symbols.time_order == 2 else 1
        return {"hamiltonian": sign * values["hamiltonian"], "damping": values["damping"]}

    def trace(
        self, t: torch.Tensor, y: torch.Tensor, xi: torch.Tensor, branch: int, n_steps: int
    ) -> Ray:
        """Trace rays from the time 0 to ``t``, which may be negative.

        Parameters
        ----------
        t, y, xi : Tensor
            Of one shape; ``y`` and ``xi`` with a last axis in several dimensions.
        branch : int
            Branch.
        n_steps : int
            Runge-Kutta steps.

        Returns
        -------
        Ray
        """
        d = self.symbols.dimension
        start = (y if d > 1 else y[..., None]).clone()
        momentum = (xi if d > 1 else xi[..., None]).clone()
        unit = torch.eye(d, dtype=y.dtype, device=y.device).expand(*t.shape, d, d).clone()
        product = (start * momentum).sum(-1)
        state = (
            start,
            xi if d > 1 else xi[..., None],
            product,
            torch.zeros_like(t),
            unit,
            0 * unit,
        )
        step = t / n_steps
        for n in range(n_steps):
            state = self._runge_kutta(n * step, state, step, branch)
        x, p, phase, loss, spread, bend = state
        if d == 1:
            x, p = x[..., 0], p[..., 0]
        return Ray(x, p, phase, loss, spread, bend)

    def _runge_kutta(self, clock, state, step, branch):
        def moved(rates, share):
            return tuple(
                s + share * step.reshape((*step.shape, *([1] * (r.ndim - step.ndim)))) * r
                for s, r in zip(state, rates, strict=True)
            )

        k1 = self._rates(clock, state, branch)
        k2 = self._rates(clock + 0.5 * step, moved(k1, 0.5), branch)
        k3 = self._rates(clock + 0.5 * step, moved(k2, 0.5), branch)
        k4 = self._rates(clock + step, moved(k3, 1.0), branch)
        mean = [(a + 2 * b + 2 * c + e) / 6 for a, b, c, e in zip(k1, k2, k3, k4, strict=True)]
        return moved(mean, 1.0)

    def _rates(self, t, state, branch):
        x, p, _, _, spread, bend = state
        # Forward tangents need memory of their own.
        x, p = x.contiguous(), p.contiguous()

        def motion(x, p):
            values = self._call(
                self._motion, self._first_jets(self._bare(p)), t, self._bare(x), branch
            )
            return tuple(
                torch.stack([values[n] for n in names], dim=-1)
                for names in (self._velocity, self._force)
            )

        columns: list[Any] = []
        speed: Any = None
        force: Any = None
        for i in range(x.shape[-1]):
            tangents = (spread[..., i].contiguous(), bend[..., i].contiguous())
            moved: Any = torch.func.jvp(motion, (x, p), tangents)
            (speed, force), column = moved
            columns.append(column)
        spread_rate = torch.stack([c[0] for c in columns], dim=-1)
        bend_rate = torch.stack([c[1] for c in columns], dim=-1)
        values = self._along(t, x, p, spread, bend, branch)
        sign = branch if self.symbols.time_order == 2 else 1
        phase_rate = (p * speed).sum(-1) - sign * values["hamiltonian"]
        return speed, force, phase_rate, values["damping"], spread_rate, bend_rate

    def _along(self, t, x, p, spread, bend, branch):
        """Hamiltonian and damping; second derivatives of the phase are ``bend spread^-1``."""
        axes = self.symbols.equation.coordinates
        second = torch.linalg.solve(spread, bend, left=False)
        jets = self._first_jets(self._bare(p))
        for i, a in enumerate(axes):
            jets |= {f"phi_{a}{b}": second[..., i, j] for j, b in enumerate(axes) if j >= i}
        return self._call(self._rest, jets, t, self._bare(x), branch)

    def _first_jets(self, p: torch.Tensor) -> dict[str, torch.Tensor]:
        axes = self.symbols.equation.coordinates
        if len(axes) == 1:
            return {f"phi_{axes[0]}": p}
        return {f"phi_{c}": p[..., i] for i, c in enumerate(axes)}

    def _bare(self, vector: torch.Tensor) -> torch.Tensor:
        return vector if self.symbols.dimension > 1 else vector[..., 0]

    def _vector(self, values: dict[str, torch.Tensor], names: list[str]) -> torch.Tensor:
        if len(names) == 1:
            return values[names[0]]
        return torch.stack([values[n] for n in names], dim=-1)

    def _call(self, program, jets, t, x, branch) -> dict[str, torch.Tensor]:
        found = program(jets, coordinate_values(self.symbols, t, x), branch=float(branch))
        shape = torch.broadcast_shapes(t.shape, next(iter(jets.values())).shape)
        return {name: value.expand(shape) for name, value in found.items()}
