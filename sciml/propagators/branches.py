"""Initial data of an equation of second order in time, split between its two branches."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false
# pyright: reportCallIssue=false

from __future__ import annotations

from dataclasses import dataclass

import torch

from pdes.symbols import to_python
from sciml.propagators.base import coordinate_values
from sciml.propagators.operator_terms import UnsupportedEquation, read_operator
from sciml.propagators.oscillatory_integral import frequency_points
from sciml.propagators.spectrum import Spectrum
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["MeanMotion", "split_branches"]


@dataclass(frozen=True)
class MeanMotion:
    """What the frequency 0 does, ``u'' = restoring*u + damping*u'``: exact, nothing is divided.

    Parameters
    ----------
    value, slope : Tensor, shape (batch,)
        Mean of the field and of its velocity at the start.
    restoring, damping : float
        Constant coefficients of ``u`` and ``u_t``.
    """

    value: torch.Tensor
    slope: torch.Tensor
    restoring: float = 0.0
    damping: float = 0.0

    def __call__(self, t: float) -> torch.Tensor:
        """Mean at a time, shape (batch,)."""
        return self._state(t)[0]

    def rate(self, t: float) -> torch.Tensor:
        """Its derivative in time."""
        return self._state(t)[1]

    def _state(self, t: float) -> torch.Tensor:
        matrix = torch.tensor([[0.0, 1.0], [self.restoring, self.damping]], dtype=torch.float64)
        start = torch.stack([self.value, self.slope])
        return torch.linalg.matrix_exp(t * matrix).to(start.dtype) @ start


def split_branches(
    symbols: PhaseSymbols, u: Spectrum, v: Spectrum | None
) -> tuple[dict[int, torch.Tensor], MeanMotion | None]:
    """Coefficients of every branch.

    Parameters
    ----------
    symbols : PhaseSymbols
        Of the equation.
    u : Spectrum
        Initial fields.
    v : Spectrum, optional
        Of the initial velocity; where the speed varies, of the velocity over the speed, without
        its mean. Zero if left out. Not allowed for equations of first order in time.

    Returns
    -------
    branches : dict
        Branch to coefficients. Of second order in time ``c_s = (u + s i v/H)/2`` with the
        frequency ``H``, without the frequency 0.
    mean : MeanMotion or None
        What the frequency 0 does, for equations of second order in time.
    """
    if symbols.time_order == 1:
        if v is not None:
            raise ValueError(
                f"v0 is given, but {symbols.equation.name!r} is of first order in time: the field "
                "alone determines its future"
            )
        return {1: u.coefficients}, None
    xi = frequency_points(u)
    shape = u.coefficients.shape[1:]
    zero = (xi == 0.0 if u.dimension == 1 else (xi == 0.0).all(-1)).reshape(shape)
    rest = torch.where(zero, 0.0, 1.0)
    centered = u.coefficients * rest
    rate = torch.where(zero, 0.0, _initial_rate(symbols, xi).reshape(shape))
    frequency = torch.where(zero, 1.0, _frequency(symbols, xi).reshape(shape))
    velocity = -rate * centered
    if v is not None:
        velocity = velocity + v.coefficients * rest
    difference = 0.5j * velocity / frequency
    branches = {s: 0.5 * centered + s * difference for s in symbols.branches}
    return branches, _mean_motion(symbols, u, v, zero)


def _frequency(symbols: PhaseSymbols, xi: torch.Tensor) -> torch.Tensor:
    """``H`` at the start; the frequency itself where the velocity was divided by the speed."""
    if not symbols.constant:
        return xi if symbols.dimension == 1 else torch.linalg.vector_norm(xi, dim=-1)
    return _at_start(symbols, "hamiltonian", xi)


def _initial_rate(symbols: PhaseSymbols, xi: torch.Tensor) -> torch.Tensor:
    """``a_t`` at the start that both branches have in common (constant coefficients)."""
    if not symbols.constant:
        return torch.zeros(len(xi), dtype=torch.float64)
    return -_at_start(symbols, "damping", xi)


def _at_start(symbols: PhaseSymbols, name: str, xi: torch.Tensor) -> torch.Tensor:
    axes = symbols.equation.coordinates
    parts = [xi] if len(axes) == 1 else list(xi.unbind(-1))
    jets = {f"phi_{c}": part for c, part in zip(axes, parts, strict=True)}
    jets |= {n: torch.zeros(len(xi), dtype=xi.dtype) for n in symbols.phase_jets if n not in jets}
    origin = torch.zeros_like(xi)
    values = coordinate_values(symbols, torch.zeros(len(xi), dtype=xi.dtype), origin)
    return symbols.compile(name)(jets, values)[name]


def _mean_motion(
    symbols: PhaseSymbols, u: Spectrum, v: Spectrum | None, zero: torch.Tensor
) -> MeanMotion:
    terms = read_operator(symbols.equation).terms
    still = (0,) * u.dimension
    factors = []
    for key in ((0, still), (1, still)):
        coefficient = terms.get(key, 0)
        if getattr(coefficient, "free_symbols", None):
            raise UnsupportedEquation(
                f"equation {symbols.equation.name!r}: the coefficient {coefficient} of the field "
                "itself varies, so that the frequency 0 does not stay alone"
            )
        factors.append(float(to_python(coefficient).real) if coefficient else 0.0)
    slope = torch.zeros_like(u.coefficients) if v is None else v.coefficients
    value, slope = (c.flatten(1)[:, zero.flatten()].squeeze(1) for c in (u.coefficients, slope))
    return MeanMotion(value, slope, *factors)
