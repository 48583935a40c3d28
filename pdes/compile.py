"""Right-hand sides lowered to programs in which equal subexpressions are computed once."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import sympy

from pdes.jets import JetSpace
from pdes.normal_form import FUNCTIONS
from pdes.program import CompiledEquation, array_functions
from pdes.symbols import to_python

__all__ = ["CompiledEquation", "compile_equation"]

_NODES = {kind: name for name, kind in FUNCTIONS.items() if name != "sqrt"}


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
    array_functions(backend)
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
