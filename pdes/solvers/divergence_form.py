"""Products of derivatives written as derivatives of products, where that is possible.

``-u*u_x`` equals ``(-u^2/2)_x``. With dealiased products both give the same numbers, but the second
form needs one inverse transform where the first needs two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import sympy

from pdes.jets import JetSpace, parse_derivative
from pdes.solvers.lowering import Powers
from pdes.symbols import coordinate

_Factor = tuple[str, bool, tuple[int, ...]]
_Product = tuple[_Factor, ...]


class Flux(NamedTuple):
    """``coefficient * D^orders(product)``."""

    orders: tuple[int, ...]
    powers: Powers
    coefficient: sympy.Expr


def divergence_form(monomials: Mapping[Powers, sympy.Expr], space: JetSpace) -> list[Flux]:
    """Write a polynomial in jets with as many outer derivatives as possible.

    Parameters
    ----------
    monomials : mapping of powers to expression
        One row of `LoweredEquation.monomials`.
    space : JetSpace
        Names the jets.

    Returns
    -------
    list of Flux
        Their sum equals the polynomial exactly.

    Examples
    --------
    >>> from pdes import Equation
    >>> from pdes.solvers.lowering import lower
    >>> equation = Equation.from_text("u_t = 6*u*u_x^2 + 3*u^2*u_xx", name="cube")
    >>> lowered = lower(equation)
    >>> divergence_form(lowered.monomials["u"], lowered.space)
    [Flux(orders=(2,), powers=((u, 3),), coefficient=1)]
    """
    zeros = (0,) * len(space.coordinates)
    independent = {coordinate(name) for name in (*space.coordinates, "t")}
    groups: dict[tuple, dict[_Product, sympy.Expr]] = {}
    fluxes = []
    for powers, coefficient in monomials.items():
        if coefficient.free_symbols & independent:
            fluxes.append(Flux(zeros, powers, coefficient))
            continue
        product = _product(powers, space)
        # A derivative keeps the fields of a product, and raises its total order evenly.
        factors = tuple(sorted((name, bar) for name, bar, _ in product))
        orders = tuple(sum(axis) for axis in zip(*(o for _, _, o in product), strict=True))
        groups.setdefault((factors, orders), {})[product] = coefficient
    for group in groups.values():
        outer = [0] * len(zeros)
        for axis in range(len(zeros)):
            while (inner := _antiderivative(group, axis)) is not None:
                group, outer[axis] = inner, outer[axis] + 1
        fluxes.extend(Flux(tuple(outer), _powers(p, space), c) for p, c in group.items())
    return fluxes


def _antiderivative(
    group: Mapping[_Product, sympy.Expr], axis: int
) -> dict[_Product, sympy.Expr] | None:
    """Polynomial whose total derivative along an axis is the group, None if there is none.

    With factors ordered by their order of differentiation along the axis, the leading product of a
    derivative is the one with the highest factor raised. So the leading product of the group names
    the only product that it can come from; subtract the derivative of that one and go on.
    """

    def rank(factor: _Factor) -> tuple:
        name, bar, orders = factor
        return (orders[axis], orders, name, bar)

    def leading(product: _Product) -> list[tuple]:
        return sorted((rank(factor) for factor in product), reverse=True)

    remaining, found = dict(group), {}
    while remaining:
        product = max(remaining, key=leading)
        highest, *rest = sorted(product, key=rank, reverse=True)
        lowered = _raised(highest, axis, by=-1)
        if highest[2][axis] == 0 or (rest and rank(lowered) < rank(rest[0])):
            return None
        source = tuple(sorted((lowered, *rest)))
        share = remaining[product] / source.count(lowered)
        found[source] = share
        for position, factor in enumerate(source):
            others = source[:position] + source[position + 1 :]
            term = tuple(sorted((*others, _raised(factor, axis, by=1))))
            remaining[term] = sympy.expand(remaining.get(term, sympy.S.Zero) - share)
        remaining = {term: value for term, value in remaining.items() if value != 0}
    return found


def _raised(factor: _Factor, axis: int, by: int) -> _Factor:
    name, bar, orders = factor
    return name, bar, tuple(order + by * (i == axis) for i, order in enumerate(orders))


def _product(powers: Powers, space: JetSpace) -> _Product:
    product: list[_Factor] = []
    for base, power in powers:
        bar = isinstance(base, sympy.conjugate)
        symbol = str(base.args[0] if bar else base)
        name, orders = parse_derivative(symbol, space.fields, space.coordinates)
        product += [(name, bar, orders)] * power
    return tuple(sorted(product))


def _powers(product: _Product, space: JetSpace) -> Powers:
    counted: dict[sympy.Expr, int] = {}
    for name, bar, orders in product:
        symbol = space.symbol(name, orders)
        base = sympy.conjugate(symbol) if bar else symbol
        counted[base] = counted.get(base, 0) + 1
    return tuple(counted.items())
