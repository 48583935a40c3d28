"""Powers of a large frequency in an equation applied to ``exp(i lam phi) a``."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportCallIssue=false
# pyright: reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false

from __future__ import annotations

import sympy

from pdes.equation import Equation
from pdes.jets import JetSpace
from pdes.symbols import TIME, coordinate
from sciml.propagators.operator_terms import OperatorTerms

__all__ = ["frequency_powers", "jet_space", "plain_symbol", "unit_orders"]

_FREQUENCY = sympy.Symbol("lam", positive=True)


def frequency_powers(operator: OperatorTerms) -> dict[int, sympy.Expr]:
    """Coefficients of the powers of the large frequency, in plain symbols."""
    powers: dict[int, sympy.Expr] = {}
    for term in operator.weighted():
        raised = _applied(operator, term.time_order, term.orders)
        for power, part in raised.items():
            total = power + term.weight
            powers[total] = powers.get(total, 0) + term.coefficient * part
    # The lowest powers of weighted terms belong to the remainder, whatever their number.
    return powers


def _applied(operator: OperatorTerms, time_order: int, orders) -> dict[int, sympy.Expr]:
    """Derivative of ``exp(i lam phi) a``, divided by the exponential, by powers of lam."""
    axes = operator.equation.coordinates
    variables = [TIME, *[coordinate(c) for c in axes]]
    phi, a = (sympy.Function(n)(*variables) for n in ("phi", "a"))
    found = a
    for variable, count in zip(variables, (time_order, *orders), strict=True):
        for _ in range(count):
            found = found.diff(variable) + sympy.I * _FREQUENCY * phi.diff(variable) * found
    found = sympy.expand(found)
    count = time_order + sum(orders)
    by_power = {power: found.coeff(_FREQUENCY, power) for power in range(count + 1)}
    return {p: _to_plain(operator, part) for p, part in by_power.items() if part != 0}


def _to_plain(operator: OperatorTerms, expr: sympy.Expr) -> sympy.Expr:
    space = jet_space(operator.equation)
    names = {}
    for node in sorted(expr.atoms(sympy.Derivative), key=lambda d: -len(d.variables)):
        counts = dict.fromkeys((TIME, *[coordinate(c) for c in space.coordinates]), 0)
        for variable, count in node.variable_count:
            counts[variable] += int(count)
        stem = node.expr.func.__name__
        in_time = counts.pop(TIME)
        stem = f"{stem}_{'t' * in_time}" if in_time else stem
        names[node] = space.symbol(stem, tuple(counts.values()))
    expr = expr.xreplace(names)
    zeros = (0,) * len(space.coordinates)
    bare = {f: space.symbol(f.func.__name__, zeros) for f in expr.atoms(sympy.Function)}
    return expr.xreplace({f: s for f, s in bare.items() if f.func.__name__ in ("phi", "a")})


def plain_symbol(operator: OperatorTerms, name: str) -> sympy.Symbol:
    """Symbol of ``phi``, ``a`` or a derivative of theirs in time."""
    return jet_space(operator.equation).symbol(name, (0,) * len(operator.equation.coordinates))


def jet_space(equation: Equation) -> JetSpace:
    """Symbols of phase, amplitude and their derivatives."""
    fields = ("phi", "phi_t", "phi_tt", "a", "a_t", "a_tt")
    return JetSpace(fields, equation.coordinates)


def unit_orders(dimension: int) -> list[tuple[int, ...]]:
    """Orders of the first derivatives, one for each coordinate."""
    return [tuple(int(i == j) for j in range(dimension)) for i in range(dimension)]
