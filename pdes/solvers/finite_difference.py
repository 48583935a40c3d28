"""Finite differences on boxes with sides; diffusion is diagonal in a basis of eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import array_api_compat.numpy as xnp
import numpy as np
import sympy
from array_api_compat import is_torch_namespace

from pdes.boundary import Boundary, Dirichlet, Neumann, Periodic, Robin
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.jets import parse_derivative
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lines import StepLimits, as_field
from pdes.solvers.lowering import lower
from pdes.solvers.node_sides import NodeSides, check_order_two
from pdes.solvers.side_basis import side_modes

Array = Any

LARGEST_PECLET = 2.0


class FiniteDifference:
    """``d_t v = linear v + nonlinear(v, t)`` in the eigenvectors of the second differences.

    Every field's constant diffusion is diagonal in this basis, so that implicit and exponential
    integrators need no linear solver, in one or several dimensions, in a batch and differentiably.
    All other terms are formed on the grid by central differences of order two. What the conditions
    at the sides feed in is a source.

    Parameters
    ----------
    equation : Equation
        First and second derivatives along single axes, real fields.
    grid : Grid
        Periodic axes, or axes whose end points lie on the sides.
    boundary : mapping, optional
        Conditions at the sides, see `NodeSides`. Coefficients of Robin conditions are constant.
    exact : bool, default False
        Use the eigenvalues ``-k^2`` of the second derivative: sines and cosines. Conditions must
        then be homogeneous, Dirichlet or Neumann.
    xp, dtype, device, parameters
        As for `pdes.solvers.finite_volume.FiniteVolume`.

    Attributes
    ----------
    linear : array, shape (fields, *grid)
        Diagonal diffusion in double precision.

    Examples
    --------
    >>> from pdes import Axis
    >>> grid = Grid((Axis("x", 0.0, 1.0, 33, periodic=False),))
    >>> boundary = {"x-": Dirichlet(0.0), "x+": Dirichlet(0.0)}
    >>> heat = Equation.from_text("u_t = 0.1*u_xx", name="heat")
    >>> kernel = FiniteDifference(heat, grid, boundary, exact=True)
    >>> u = np.sin(np.pi * grid.coordinates()["x"])
    >>> state = kernel.forward({"u": u})
    >>> later = kernel.backward(np.exp(kernel.linear) * state)["u"]
    >>> bool(np.allclose(later, np.exp(-0.1 * np.pi**2) * u, rtol=0, atol=1e-14))
    True
    """

    largest_reaction: ClassVar[float] = 1.0

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        boundary: Boundary | None = None,
        *,
        exact: bool = False,
        real_limit: float = 1.0,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        check_order_two(equation)
        if equation.complex_fields:
            raise ValueError(
                f"{equation.name}: finite differences take real fields, "
                f"{sorted(equation.complex_fields)} are complex"
            )
        self.equation, self.grid, self.real_limit = equation, grid, real_limit
        self.xp: Any = xnp if xp is None else xp
        self.fields, self.dtype, self.device = tuple(equation.fields), dtype, device
        self.dimension = len(grid.shape)
        self._values = {**equation.parameters, **(parameters or {})}
        diffusion, rest = self._split()
        self._sides = NodeSides(
            equation,
            grid,
            boundary,
            diffusivity={k: _number(v) for k, v in diffusion.items()},
            parameters={n: _number(v) for n, v in self._values.items()},
            asarray=self.asarray,
        )
        self._check_fluxes(diffusion)
        self._masks = {n: self.asarray(self._sides.dirichlet_mask(n)) for n in self.fields}
        self._moving = self._has_data()
        if exact:
            self._require_homogeneous()
        self._prepare_modes(diffusion, exact)
        self._prepare_rest(rest, diffusion)

    def asarray(self, values: Any) -> Array:
        """Array of the kernel's namespace, precision and device."""
        return as_field(values, self.xp, self.dtype, self.device)

    def forward(self, fields: Mapping[str, Array], time: float = 0.0) -> Array:
        """Coefficients of the eigenvectors, shape ``(*batch, fields, *grid)``."""
        stacked = [self.asarray(fields[n]) * self._masks[n] for n in self.fields]
        return self._transformed(self.xp.stack(stacked, axis=-self.dimension - 1), self._inverse)

    def backward(self, state: Array, time: float = 0.0) -> dict[str, Array]:
        """Fields on the grid, with the values that the conditions give."""
        values = self._transformed(state, self._vectors)
        whole = (slice(None),) * self.dimension
        found = {}
        for i, name in enumerate(self.fields):
            field = values[(..., i, *whole)] * self._masks[name]
            given = self._sides.given_values(name, time) if name in self._moving else None
            found[name] = field if given is None else field + self.asarray(given)
        return found

    def nonlinear(self, state: Array, time: float) -> Array:
        """Everything but the diffusion with homogeneous conditions, as coefficients."""
        fields = self.backward(state, time)
        jets = self._sides.jets(self._jets, fields, time)
        rates = []
        for name in self.fields:
            rate = 0.0 * fields[name]
            if name in self._programs:
                rate = rate + self._programs[name](jets, time)
            if self._fed[name]:
                rate = rate + self._fed_in(name, fields[name], time)
            rates.append(rate * self._masks[name])
        return self._transformed(self.xp.stack(rates, axis=-self.dimension - 1), self._inverse)

    def limits(self, state: Array, time: float) -> StepLimits:
        """Rates of the terms that are treated explicitly."""
        reaction: dict[str, float] = {}
        advective: dict[str, float] = {}
        stiff: dict[str, float] = {}
        for (row, orders), size in self._sizes(state, time).items():
            axis = next((i for i, order in enumerate(orders) if order), 0)
            target = (reaction, advective, stiff)[sum(orders)]
            scale = (1.0, self.grid.spacings[axis], 0.25 * self.grid.spacings[axis] ** 2)
            target[row] = target.get(row, 0.0) + size / scale[sum(orders)]
        rates = {
            "dt times the rate of the reaction": max(reaction.values(), default=0.0),
            "the Courant number": max(advective.values(), default=0.0),
            "dt times the rate of explicit diffusion": max(stiff.values(), default=0.0),
        }
        limit = dict.fromkeys(rates, self.real_limit)
        return StepLimits(
            rates=rates, largest=limit, default={n: 0.1 * v for n, v in limit.items()}
        )

    def warning(self, state: Array, time: float) -> str:
        """Complaint about cells in which the flow outruns diffusion, empty if there is none.

        Central differences ring where the Peclet number of a cell, speed times spacing over
        diffusivity, is above 2.
        """
        for (row, orders), size in self._sizes(state, time).items():
            if sum(orders) != 1:
                continue
            axis = orders.index(1)
            diffusivity = _number(self._diffusion.get((row, axis), 0.0))
            peclet = size * self.grid.spacings[axis] / diffusivity if diffusivity else np.inf
            if size > 0.0 and peclet > LARGEST_PECLET:
                return (
                    f"the Peclet number of a cell along {self.grid.names[axis]} is {peclet:.3g}, "
                    f"above {LARGEST_PECLET:g}: central differences ring; use more points, or "
                    "solver='weno5'"
                )
        return ""

    def _sizes(self, state: Array, time: float) -> dict[tuple[str, tuple[int, ...]], float]:
        """Largest slope of each row by the jets of each order."""
        fields = {n: _detached(v) for n, v in self.backward(_detached(state), time).items()}
        jets = self._sides.jets(self._jets, fields, time)
        return {
            place: sum(float(self.xp.max(self.xp.abs(_detached(p(jets, time))))) for p in programs)
            for place, programs in self._slopes.items()
        }

    def _split(self) -> tuple[dict[tuple[str, int], Any], dict[str, Any]]:
        """Constant diffusion of each field along each axis, and the rest in plain symbols."""
        space, lowered = self.equation.space, lower(self.equation)
        evaluator = Evaluator(space=space, parameters=self._values, backend=self._backend)
        rest = {r: space.from_functions(e) for r, e in self.equation.rhs.items()}
        diffusion: dict[tuple[str, int], Any] = {}
        for (row, column), operator in lowered.linear.items():
            for orders, coefficient in operator.items():
                if row == column and sum(orders) == 2:
                    diffusion[row, orders.index(2)] = evaluator.value(coefficient)
                    rest[row] -= coefficient * space.symbol(row, orders)
        return diffusion, {r: e for r, raw in rest.items() if (e := sympy.expand(raw)) != 0}

    @property
    def _backend(self) -> Any:
        return "torch" if is_torch_namespace(self.xp) else "numpy"

    def _check_fluxes(self, diffusion: Mapping[tuple[str, int], Any]) -> None:
        for name in self.fields:
            for axis, letter in enumerate(self.grid.names):
                for end in "-+":
                    condition = self._sides.conditions[f"{letter}{end}"][name]
                    fed = isinstance(condition, Robin) or (
                        isinstance(condition, Neumann) and condition.flux != 0
                    )
                    if fed and (name, axis) not in diffusion:
                        raise ValueError(
                            f"boundary['{letter}{end}']: {condition} of {name!r}, which does not "
                            f"diffuse along {letter}: only Neumann(0.0) makes sense there"
                        )

    def _has_data(self) -> frozenset[str]:
        rows = {
            name
            for row in self._sides.conditions.values()
            for name, condition in row.items()
            if isinstance(condition, Dirichlet) and condition.value != 0
        }
        return frozenset(rows)

    def _require_homogeneous(self) -> None:
        for side, row in self._sides.conditions.items():
            for condition in row.values():
                value = getattr(condition, "value", getattr(condition, "flux", 0))
                if value != 0 or isinstance(condition, Robin):
                    raise ValueError(
                        f"boundary[{side!r}] is {condition}: sines and cosines satisfy homogeneous "
                        "Dirichlet and Neumann conditions only; subtract a function that takes the "
                        "data, or use solver='finite_difference'"
                    )

    def _prepare_modes(self, diffusion: Mapping[tuple[str, int], Any], exact: bool) -> None:
        xp, rows = self.xp, []
        vectors: list[list] = [[] for _ in self.grid.shape]
        inverse: list[list] = [[] for _ in self.grid.shape]
        for name in self.fields:
            total: Any = xp.zeros(self.grid.shape, dtype=xp.float64, device=self.device)
            for axis, line in enumerate(self.grid.axes):
                low, high = (self._sides.conditions[f"{line.name}{end}"][name] for end in "-+")
                coefficient = diffusion.get((name, axis), 0.0)
                scaled = tuple(
                    _constant(c, self._sides.parameters) / _number(coefficient)
                    if isinstance(c, Robin)
                    else 0.0
                    for c in (low, high)
                )
                modes = side_modes(
                    line.points,
                    line.spacing,
                    low,
                    high,
                    coefficients=(scaled[0], scaled[1]),
                    exact=exact,
                )
                shape = [-1 if i == axis else 1 for i in range(self.dimension)]
                values = xp.asarray(modes.values.reshape(shape), device=self.device)
                total = total + coefficient * values
                vectors[axis].append(modes.vectors)
                inverse[axis].append(modes.inverse)
            rows.append(total)
        self.linear = xp.stack(rows, axis=0)
        self._vectors = [self.asarray(np.stack(v)) for v in vectors]
        self._inverse = [self.asarray(np.stack(v)) for v in inverse]

    def _prepare_rest(
        self, rest: Mapping[str, Any], diffusion: Mapping[tuple[str, int], Any]
    ) -> None:
        space = self.equation.space
        evaluator = Evaluator(
            space=space,
            parameters=self._values,
            coordinates={n: self.asarray(x) for n, x in self.grid.mesh().items()},
            backend=self._backend,
        )
        self._jets = [s.name for s in space.jets(sympy.Tuple(*rest.values()))]
        self._programs = {row: evaluator.program(expr) for row, expr in rest.items()}
        self._slopes: dict[tuple[str, tuple[int, ...]], list] = {}
        for row, expression in rest.items():
            for jet in space.jets(expression):
                _, orders = parse_derivative(jet.name, space.fields, space.coordinates)
                program = evaluator.program(expression.diff(jet))
                self._slopes.setdefault((row, orders), []).append(program)
        self._diffusion = diffusion
        self._fed = {n: self._is_fed(n) for n in self.fields}

    def _is_fed(self, name: str) -> bool:
        """Whether data at a side feed the field through its diffusion."""
        for axis, letter in enumerate(self.grid.names):
            for end in "-+":
                condition = self._sides.conditions[f"{letter}{end}"][name]
                value = getattr(condition, "value", getattr(condition, "flux", 0))
                if not isinstance(condition, Periodic) and (
                    value != 0 and (name, axis) in self._diffusion
                ):
                    return True
        return False

    def _fed_in(self, name: str, field: Array, time: float) -> Array:
        """Diffusion of a field that is zero inside and takes the data at the sides."""
        bare = self.asarray(self._sides.given_values(name, time)) + 0.0 * field
        total = 0.0 * field
        for axis in range(self.dimension):
            if (name, axis) in self._diffusion:
                orders = [2 if i == axis else 0 for i in range(self.dimension)]
                second = self._sides.jet(bare, name, orders, time)
                total = total + self._diffusion[name, axis] * second
        return total

    def _transformed(self, values: Array, matrices: list[Array]) -> Array:
        xp = self.xp
        for axis, matrix in enumerate(matrices):
            place = axis - self.dimension
            column = xp.moveaxis(values, place, -1)
            # One matrix a field, applied to the last axis of (*batch, fields, *others, n).
            turned = xp.matrix_transpose(matrix)
            if self.dimension == 1:
                product = xp.matmul(column[..., None, :], turned)[..., 0, :]
            else:
                ones = (1,) * (self.dimension - 2)
                turned = xp.reshape(turned, (turned.shape[0], *ones, *turned.shape[1:]))
                product = xp.matmul(column, turned)
            values = xp.moveaxis(product, -1, place)
        return values


def _constant(condition: Robin, parameters: Mapping[str, float]) -> float:
    coefficient = condition.coefficient
    if isinstance(coefficient, int | float):
        return float(coefficient)
    known: Any = {s: parameters.get(str(s)) for s in coefficient.free_symbols}
    if None in known.values():
        raise ValueError(f"Robin: coefficient={coefficient} must be constant in space and time")
    return float(coefficient.subs(known))


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
