"""From an equation to the pieces that a Fourier solver works with, symbolically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy

from pdes.equation import Equation
from pdes.jets import JetSpace, parse_derivative
from pdes.symbols import coordinate
from pdes.term import Term, collect

Powers = tuple[tuple[sympy.Expr, int], ...]
"""A product: each factor is the symbol of a jet, or the conjugate of one, with its power."""


@dataclass(frozen=True, kw_only=True)
class LoweredEquation:
    """Right-hand sides as constant-coefficient operators, monomials and a remainder.

    Parameters
    ----------
    space : JetSpace
        Names the jets.
    linear : mapping
        ``(row, column) -> {orders: coefficient}``: constant in space and time.
    monomials : mapping
        ``row -> {powers: coefficient}``; the empty product is a source term. Coefficients may
        depend on coordinates and time.
    general : mapping
        ``row -> expression`` in the jet symbols: what is no polynomial in the jets.
    """

    space: JetSpace
    linear: Mapping[tuple[str, str], Mapping[tuple[int, ...], sympy.Expr]]
    monomials: Mapping[str, Mapping[Powers, sympy.Expr]] = field(default_factory=dict)
    general: Mapping[str, sympy.Expr] = field(default_factory=dict)

    @property
    def degree(self) -> int:
        """Most factors in a product, a coefficient that varies in space counting as one."""
        axes = {coordinate(name) for name in self.space.coordinates}
        degrees = [
            sum(power for _, power in powers) + bool(coefficient.free_symbols & axes)
            for row in self.monomials.values()
            for powers, coefficient in row.items()
            if powers
        ]
        # No finite degree fits a general function of the jets; three keeps a margin.
        return max([*degrees, 3 if self.general else 0], default=0)


def lower(equation: Equation) -> LoweredEquation:
    """Sort every term of the right-hand sides by how a Fourier solver treats it.

    Unlike `Equation.split`, parameters stay symbols, so that a solver can be differentiated with
    respect to them.

    Parameters
    ----------
    equation : Equation
        Any equation.

    Returns
    -------
    LoweredEquation

    Examples
    --------
    >>> from pdes import Equation
    >>> lowered = lower(Equation.from_text("u_t = -u*u_x + 0.1*u_xx", name="burgers"))
    >>> lowered.linear
    {('u', 'u'): {(2,): 1/10}}
    >>> lowered.monomials["u"], lowered.degree
    ({((u, 1), (u_x, 1)): -1}, 2)
    """
    space = equation.space
    linear: dict[tuple[str, str], dict[tuple[int, ...], sympy.Expr]] = {}
    monomials: dict[str, dict[Powers, sympy.Expr]] = {}
    general: dict[str, sympy.Expr] = {}
    for row, rhs in equation.rhs.items():
        for term, coefficient in collect(space.from_functions(rhs), space).items():
            if not term.is_polynomial:
                general[row] = general.get(row, sympy.S.Zero) + coefficient * term.expr
            elif _is_linear(term):
                name = str(term.factors[0][0])
                column, orders = parse_derivative(name, space.fields, space.coordinates)
                linear.setdefault((row, column), {})[orders] = coefficient
            else:
                products = monomials.setdefault(row, {})
                products[term.factors] = (
                    products.get(term.factors, sympy.S.Zero) + coefficient * term.explicit
                )
    return LoweredEquation(space=space, linear=linear, monomials=monomials, general=general)


def _is_linear(term: Term) -> bool:
    """Whether a term is one jet, not conjugated, with a constant coefficient."""
    if len(term.factors) != 1 or term.explicit != 1:
        return False
    ((base, power),) = term.factors
    return power == 1 and isinstance(base, sympy.Symbol)
