"""Right-hand sides as straight-line programs over arrays of numpy or torch.

A program is a list of elementary array operations in which equal subexpressions are computed once
and integer powers are products. It holds no generated code, so it pickles, and it runs the same on
numpy arrays and on torch tensors, differentiably.
"""

from __future__ import annotations

import cmath
import importlib
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np
import sympy

from pdes.jets import JetSpace
from pdes.symbols import to_python
from pdes.tokens import closest

__all__ = ["CompiledEquation", "compile_equation"]

Array = Any
Operation = tuple[str, tuple[int, ...]]

_BINARY: dict[str, Callable] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
}
_UNARY = ("abs", "conj", "cos", "cosh", "exp", "log", "sign", "sin", "sinh", "sqrt", "tan", "tanh")
_NODES = {
    sympy.Abs: "abs",
    sympy.conjugate: "conj",
    **{getattr(sympy, name): name for name in _UNARY if name not in ("abs", "conj", "sqrt")},
}


@dataclass(frozen=True)
class CompiledEquation:
    """Right-hand side as a function of arrays; made by :meth:`pdes.Equation.compile`.

    Parameters
    ----------
    backend
        ``"numpy"`` or ``"torch"``.
    fields
        Names of the fields whose time derivatives are returned.
    jets
        Names of the derivatives that a call needs.
    explicit
        Names of the coordinates that a call needs (``"t"`` for time).
    parameters
        Default values of the parameters.
    constants
        Numbers of the program, which fill its first registers.
    operations
        Elementary operations on registers, each filling the next one.
    outputs
        Register of each field's time derivative.
    """

    backend: Literal["numpy", "torch"]
    fields: tuple[str, ...]
    jets: tuple[str, ...]
    explicit: tuple[str, ...]
    parameters: tuple[tuple[str, float], ...]
    constants: tuple[complex, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]

    def __call__(
        self,
        jets: Mapping[str, Array],
        coordinates: Mapping[str, Array] | None = None,
        **parameter_overrides: Array,
    ) -> dict[str, Array]:
        """Time derivatives of the fields.

        Parameters
        ----------
        jets
            Arrays by derivative name (``"u"``, ``"u_xx"``), of shapes that broadcast together.
        coordinates
            Arrays by coordinate name, and ``"t"``, where the equation depends on them explicitly.
        **parameter_overrides
            Values to use in place of the equation's own; torch scalars may require gradients.

        Returns
        -------
        dict
            Array of the common shape for each field.

        Raises
        ------
        ValueError
            If a jet, a coordinate or a parameter is missing or unknown.
        """
        registers: list[Any] = list(self.constants)
        registers += [_taken(jets, name, "jets") for name in self.jets]
        registers += [_taken(coordinates or {}, name, "coordinates") for name in self.explicit]
        registers += self._parameter_values(parameter_overrides)
        xp = _namespace(self.backend)
        for name, inputs in self.operations:
            if name in _BINARY:
                registers.append(_BINARY[name](registers[inputs[0]], registers[inputs[1]]))
            else:
                registers.append(_apply(xp, name, registers[inputs[0]]))
        return self._shaped(xp, registers, jets)

    def _parameter_values(self, overrides: dict[str, Array]) -> list[Any]:
        known = dict(self.parameters)
        for name in overrides:
            if name not in known:
                raise ValueError(
                    f"unknown parameter {name!r}.{closest(name, known)} "
                    f"The parameters are {', '.join(known) or '(none)'}"
                )
        values = (known | overrides).values()
        # A numpy scalar would turn float32 fields into float64; a Python number does not.
        return [v.item() if isinstance(v, np.generic) else v for v in values]

    def _shaped(
        self, xp: ModuleType, registers: list[Any], jets: Mapping[str, Array]
    ) -> dict[str, Array]:
        arrays = list(jets.values())
        shape = arrays[0].shape if arrays else ()
        if any(a.shape != shape for a in arrays):
            shape = np.broadcast_shapes(*[tuple(a.shape) for a in arrays])
        result = {}
        first_computed = len(registers) - len(self.operations)
        taken: set[int] = set()
        for field, register in zip(self.fields, self.outputs, strict=True):
            value = registers[register]
            if not hasattr(value, "shape"):
                value = xp.zeros_like(arrays[0]) + value if arrays else xp.asarray(value)
            elif register < first_computed or register in taken:
                # The caller may write into a result: never hand out an input, or one array twice.
                value = 1 * value
            taken.add(register)
            if tuple(value.shape) != tuple(shape):
                full = np.broadcast_shapes(tuple(value.shape), tuple(shape))
                value = xp.broadcast_to(value, full)
            result[field] = value
        return result


def compile_equation(
    rhs: Mapping[str, sympy.Expr],
    space: JetSpace,
    parameters: Mapping[str, float],
    backend: Literal["numpy", "torch"],
) -> CompiledEquation:
    """Lower right-hand sides in plain symbols to a program.

    Parameters
    ----------
    rhs
        Field to right-hand side, in normal form.
    space
        The fields and coordinates.
    parameters
        Values of the parameters.
    backend
        ``"numpy"`` or ``"torch"``.

    Returns
    -------
    CompiledEquation
    """
    if backend not in ("numpy", "torch"):
        raise ValueError(f"backend: got {backend!r}, wanted 'numpy' or 'torch'")
    _namespace(backend)
    return _Lowering(rhs, space, parameters).program(backend)


class _Lowering:
    """Turns expressions into operations; equal subexpressions share a register."""

    def __init__(
        self, rhs: Mapping[str, sympy.Expr], space: JetSpace, parameters: Mapping[str, float]
    ) -> None:
        self.rhs = rhs
        symbols = set().union(*[e.free_symbols for e in rhs.values()])
        every = sympy.Tuple(*rhs.values())
        self.jets = [s.name for s in space.jets(every)]
        names = {s.name for s in symbols}
        self.explicit = [c for c in ("t", *space.coordinates) if c in names]
        self.parameters = dict(parameters)
        self.constants: dict[complex, int] = {}
        self.operations: list[tuple[str, tuple[Any, ...]]] = []
        self.known: dict[Any, Any] = {}

    def program(self, backend: Literal["numpy", "torch"]) -> CompiledEquation:
        outputs = [self.node(e) for e in self.rhs.values()]
        inputs = [*self.jets, *self.explicit, *self.parameters]
        place: dict[Any, int] = {("constant", c): i for i, c in enumerate(self.constants)}
        place |= {("input", name): len(place) + i for i, name in enumerate(inputs)}
        start = len(place)
        place |= {("operation", i): start + i for i in range(len(self.operations))}
        return CompiledEquation(
            backend=backend,
            fields=tuple(self.rhs),
            jets=tuple(self.jets),
            explicit=tuple(self.explicit),
            parameters=tuple(self.parameters.items()),
            constants=tuple(self.constants),
            operations=tuple((op, tuple(place[a] for a in args)) for op, args in self.operations),
            outputs=tuple(place[o] for o in outputs),
        )

    def node(self, expr: sympy.Expr) -> Any:
        if expr not in self.known:
            self.known[expr] = self.lowered(expr)
        return self.known[expr]

    def lowered(self, expr: sympy.Expr) -> Any:
        if expr.is_number:
            return self.constant(to_python(expr))
        if expr.is_Symbol:
            return "input", expr.name
        if expr.is_Add:
            return self.added(expr)
        if expr.is_Mul:
            return self.multiplied(expr)
        if isinstance(expr, sympy.exp):
            return self.operation("exp", self.node(expr.args[0]))
        if expr.is_Pow:
            return self.powered(expr.base, expr.exp)
        return self.operation(_NODES[type(expr)], self.node(expr.args[0]))

    def constant(self, value: complex) -> Any:
        self.constants.setdefault(value, len(self.constants))
        return "constant", value

    def operation(self, name: str, *inputs: Any) -> Any:
        key = (name, inputs)
        if key not in self.known:
            self.operations.append(key)
            self.known[key] = ("operation", len(self.operations) - 1)
        return self.known[key]

    def chain(self, name: str, nodes: list[Any]) -> Any:
        total = nodes[0]
        for node in nodes[1:]:
            total = self.operation(name, total, node)
        return total

    def added(self, expr: sympy.Expr) -> Any:
        plus = [a for a in expr.args if not a.could_extract_minus_sign()]
        minus = [-a for a in expr.args if a.could_extract_minus_sign()]
        if not plus:
            return self.operation("mul", self.constant(-1.0), self.node(-expr))
        total = self.chain("add", [self.node(a) for a in plus])
        return self.chain("sub", [total, *[self.node(a) for a in minus]])

    def multiplied(self, expr: sympy.Expr) -> Any:
        """Scalars are multiplied among themselves first, so that few passes go over arrays."""
        scalars, above, below = [], [], []
        for factor in expr.args:
            power = factor.as_base_exp()[1]
            if not {s.name for s in factor.free_symbols} - set(self.parameters):
                scalars.append(factor)
            elif power.is_Rational and power < 0:
                below.append(1 / factor)
            else:
                above.append(factor)
        scale = sympy.Mul(*[s for s in scalars if s.is_number])
        symbolic = [s for s in scalars if not s.is_number]
        nodes = [self.node(scale)] if scale != 1 else []
        nodes += [self.node(s) for s in symbolic]
        front = [self.chain("mul", nodes)] if nodes else []
        body = [self.chain("mul", [self.node(f) for f in above])] if above else []
        top = self.chain("mul", [*front, *body]) if front or body else self.constant(1.0)
        if not below:
            return top
        return self.operation("div", top, self.chain("mul", [self.node(f) for f in below]))

    def powered(self, base: sympy.Expr, power: sympy.Expr) -> Any:
        if not power.is_Rational or power.q > 2:
            return self.operation("pow", self.node(base), self.node(power))
        if power < 0:
            return self.operation("div", self.constant(1.0), self.powered(base, -power))
        factor = self.node(base)
        whole, half = divmod(power.p, 2) if power.q == 2 else (power.p, 0)
        factors = [self.operation("sqrt", factor)] if half else []
        square = factor
        while whole:
            if whole & 1:
                factors.append(square)
            whole >>= 1
            if whole:
                square = self.operation("mul", square, square)
        return self.chain("mul", factors)


def _namespace(backend: str) -> ModuleType:
    if backend == "numpy":
        return np
    return importlib.import_module("array_api_compat.torch")


def _apply(xp: ModuleType, name: str, value: Any) -> Any:
    if not isinstance(value, (float, complex, int)):
        return getattr(xp, name)(value)
    if name == "abs":
        return abs(value)
    if name == "conj":
        return value.conjugate()
    if name == "sign":
        return math.copysign(1.0, value.real) if value else 0.0
    return getattr(cmath if isinstance(value, complex) else math, name)(value)


def _taken(given: Mapping[str, Array], name: str, argument: str) -> Array:
    try:
        return given[name]
    except KeyError:
        raise ValueError(
            f"{argument}: {name!r} is needed, got {', '.join(given) or 'none'}"
        ) from None
