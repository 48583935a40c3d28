"""The library: which terms an equation may contain."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sciml.discovery.terms import Feature, expand_feature, parse_feature

EXHAUSTIVE_TERMS = 30
"""Largest library whose supports are all compared."""


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


def library_with_products(fields: tuple[str, ...], coordinates: tuple[str, ...]) -> Library:
    """The default library and products of differentiated factors.

    It is the second choice: derivatives inside a product have to be estimated from the data.

    Parameters
    ----------
    fields, coordinates : tuple of str
        Names of the fields and of the space axes.

    Returns
    -------
    Library
        Squares and products of first derivatives; for several fields also ``f*g_x`` and
        ``(f*g_x)_x`` in place of ``(f*g)_x`` and ``(f*g)_xx``, which are sums of two of them.

    Examples
    --------
    >>> library_with_products(("u",), ("x",)).names(("u",), ("x",))[-2:]
    ['(u^3)_xxxx', 'u_x^2']
    """
    pairs = list(itertools.permutations(fields, 2))
    replaced = set()
    extra = []
    for name in coordinates:
        extra += [f"{field}_{name}^2" for field in fields]
        extra += [f"{f}_{name}*{g}_{name}" for f, g in itertools.combinations(fields, 2)]
        for f, g in pairs:
            extra += [f"{f}*{g}_{name}", f"({f}*{g}_{name})_{name}"]
            replaced |= {f"({f}*{g})_{name}", f"({f}*{g})_{name}{name}"}
    extra += [
        f"{field}_{a}*{field}_{b}"
        for field in fields
        for a, b in itertools.combinations(coordinates, 2)
    ]
    kept = [name for name in Library().names(fields, coordinates) if name not in replaced]
    return Library(terms=(*kept, *extra))


def resolve_library(library: Any) -> Library:
    """A :class:`Library` from what a user may give: None, a library, or a list of terms."""
    if library is None:
        return Library()
    if isinstance(library, Library):
        return library
    if isinstance(library, str):
        return Library(terms=(library,))
    if isinstance(library, Mapping):
        raise ValueError(
            f"library is a mapping with the keys {list(library)}: one list of terms serves all "
            "fields, for instance ['u_xx', 'u*u_x']; known coefficients go to known={...}"
        )
    if isinstance(library, Iterable) and all(isinstance(item, str) for item in library):
        return Library(terms=tuple(library))
    raise ValueError(
        f"library must be None, a sciml.Library or a list of terms such as ['u_xx', 'u*u_x'], "
        f"got {type(library).__name__}"
    )


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
