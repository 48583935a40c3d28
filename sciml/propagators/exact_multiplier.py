"""Phase and amplitude of constant coefficients: the symbol itself, which needs no training."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from sciml.propagators.gated_mlp import Jet, closed_words
from sciml.propagators.ray_equations import RayEquations

__all__ = ["ExactAmplitude", "ExactPhase"]


class ExactPhase(nn.Module):
    """``phi = x.xi - t p(xi)`` on one branch.

    Parameters
    ----------
    rays : RayEquations
        Of an equation whose coefficients are constant.
    branch : int
        +1 or -1.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> airy = phase_symbols(Equation.from_text("u_t = -u_xxx"))
    >>> t, x, xi = torch.tensor([[0.5], [1.0], [2.0]]).unbind()
    >>> found = ExactPhase(RayEquations(airy), 1).jet(t, x[:, None], xi[:, None], ["t", "x"])
    >>> found[""].item(), found["t"].item(), found["x"].item()       # x xi + t xi^3
    (6.0, 8.0, 2.0)
    """

    def __init__(self, rays: RayEquations, branch: int) -> None:
        super().__init__()
        self._rays, self.branch = rays, branch

    def jet(self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, words: Iterable[str]) -> Jet:
        """Derivatives of the phase, shape (...); positions and frequencies (..., d)."""
        axes = self._rays.symbols.equation.coordinates
        frequency = self._rays.constants(_bare(xi), self.branch)["hamiltonian"]
        known = {"": (x * xi).sum(-1) - t * frequency, "t": -frequency + 0.0 * t}
        known |= {axis: xi[..., place] for place, axis in enumerate(axes)}
        return {word: known.get(word, torch.zeros_like(t)) for word in closed_words(words)}


class ExactAmplitude(nn.Module):
    """``a = exp(-t d(xi))`` with the damping ``d`` on one branch; see `ExactPhase`."""

    def __init__(self, rays: RayEquations, branch: int) -> None:
        super().__init__()
        self._rays, self.branch = rays, branch

    def jet(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor | None, words: Iterable[str]
    ) -> Jet:
        """Derivatives of the amplitude, shape (...)."""
        if xi is None:
            raise ValueError("xi is None: the damping of a multiplier depends on the frequency")
        damping = self._rays.constants(_bare(xi), self.branch)["damping"]
        value = torch.exp(-t * damping)
        zero = torch.zeros_like(value)
        return {
            word: zero if word.strip("t") else (-damping) ** len(word) * value
            for word in closed_words(words)
        }


def _bare(xi: torch.Tensor) -> torch.Tensor:
    """Frequencies without a last axis in one dimension."""
    return xi[..., 0] if xi.shape[-1] == 1 else xi
