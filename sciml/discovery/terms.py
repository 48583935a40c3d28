"""Candidate terms of an equation.

A feature is ``weight(x) * d^a (product of powers of fields and their derivatives)``. The outer
derivative is moved onto the test functions exactly; derivatives inside the product have to be
estimated from the data, so conservative features such as ``(u^2)_x`` are preferred.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

Atom = tuple[str, tuple[int, ...]]
"""A field and the orders of its derivative along each space axis."""


def derivative_suffix(orders: Sequence[int], coordinates: Sequence[str]) -> str:
    """Text of a derivative, ``"_xxy"`` for orders (2, 1), empty for none."""
    letters = "".join(name * order for name, order in zip(coordinates, orders, strict=True))
    return f"_{letters}" if letters else ""


@dataclass(frozen=True)
class Feature:
    """One candidate term.

    Attributes
    ----------
    factors : tuple of ((field, orders), power)
        The product inside; empty for the constant.
    outer : tuple of int
        Orders of the derivative of the whole product, moved onto the test function.
    coordinates : tuple of str
        Names of the space axes.
    weight : str
        Factor that depends on the coordinates alone, as text; ``"1"`` for none.
    """

    factors: tuple[tuple[Atom, int], ...]
    outer: tuple[int, ...]
    coordinates: tuple[str, ...]
    weight: str = "1"

    @cached_property
    def name(self) -> str:
        """Name as printed, e.g. ``(u^2)_x``, ``u_x^2``, ``(u*v_x)_x``."""
        pieces = []
        for (name, orders), power in self.factors:
            base = name + derivative_suffix(orders, self.coordinates)
            pieces.append(base if power == 1 else f"{base}^{power}")
        body = "*".join(pieces) or "1"
        outer = derivative_suffix(self.outer, self.coordinates)
        if outer:
            simple = len(self.factors) == 1 and self.factors[0][1] == 1
            undifferentiated = simple and not any(self.factors[0][0][1])
            body = body + outer if undifferentiated else f"({body}){outer}"
        if self.weight == "1":
            return body
        return f"({self.weight})*{body}" if body != "1" else self.weight

    @property
    def differentiated(self) -> bool:
        """Whether a derivative has to be estimated from the data."""
        return any(any(orders) for (_, orders), _ in self.factors)

    @property
    def max_order(self) -> tuple[int, ...]:
        """Highest order of the test function's derivative that the feature needs, per axis."""
        inner = [orders for (_, orders), _ in self.factors] or [(0,) * len(self.outer)]
        return tuple(
            out + max(orders[axis] for orders in inner) for axis, out in enumerate(self.outer)
        )

    def degree(self) -> int:
        """Number of factors."""
        return sum(power for _, power in self.factors)


_OUTER = re.compile(r"^\((?P<inner>.*)\)_(?P<suffix>[a-z]+)$")


def parse_feature(text: str, fields: tuple[str, ...], coordinates: tuple[str, ...]) -> Feature:
    """Read one term.

    Parameters
    ----------
    text : str
        A single product such as ``"u*u_x"``, ``"(u*v_x)_x"``, ``"u_x/x"``.
    fields, coordinates : tuple of str
        Names that may occur.

    Returns
    -------
    Feature
        ``u^j*u_x`` becomes the conservative ``(u^(j+1))_x``, which needs no derivative of data.

    Raises
    ------
    ValueError
        If the text is not a single product of known names.

    Examples
    --------
    >>> parse_feature("u^2*u_x", ("u",), ("x",)).name
    '(u^3)_x'
    """
    outer = [0] * len(coordinates)
    inner = text.replace(" ", "").replace("**", "^")
    match = _OUTER.match(inner)
    if match and _balanced(match["inner"]) and set(match["suffix"]) <= set(coordinates):
        inner = match["inner"]
        for letter in match["suffix"]:
            outer[coordinates.index(letter)] += 1
    factors, weight = _split_product(inner, text, fields, coordinates)
    factors, outer = _conservative(factors, outer)
    if any(outer) and weight != "1" and match:
        raise ValueError(
            f"term {text!r}: a coordinate factor inside a derivative is not supported; "
            "expand the product by hand"
        )
    return Feature(factors, tuple(outer), coordinates, weight)


def _balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


def _split_product(
    inner: str, text: str, fields: tuple[str, ...], coordinates: tuple[str, ...]
) -> tuple[tuple[tuple[Atom, int], ...], str]:
    """Powers of fields and derivatives, and the factor that depends on coordinates alone."""
    import sympy

    from pdes import Equation

    target = fields[0]
    try:
        equation = Equation.from_text(
            _single_term_system(inner, fields), name="term", coordinates=coordinates
        )
    except ValueError as error:
        close = difflib.get_close_matches(inner, fields, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"cannot read the library term {text!r}{hint}: {error}") from error
    expression = sympy.expand(equation.rhs[target].doit())
    if isinstance(expression, sympy.Add):
        raise ValueError(f"library term {text!r} is a sum; list its terms one by one")
    powers: dict[Atom, int] = {}
    weight = sympy.Integer(1)
    for factor in expression.as_ordered_factors():
        base, exponent = factor.as_base_exp()
        atom = _as_atom(base, coordinates)
        if atom is None:
            weight *= factor
            continue
        if not (exponent.is_Integer and exponent > 0):
            raise ValueError(
                f"library term {text!r}: powers of fields must be positive whole numbers"
            )
        powers[atom] = powers.get(atom, 0) + int(exponent)
    if not weight.free_symbols:
        weight = sympy.Integer(1)
    if weight.atoms(sympy.Function) and any(
        str(f.func) in fields for f in weight.atoms(sympy.core.function.AppliedUndef)
    ):
        raise ValueError(f"library term {text!r} is not a polynomial in the fields")
    order = {name: position for position, name in enumerate(fields)}
    items = sorted(powers.items(), key=lambda item: (sum(item[0][1]), order[item[0][0]]))
    return tuple(items), str(weight).replace("**", "^")


def _as_atom(base: Any, coordinates: tuple[str, ...]) -> Atom | None:
    import sympy
    from sympy.core.function import AppliedUndef

    if isinstance(base, AppliedUndef):
        return str(base.func), (0,) * len(coordinates)
    if isinstance(base, sympy.Derivative) and isinstance(base.expr, AppliedUndef):
        orders = {str(variable): int(count) for variable, count in cast(Any, base.variable_count)}
        return str(base.expr.func), tuple(orders.get(name, 0) for name in coordinates)
    return None


def _conservative(
    factors: tuple[tuple[Atom, int], ...], outer: list[int]
) -> tuple[tuple[tuple[Atom, int], ...], list[int]]:
    """Move derivatives outwards where that is exact: ``u_xx`` and ``u^j*u_x``."""
    if len(factors) == 1 and factors[0][1] == 1 and any(factors[0][0][1]):
        (name, orders), _ = factors[0]
        total = [a + b for a, b in zip(outer, orders, strict=True)]
        return (((name, (0,) * len(orders)), 1),), total
    if len(factors) == 2:
        (plain, power), (steep, count) = factors
        if plain[0] == steep[0] and count == 1 and not any(plain[1]) and sum(steep[1]) == 1:
            total = [a + b for a, b in zip(outer, steep[1], strict=True)]
            return ((plain, power + 1),), total
    return factors, outer


def expand_feature(feature: Feature, fields: tuple[str, ...]) -> dict[str, float]:
    """Canonical terms of a feature and their coefficients.

    Examples
    --------
    >>> square = Feature(((("u", (0,)), 2),), (2,), ("x",))
    >>> expand_feature(square, ("u",))
    {'u_x^2': 2.0, 'u*u_xx': 2.0}
    """
    from pdes import Equation

    equation = Equation.from_text(
        _single_term_system(feature.name, fields), name="term", coordinates=feature.coordinates
    )
    return {term: float(np.real(c)) for term, c in equation.terms()[fields[0]].items()}


def parse_unit(text: str, fields: tuple[str, ...], coordinates: tuple[str, ...]) -> float:
    """Coefficient of the leading canonical term of a term as written.

    Examples
    --------
    >>> parse_unit("(u^2)_x", ("u",), ("x",)), parse_unit("u*u_x", ("u",), ("x",))
    (2.0, 1.0)
    """
    from pdes import Equation

    equation = Equation.from_text(
        _single_term_system(text, fields), name="term", coordinates=coordinates
    )
    return float(np.real(next(iter(equation.terms()[fields[0]].values()))))


def _single_term_system(term: str, fields: tuple[str, ...]) -> list[str]:
    """A system whose first equation is the term, so that all fields are known to the parser."""
    return [f"{fields[0]}_t = {term}", *(f"{name}_t = 0" for name in fields[1:])]
