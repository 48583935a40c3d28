"""Learned amplitudes: 1 at the start by construction, and no network where 1 is exact."""

from __future__ import annotations

from collections.abc import Iterable

import sympy
import torch
from torch import nn

from sciml.propagators.features import StartingAtZero
from sciml.propagators.gated_mlp import Jet
from sciml.propagators.phase import FrequencyInputs
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["AmplitudeNetwork", "amplitude_is_complex", "unit_amplitude_is_exact"]


def unit_amplitude_is_exact(symbols: PhaseSymbols) -> bool:
    """Whether ``a = 1`` solves the transport equation, whatever the phase.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> unit_amplitude_is_exact(phase_symbols(Equation.from_text("u_t = -(1 + 0.5*sin(x))*u_x")))
    True
    >>> unit_amplitude_is_exact(phase_symbols(Equation.from_text("u_t = -u_x - u")))
    False
    """
    amplitude = [s for s in symbols.amplitude_residual.free_symbols if _of_amplitude(str(s))]
    constant = {s: sympy.Integer(int(str(s) == "a")) for s in amplitude}
    return sympy.simplify(symbols.amplitude_residual.xreplace(constant)) == 0


def amplitude_is_complex(symbols: PhaseSymbols) -> bool:
    """Whether the transport equation couples real and imaginary part."""
    return bool(symbols.amplitude_residual.has(sympy.I))


def _of_amplitude(name: str) -> bool:
    return name == "a" or name.startswith("a_")


class AmplitudeNetwork(nn.Module):
    """``a = start + t g``, with one or two (real and imaginary) outputs.

    Parameters
    ----------
    correction : StartingAtZero
        ``t g``.
    frequency : FrequencyInputs or None
        What it sees of the frequency; None for amplitudes that do not depend on it.
    start : float
        1 for the leading amplitude, 0 for its corrections.
    """

    def __init__(
        self, correction: StartingAtZero, frequency: FrequencyInputs | None, start: float = 1.0
    ) -> None:
        super().__init__()
        self.correction, self.frequency, self.start = correction, frequency, start

    def jet(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor | None, words: Iterable[str]
    ) -> Jet:
        """Derivatives of the amplitude, shape (...)."""
        more = sign = None
        if self.frequency is not None and xi is not None:
            more, _, sign = self.frequency(xi)
        found = {}
        for word, value in self.correction.jet(t, x, more, words).items():
            total = value[..., 0]
            if value.shape[-1] == 2:
                imaginary = value[..., 1] if sign is None else sign * value[..., 1]
                total = torch.complex(total, imaginary)
            found[word] = total + self.start if word == "" else total
        return found
