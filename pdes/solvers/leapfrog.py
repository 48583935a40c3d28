"""Leapfrog for waves: a field and its velocity, half a step apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import sympy
from array_api_compat import is_torch_namespace

from pdes.boundary import Boundary, Dirichlet
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.jets import parse_derivative
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lines import StepLimits, as_field
from pdes.solvers.node_sides import NodeSides, check_order_two

Array = Any


class Leapfrog:
    """Second-order differences and kick-drift-kick steps for ``u_t = v``, ``v_t = force(u)``.

    The positions of this form are those of the classical leapfrog scheme. It is symplectic: the
    energy swings with the square of the step but does not drift.

    Parameters
    ----------
    equation : Equation
        Two fields; the rate of the first is the second, whose rate holds the first only.
    grid : Grid
        Periodic axes, or axes whose end points lie on the sides.
    boundary : mapping, optional
        Conditions at the sides: constant Dirichlet values, or no flux.
    xp, dtype, device, parameters
        As for `pdes.solvers.finite_volume.FiniteVolume`.

    Raises
    ------
    ValueError
        If the equation is not of this form.

    Examples
    --------
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 64))
    >>> wave = Equation.from_text("u_t = v; v_t = 4*u_xx", name="wave")
    >>> round(Leapfrog(wave, grid).limits(None, 0.0).largest_step * 2 / grid.spacings[0], 12)
    1.0
    """

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        boundary: Boundary | None = None,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        check_order_two(equation)
        self.equation, self.grid = equation, grid
        self.xp: Any = xnp if xp is None else xp
        self.dtype, self.device, self.dimension = dtype, device, len(grid.shape)
        self.fields = tuple(equation.fields)
        force = _force(equation)
        values = {**equation.parameters, **(parameters or {})}
        self._sides = NodeSides(
            equation,
            grid,
            boundary,
            parameters={n: _number(v) for n, v in values.items()},
            asarray=self.asarray,
        )
        self._evaluator = Evaluator(
            space=equation.space,
            parameters=values,
            coordinates={n: self.asarray(x) for n, x in grid.mesh().items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )
        self._jets = [s.name for s in equation.space.jets(force)]
        self._force = self._evaluator.program(force)
        self._mask = self.asarray(self._sides.dirichlet_mask(self.fields[0]))
        self._frequency = self._highest_frequency(force)
        self._check_sides()

    def asarray(self, values: Any) -> Array:
        """Array of the kernel's namespace, precision and device."""
        return as_field(values, self.xp, self.dtype, self.device)

    def forward(self, fields: Mapping[str, Array], time: float = 0.0) -> Array:
        """Stack the fields; at Dirichlet sides they are what the condition says."""
        name = self.fields[0]
        given = self.asarray(self._sides.given_values(name, time))
        u = self.asarray(fields[name]) * self._mask + given
        v = self.asarray(fields[self.fields[1]]) * self._mask
        return self.xp.stack([u, v], axis=-self.dimension - 1)

    def backward(self, state: Array, time: float = 0.0) -> dict[str, Array]:
        """Fields by name."""
        whole = (slice(None),) * self.dimension
        return {name: state[(..., i, *whole)] for i, name in enumerate(self.fields)}

    def limits(self, state: Array, time: float) -> StepLimits:
        """The fastest wave on the grid turns by at most two radians a step.

        For the wave equation with speed ``c`` on ``d`` axes of equal spacing this is
        ``c dt/h <= 1/sqrt(d)``.
        """
        name = "dt times half the highest frequency"
        return StepLimits(
            rates={name: 0.5 * self._frequency}, largest={name: 1.0}, default={name: 0.5}
        )

    def make_step(self, size: float) -> Callable[[Array, float, Any], Array]:
        """Step function for one size."""

        def step(state: Array, time: float, _: Any) -> Array:
            u, v = self.backward(state).values()
            v = v + 0.5 * size * self._pushed(u, time)
            u = u + size * v
            v = v + 0.5 * size * self._pushed(u, time + size)
            return self.xp.stack([u, v], axis=-self.dimension - 1)

        return step

    def _pushed(self, u: Array, time: float) -> Array:
        jets = self._sides.jets(self._jets, {self.fields[0]: u}, time)
        return self._force(jets, time) * self._mask

    def _highest_frequency(self, force: sympy.Expr) -> float:
        """Square root of the largest eigenvalue of the linearized force on this grid."""
        space, total = self.equation.space, 0.0
        for jet in space.jets(force):
            _, orders = parse_derivative(jet.name, space.fields, space.coordinates)
            slope = force.diff(jet)
            if sum(orders) == 2 and not space.jets(slope):
                size = self._evaluator.value(slope)
                largest = float(np.max(np.abs(_host(size))))
                total += 4.0 * largest / self.grid.spacings[orders.index(2)] ** 2
        return math.sqrt(total)

    def _check_sides(self) -> None:
        first = self.fields[0]
        for side, row in self._sides.conditions.items():
            condition = row[first]
            value = getattr(condition, "value", 0.0)
            moving = isinstance(value, sympy.Expr) and "t" in {str(s) for s in value.free_symbols}
            if isinstance(condition, Dirichlet) and moving:
                raise ValueError(
                    f"boundary[{side!r}] moves with time: leapfrog keeps the sides at rest"
                )


def _force(equation: Equation) -> sympy.Expr:
    """Rate of the second field, after checking the form of the system."""
    space = equation.space
    wanted = "u_t = v; v_t = force(u)"
    if len(equation.fields) != 2:
        raise ValueError(f"{equation.name}: leapfrog solves {wanted}, got {len(equation.fields)}")
    first, second = equation.fields
    zeros = (0,) * len(equation.coordinates)
    rate = space.from_functions(equation.rhs[first])
    force = space.from_functions(equation.rhs[second])
    if rate != space.symbol(second, zeros) or any(
        parse_derivative(s.name, space.fields, space.coordinates)[0] == second
        for s in space.jets(force)
    ):
        raise ValueError(f"{equation.name}: leapfrog solves {wanted}, got {equation}")
    return force


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def _host(value: Any) -> np.ndarray:
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
