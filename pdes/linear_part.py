"""The constant-coefficient linear part of an equation, apart from the rest."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from pdes.jets import JetSpace, parse_derivative
from pdes.symbols import to_python
from pdes.term import Term

__all__ = ["LinearPart", "split_linear"]

LinearPart = dict[tuple[str, str], dict[tuple[int, ...], complex]]
"""(row field, column field) to a dict from orders of differentiation to coefficient."""


def split_linear(
    rows: Mapping[str, Mapping[Term, sympy.Expr]], space: JetSpace
) -> tuple[LinearPart, dict[str, sympy.Expr]]:
    """Separate terms that are one field or derivative with a constant coefficient.

    Parameters
    ----------
    rows
        For each field its terms with numeric coefficients.
    space
        The fields and coordinates.

    Returns
    -------
    linear : dict
        See :data:`LinearPart`.
    rest : dict
        For every field what remains, as an expression in functions.
    """
    linear: LinearPart = {}
    rest: dict[str, sympy.Expr] = {}
    for row, terms in rows.items():
        remaining = []
        for term, coefficient in terms.items():
            jet = _single_jet(term)
            if jet is None:
                remaining.append(coefficient * term.expr)
            else:
                column, orders = parse_derivative(jet.name, space.fields, space.coordinates)
                linear.setdefault((row, column), {})[orders] = to_python(coefficient)
        rest[row] = space.to_functions(sympy.Add(*remaining))
    return linear, rest


def _single_jet(term: Term) -> sympy.Symbol | None:
    if len(term.factors) != 1 or term.explicit != 1 or not term.is_polynomial:
        return None
    jet, power = term.factors[0]
    return jet if power == 1 and isinstance(jet, sympy.Symbol) else None
