"""Time steps: what the nonlinear part allows, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.jets import JetSpace, parse_derivative
from pdes.solvers.errors import StabilityError
from pdes.solvers.spectral import PseudoSpectral
from pdes.time.runge_kutta import RungeKutta

Array = Any
_Place = tuple[int, int, tuple[int, ...]]

DEFAULT_COURANT = 0.5
LARGEST_COURANT = 1.3
"""Beyond this number the highest dealiased mode leaves the stability region of four stages."""

_DEFAULT_REACTION = 0.1
_DEFAULT_STIFF = 0.5
LARGEST_STIFF = 2.7
LARGEST_REACTION = 2.0
"""Beyond this product explicit stages of a reaction grow without bound where it should saturate."""


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
    def stable_step(self) -> float:
        """Step with Courant number 0.5, and at half the limit of explicit stiff terms."""
        scaled = max(self.advective / DEFAULT_COURANT, 2.0 * self.stiff / LARGEST_STIFF)
        return 1.0 / scaled if scaled > 0.0 else np.inf

    def check(self, time_step: float, *, reaction: bool = True) -> None:
        """Raise `StabilityError` when a step is beyond the limits.

        A run that takes back steps with too large an error need not limit the ``reaction``.
        """
        for name, rate, limit in (
            ("the Courant number max|u| dt/dx", self.advective, LARGEST_COURANT),
            ("dt times the rate of explicit stiff terms", self.stiff, LARGEST_STIFF),
            ("dt times the rate of the reaction", self.reaction * reaction, LARGEST_REACTION),
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
        self.kernel, self.integrator = kernel, integrator
        self._slopes = _slopes(kernel)
        self.advects = any(sum(orders) == 1 for _, _, orders in self._slopes)

    def measure(self, state: Array, time: float) -> Rates:
        """All rates at a state, the largest over a batch."""
        sizes = self._sizes(state, time, largest_order=99)
        reaction = [0.0] * len(self.kernel.fields)
        for (row, _, orders), size in sizes.items():
            if sum(orders) == 0:
                reaction[row] += size
        return Rates(
            advective=self._advective(sizes), reaction=max(reaction), stiff=self._stiff(sizes)
        )

    def advective(self, state: Array, time: float) -> float:
        """Courant number of a unit step at a state."""
        return self._advective(self._sizes(state, time, largest_order=1)) if self.advects else 0.0

    def _sizes(self, state: Array, time: float, largest_order: int) -> dict[_Place, float]:
        """Largest value on the grid of each slope."""
        jets = self.kernel.nonlinear.jets(state)
        return {
            place: sum(_largest(slope(jets, time), self.kernel.xp) for slope in slopes)
            for place, slopes in self._slopes.items()
            if sum(place[2]) <= largest_order
        }

    def _advective(self, sizes: Mapping[_Place, float]) -> float:
        rows = [0.0] * len(self.kernel.fields)
        for (row, _, orders), size in sizes.items():
            if sum(orders) == 1:
                rows[row] += size / self.kernel.grid.spacings[orders.index(1)]
        return max(rows)

    def _stiff(self, sizes: Mapping[_Place, float]) -> float:
        """Largest rate over modes of explicit terms of higher order and of linear couplings.

        A term within one field counts at the modes where it beats the linear damping. Terms
        between fields act through each other: their rate is the spectral radius.
        """
        kernel, basis, count = self.kernel, self.kernel.basis, len(self.kernel.fields)
        linear = _to_numpy(kernel.linear) * basis.mask
        matrix = np.zeros((*basis.modes, count, count))
        for (row, column, orders), size in sizes.items():
            if sum(orders) >= 2:
                matrix[..., row, column] += size * basis.wavenumber_powers(orders)
        for row, column, symbol in kernel.coupling:
            matrix[..., row, column] += np.abs(_to_numpy(symbol)) * basis.mask
        for row in range(count):
            own = matrix[..., row, row]
            own[own <= np.abs(np.real(linear[row]))] = 0.0
        # Without a product of couplings around a circle the eigenvalues are on the diagonal.
        rate = np.abs(np.linalg.eigvals(matrix)) if count > 1 else matrix
        stiff = float(np.max(rate))
        if isinstance(self.integrator, RungeKutta):
            damped = np.max(np.abs(np.real(linear))) / self.integrator.real_limit
            turning = np.max(np.abs(np.imag(linear))) / self.integrator.imaginary_limit
            stiff = max(stiff, LARGEST_STIFF * float(damped + turning))
        return stiff


def _slopes(kernel: PseudoSpectral) -> dict[_Place, list[Callable]]:
    """Partial derivatives of every flux by each jet.

    Keys are row, column and the orders of derivatives, those outside the flux included.
    """
    space = kernel.lowered.space
    found: dict[_Place, list[Callable]] = {}
    for group in kernel.nonlinear.groups:
        for jet, slope in _partials(group.expression, space):
            name, orders = parse_derivative(jet.name, space.fields, space.coordinates)
            total = tuple(a + b for a, b in zip(group.orders, orders, strict=True))
            place = (group.row, kernel.fields.index(name), total)
            found.setdefault(place, []).append(kernel.evaluator.program(slope))
    return found


def _partials(expression: sympy.Expr, space: JetSpace) -> list[tuple[sympy.Symbol, sympy.Expr]]:
    """Slopes by every jet; a complex jet and its conjugate count as two."""
    bars: dict[sympy.Expr, sympy.Dummy] = {
        sympy.conjugate(jet): sympy.Dummy() for jet in space.jets(expression)
    }
    free: Any = expression.xreplace(
        {bar: dummy for bar, dummy in bars.items() if not bar.is_Symbol}
    )
    back = {dummy: bar for bar, dummy in bars.items()}
    partials = []
    for jet in space.jets(expression):
        for variable in (jet, bars[sympy.conjugate(jet)]):
            slope = free.diff(variable)
            if slope != 0:
                partials.append((jet, slope.xreplace(back)))
    return partials


def _largest(values: Any, xp: Any) -> float:
    if isinstance(values, int | float | complex):
        return abs(values)
    return float(_to_numpy(xp.max(xp.abs(values))))


def _to_numpy(array: Array) -> np.ndarray:
    """Copy on the host, cut off from any gradient."""
    detached = array.detach().cpu() if hasattr(array, "detach") else array
    return np.asarray(detached)
