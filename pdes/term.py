"""Canonical terms: the one way in which a product of fields and derivatives is written.

``u*u_x``, ``u^2*u_xx``, ``u*v_x``, ``u_x/x``, ``abs(h)^2*h``: undifferentiated factors first, then
by order of the fields, then by order of differentiation, explicit coordinates last.
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy
from sympy.core.function import AppliedUndef

from pdes.jets import JetSpace, derivative_name, parse_derivative
from pdes.normal_form import normalize
from pdes.printing import power_text, product_text
from pdes.symbols import coordinate

__all__ = ["Term", "canonical", "collect", "derivative_name", "parse_derivative"]


@dataclass(frozen=True)
class Term:
    """Product of fields and derivatives, without its coefficient.

    Parameters
    ----------
    factors
        Pairs (jet, power): a plain symbol, or the conjugate of one, to a positive integer power.
    explicit
        Factor that depends on coordinates or time alone; 1 if there is none.
    other
        Factor that depends on fields and is no monomial, such as ``sin(u)``; 1 if there is none.
    """

    factors: tuple[tuple[sympy.Expr, int], ...] = ()
    explicit: sympy.Expr = sympy.S.One
    other: sympy.Expr = sympy.S.One

    @property
    def is_polynomial(self) -> bool:
        """Whether the term is a monomial in the jets."""
        return self.other == 1

    @property
    def expr(self) -> sympy.Expr:
        """The product in plain symbols."""
        return sympy.Mul(*[f**p for f, p in self.factors], self.explicit, self.other)

    def rank(self, space: JetSpace) -> tuple:
        """Sort key that puts reaction before transport before diffusion."""
        jets = space.jets(self.expr)
        highest = max((space.rank(jet)[1] for jet in jets), default=0)
        degree = sum(power for _, power in self.factors)
        ranks = [(*space.rank(_bare(f)), p) for f, p in self.factors]
        return highest, degree, not self.is_polynomial, ranks, self.name(space)

    def powers(self, space: JetSpace) -> list[tuple[str, sympy.Symbol, int]]:
        """Factors in canonical order as (kind, jet, power).

        The kind is ``"plain"``, ``"conj"``, or ``"abs"`` for a jet times its own conjugate.
        """
        powers = dict(self.factors)
        jets = {_bare(f) for f in powers}
        found = []
        for jet in sorted(jets, key=lambda s: (space.rank(s)[1] > 0, space.rank(s))):
            bar = sympy.conjugate(jet)
            plain, barred = powers.get(jet, 0), powers.get(bar, 0) if bar != jet else 0
            paired = min(plain, barred)
            found += [
                ("abs", jet, 2 * paired),
                ("plain", jet, plain - paired),
                ("conj", jet, barred - paired),
            ]
        return [(kind, jet, power) for kind, jet, power in found if power]

    def name(self, space: JetSpace) -> str:
        """Canonical name, for example ``"u*u_x"``."""
        pieces = [
            power_text(jet.name if kind == "plain" else f"{kind}({jet.name})", power)
            for kind, jet, power in self.powers(space)
        ]
        return product_text(pieces, self.other, self.explicit)


def canonical(expr: sympy.Expr, fields: Sequence[str], coordinates: Sequence[str]) -> str:
    """Canonical name of one product of fields and derivatives, its coefficient dropped.

    Parameters
    ----------
    expr
        A product of functions (see :func:`pdes.equation.field`) and their derivatives.
    fields
        Names of the fields, in order.
    coordinates
        Names of the coordinates, in order.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the expression is a sum of different terms.

    Examples
    --------
    >>> from pdes.equation import coordinate, field
    >>> from pdes.term import canonical
    >>> u, x = field("u"), coordinate("x")
    >>> canonical(-3 * u.diff(x) * u, ("u",), ("x",))
    'u*u_x'
    >>> canonical(u.diff(x) / x, ("u",), ("x",))
    'u_x/x'
    """
    complex_fields = frozenset(
        f.func.__name__ for f in expr.atoms(AppliedUndef) if not f.is_extended_real
    )
    space = JetSpace(tuple(fields), tuple(coordinates), complex_fields & frozenset(fields))
    terms = collect(normalize(space.from_functions(expr), space), space)
    if len(terms) != 1:
        raise ValueError(f"expr: got {len(terms)} terms in {expr}, wanted one product")
    return next(iter(terms)).name(space)


def collect(expr: sympy.Expr, space: JetSpace) -> dict[Term, sympy.Expr]:
    """Split a normal form into terms and their coefficients, in order of :meth:`Term.rank`.

    Parameters
    ----------
    expr
        In normal form, in plain symbols.
    space
        The fields and coordinates.

    Returns
    -------
    dict
        Term to coefficient; coefficients hold numbers and parameters only.
    """
    explicit = {coordinate(c) for c in ("t", *space.coordinates)}
    found: dict[Term, list[sympy.Expr]] = {}
    for addend in sympy.Add.make_args(expr):
        if addend == 0:
            continue
        coefficient, factors, along, other = [], {}, [], []
        for factor in sympy.Mul.make_args(addend):
            symbols = factor.free_symbols
            base, power = factor.as_base_exp()
            if any(space.parse(s) for s in symbols):
                if _is_jet(base) and power.is_Integer and power > 0:
                    factors[base] = int(power)
                else:
                    other.append(factor)
            elif symbols & explicit:
                along.append(factor)
            else:
                coefficient.append(factor)
        ordered = sorted(
            factors.items(), key=lambda item: (space.rank(_bare(item[0])), str(item[0]))
        )
        term = Term(tuple(ordered), sympy.Mul(*along), sympy.Mul(*other))
        found.setdefault(term, []).append(sympy.Mul(*coefficient))
    sums = {term: sympy.Add(*parts) for term, parts in found.items()}
    return {term: sums[term] for term in sorted(sums, key=lambda term: term.rank(space))}


def _is_jet(base: sympy.Expr) -> bool:
    return isinstance(_bare(base), sympy.Symbol)


def _bare(factor: sympy.Expr) -> sympy.Expr:
    return factor.args[0] if isinstance(factor, sympy.conjugate) else factor
