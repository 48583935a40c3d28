"""Products of derivatives written as derivatives of products, where that is possible.

``-u*u_x`` equals ``(-u^2/2)_x``. With dealiased products both give the same numbers, but the second
form needs one inverse transform where the first needs two.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import sympy

from pdes.jets import JetSpace
from pdes.solvers.lowering import Powers

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
    independent = {sympy.Symbol(name, real=True) for name in (*space.coordinates, "t")}
    groups: dict[tuple, dict[_Product, sympy.Expr]] = {}
    fluxes = []
    for powers, coefficient in monomials.items():
        product = _product(powers, space)
        orders = _total_orders(product, zeros)
        if coefficient.free_symbols & independent or not any(orders):
            fluxes.append(Flux(zeros, powers, coefficient))
        else:
            groups.setdefault((_factors(product), orders), {})[product] = coefficient
    for (factors, orders), group in groups.items():
        for outer in _descending(orders):
            inner = tuple(total - taken for total, taken in zip(orders, outer, strict=True))
            found = _antiderivative(group, list(_products(factors, inner)), outer)
            if found is not None:
                fluxes.extend(Flux(outer, _powers(p, space), c) for p, c in found.items())
                break
    return fluxes


def _antiderivative(
    group: Mapping[_Product, sympy.Expr], candidates: list[_Product], outer: tuple[int, ...]
) -> dict[_Product, sympy.Expr] | None:
    """Coefficients of `candidates` whose outer derivative is the group, None if there are none."""
    derivatives = [_derivative({candidate: 1}, outer) for candidate in candidates]
    rows = sorted(set(group).union(*derivatives))
    matrix = sympy.Matrix([[d.get(row, 0) for d in derivatives] for row in rows])
    wanted = sympy.Matrix([group.get(row, sympy.S.Zero) for row in rows])
    # Differentiation has no kernel among products, so the normal equations are regular.
    solution = (matrix.T * matrix).LUsolve(matrix.T * wanted)
    if any(sympy.expand(entry) != 0 for entry in matrix * solution - wanted):
        return None
    return {
        candidate: sympy.expand(value)
        for candidate, value in zip(candidates, solution, strict=True)
        if sympy.expand(value) != 0
    }


def _derivative(terms: dict[_Product, int], orders: tuple[int, ...]) -> dict[_Product, int]:
    """Product rule, repeated."""
    for axis, order in enumerate(orders):
        for _ in range(order):
            raised: dict[_Product, int] = {}
            for product, count in terms.items():
                for position, (name, bar, own) in enumerate(product):
                    up = tuple(o + (i == axis) for i, o in enumerate(own))
                    rest = product[:position] + product[position + 1 :]
                    key = tuple(sorted((*rest, (name, bar, up))))
                    raised[key] = raised.get(key, 0) + count
            terms = raised
    return terms


def _products(factors: tuple[tuple[str, bool], ...], orders: tuple[int, ...]) -> Iterator[_Product]:
    """All ways to share derivatives out among the factors, each product once."""
    shares = [list(_shares(order, len(factors))) for order in orders]
    seen = set()
    for choice in itertools.product(*shares):
        product = tuple(
            sorted(
                (name, bar, tuple(axis[i] for axis in choice))
                for i, (name, bar) in enumerate(factors)
            )
        )
        if product not in seen:
            seen.add(product)
            yield product


def _shares(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _shares(total - first, parts - 1):
            yield (first, *rest)


def _descending(orders: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All outer derivatives, the highest first; the last one takes nothing out."""
    choices = itertools.product(*(range(order + 1) for order in orders))
    return sorted(choices, key=lambda outer: (-sum(outer), outer))


def _product(powers: Powers, space: JetSpace) -> _Product:
    product: list[_Factor] = []
    for base, power in powers:
        bar = isinstance(base, sympy.conjugate)
        name, orders = space.parse(base.args[0] if bar else base)
        product += [(name, bar, orders)] * power
    return tuple(sorted(product))


def _powers(product: _Product, space: JetSpace) -> Powers:
    counted: dict[sympy.Expr, int] = {}
    for name, bar, orders in product:
        symbol = space.symbol(name, orders)
        base = sympy.conjugate(symbol) if bar else symbol
        counted[base] = counted.get(base, 0) + 1
    return tuple(counted.items())


def _factors(product: _Product) -> tuple[tuple[str, bool], ...]:
    return tuple((name, bar) for name, bar, _ in product)


def _total_orders(product: _Product, zeros: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(axis) for axis in zip(*(o for _, _, o in product), strict=True)) or zeros
