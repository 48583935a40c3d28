"""Candidate terms of an equation and the library that lists them.

A feature is ``weight(x) * d^a (product of powers of fields and their derivatives)``. The outer
derivative is moved onto the test functions exactly; derivatives inside the product have to be
estimated from the data, so conservative features such as ``(u^2)_x`` are preferred.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

Atom = tuple[str, tuple[int, ...]]
"""A field and the orders of its derivative along each space axis."""

EXHAUSTIVE_TERMS = 30
"""Largest library whose supports are all compared."""


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


@dataclass(frozen=True)
class Library:
    """Which terms an equation may contain.

    Without arguments: the constant and the derivatives of the powers of the fields. The highest
    derivative is 4 where that keeps the library within 30 terms, so that all supports can be
    compared, and 2 or 3 where there are more fields or space axes.

    Parameters
    ----------
    degree : int, default 3
        Highest total degree of the monomials.
    order : int, optional
        Highest total order of the derivatives.
    mixed : bool, default True
        Whether mixed derivatives such as ``u_xy`` are included.
    constant : bool, default True
        Whether the constant is included.
    extra : sequence of str
        Further terms, for instance ``"u_x^2"``, ``"(u*v_x)_x"`` or ``"u_x/x"``.
    terms : sequence of str, optional
        The whole library, in place of the polynomial one.

    Examples
    --------
    >>> Library(degree=2, order=2).names(("u",), ("x",))
    ['1', 'u', 'u^2', 'u_x', '(u^2)_x', 'u_xx', '(u^2)_xx']
    >>> Library(terms=["u_xx", "u*u_x"]).names(("u",), ("x",))
    ['u_xx', '(u^2)_x']
    """

    degree: int = 3
    order: int | None = None
    mixed: bool = True
    constant: bool = True
    extra: tuple[str, ...] = ()
    terms: tuple[str, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("degree", "order"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0 or value > 8):
                raise ValueError(
                    f"library {name} must be a whole number from 0 to 8, got {value!r}"
                )
        for name in ("extra", "terms"):
            value = getattr(self, name)
            if isinstance(value, str):
                value = (value,)
            if value is not None:
                object.__setattr__(self, name, tuple(value))

    def features(
        self, fields: tuple[str, ...], coordinates: tuple[str, ...]
    ) -> tuple[Feature, ...]:
        """Features of this library for given fields and space axes.

        Parameters
        ----------
        fields, coordinates : tuple of str
            Names of the fields and of the space axes.

        Returns
        -------
        tuple of Feature

        Raises
        ------
        ValueError
            If a term cannot be read, or terms are linearly dependent.
        """
        if self.terms is None:
            features = list(self._polynomial(fields, coordinates))
        else:
            features = [parse_feature(text, fields, coordinates) for text in self.terms]
        features += [parse_feature(text, fields, coordinates) for text in self.extra]
        unique = tuple(dict.fromkeys(features))
        if any(feature.differentiated or feature.weight != "1" for feature in unique):
            _refuse_dependent(unique, fields)
        if not unique:
            raise ValueError("the library is empty: give at least one term")
        return unique

    def names(self, fields: tuple[str, ...], coordinates: tuple[str, ...]) -> list[str]:
        """Names of the features."""
        return [feature.name for feature in self.features(fields, coordinates)]

    def _polynomial(
        self, fields: tuple[str, ...], coordinates: tuple[str, ...]
    ) -> Iterable[Feature]:
        dimensions = len(coordinates)
        monomials = [
            powers
            for powers in itertools.product(range(self.degree + 1), repeat=len(fields))
            if 1 <= sum(powers) <= self.degree
        ]
        monomials.sort(key=lambda powers: (sum(powers), tuple(-p for p in powers)))
        order = self.order
        if order is None:
            order = 2
            for larger in (3, 4):
                count = len(monomials) * len(self._derivatives(larger, dimensions))
                if count + self.constant <= EXHAUSTIVE_TERMS:
                    order = larger
        none = (0,) * dimensions
        if self.constant:
            yield Feature((), none, coordinates)
        for outer in self._derivatives(order, dimensions):
            for powers in monomials:
                factors = tuple(
                    ((name, none), power)
                    for name, power in zip(fields, powers, strict=True)
                    if power
                )
                yield Feature(factors, outer, coordinates)

    def _derivatives(self, order: int, dimensions: int) -> list[tuple[int, ...]]:
        orders = [
            item
            for item in itertools.product(range(order + 1), repeat=dimensions)
            if sum(item) <= order and (self.mixed or sum(1 for k in item if k) <= 1)
        ]
        return sorted(orders, key=lambda item: (sum(item), tuple(-k for k in item)))


def resolve_library(library: Any) -> Library:
    """A :class:`Library` from what a user may give: None, a library, or a list of terms."""
    if library is None:
        return Library()
    if isinstance(library, Library):
        return library
    if isinstance(library, str):
        return Library(terms=(library,))
    if isinstance(library, Iterable) and all(isinstance(item, str) for item in library):
        return Library(terms=tuple(library))
    raise ValueError(
        f"library must be None, a sciml.Library or a list of terms such as ['u_xx', 'u*u_x'], "
        f"got {type(library).__name__}"
    )


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
    if weight == "1":
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


def _refuse_dependent(features: tuple[Feature, ...], fields: tuple[str, ...]) -> None:
    """Raise if some features are linear combinations of others, naming them."""
    expansions = [expand_feature(feature, fields) for feature in features]
    basis = sorted({term for expansion in expansions for term in expansion})
    matrix = np.array([[e.get(term, 0.0) for term in basis] for e in expansions])
    if np.linalg.matrix_rank(matrix) == len(features):
        return
    _, _, vh = np.linalg.svd(matrix.T)
    combination = np.abs(vh[-1])
    names = [f.name for f, c in zip(features, combination, strict=True) if c > 1e-8]
    raise ValueError(
        f"the library terms {', '.join(names)} are linearly dependent: leave one of them out"
    )


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
