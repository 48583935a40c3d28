"""Fourier pseudo-spectral right-hand side of any equation on a periodic box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as xnp
import sympy
from array_api_compat import is_torch_namespace

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.jets import JetSpace
from pdes.solvers.divergence_form import Flux, divergence_form
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.fourier import FourierBasis
from pdes.solvers.lowering import lower
from pdes.solvers.periodicity import check_periodic
from pdes.solvers.products import OnGrid, compile_fluxes, compile_general
from pdes.symbols import TIME

Array = Any


class PseudoSpectral:
    """``d_t v = linear * v + nonlinear(v, t)`` for the Fourier coefficients ``v`` of the fields.

    Derivatives are exact for the modes that the grid carries. Products are formed on the grid and
    dealiased: with at most ``p`` factors only modes up to ``(N - 1)//(p + 1)`` are kept, so that
    no product folds back onto them. Where possible products are summed under a common outer
    derivative, ``-u*u_x`` as ``(-u^2/2)_x``.

    Parameters
    ----------
    equation : Equation
        Its coefficients may be periodic functions of the coordinates, and depend on time.
    grid : Grid
        All axes periodic.
    xp : module, optional
        Namespace of the array API, numpy by default.
    dtype : str, default "float64"
        Or ``"float32"``: precision of the fields.
    device : optional
        Device of the namespace.
    parameters : mapping, optional
        Values that replace those of the equation; scalars of the namespace keep their gradient.
    dealias : bool, default True
        Keep all modes when False.

    Attributes
    ----------
    linear : array, shape (fields, *modes)
        Diagonal linear part in double precision.
    coupling : list of (row, column, array)
        Constant-coefficient terms between different fields, part of `nonlinear`.
    basis : FourierBasis
        Transforms and modes.

    Raises
    ------
    ValueError
        If an axis is not periodic, has an odd number of points or fewer than 8, or a coefficient
        does not have the period of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 32))
    >>> kernel = PseudoSpectral(Equation.from_text("u_t = -u*u_x", name="inviscid"), grid)
    >>> x = grid.coordinates()["x"]
    >>> state = kernel.forward({"u": np.sin(x)})
    >>> rate = kernel.backward(kernel.nonlinear(state, 0.0))["u"]
    >>> bool(np.abs(rate + np.sin(x) * np.cos(x)).max() < 1e-15)
    True
    """

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
        dealias: bool = True,
    ) -> None:
        self.equation, self.grid = equation, grid
        self.xp = xnp if xp is None else xp
        self.fields = tuple(equation.fields)
        self.lowered = lower(equation)
        self.dealias = dealias and self.lowered.degree > 1
        self.basis = FourierBasis(
            grid,
            self.xp,
            dtype,
            device,
            real=not equation.complex_fields,
            degree=self.lowered.degree if self.dealias else 1,
        )
        values = {**equation.parameters, **(parameters or {})}
        check_periodic(self.lowered, grid, values)
        self.evaluator = Evaluator(
            space=equation.space,
            parameters=values,
            coordinates={name: self.basis.asarray(x) for name, x in grid.mesh().items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )
        self._mask = self.basis.multiplier(self.basis.mask)
        self.linear, self.coupling = self._linear_part()
        self.jet_symbols: list[sympy.Expr] = []
        self.nonlinear = self._assemble()

    @property
    def is_linear(self) -> bool:
        """Whether the diagonal linear part is everything."""
        return self.nonlinear is _nothing

    def forward(self, fields: Mapping[str, Array]) -> Array:
        """Fourier coefficients, shape ``(*batch, fields, *modes)``, zero above the cutoff.

        Each field has shape ``(*batch, *grid)``.
        """
        stacked = self.xp.stack([fields[n] for n in self.fields], axis=self._field_axis)
        if not self.basis.real:
            stacked = self.xp.astype(stacked, self.basis.complex_dtype)
        return self.basis.forward(stacked) * self._mask

    def backward(self, state: Array) -> dict[str, Array]:
        """Fields on the grid, each of shape ``(*batch, *grid)``."""
        values = self.basis.inverse(state)
        found = {name: self._pick(values, i) for i, name in enumerate(self.fields)}
        if self.basis.real:
            return found
        return {
            name: value if name in self.equation.complex_fields else self.xp.real(value)
            for name, value in found.items()
        }

    def jets(self, state: Array) -> dict[str, Array]:
        """Every jet that enters a product, on the grid, by name."""
        if not self.jet_symbols:
            return {}
        columns = self._jet_columns(state)
        names = [symbol.name for symbol in self.jet_symbols]
        return {n: self._pick(column, 0) for n, column in zip(names, columns, strict=True)}

    def tail(self, state: Array) -> Array:
        """Largest coefficient in the top tenth of the kept modes over the largest, per sample."""
        return self.xp.max(self.basis.tail(state), axis=-1)

    # Building

    @property
    def _field_axis(self) -> int:
        return -self.basis.dimension - 1

    def _pick(self, values: Array, position: int) -> Array:
        """Entry of the field axis."""
        return values[(..., position, *([slice(None)] * self.basis.dimension))]

    def _linear_part(self) -> tuple[Array, list[tuple[int, int, Array]]]:
        """Diagonal symbols in double precision, and the couplings between fields."""
        xp, basis = self.xp, self.basis
        zero = xp.zeros(basis.modes, dtype=xp.float64, device=basis.device)
        diagonal, coupling = [zero] * len(self.fields), []
        for (row, column), operator in self.lowered.linear.items():
            total = zero
            for orders, coefficient in operator.items():
                symbol = xp.asarray(basis.derivative(orders), device=basis.device)
                total = total + self.evaluator.value(coefficient) * symbol
            i, j = self.fields.index(row), self.fields.index(column)
            if i == j:
                diagonal[i] = total
            else:
                coupling.append((i, j, basis.multiplier(total)))
        if any(xp.isdtype(symbol.dtype, "complex floating") for symbol in diagonal):
            diagonal = [xp.astype(symbol, xp.complex128) for symbol in diagonal]
        return xp.stack(diagonal, axis=0), coupling

    def flux_groups(self) -> list[tuple[int, tuple[int, ...], list[Flux] | sympy.Expr]]:
        """Products by row and outer derivative: one forward transform for each group."""
        space = self.lowered.space
        groups: dict[tuple[int, tuple[int, ...]], list[Flux]] = {}
        found: list[tuple[int, tuple[int, ...], list[Flux] | sympy.Expr]] = []
        for row, name in enumerate(self.fields):
            products = {p: c for p, c in self.lowered.monomials.get(name, {}).items() if p}
            for flux in divergence_form(products, space):
                groups.setdefault((row, flux.orders), []).append(flux)
            if name in self.lowered.general:
                found.append((row, (0,) * self.basis.dimension, self.lowered.general[name]))
        return [*((row, orders, fluxes) for (row, orders), fluxes in groups.items()), *found]

    def _assemble(self) -> Callable[[Array, float], Array]:
        """Build the nonlinear part once, so that a call does little beyond its transforms."""
        xp, basis = self.xp, self.basis
        groups, sources = self.flux_groups(), self._sources()
        if not groups and not sources and not self.coupling:
            return _nothing
        space = self.lowered.space
        found = {s for _, _, item in groups for s in _jets_of(item, space)}
        self.jet_symbols = sorted(found, key=space.rank)
        index = {symbol.name: i for i, symbol in enumerate(self.jet_symbols)}
        functions: list[OnGrid] = []
        multipliers = []
        for _, orders, item in groups:
            scale: Any = 1.0
            if isinstance(item, sympy.Expr):
                functions.append(compile_general(item, index, self.evaluator))
            else:
                scale, function = compile_fluxes(item, index, self.evaluator, xp)
                functions.append(function)
            symbol = xp.asarray(basis.derivative(orders) * basis.mask, device=basis.device)
            multipliers.append(basis.multiplier(scale * symbol))
        collect = self._collector([row for row, _, _ in groups], sources)
        if not groups:
            return lambda state, time: collect(None, state, time)
        self._jet_columns = columns = self._jet_transform()
        multiplier, forward = xp.stack(multipliers), basis.forward
        axis, single = self._field_axis, functions[0] if len(functions) == 1 else None

        def rate(state: Array, time: float) -> Array:
            values = columns(state)
            products = (
                single(values, time)
                if single
                else xp.concat([function(values, time) for function in functions], axis=axis)
            )
            return collect(forward(products) * multiplier, state, time)

        return rate

    def _jet_transform(self) -> Callable[[Array], list[Array]]:
        """Function from the state to one array for each jet, its field axis of length one."""
        xp, basis, space = self.xp, self.basis, self.lowered.space
        parsed = [space.parse(symbol) for symbol in self.jet_symbols]
        columns = [self.fields.index(name) for name, _ in parsed]
        multiplier = xp.stack([basis.multiplier(basis.derivative(orders)) for _, orders in parsed])
        plain = not any(any(orders) for _, orders in parsed)
        identity = columns == list(range(len(self.fields)))
        if len(self.fields) > 1 and not identity:
            take = xp.asarray(columns, device=basis.device)
        inverse, axis, whole = basis.inverse, self._field_axis, (slice(None),) * basis.dimension
        entries = [(..., slice(i, i + 1), *whole) for i in range(len(columns))]

        def transform(state: Array) -> list[Array]:
            if len(self.fields) > 1 and not identity:
                state = xp.take(state, take, axis=axis)
            values = inverse(state if plain else state * multiplier)
            return [values[entry] for entry in entries] if len(entries) > 1 else [values]

        return transform

    def _sources(self) -> dict[int, Any]:
        """Terms without any field, by row: their spectrum, or a function of time giving it."""
        found = {}
        for row, name in enumerate(self.fields):
            expression = self.lowered.monomials.get(name, {}).get(())
            if expression is None:
                continue
            if TIME in expression.free_symbols:
                program = self.evaluator.program(expression)
                found[row] = lambda time, program=program: self._spectrum(program({}, time))
            else:
                found[row] = self._spectrum(self.evaluator.value(expression))
        return found

    def _spectrum(self, values: Any) -> Array:
        xp, basis = self.xp, self.basis
        kind = getattr(xp, basis.dtype) if basis.real else basis.complex_dtype
        full = values + xp.zeros(self.grid.shape, dtype=kind, device=basis.device)
        return basis.forward(full) * self._mask

    def _collector(
        self, rows: list[int], sources: dict[int, Any]
    ) -> Callable[[Array | None, Array, float], Array]:
        """Function that sums flux spectra, couplings and sources into one array of rows."""
        count = len(self.fields)
        if not sources and not self.coupling and rows == list(range(count)):
            return lambda fluxes, state, time: fluxes
        if not sources and not self.coupling and count == 1:
            axis = self._field_axis
            return lambda fluxes, state, time: self.xp.sum(fluxes, axis=axis, keepdims=True)
        coupling = self.coupling

        def collect(fluxes: Array | None, state: Array, time: float) -> Array:
            total: list[Any] = [0.0 * self._pick(state, i) for i in range(count)]
            for position, row in enumerate(rows):
                total[row] = total[row] + self._pick(fluxes, position)
            for row, column, symbol in coupling:
                total[row] = total[row] + symbol * self._pick(state, column)
            for row, source in sources.items():
                total[row] = total[row] + (source(time) if callable(source) else source)
            return self.xp.stack(total, axis=self._field_axis)

        return collect


def _nothing(state: Array, time: float) -> Array:
    """Nonlinear part of an equation that has none."""
    return 0.0 * state


def _jets_of(item: list[Flux] | sympy.Expr, space: JetSpace) -> list[sympy.Symbol]:
    if isinstance(item, sympy.Expr):
        return space.jets(item)
    return [symbol for flux in item for base, _ in flux.powers for symbol in base.free_symbols]
