"""Jets: the fields of an equation and their spatial derivatives, as names and as plain symbols.

The derivative of ``u`` twice in x and once in y has the canonical name ``u_xxy``. Algebra on plain
symbols with these names is much faster than on sympy's derivatives of functions, and a total
derivative is a short sum over them (the prolongation formula, P. J. Olver, *Applications of Lie
Groups to Differential Equations*, 1993, eq. 2.38).
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportCallIssue=false
# pyright: reportAssignmentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy.core.function import AppliedUndef

from pdes.symbols import TIME, coordinate, field

__all__ = ["JetSpace", "derivative_name", "parse_derivative"]


def derivative_name(field: str, orders: Sequence[int], coordinates: Sequence[str]) -> str:
    """Canonical name of a spatial derivative.

    Parameters
    ----------
    field
        Name of the field.
    orders
        Order of differentiation along each coordinate.
    coordinates
        Names of the coordinates, one letter each.

    Returns
    -------
    str
        For example ``"u_xxy"``; the bare field name when every order is zero.

    Examples
    --------
    >>> from pdes.term import derivative_name
    >>> derivative_name("u", (2, 1), ("x", "y"))
    'u_xxy'
    """
    if len(orders) != len(coordinates) or any(order < 0 for order in orders):
        raise ValueError(
            f"orders: got {tuple(orders)}, wanted one non-negative order for each of "
            f"{', '.join(coordinates)}"
        )
    suffix = "".join(c * order for c, order in zip(coordinates, orders, strict=True))
    return f"{field}_{suffix}" if suffix else field


def parse_derivative(
    name: str, fields: Sequence[str], coordinates: Sequence[str]
) -> tuple[str, tuple[int, ...]]:
    """Field and orders that a derivative name stands for.

    Parameters
    ----------
    name
        For example ``"u_xxy"`` or ``"h_re_xx"``; the letters may come in any order.
    fields
        The known field names; they may contain underscores.
    coordinates
        Names of the coordinates, one letter each.

    Returns
    -------
    field : str
    orders : tuple of int
        One order per coordinate.

    Raises
    ------
    ValueError
        If the name is no field and no derivative of one.

    Examples
    --------
    >>> from pdes.term import parse_derivative
    >>> parse_derivative("h_re_xx", ("h", "h_re"), ("x",))
    ('h_re', (2,))
    """
    found = _parse_derivative(name, tuple(fields), tuple(coordinates))
    if found is None:
        raise ValueError(
            f"name: {name!r} is neither a field nor a derivative of one; "
            f"the fields are {', '.join(fields)} and the coordinates {', '.join(coordinates)}"
        )
    return found


@lru_cache(maxsize=4096)
def _parse_derivative(
    name: str, fields: tuple[str, ...], coordinates: tuple[str, ...]
) -> tuple[str, tuple[int, ...]] | None:
    if name in fields:
        return name, (0,) * len(coordinates)
    stem, _, suffix = name.rpartition("_")
    if stem in fields and suffix and all(letter in coordinates for letter in suffix):
        return stem, tuple(suffix.count(c) for c in coordinates)
    return None


@dataclass(frozen=True)
class JetSpace:
    """The fields, coordinates and derivatives that an equation is written in.

    Parameters
    ----------
    fields
        Names of the fields, in order.
    coordinates
        Names of the spatial coordinates, in order.
    complex_fields
        The fields that are complex-valued.
    """

    fields: tuple[str, ...]
    coordinates: tuple[str, ...]
    complex_fields: frozenset[str] = frozenset()

    def symbol(self, field: str, orders: Sequence[int]) -> sympy.Symbol:
        """Plain symbol for one derivative."""
        name = derivative_name(field, orders, self.coordinates)
        if field in self.complex_fields:
            return sympy.Symbol(name, complex=True)
        return sympy.Symbol(name, real=True)

    def parse(self, symbol: sympy.Symbol) -> tuple[str, tuple[int, ...]] | None:
        """Field and orders of a symbol, or None if it is a coordinate or a parameter."""
        return _parse_derivative(symbol.name, self.fields, self.coordinates)

    def jets(self, expr: sympy.Basic) -> list[sympy.Symbol]:
        """Field and derivative symbols in an expression, by field and then by order."""
        found = [s for s in expr.free_symbols if self.parse(s)]
        return sorted(found, key=self.rank)

    def rank(self, symbol: sympy.Symbol) -> tuple:
        """Sort key: by field, then by total order, then by direction."""
        field, orders = parse_derivative(symbol.name, self.fields, self.coordinates)
        return self.fields.index(field), sum(orders), tuple(-order for order in orders)

    def derivative(self, expr: sympy.Expr, along: str) -> sympy.Expr:
        """Total derivative along a coordinate of an expression in plain symbols."""
        axis = self.coordinates.index(along)
        total = [expr.diff(coordinate(along))]
        for jet in self.jets(expr):
            field, orders = parse_derivative(jet.name, self.fields, self.coordinates)
            raised = self.symbol(field, [o + (i == axis) for i, o in enumerate(orders)])
            if field not in self.complex_fields:
                total.append(expr.diff(jet) * raised)
                continue
            # A complex field and its conjugate are differentiated as independent quantities.
            bar = sympy.Dummy("conjugate")
            free = expr.xreplace({sympy.conjugate(jet): bar})
            for inner, outer in ((jet, raised), (bar, sympy.conjugate(raised))):
                slope = free.diff(inner).xreplace({bar: sympy.conjugate(jet)})
                total.append(slope * outer)
        return sympy.Add(*total)

    def from_functions(self, expr: sympy.Expr) -> sympy.Expr:
        """Replace functions and their derivatives by plain symbols.

        Fields and coordinates are recognized by name, whatever assumptions they were made with.
        """
        renamed = {}
        for symbol in expr.free_symbols:
            found = self.parse(symbol)
            renamed[symbol] = self.symbol(*found) if found else coordinate(symbol.name)
        expr = expr.xreplace(renamed)
        expr = expr.xreplace({f: self._function(f) for f in expr.atoms(AppliedUndef)})
        if any(not isinstance(d.expr, AppliedUndef) for d in expr.atoms(sympy.Derivative)):
            expr = expr.doit()
        replaced = {d: self._derivative_symbol(d) for d in expr.atoms(sympy.Derivative)}
        zeros = (0,) * len(self.coordinates)
        plain = expr.xreplace(replaced)
        return plain.xreplace(
            {f: self.symbol(f.func.__name__, zeros) for f in plain.atoms(AppliedUndef)}
        )

    def to_functions(self, expr: sympy.Expr) -> sympy.Expr:
        """Replace plain symbols by functions and their derivatives."""
        replaced = {}
        for jet in self.jets(expr):
            name, orders = parse_derivative(jet.name, self.fields, self.coordinates)
            applied = field(name, self.coordinates, complex=name in self.complex_fields)
            pairs = [(coordinate(c), o) for c, o in zip(self.coordinates, orders, strict=True) if o]
            replaced[jet] = sympy.Derivative(applied, *pairs) if pairs else applied
        return _swap(expr, replaced)

    def _function(self, applied: sympy.Expr) -> sympy.Expr:
        name = applied.func.__name__
        wanted = ("t", *self.coordinates)
        if name not in self.fields:
            raise ValueError(
                f"rhs: unknown function {name!r}; the fields are {', '.join(self.fields)}"
            )
        if tuple(str(a) for a in applied.args) != wanted:
            raise ValueError(f"rhs: got {applied}, wanted {name}({', '.join(wanted)})")
        return field(name, self.coordinates, complex=name in self.complex_fields)

    def _derivative_symbol(self, derivative: sympy.Derivative) -> sympy.Symbol:
        counts = dict(derivative.variable_count)
        if not isinstance(derivative.expr, AppliedUndef):
            raise ValueError(f"rhs: cannot evaluate {derivative}; write it out")
        if counts.pop(TIME, 0):
            raise ValueError(
                f"rhs: {derivative} is a time derivative; only spatial derivatives are supported "
                "on the right-hand side"
            )
        orders = [int(counts.pop(coordinate(c), 0)) for c in self.coordinates]
        if counts:
            raise ValueError(f"rhs: {derivative} differentiates along an unknown coordinate")
        return self.symbol(derivative.expr.func.__name__, orders)


def _swap(expr: sympy.Expr, replaced: dict[sympy.Expr, sympy.Expr]) -> sympy.Expr:
    """Replace symbols without simplifying anew.

    Sympy does not know that the derivative of a real function is real, and can search for hours
    when it simplifies functions of such derivatives; as symbols they have been simplified already.
    """
    if not expr.args:
        return replaced.get(expr, expr)
    args = [_swap(a, replaced) for a in expr.args]
    if expr.is_Pow or expr.is_Function:
        return expr.func(*args, evaluate=False)
    return expr.func(*args)
