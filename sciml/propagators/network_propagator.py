"""A generator whose feet, phases and amplitudes are networks: derivatives by their own jets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from sciml.propagators.derivatives import letters
from sciml.propagators.phase_propagator import AbstractPhasePropagator

if TYPE_CHECKING:
    from sciml.propagators.residual_loss import Part

__all__ = ["AbstractNetworkPropagator", "branch_key"]

_FARTHEST_SINGLE = 1e4


class AbstractNetworkPropagator(AbstractPhasePropagator):
    """Phase and amplitude from modules that give their derivatives themselves.

    Subclasses fill ``phases``, ``amplitudes`` and ``corrections``, by `branch_key`. A module of
    ``phases`` is a `FootNetwork` where the phase is linear in the frequency, else a `PhaseNetwork`
    or what has its ``jet``; an amplitude that is missing is 1.
    """

    phases: nn.ModuleDict
    amplitudes: nn.ModuleDict
    corrections: nn.ModuleDict
    amplitude_order: int

    @property
    def n_parameters(self) -> int:
        """Number of weights."""
        return sum(p.numel() for p in self.parameters())

    def foot(self, t: torch.Tensor, x: torch.Tensor, branch: int = 1) -> torch.Tensor:
        """Where the ray through ``(t, x)`` started; for phases that are linear in the frequency."""
        if not self.has_foot:
            return super().foot(t, x, branch)
        return self.foot_jet(t, x, branch, ("phi",))["phi"]

    def foot_jet(self, t, x, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.foot_jet`."""
        t, x = self._joined(t, x)
        found = self.phases[branch_key(branch)].jet(t, x, map(letters, names))  # type: ignore[operator]
        one = self.symbols.dimension == 1
        return {n: found[letters(n)][..., 0] if one else found[letters(n)] for n in names}

    def amplitude_terms(
        self, t: torch.Tensor, x: torch.Tensor, branch: int = 1
    ) -> tuple[torch.Tensor, ...]:
        """Leading amplitude, and its correction if ``amplitude_order`` is 1."""
        if not self.has_foot:
            return super().amplitude_terms(t, x, branch)
        return tuple(jet["a"] for jet in self.amplitude_terms_jet(t, x, branch, ("a",)))

    def amplitude_terms_jet(self, t, x, branch: int, names) -> tuple[dict[str, torch.Tensor], ...]:
        """See `AbstractGenerator.amplitude_terms_jet`."""
        terms = range(1 + self.amplitude_order)
        return tuple(self.amplitude_term_jet(j, t, x, branch, names) for j in terms)

    def amplitude_term_jet(self, place: int, t, x, branch: int, names) -> dict[str, torch.Tensor]:
        """One of `amplitude_terms_jet`: 0 for the leading amplitude, 1 for its correction."""
        networks = self.corrections if place == 1 else self.amplitudes
        t, x = self._joined(t, x)
        return self._amplitude_jet(networks, t, x, None, branch, names)

    def network_of(self, part: Part) -> nn.Module:
        """Network that stands for a part of the equations on a branch."""
        networks = {
            "eikonal": self.phases,
            "transport": self.amplitudes,
            "correction": self.corrections,
        }
        return networks[part.name][branch_key(part.branch)]

    def phase(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Phase; in single precision only where it has digits left."""
        if xi.dtype == torch.float32 and x.dtype == torch.float32:
            _check_single(x, xi)
        return self.phase_jet(t, x, xi, branch, ("phi",))["phi"]

    def amplitude(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Amplitude."""
        return self.amplitude_jet(t, x, xi, branch, ("a",))["a"]

    def phase_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.phase_jet`; tangents are propagated by hand."""
        if self.has_foot:
            feet = self.foot_jet(t, x, branch, names)
            if self.symbols.dimension == 1:
                return {n: xi * foot for n, foot in feet.items()}
            return {n: (xi * foot).sum(-1) for n, foot in feet.items()}
        key, sign, (t, x, xi) = self._network_of(branch, *self._joined(t, x, xi))
        found = self.phases[key].jet(t, x, xi, map(letters, names))  # type: ignore[operator]
        return {n: sign * found[letters(n)] for n in names}

    def amplitude_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.amplitude_jet`."""
        if self.has_foot:
            first = self.amplitude_terms_jet(t, x, branch, names)
            lone = xi if self.symbols.dimension == 1 else xi[..., 0]
            if len(first) == 1:
                return {n: value + 0.0 * lone for n, value in first[0].items()}
            return {n: first[0][n] + first[1][n] / (1j * lone) for n in names}
        _, _, (t, x, xi) = self._network_of(branch, *self._joined(t, x, xi))
        return self._amplitude_jet(self.amplitudes, t, x, xi, branch, names)

    def _amplitude_jet(self, networks: nn.ModuleDict, t, x, xi, branch: int, names):
        key = branch_key(branch) if branch_key(branch) in networks else branch_key(1)
        if key not in networks:
            one, zero = torch.ones_like(t), torch.zeros_like(t)
            return {n: one if n == "a" else zero for n in names}
        found = networks[key].jet(t, x, xi, map(letters, names))  # type: ignore[operator]
        return {n: found[letters(n)] for n in names}

    def _network_of(self, branch: int, t, x, xi):
        """Network of a branch, sign of its phase, and its arguments."""
        if self.symbols.dimension > 1 and branch == -1:
            return branch_key(1), -1.0, (t, x, -xi)
        return branch_key(branch), 1.0, (t, x, xi)

    def _joined(self, t, x, xi=None) -> Any:
        """Arguments of one shape, positions and frequencies with a last axis."""
        if self.symbols.dimension == 1:
            x = x[..., None]
            xi = None if xi is None else xi[..., None]
        d = x.shape[-1]
        shape = torch.broadcast_shapes(t.shape, x.shape[:-1])
        if xi is not None:
            shape = torch.broadcast_shapes(shape, xi.shape[:-1])
        found = t.expand(shape), x.expand(*shape, d)
        return found if xi is None else (*found, xi.expand(*shape, d))


def branch_key(branch: int) -> str:
    """Name of a branch in dictionaries of networks."""
    return "rightward" if branch == 1 else "leftward"


def _check_single(x: torch.Tensor, xi: torch.Tensor) -> None:
    largest = float(x.detach().abs().max()) * float(xi.detach().abs().max())
    if largest > _FARTHEST_SINGLE:
        raise ValueError(
            f"x.xi reaches {largest:.3g} in float32, which leaves less than three digits of the "
            "phase: give float64 tensors"
        )
