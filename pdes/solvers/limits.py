"""Time steps: what the nonlinear part allows, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.jets import JetSpace
from pdes.solvers.errors import StabilityError
from pdes.solvers.spectral import PseudoSpectral
from pdes.time.runge_kutta import RungeKutta

Array = Any

DEFAULT_COURANT = 0.5
LARGEST_COURANT = 1.3
"""Beyond this number the highest dealiased mode leaves the stability region of four stages."""

_DEFAULT_REACTION = 0.1
_DEFAULT_STIFF = 0.5
_LARGEST_STIFF = 2.7


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Inverse time scales of everything that is treated explicitly.

    Parameters
    ----------
    advective : float
        Sum over axes of the largest speed over the spacing: the Courant number of a unit step.
    reaction : float
        Largest slope of the terms without derivatives.
    stiff : float
        Largest rate of explicit terms of higher order, where no stronger linear damping acts.
    """

    advective: float
    reaction: float
    stiff: float

    @property
    def default_step(self) -> float:
        """Step with Courant number 0.5 that also resolves the other rates."""
        scaled = (
            self.advective / DEFAULT_COURANT,
            self.reaction / _DEFAULT_REACTION,
            self.stiff / _DEFAULT_STIFF,
        )
        fastest = max(scaled)
        return 1.0 / fastest if fastest > 0.0 else np.inf

    @property
    def courant_step(self) -> float:
        """Step with Courant number 0.5."""
        return DEFAULT_COURANT / self.advective if self.advective > 0.0 else np.inf

    def check(self, time_step: float) -> None:
        """Raise `StabilityError` when a step is beyond the limits."""
        for name, rate, limit in (
            ("the Courant number max|u| dt/dx", self.advective, LARGEST_COURANT),
            ("dt times the rate of explicit stiff terms", self.stiff, _LARGEST_STIFF),
        ):
            if rate * time_step > limit:
                raise StabilityError(
                    f"time_step={time_step:g} makes {name} {rate * time_step:.3g}, above {limit}: "
                    f"use time_step <= {limit / rate:.3g}, or None to have it chosen "
                    f"({self.default_step:.3g})"
                )


class RateMeter:
    """Measures the rates of a pseudo-spectral right-hand side at a state.

    Parameters
    ----------
    kernel : PseudoSpectral
        The right-hand side.
    integrator : object
        An explicit Runge-Kutta method also feels the linear part; an exponential one does not.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> from pdes.time import ETDRK4
    >>> grid = Grid.periodic(x=(0.0, 1.0, 64))
    >>> kernel = PseudoSpectral(Equation.from_text("u_t = -u*u_x + 0.1*u_xx"), grid)
    >>> state = kernel.forward({"u": 2.0 * np.sin(2 * np.pi * grid.coordinates()["x"])})
    >>> rates = RateMeter(kernel, ETDRK4()).measure(state, 0.0)
    >>> round(rates.advective, 6)
    128.0
    """

    def __init__(self, kernel: PseudoSpectral, integrator: Any) -> None:
        self.kernel = kernel
        self._slopes = _slopes(kernel)
        self._fixed = self._fixed_rate(integrator)

    @property
    def advects(self) -> bool:
        """Whether any nonlinear term transports, so that the Courant number can change."""
        return any(sum(orders) == 1 for _, orders in self._slopes)

    def measure(self, state: Array, time: float) -> Rates:
        """Rates at a state, the largest over a batch."""
        kernel = self.kernel
        jets = kernel.jets(state)
        rows: dict[int, dict[tuple[int, ...], float]] = {}
        for (row, orders), slopes in self._slopes.items():
            size = sum(_largest(slope(jets, time), kernel.xp) for slope in slopes)
            rows.setdefault(row, {})[orders] = size
        if not rows:
            return Rates(advective=0.0, reaction=0.0, stiff=self._fixed)
        return Rates(
            advective=max(self._advective(sizes) for sizes in rows.values()),
            reaction=max(sum(v for o, v in s.items() if sum(o) == 0) for s in rows.values()),
            stiff=max(self._fixed, *(self._stiff(row, sizes) for row, sizes in rows.items())),
        )

    def _advective(self, sizes: Mapping[tuple[int, ...], float]) -> float:
        spacings = self.kernel.grid.spacings
        return sum(
            size / spacings[orders.index(1)] for orders, size in sizes.items() if sum(orders) == 1
        )

    def _stiff(self, row: int, sizes: Mapping[tuple[int, ...], float]) -> float:
        """Rate of second and higher order at the modes where it beats the linear damping."""
        basis = self.kernel.basis
        rate = np.zeros(basis.modes)
        for orders, size in sizes.items():
            if sum(orders) >= 2:
                rate = rate + size * basis.wavenumber_powers(orders)
        damping = np.abs(np.real(_to_numpy(self.kernel.linear)[row]))
        return float(np.max(np.where(rate > damping, rate, 0.0)))

    def _fixed_rate(self, integrator: Any) -> float:
        """Rate of linear terms that the integrator treats explicitly."""
        kernel = self.kernel
        rate = _coupling_radius(kernel)
        if isinstance(integrator, RungeKutta):
            linear = _to_numpy(kernel.linear) * kernel.basis.mask
            damped = np.max(np.abs(np.real(linear))) / integrator.real_limit
            turning = np.max(np.abs(np.imag(linear))) / integrator.imaginary_limit
            rate = max(rate, _LARGEST_STIFF * float(damped + turning))
        return rate


def _slopes(kernel: PseudoSpectral) -> dict[tuple[int, tuple[int, ...]], list[Callable]]:
    """Partial derivatives of every flux by each jet, by row and by total order of derivatives."""
    space = kernel.lowered.space
    found: dict[tuple[int, tuple[int, ...]], list[Callable]] = {}
    for row, outer, item in kernel.flux_groups():
        expression = (
            item
            if isinstance(item, sympy.Expr)
            else sympy.Add(*(f.coefficient * sympy.Mul(*(b**p for b, p in f.powers)) for f in item))
        )
        for orders, slope in _partials(expression, space):
            total = tuple(a + b for a, b in zip(outer, orders, strict=True))
            found.setdefault((row, total), []).append(kernel.evaluator.program(slope))
    return found


def _partials(expression: sympy.Expr, space: JetSpace) -> list[tuple[tuple[int, ...], sympy.Expr]]:
    """Slopes by every jet; a complex jet and its conjugate count as two."""
    bars = {sympy.conjugate(jet): sympy.Dummy() for jet in space.jets(expression)}
    free = expression.xreplace({bar: dummy for bar, dummy in bars.items() if not bar.is_Symbol})
    back = {dummy: bar for bar, dummy in bars.items()}
    partials = []
    for jet in space.jets(expression):
        _, orders = space.parse(jet)
        for variable in (jet, bars[sympy.conjugate(jet)]):
            slope = free.diff(variable)
            if slope != 0:
                partials.append((orders, slope.xreplace(back)))
    return partials


def _coupling_radius(kernel: PseudoSpectral) -> float:
    """Largest spectral radius over modes of the moduli of the linear coupling."""
    if not kernel.coupling:
        return 0.0
    count = len(kernel.fields)
    matrix = np.zeros((*kernel.basis.modes, count, count))
    for row, column, symbol in kernel.coupling:
        matrix[..., row, column] = np.abs(_to_numpy(symbol)) * kernel.basis.mask
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def _largest(values: Any, xp: Any) -> float:
    if isinstance(values, int | float | complex):
        return abs(values)
    return float(_to_numpy(xp.max(xp.abs(values))))


def _to_numpy(array: Array) -> np.ndarray:
    """Copy on the host, cut off from any gradient."""
    detached = array.detach().cpu() if hasattr(array, "detach") else array
    return np.asarray(detached)
