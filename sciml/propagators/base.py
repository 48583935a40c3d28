"""What a propagator is, and what the rule must offer that moves fields on phase space.

Two contracts. `AbstractPropagator`: a module that takes a field over a time step. And
`AbstractGenerator`: phase and amplitude of the oscillatory integral

    u(t, x) = sum over branches and frequencies of exp(i phi(t, x, xi)) a(t, x, xi) c(xi),

which move *every* initial field. Reconstruction (`oscillatory_integral`), certificate and
comparison with rays use nothing but this contract, so that traced and learned generators are
interchangeable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from sciml.propagators.derivatives import letters, partial_derivatives
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["AbstractGenerator", "AbstractPropagator", "Kind", "Residuals"]

Kind = Literal["generic", "homogeneous", "multiplier"]


class AbstractPropagator(nn.Module, ABC):
    """A module that takes fields over a time step.

    Subclasses define `forward`; fields are tensors ``(batch, channel, *grid)``.
    """

    @abstractmethod
    def forward(self, u: torch.Tensor, dt: float) -> torch.Tensor:
        """Fields a time `dt` later, of the shape of `u`."""

    def rollout(
        self,
        u0: torch.Tensor,
        steps: int,
        dt: float,
        *,
        repair: Callable[[torch.Tensor], torch.Tensor] | None = None,
        where: Literal["in_loop", "after"] = "in_loop",
    ) -> torch.Tensor:
        """Fields after each of several equal steps.

        Parameters
        ----------
        u0 : Tensor, shape (batch, channel, *grid)
            Initial fields.
        steps : int
            Number of steps, at least 1.
        dt : float
            Length of a step.
        repair : callable, optional
            Maps a field to an admissible one, such as a projection.
        where : {"in_loop", "after"}
            Repair before the next step is made, or only what is returned.

        Returns
        -------
        Tensor, shape (batch, steps + 1, channel, *grid)
            The initial field comes first, unrepaired.
        """
        if int(steps) != steps or steps < 1:
            raise ValueError(f"steps is {steps}: wanted a whole number of at least 1")
        if where not in ("in_loop", "after"):
            raise ValueError(f"where is {where!r}: wanted 'in_loop' or 'after'")
        fields, u = [u0], u0
        for _ in range(int(steps)):
            u = self(u, dt)
            admissible = u if repair is None else repair(u)
            fields.append(admissible)
            u = admissible if where == "in_loop" else u
        return torch.stack(fields, dim=1)


@dataclass(frozen=True)
class Residuals:
    """What phase and amplitude leave in their equations; tensors that broadcast together.

    Parameters
    ----------
    phase : Tensor
        Residual of the eikonal equation, ``phi_t + branch*H(t, x, grad phi)``: real. What
        training makes small.
    amplitude : Tensor
        Residual of the transport equation, solved for ``a_t``. What training makes small.
    eikonal, transport, parametrix : Tensor
        Parts of the source left in the equation, ``exp(-i phi) (d_t^r - rhs)(exp(i phi) a)``:
        the first two vanish with the residuals, the last does not depend on training.
    """

    phase: torch.Tensor
    amplitude: torch.Tensor
    eikonal: torch.Tensor
    transport: torch.Tensor
    parametrix: torch.Tensor

    @property
    def source(self) -> torch.Tensor:
        """Sum of the three parts."""
        return self.eikonal + self.transport + self.parametrix


class AbstractGenerator(nn.Module, ABC):
    """Phase and amplitude that move every initial field.

    **What a subclass must have**

    ``symbols`` (PhaseSymbols)
        Which equation; `phase_symbols(equation)` derives it.
    ``kind`` ("generic", "homogeneous" or "multiplier")
        ``"homogeneous"``: the phase is ``xi * foot(t, x)`` in one dimension, ``xi . foot(t, x)``
        for transport in several, and the amplitude a short series in ``1/(i xi)``; subclasses
        give `foot` and `amplitude_terms`, and phase, amplitude and residuals follow.
        ``"multiplier"``: ``phi - x.xi`` and ``a`` do not depend on position.
        ``"generic"``: subclasses give `phase` and `amplitude`.
    ``domain`` (tuple of (start, stop))
        The box, one interval for each coordinate; one period where ``periodic``.
    ``periodic`` (bool)
        Whether the box is a torus. Otherwise fields live on the line (plane).
    ``final_time`` (float)
        Phase and amplitude hold for times in [0, final_time].
    ``largest_frequency`` (float or None)
        Frequencies beyond it were never trained; None if the generator holds at all of them.

    **Conventions.** Times, positions and frequencies are tensors that broadcast against each
    other, and the results have the common shape. In one dimension positions and frequencies have
    no axis of their own; in d dimensions they have a last axis of length d. Everything is
    pointwise: an output may depend on its own time, position and frequency only, because
    derivatives are taken by forward tangents (`torch.func.jvp`). ``branch`` is +1 or -1 for
    equations of second order in time, else +1. The phase must start as ``x.xi`` and the amplitude
    as 1.

    A learned generator may override `phase_jet`, `amplitude_jet` or `foot_jet` where it has its
    derivatives at hand.
    """

    symbols: PhaseSymbols
    kind: Kind
    domain: tuple[tuple[float, float], ...]
    periodic: bool
    final_time: float
    largest_frequency: float | None = None

    # -- what moves the field ------------------------------------------------------------------

    @property
    def branches(self) -> tuple[int, ...]:
        """``(1,)`` or ``(1, -1)``."""
        return self.symbols.branches

    @property
    def has_foot(self) -> bool:
        """Whether the phase is linear in the frequency, so that a foot describes it."""
        return self.kind == "homogeneous" and (self.symbols.dimension == 1 or self.symbols.linear)

    def phase(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Phase ``phi(t, x, xi)``, real. Generators with a foot inherit it."""
        self._needs_foot("phase")
        foot = self.foot(t, x, branch)
        return xi * foot if self.symbols.dimension == 1 else (xi * foot).sum(-1)

    def amplitude(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Amplitude ``a(t, x, xi)``, real or complex. Generators with a foot inherit it."""
        self._needs_foot("amplitude")
        terms = self.amplitude_terms(t, x, branch)
        total = terms[0] + 0.0 * (xi if self.symbols.dimension == 1 else xi[..., 0])
        for power, term in enumerate(terms[1:], start=1):
            total = total + term / (1j * xi) ** power
        return total

    def foot(self, t: torch.Tensor, x: torch.Tensor, branch: int = 1) -> torch.Tensor:
        """Where the ray through ``(t, x)`` started: ``phi = xi * foot``. Shape of ``t + x``."""
        raise NotImplementedError(f"{type(self).__name__} has no foot: its phase is {self.kind}")

    def amplitude_terms(
        self, t: torch.Tensor, x: torch.Tensor, branch: int = 1
    ) -> tuple[torch.Tensor, ...]:
        """Coefficients ``(a_0, a_1, ...)`` of the amplitude ``sum of a_j/(i xi)^j``.

        Only generators with a foot have them. More than one term is meant for the wave equation
        in one dimension.
        """
        raise NotImplementedError(f"{type(self).__name__} has no series for its amplitude")

    # -- derivatives ---------------------------------------------------------------------------

    def phase_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """Derivatives of the phase by the names in `names`: ``"phi_t"``, ``"phi_xx"``, ..."""
        return self._jet(lambda t, x: self.phase(t, x, xi, branch), t, x, names)

    def amplitude_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """Amplitude and its derivatives by the names in `names`: ``"a"``, ``"a_t"``, ..."""
        return self._jet(lambda t, x: self.amplitude(t, x, xi, branch), t, x, names)

    def foot_jet(self, t, x, branch: int, names) -> dict[str, torch.Tensor]:
        """Derivatives of the foot; names as those of the phase that it stands for."""
        return self._jet(lambda t, x: self.foot(t, x, branch), t, x, names)

    def amplitude_terms_jet(self, t, x, branch: int, names) -> tuple[dict[str, torch.Tensor], ...]:
        """Derivatives of every term of the amplitude; names as those of the amplitude."""
        count = len(self.amplitude_terms(t, x, branch))
        return tuple(
            self._jet(lambda t, x, j=j: self.amplitude_terms(t, x, branch)[j], t, x, names)
            for j in range(count)
        )

    def foot_series_jet(self, t, x, branch: int, phase_names, amplitude_names):
        """Both of `foot_jet` and `amplitude_terms_jet`; override where one pass gives both."""
        return (
            self.foot_jet(t, x, branch, phase_names),
            self.amplitude_terms_jet(t, x, branch, amplitude_names),
        )

    def _jet(self, function, t, x, names) -> dict[str, torch.Tensor]:
        names = tuple(names)
        axes = self.symbols.equation.coordinates
        found = partial_derivatives(function, t, x, [letters(n) for n in names], axes)
        return {name: found[letters(name)] for name in names}

    # -- what is left in the equations ---------------------------------------------------------

    def residuals(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> Residuals:
        """What phase and amplitude leave in the eikonal, the transport and the full equation.

        The symbol of the operator comes from ``self.symbols`` and from nowhere else.
        """
        jets = self.phase_jet(t, x, xi, branch, self.symbols.phase_jets)
        jets |= self.amplitude_jet(t, x, xi, branch, self.symbols.amplitude_jets)
        return evaluate_residuals(self.symbols, jets, t, x, branch)

    def _needs_foot(self, what: str) -> None:
        if not self.has_foot:
            raise NotImplementedError(f"{type(self).__name__} must define {what}()")


def evaluate_residuals(
    symbols: PhaseSymbols,
    jets: dict[str, torch.Tensor],
    t: torch.Tensor,
    x: torch.Tensor,
    branch: int,
) -> Residuals:
    """Residuals from derivatives of phase and amplitude.

    Parameters
    ----------
    symbols : PhaseSymbols
        Of the equation.
    jets : dict of str to Tensor
        Everything in ``symbols.phase_jets`` and ``symbols.amplitude_jets``.
    t, x : Tensor
        Times and positions; the latter with a last axis of coordinates in several dimensions.
    branch : int
        +1 or -1.

    Returns
    -------
    Residuals
    """
    values = symbols.residual_program(jets, coordinate_values(symbols, t, x), branch=float(branch))
    return Residuals(
        phase=values["phase_residual"],
        amplitude=values["amplitude_residual"],
        eikonal=values["eikonal"],
        transport=values["transport"],
        parametrix=values["remainder"],
    )


def coordinate_values(
    symbols: PhaseSymbols, t: torch.Tensor, x: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Time and coordinates by name, as compiled expressions take them."""
    axes = symbols.equation.coordinates
    if len(axes) == 1:
        return {"t": t, axes[0]: x}
    return {"t": t, **{name: x[..., place] for place, name in enumerate(axes)}}
