"""The nonlinear part of a spectral right-hand side, assembled once and then evaluated quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sympy

from pdes.jets import parse_derivative
from pdes.solvers.divergence_form import Flux, divergence_form
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.fourier import FourierBasis
from pdes.solvers.lowering import LoweredEquation
from pdes.solvers.products import OnGrid, compile_fluxes, compile_general
from pdes.symbols import TIME

Array = Any
Coupling = tuple[int, int, Array]


class FluxGroup(NamedTuple):
    """Products of one row under a common outer derivative: one forward transform."""

    row: int
    orders: tuple[int, ...]
    item: list[Flux] | sympy.Expr

    @property
    def expression(self) -> sympy.Expr:
        """What is evaluated on the grid."""
        if isinstance(self.item, sympy.Expr):
            return self.item
        products = [f.coefficient * sympy.Mul(*(b**p for b, p in f.powers)) for f in self.item]
        return sympy.Add(*products)


class NonlinearPart:
    """Products, couplings between fields and sources, as Fourier coefficients.

    Parameters
    ----------
    lowered : LoweredEquation
        The sorted equation.
    basis : FourierBasis
        Transforms and modes.
    evaluator : Evaluator
        Knows parameters and coordinates.
    coupling : list of (row, column, array)
        Constant-coefficient terms between different fields.

    Attributes
    ----------
    groups : list of FluxGroup
        What is transformed to the grid, multiplied and transformed back.
    jet_symbols : list of sympy.Symbol
        Jets that products are made of.
    factored : tuple or None
        Function ``(state, time) -> spectra`` and array whose product is all of the nonlinear part,
        where it has that form: one product for each field, in order, and nothing else. The spectra
        are new arrays, the caller's to overwrite.
    """

    def __init__(
        self,
        lowered: LoweredEquation,
        basis: FourierBasis,
        evaluator: Evaluator,
        coupling: Sequence[Coupling],
    ) -> None:
        self.space, self.basis, self._coupling = lowered.space, basis, list(coupling)
        self._lowered, self._evaluator, self._xp = lowered, evaluator, basis.xp
        self.groups = self._group()
        found = {s for group in self.groups for s in self.space.jets(group.expression)}
        self.jet_symbols: list[sympy.Symbol] = sorted(found, key=self.space.rank)
        self._sources = self._source_spectra()
        self._columns = self._jet_transform()
        self._functions, self._multiplier = self._compile()
        rows = [group.row for group in self.groups]
        self._collect = self._collector(rows)
        self.factored = self._factored(rows)

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing to compute."""
        return not (self.groups or self._sources or self._coupling)

    def __call__(self, state: Array, time: float) -> Array:
        """Rate of change of the coefficients, shape ``(*batch, fields, *modes)``."""
        functions = self._functions
        if not functions:
            return self._collect(None, state, time)
        return self._collect(self._spectra(state, time) * self._multiplier, state, time)

    def _spectra(self, state: Array, time: float) -> Array:
        """Products, transformed; without the multipliers of their outer derivatives."""
        functions, values = self._functions, self._columns(state)
        if len(functions) == 1:
            return self.basis.forward(functions[0](values, time))
        parts = [function(values, time) for function in functions]
        return self.basis.forward(self._xp.concat(parts, axis=self.basis.field_axis))

    def _factored(self, rows: list[int]) -> tuple[OnGrid, Array] | None:
        ordered = rows == list(range(len(self.space.fields)))
        if not ordered or self._sources or self._coupling:
            return None
        return self._spectra, self._multiplier

    def jets(self, state: Array) -> dict[str, Array]:
        """Every jet that enters a product, on the grid, by name."""
        columns = self._columns(state)
        return {
            symbol.name: self.basis.pick(column, 0)
            for symbol, column in zip(self.jet_symbols, columns, strict=True)
        }

    def _group(self) -> list[FluxGroup]:
        groups: dict[tuple[int, tuple[int, ...]], list[Flux]] = {}
        found: list[FluxGroup] = []
        for row, name in enumerate(self.space.fields):
            products = {p: c for p, c in self._lowered.monomials.get(name, {}).items() if p}
            for flux in divergence_form(products, self.space):
                groups.setdefault((row, flux.orders), []).append(flux)
            if name in self._lowered.general:
                zeros = (0,) * self.basis.dimension
                found.append(FluxGroup(row, zeros, self._lowered.general[name]))
        return [*(FluxGroup(row, orders, f) for (row, orders), f in groups.items()), *found]

    def _compile(self) -> tuple[list[OnGrid], Array]:
        """Function of the jets for each group, and the multipliers of their outer derivatives."""
        xp, basis = self._xp, self.basis
        index = {symbol.name: i for i, symbol in enumerate(self.jet_symbols)}
        functions: list[OnGrid] = []
        multipliers = []
        for group in self.groups:
            scale: Any = 1.0
            if isinstance(group.item, sympy.Expr):
                functions.append(compile_general(group.item, index, self._evaluator))
            else:
                scale, function = compile_fluxes(group.item, index, self._evaluator, xp)
                functions.append(function)
            symbol = xp.asarray(basis.derivative(group.orders) * basis.mask, device=basis.device)
            multipliers.append(basis.multiplier(scale * symbol))
        return functions, xp.stack(multipliers) if multipliers else None

    def _jet_transform(self) -> Callable[[Array], list[Array]]:
        """Function from the state to one array for each jet, its field axis of length one."""
        xp, basis, fields = self._xp, self.basis, self.space.fields
        if not self.jet_symbols:
            return lambda state: []
        parsed = [
            parse_derivative(symbol.name, fields, self.space.coordinates)
            for symbol in self.jet_symbols
        ]
        columns = [fields.index(name) for name, _ in parsed]
        multiplier = xp.stack([basis.multiplier(basis.derivative(orders)) for _, orders in parsed])
        plain = not any(any(orders) for _, orders in parsed)
        # One field broadcasts over its jets; more fields are gathered unless they come in order.
        gathered = len(fields) > 1 and columns != list(range(len(fields)))
        take = xp.asarray(columns, device=basis.device) if gathered else None
        inverse, axis, whole = basis.inverse, basis.field_axis, (slice(None),) * basis.dimension
        entries = [(..., slice(i, i + 1), *whole) for i in range(len(columns))]

        def transform(state: Array) -> list[Array]:
            if gathered:
                state = xp.take(state, take, axis=axis)
            values = inverse(state if plain else state * multiplier)
            return [values[entry] for entry in entries] if len(entries) > 1 else [values]

        return transform

    def _source_spectra(self) -> dict[int, Any]:
        """Terms without any field, by row: their spectrum, or a function of time giving it."""
        found = {}
        for row, name in enumerate(self.space.fields):
            expression = self._lowered.monomials.get(name, {}).get(())
            if expression is None:
                continue
            if TIME in expression.free_symbols:
                program = self._evaluator.program(expression)
                found[row] = lambda time, program=program: self._spectrum(program({}, time))
            else:
                found[row] = self._spectrum(self._evaluator.value(expression))
        return found

    def _spectrum(self, values: Any) -> Array:
        xp, basis = self._xp, self.basis
        kind = getattr(xp, basis.dtype) if basis.real else basis.complex_dtype
        full = values + xp.zeros(basis.grid.shape, dtype=kind, device=basis.device)
        return basis.forward(full) * basis.multiplier(basis.mask)

    def _collector(self, rows: list[int]) -> Callable[[Array | None, Array, float], Array]:
        """Function that sums flux spectra, couplings and sources into one array of rows."""
        xp, basis, count = self._xp, self.basis, len(self.space.fields)
        axis, coupling, sources = basis.field_axis, self._coupling, self._sources
        if not sources and not coupling and rows == list(range(count)):
            return lambda fluxes, state, time: fluxes
        if not sources and not coupling and count == 1 and rows:
            return lambda fluxes, state, time: xp.sum(fluxes, axis=axis, keepdims=True)

        def collect(fluxes: Array | None, state: Array, time: float) -> Array:
            total: list[Any] = [0.0 * basis.pick(state, i) for i in range(count)]
            for position, row in enumerate(rows):
                total[row] = total[row] + basis.pick(fluxes, position)
            for row, column, symbol in coupling:
                total[row] = total[row] + symbol * basis.pick(state, column)
            for row, source in sources.items():
                total[row] = total[row] + (source(time) if callable(source) else source)
            return xp.stack(total, axis=axis)

        return collect
