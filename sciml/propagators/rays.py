"""Phase and amplitude by rays: no training, and for known coefficients the better solver.

`RayPropagator` has the interface and the certificate of a learned propagator. Where the
coefficients are known and the dimension is small it is more accurate and faster; a network earns
its place for families of speeds, in many dimensions and where the rule itself is differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from pdes.equation import Equation
from pdes.grid import Grid
from sciml.propagators.base import Kind, Residuals
from sciml.propagators.derivatives import letters, partial_derivatives
from sciml.propagators.domain import check_domain
from sciml.propagators.exact_multiplier import ExactAmplitude, ExactPhase
from sciml.propagators.phase_propagator import AbstractPhasePropagator
from sciml.propagators.ray_equations import RayEquations
from sciml.propagators.ray_jets import CharacteristicJets
from sciml.propagators.symbols import phase_symbols
from sciml.propagators.wave_series import first_correction

__all__ = ["RayPropagator"]

_NEWTON = 12


class RayPropagator(AbstractPhasePropagator):
    """Phase and amplitude traced along rays with the classical Runge-Kutta method.

    Transport and waves in one dimension follow characteristics back to their feet. With constant
    coefficients the phase is exact. Otherwise rays are traced forward with their tangents, and the
    one that arrives at a point is found by Newton's method, which works until the first caustic;
    ``propagate(..., max_step=...)`` goes past it.

    Parameters
    ----------
    equation : Equation
        Linear, see `phase_symbols`.
    domain : Grid or sequence of (start, stop)
        The box.
    final_time : float
        Longest time of one step.
    n_modes : int, default 32
        Default window.
    periodic : bool, optional
        Whether the box is a torus; a Grid says it itself, else True.
    amplitude_order : {0, 1}
        1 adds the term in ``1/(i xi)`` to the amplitude of a wave in one dimension, which takes
        the error of mode ``k`` from ``1/k`` to ``1/k^2``.
    n_steps : int, default 128
        Runge-Kutta steps from 0 to any time.

    Examples
    --------
    >>> import numpy as np
    >>> from sciml.propagators import Box
    >>> wind = Equation.from_text("u_t = -(1 + 0.5*sin(x))*u_x")
    >>> rays = RayPropagator(wind, [(0.0, 2 * np.pi)], final_time=2.0)
    >>> moved = rays.propagate(Box(2.0, 3.5), [0.0, 2.0])
    >>> moved.u.dims
    ('sample', 'time', 'x')
    """

    def __init__(
        self,
        equation: Equation,
        domain: Grid | Sequence[tuple[float, float]],
        final_time: float,
        n_modes: int = 32,
        *,
        periodic: bool | None = None,
        amplitude_order: int = 0,
        n_steps: int = 128,
    ) -> None:
        super().__init__()
        self.symbols = phase_symbols(equation)
        self.domain, self.periodic = check_domain(domain, periodic, equation)
        self.final_time, self.n_modes = final_time, n_modes
        self.amplitude_order, self.n_steps = amplitude_order, n_steps
        self.check_setting()
        if int(n_steps) != n_steps or n_steps < 1:
            raise ValueError(f"n_steps is {n_steps}: wanted a whole number of at least 1")
        self.kind: Kind = "generic"
        if self.symbols.linear:
            self.kind = "homogeneous"
        elif self.symbols.constant and self.symbols.autonomous:
            self.kind = "multiplier"
        self._rays = RayEquations(self.symbols)
        self._correction = None
        if amplitude_order not in (0, 1):
            raise ValueError(f"amplitude_order is {amplitude_order}: wanted 0 or 1")
        if amplitude_order == 1:
            self._correction = first_correction(self.symbols)

    @cached_property
    def _jets(self) -> CharacteristicJets:
        source = None if self._correction is None else self._correction.expression
        return CharacteristicJets(self.symbols, source)

    # -- transport and waves in one dimension ---------------------------------------------------

    def foot(self, t: torch.Tensor, x: torch.Tensor, branch: int = 1) -> torch.Tensor:
        """Where the characteristic through ``(t, x)`` started."""
        if self.kind != "homogeneous":
            return super().foot(t, x, branch)
        return self._back(t, x, branch)[0]

    def amplitude_terms(
        self, t: torch.Tensor, x: torch.Tensor, branch: int = 1
    ) -> tuple[torch.Tensor, ...]:
        """Amplitude ``exp(-int damping)`` along the characteristic, and its correction."""
        foot, loss, gain = self._back(t, x, branch)
        first = torch.exp(-loss)
        if self._correction is None:
            return (first,)
        return first, first * self._correction.scaled(gain, foot, branch)

    def foot_series_jet(self, t, x, branch: int, phase_names, amplitude_names):
        """Derivatives of the Runge-Kutta map itself: its error shows up in the residuals."""
        words = {letters(n) for n in (*phase_names, *amplitude_names)}
        if CharacteristicJets.knows(self.symbols, words):
            t, x = _common(t, x, 1)
            foot, terms = self._jets.foot_and_terms(t, x, branch, self.n_steps, words)
            series = tuple({n: term[letters(n)] for n in amplitude_names} for term in terms)
            return {n: foot[letters(n)] for n in phase_names}, series

        def both(t, x):
            foot, loss, gain = self._back(t, x, branch)
            first = torch.exp(-loss)
            terms = [foot, first]
            if self._correction is not None:
                terms.append(first * self._correction.scaled(gain, foot, branch))
            return torch.stack(terms)

        axes = self.symbols.equation.coordinates
        found = partial_derivatives(both, t, x, words, axes)
        series = [
            {n: found[letters(n)][j] for n in amplitude_names}
            for j in range(1, 2 + (self._correction is not None))
        ]
        return {n: found[letters(n)][0] for n in phase_names}, tuple(series)

    def _back(self, t: torch.Tensor, x: torch.Tensor, branch: int):
        """Foot, integral of the damping and of the source of the correction."""
        axes = self.symbols.dimension
        t, here = _common(t, x, axes)
        step = t / self.n_steps
        wide = step if axes == 1 else step[..., None]
        loss = torch.zeros_like(t)
        gain = torch.zeros_like(t)
        for n in range(self.n_steps):
            clock = t - n * step
            here, grown, fed = self._step_back(clock, here, step, wide, branch)
            loss, gain = loss + grown, gain + fed
        return here, loss, gain

    def _step_back(self, clock, here, step, wide, branch):
        """One Runge-Kutta step back in time; the integrals are Simpson's rule with its stages."""
        rate = self._rays.transport
        k1, d1, g1 = rate(clock, here, branch, self._correction)
        k2, d2, g2 = rate(clock - 0.5 * step, here - 0.5 * wide * k1, branch, self._correction)
        k3, d3, g3 = rate(clock - 0.5 * step, here - 0.5 * wide * k2, branch, self._correction)
        k4, d4, g4 = rate(clock - step, here - wide * k3, branch, self._correction)
        return (
            here - wide / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4),
            step / 6.0 * (d1 + 2.0 * d2 + 2.0 * d3 + d4),
            step / 6.0 * (g1 + 2.0 * g2 + 2.0 * g3 + g4),
        )

    # -- any phase ------------------------------------------------------------------------------

    def phase(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Phase; NaN where no ray was found, which `propagate` reports as a caustic."""
        if self.kind == "homogeneous":
            return super().phase(t, x, xi, branch)
        if self.kind == "multiplier":
            values = self._rays.constants(xi, branch)
            product = x * xi if self.symbols.dimension == 1 else (x * xi).sum(-1)
            return product - t * values["hamiltonian"]
        return self._arrived(t, x, xi, branch).phase

    def amplitude(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Amplitude, by the transport equation along the ray."""
        if self.kind == "homogeneous":
            return super().amplitude(t, x, xi, branch)
        if self.kind == "multiplier":
            loss = t * self._rays.constants(xi, branch)["damping"]
            first = x if self.symbols.dimension == 1 else x[..., 0]
            return torch.exp(-loss) + 0.0 * first
        return torch.exp(-self._arrived(t, x, xi, branch).loss)

    def phase_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.phase_jet`; of multipliers in closed form."""
        if self.kind != "multiplier":
            return super().phase_jet(t, x, xi, branch, names)
        return self._multiplier_jet(ExactPhase(self._rays, branch), t, x, xi, names)

    def amplitude_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.amplitude_jet`; of multipliers in closed form."""
        if self.kind != "multiplier":
            return super().amplitude_jet(t, x, xi, branch, names)
        return self._multiplier_jet(ExactAmplitude(self._rays, branch), t, x, xi, names)

    def _multiplier_jet(self, exact, t, x, xi, names) -> dict[str, torch.Tensor]:
        t, x, xi = _common3(t, x, xi, self.symbols.dimension)
        if self.symbols.dimension == 1:
            x, xi = x[..., None], xi[..., None]
        found = exact.jet(t, x, xi, [letters(name) for name in names])
        return {name: found[letters(name)] for name in names}

    def residuals(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> Residuals:
        """See `AbstractGenerator.residuals`; not for phases that are found by Newton's method."""
        if self.kind == "generic":
            raise NotImplementedError(
                f"{type(self).__name__} finds the rays of {self.symbols.equation.name!r} by "
                "Newton's method and has no residuals, hence no certificate: take a closed form "
                "or a learned generator, or compare with a finer n_steps"
            )
        return super().residuals(t, x, xi, branch)

    def trace(self, t: torch.Tensor, y: torch.Tensor, xi: torch.Tensor, branch: int = 1):
        """Ray that starts at ``y`` with the frequency ``xi``; see `ray_equations.Ray`.

        Its phase needs no inversion: a check for any generator, ``phi(t, x(t; y), xi)`` against
        ``ray.phase``.
        """
        t, y, xi = _common3(t, y, xi, self.symbols.dimension)
        return self._rays.trace(t, y, xi, branch, self.n_steps)

    def _arrived(self, t, x, xi, branch):
        """Ray that arrives at ``x``, by Newton's method for its start."""
        t, x, xi = _common3(t, x, xi, self.symbols.dimension)
        coarse = max(8, self.n_steps // 8)
        y = self._rays.trace(-t, x, xi, branch, coarse).position
        for _ in range(_NEWTON):
            ray = self._rays.trace(t, y, xi, branch, coarse)
            change = ray.solve(ray.position - x)
            y = y - change
            if float(change.detach().abs().max()) < 1e-6:
                break
        for _ in range(2):
            ray = self._rays.trace(t, y, xi, branch, self.n_steps)
            y = y - ray.solve(ray.position - x)
        ray = self._rays.trace(t, y, xi, branch, self.n_steps)
        miss = (ray.position - x).abs()
        miss = miss if self.symbols.dimension == 1 else miss.amax(-1)
        found = (miss < 1e-9) & (ray.determinant > 0.0)
        return ray.where(found)


def _common(t: torch.Tensor, x: torch.Tensor, dimension: int):
    """Times and positions of one shape; positions keep their last axis in several dimensions."""
    if dimension == 1:
        t, x = torch.broadcast_tensors(t, x)
        return t, x
    shape = torch.broadcast_shapes(t.shape, x.shape[:-1])
    return t.expand(shape), x.expand(*shape, dimension)


def _common3(t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, dimension: int):
    if dimension == 1:
        t, x, xi = torch.broadcast_tensors(t, x, xi)
        return t, x, xi
    shape = torch.broadcast_shapes(t.shape, x.shape[:-1], xi.shape[:-1])
    return t.expand(shape), x.expand(*shape, dimension), xi.expand(*shape, dimension)
