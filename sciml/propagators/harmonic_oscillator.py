"""The harmonic oscillator, whose phase and amplitude are known until its first caustic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from pdes.equation import Equation
from pdes.grid import Grid
from sciml.propagators.base import Kind
from sciml.propagators.domain import check_domain
from sciml.propagators.phase_propagator import AbstractPhasePropagator
from sciml.propagators.symbols import phase_symbols

__all__ = ["HarmonicOscillator"]


class HarmonicOscillator(AbstractPhasePropagator):
    """Exact generator of ``i u_t = -u_xx/2 + x^2 u/2`` for times below ``pi/2``.

    ``phi = x xi/cos t - tan t (x^2 + xi^2)/2`` and ``a = (cos t)^(-1/2)``: both end at the
    caustic ``t = pi/2``, where all rays meet. Composed steps pass it.

    Parameters
    ----------
    domain : Grid or sequence of one (start, stop)
        Where fields are given and wanted; they live on the line.
    n_modes : int, default 64
        Default window, ``|xi| <= 2 pi n_modes/(stop - start)``.
    final_time : float, default 1.5
        Longest time of one step, below ``pi/2``.

    Examples
    --------
    >>> import numpy as np
    >>> from sciml.propagators import Gaussian
    >>> swing = HarmonicOscillator([(-8.0, 8.0)], n_modes=24)
    >>> u = swing.propagate(Gaussian(1.0, 1.0), [np.pi], max_step=np.pi/4).h
    >>> round(complex(u.interp(x=-1.0).item()).imag, 6)      # exp(-i pi/2) u0(-x)
    -0.999...
    """

    kind: Kind = "generic"
    periodic = False

    def __init__(
        self,
        domain: Grid | Sequence[tuple[float, float]] = ((-8.0, 8.0),),
        n_modes: int = 64,
        final_time: float = 1.5,
    ) -> None:
        super().__init__()
        equation = Equation.from_text(
            "h_t = 1/2*I*h_xx - 1/2*I*x^2*h", name="harmonic_oscillator", complex_fields=("h",)
        )
        self.symbols = phase_symbols(equation)
        self.domain, _ = check_domain(domain, False, equation)
        self.n_modes, self.final_time = n_modes, final_time
        if not 0.0 < final_time < 0.5 * math.pi:
            raise ValueError(f"final_time is {final_time}: wanted a time below the caustic at pi/2")
        self.check_setting()

    def phase(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """See `AbstractGenerator.phase`."""
        return x * xi / torch.cos(t) - 0.5 * torch.tan(t) * (x * x + xi * xi)

    def amplitude(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """See `AbstractGenerator.amplitude`."""
        return torch.cos(t) ** -0.5 + 0.0 * (x + xi)
