"""An evolution equation, written once: text, symbols, numbers and LaTeX all come from it."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

import sympy

from pdes.compile import CompiledEquation, compile_equation
from pdes.jets import JetSpace
from pdes.latex import latex_system
from pdes.linear_part import LinearPart, split_linear
from pdes.names import check_coordinates, check_name, check_parameters, check_symbols
from pdes.normal_form import normalize
from pdes.parser import parse_system, parse_terms
from pdes.printing import joined, term_text
from pdes.residual import residual_of
from pdes.symbols import coordinate, field, number, parameter, to_python
from pdes.term import Term, collect
from pdes.tokens import ParseError, closest

__all__ = ["Equation", "ParseError", "coordinate", "field", "parameter"]


@dataclass(frozen=True, kw_only=True)
class Equation:
    """System of evolution equations, d(field)/dt = right-hand side, one for each field.

    Parameters
    ----------
    name
        What to call it, for example ``"burgers"``.
    rhs
        Right-hand side of each field as a sympy expression in :func:`field`, its derivatives,
        :func:`coordinate` and :func:`parameter`. It is stored multiplied out, with exact decimals.
    parameters
        Values of the symbols that stay symbolic.
    coordinates
        Spatial axes in order, one letter each.
    complex_fields
        The complex-valued fields.

    Raises
    ------
    ValueError
        If a name clashes or is unknown, a value is not finite, or a function is not supported.

    Examples
    --------
    >>> from pdes import Equation
    >>> burgers = Equation.from_text(
    ...     "u_t = -u*u_x + viscosity*u_xx", name="burgers", parameters={"viscosity": 0.1}
    ... )
    >>> print(burgers)
    u_t = -u*u_x + 0.1*u_xx
    >>> burgers.terms()
    {'u': {'u*u_x': -1.0, 'u_xx': 0.1}}
    >>> burgers.jets
    ('u', 'u_x', 'u_xx')
    """

    name: str
    rhs: Mapping[str, sympy.Expr]
    parameters: Mapping[str, float] = dataclass_field(default_factory=dict)
    coordinates: tuple[str, ...] = ("x",)
    complex_fields: frozenset[str] = frozenset()

    _plain: Mapping[str, sympy.Expr] = dataclass_field(init=False, repr=False, compare=False)
    _valued: Mapping[str, sympy.Expr] = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        store = partial(object.__setattr__, self)
        store("coordinates", tuple(self.coordinates))
        store("complex_fields", frozenset(self.complex_fields))
        store("parameters", MappingProxyType(check_parameters(self.parameters)))
        self._check_names()
        space = self.space
        plain = {row: normalize(self._given(row), space) for row in self.rhs}
        for row, expr in plain.items():
            check_symbols(row, expr, space, self.parameters)
        exact = self._exact_parameters()
        valued = {row: normalize(expr.xreplace(exact), space) for row, expr in plain.items()}
        functions = {row: space.to_functions(expr) for row, expr in plain.items()}
        store("_plain", MappingProxyType(plain))
        store("_valued", MappingProxyType(valued))
        store("rhs", MappingProxyType(functions))

    def _check_names(self) -> None:
        fields = tuple(self.rhs)
        if not fields:
            raise ValueError("rhs: no field, wanted at least one right-hand side")
        check_coordinates(self.coordinates)
        for name in fields:
            others = [other for other in fields if other != name]
            check_name("field", name, others, self.coordinates)
        for name in self.parameters:
            check_name("parameter", name, fields, self.coordinates)
        unknown = sorted(self.complex_fields - set(fields))
        if unknown:
            raise ValueError(
                f"complex_fields: got {', '.join(unknown)}; the fields are {', '.join(fields)}"
            )

    def _given(self, row: str) -> sympy.Expr:
        expr = self.rhs[row]
        if not isinstance(expr, sympy.Expr | int | float | complex):
            raise ValueError(
                f"rhs of {row}: got {type(expr).__name__}, wanted a sympy expression; "
                "text goes through Equation.from_text"
            )
        return self.space.from_functions(sympy.S.Zero + expr)

    # -- making ------------------------------------------------------------------------------

    @classmethod
    def from_text(
        cls,
        text: str | Sequence[str],
        *,
        name: str = "equation",
        parameters: Mapping[str, float] | None = None,
        coordinates: Sequence[str] | None = None,
        complex_fields: Iterable[str] = (),
    ) -> Equation:
        """Read an equation from text.

        Parameters
        ----------
        text
            One equation, several separated by line breaks or semicolons, or a list of them.
            Derivatives are ``u_xx``, total derivatives ``(u^2)_x``, powers ``^`` or ``**``, the
            imaginary unit ``I`` or ``1j``.
        name
            What to call it.
        parameters
            Names that stay symbolic, with their values.
        coordinates
            Spatial axes; those of x, y and z that occur in the text if None.
        complex_fields
            Complex-valued fields; a field whose equation holds ``I`` is complex without being
            listed.

        Returns
        -------
        Equation

        Raises
        ------
        ParseError
            A ValueError that shows the place, and the closest name where one is unknown.

        Examples
        --------
        >>> from pdes import Equation
        >>> print(Equation.from_text("h_t = 0.5*I*h_xx + I*abs(h)^2*h"))
        h_t = I*abs(h)^2*h + 0.5*I*h_xx
        """
        if not isinstance(text, str) and not (
            isinstance(text, Sequence) and all(isinstance(line, str) for line in text)
        ):
            raise ValueError(
                f"text: got {type(text).__name__}, wanted an equation such as 'u_t = u_xx'"
            )
        if parameters is not None and not isinstance(parameters, Mapping):
            raise ValueError(
                f"parameters: got {parameters!r}, wanted a mapping of name to value, {{'k': 0.1}}"
            )
        source = text if isinstance(text, str) else "\n".join(text)
        values = check_parameters(parameters or {})
        parsed = parse_system(
            source,
            parameters=tuple(values),
            coordinates=coordinates,
            complex_fields=complex_fields,
        )
        try:
            return cls(
                name=name,
                rhs={f: parsed.space.to_functions(e) for f, e in parsed.rhs.items()},
                parameters=values,
                coordinates=parsed.space.coordinates,
                complex_fields=parsed.space.complex_fields,
            )
        except ValueError as error:
            raise ParseError(str(error), source, 0) from None

    @classmethod
    def from_terms(
        cls,
        terms: Mapping[str, Mapping[str, complex]],
        *,
        name: str = "equation",
        parameters: Mapping[str, float] | None = None,
        coordinates: Sequence[str] = ("x",),
        complex_fields: Iterable[str] = (),
    ) -> Equation:
        """Equation from the coefficients of its terms.

        Parameters
        ----------
        terms
            For each field the coefficient of each term; terms are text such as ``"u*u_x"``.
        name
            What to call it.
        parameters
            Names that may occur in the terms, with their values.
        coordinates
            Spatial axes.
        complex_fields
            Complex-valued fields.

        Returns
        -------
        Equation

        Examples
        --------
        >>> from pdes import Equation
        >>> print(Equation.from_terms({"u": {"u*u_x": -6.0, "u_xxx": -1.0}}, name="kdv"))
        u_t = -6*u*u_x - u_xxx
        """
        space = JetSpace(tuple(terms), tuple(coordinates), frozenset(complex_fields))
        plain = parse_terms(terms, space, tuple(parameters or {}))
        return cls(
            name=name,
            rhs={row: space.to_functions(expr) for row, expr in plain.items()},
            parameters=parameters or {},
            coordinates=space.coordinates,
            complex_fields=space.complex_fields,
        )

    def with_parameters(self, **values: float) -> Equation:
        """Same equation with other parameter values.

        Raises
        ------
        ValueError
            If a name is unknown; the closest known one is offered.

        Examples
        --------
        >>> from pdes import Equation
        >>> heat = Equation.from_text("u_t = k*u_xx", parameters={"k": 1.0})
        >>> print(heat.with_parameters(k=0.25))
        u_t = 0.25*u_xx
        """
        for name in values:
            if name not in self.parameters:
                raise ValueError(
                    f"unknown parameter {name!r}.{closest(name, self.parameters)} "
                    f"The parameters are {', '.join(self.parameters) or '(none)'}"
                )
        return replace(self, parameters={**self.parameters, **values})

    # -- looking inside ----------------------------------------------------------------------

    @cached_property
    def space(self) -> JetSpace:
        """The fields and coordinates that the equation is written in."""
        return JetSpace(tuple(self.rhs), self.coordinates, self.complex_fields)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(self.rhs)

    @cached_property
    def jets(self) -> tuple[str, ...]:
        """Canonical names of the fields and derivatives that the right-hand side needs."""
        return tuple(s.name for s in self.space.jets(sympy.Tuple(*self._plain.values())))

    def terms(self) -> dict[str, dict[str, complex]]:
        """Coefficients of the canonical terms, parameters substituted and products expanded.

        Returns
        -------
        dict
            Field to a dict from term to coefficient; a float, or complex where a coefficient is.

        Raises
        ------
        ValueError
            If a right-hand side is not a polynomial in the fields and their derivatives.

        Examples
        --------
        >>> from pdes import Equation
        >>> Equation.from_text("u_t = (u^3)_xx").terms()
        {'u': {'u*u_x^2': 6.0, 'u^2*u_xx': 3.0}}
        """
        found: dict[str, dict[str, complex]] = {}
        for row, terms in self._collected().items():
            for term in terms:
                if not term.is_polynomial:
                    raise ValueError(
                        f"the right-hand side of {row} is not a polynomial in its fields: "
                        f"{term.name(self.space)}"
                    )
            found[row] = {t.name(self.space): to_python(c) for t, c in terms.items()}
        return found

    def split(self) -> tuple[LinearPart, dict[str, sympy.Expr]]:
        """Linear part with constant coefficients, and the rest.

        Returns
        -------
        linear : dict
            (row field, column field) to a dict from orders of differentiation to coefficient.
        nonlinear : dict
            For every field the remaining right-hand side, parameters substituted.

        Examples
        --------
        >>> from pdes import Equation
        >>> linear, nonlinear = Equation.from_text("u_t = -u*u_x + 0.1*u_xx").split()
        >>> linear
        {('u', 'u'): {(2,): 0.1}}
        >>> nonlinear
        {'u': -u(t, x)*Derivative(u(t, x), x)}
        """
        return split_linear(self._collected(), self.space)

    # -- using -------------------------------------------------------------------------------

    def compile(self, backend: Literal["numpy", "torch"] = "numpy") -> CompiledEquation:
        """Right-hand side as a function of arrays.

        Parameters
        ----------
        backend
            ``"numpy"``, or ``"torch"`` for a differentiable one.

        Returns
        -------
        CompiledEquation
            ``f(jets, coordinates=None, **parameter_overrides)`` with ``jets`` a mapping from
            derivative names to arrays; it returns the time derivative of each field.

        Examples
        --------
        >>> import numpy as np
        >>> from pdes import Equation
        >>> f = Equation.from_text("u_t = u*(1 - u) + k*u_xx", parameters={"k": 0.5}).compile()
        >>> f({"u": np.array([0.5, 2.0]), "u_xx": np.array([1.0, 0.0])})["u"]
        array([ 0.75, -2.  ])
        """
        return compile_equation(self._plain, self.space, self.parameters, backend)

    def residual(self, expressions: Mapping[str, sympy.Expr]) -> dict[str, sympy.Expr]:
        """What is left of d(field)/dt - rhs when explicit expressions are put in.

        Parameters
        ----------
        expressions
            For each field an expression in t and the coordinates; symbols are matched by name.

        Returns
        -------
        dict
            Field to residual, parameters substituted; zero (perhaps after simplification) for an
            exact solution.

        Examples
        --------
        >>> import sympy
        >>> from pdes import Equation
        >>> t, x = sympy.symbols("t x", real=True)
        >>> heat = Equation.from_text("u_t = u_xx")
        >>> heat.residual({"u": sympy.exp(-t) * sympy.sin(x)})
        {'u': 0}
        """
        exact = self._exact_parameters()
        found = residual_of(self._plain, self.space, expressions)
        return {name: value.xreplace(exact) for name, value in found.items()}

    # -- writing -----------------------------------------------------------------------------

    def text(self, *, symbolic: bool = False) -> str:
        """Text that :meth:`from_text` reads back.

        Parameters
        ----------
        symbolic
            Keep parameters as names instead of putting in their values.

        Returns
        -------
        str
            One equation a line.

        Examples
        --------
        >>> from pdes import Equation
        >>> heat = Equation.from_text("u_t = k*u_xx", parameters={"k": 0.5})
        >>> heat.text(symbolic=True)
        'u_t = k*u_xx'
        """
        return "\n".join(
            f"{row}_t = " + joined([term_text(c, t.name(self.space)) for t, c in terms.items()])
            for row, terms in self._collected(symbolic).items()
        )

    def latex(self, *, symbolic: bool = False) -> str:
        """LaTeX, as a physicist writes it; several equations are separated by line breaks.

        Examples
        --------
        >>> from pdes import Equation
        >>> print(Equation.from_text("u_t = -u*u_x + 0.1*u_xx").latex())
        u_t = -u u_x + 0.1 u_{xx}
        """
        return latex_system(self._collected(symbolic), self.space)

    def to_json(self) -> dict[str, Any]:
        """Plain dict for JSON, from which :meth:`from_json` rebuilds an equal equation."""
        return {
            "name": self.name,
            "text": self.text(symbolic=True),
            "parameters": dict(self.parameters),
            "coordinates": list(self.coordinates),
            "complex_fields": sorted(self.complex_fields),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Equation:
        """Equation from the dict that :meth:`to_json` made.

        Examples
        --------
        >>> from pdes import Equation
        >>> heat = Equation.from_text("u_t = k*u_xx", parameters={"k": 0.5})
        >>> Equation.from_json(heat.to_json()) == heat
        True
        """
        return cls.from_text(
            record["text"],
            name=record["name"],
            parameters=record["parameters"],
            coordinates=record["coordinates"],
            complex_fields=record["complex_fields"],
        )

    def __repr__(self) -> str:
        return f"Equation({self.name!r}: {'; '.join(self.text().splitlines())})"

    def __str__(self) -> str:
        return self.text()

    def __hash__(self) -> int:
        return hash((self.name, self.coordinates, frozenset(self.rhs.items())))

    def __reduce__(self) -> tuple:
        return type(self).from_json, (self.to_json(),)

    def _exact_parameters(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {parameter(name): number(value) for name, value in self.parameters.items()}

    def _collected(self, symbolic: bool = False) -> dict[str, dict[Term, sympy.Expr]]:
        rows = self._plain if symbolic else self._valued
        return {row: collect(expr, self.space) for row, expr in rows.items()}
