"""An evolution equation, written once: text, symbols, numbers and LaTeX all come from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import sympy

from pdes.compile import CompiledEquation, compile_equation
from pdes.jets import JetSpace, parse_derivative
from pdes.latex import latex_system
from pdes.normal_form import FUNCTIONS, normalize
from pdes.parser import MAX_EXPONENT, parse_expression, parse_system
from pdes.printing import joined, term_text
from pdes.symbols import TIME, coordinate, field, number, parameter, to_python
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

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "coordinates", tuple(self.coordinates))
        store(self, "complex_fields", frozenset(self.complex_fields))
        values = {name: float(value) for name, value in self.parameters.items()}
        store(self, "parameters", MappingProxyType(values))
        _check_names(tuple(self.rhs), self.coordinates, values, self.complex_fields)
        space = self.space
        plain = {
            name: normalize(space.from_functions(sympy.S(0) + expr), space)
            for name, expr in self.rhs.items()
        }
        for name, expr in plain.items():
            _check_symbols(name, expr, space, values)
        store(self, "_plain", MappingProxyType(plain))
        functions = {name: space.to_functions(expr) for name, expr in plain.items()}
        store(self, "rhs", MappingProxyType(functions))

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
        source = text if isinstance(text, str) else "\n".join(text)
        parsed = parse_system(
            source,
            parameters=tuple(parameters or {}),
            coordinates=coordinates,
            complex_fields=complex_fields,
        )
        return cls(
            name=name,
            rhs={f: parsed.space.to_functions(e) for f, e in parsed.rhs.items()},
            parameters=parameters or {},
            coordinates=parsed.space.coordinates,
            complex_fields=parsed.space.complex_fields,
        )

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
        names = tuple(parameters or {})
        rhs = {
            row: sympy.Add(
                *[
                    number(value) * space.to_functions(parse_expression(term, space, names))
                    for term, value in coefficients.items()
                ]
            )
            for row, coefficients in terms.items()
        }
        return cls(
            name=name,
            rhs=rhs,
            parameters=parameters or {},
            coordinates=tuple(coordinates),
            complex_fields=frozenset(complex_fields),
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

    def split(
        self,
    ) -> tuple[dict[tuple[str, str], dict[tuple[int, ...], complex]], dict[str, sympy.Expr]]:
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
        linear: dict[tuple[str, str], dict[tuple[int, ...], complex]] = {}
        nonlinear: dict[str, sympy.Expr] = {}
        for row, terms in self._collected().items():
            rest = []
            for term, coefficient in terms.items():
                jet = _single_jet(term)
                if jet is None:
                    rest.append(coefficient * term.expr)
                else:
                    column, orders = parse_derivative(jet.name, self.fields, self.coordinates)
                    linear.setdefault((row, column), {})[orders] = to_python(coefficient)
            nonlinear[row] = self.space.to_functions(sympy.Add(*rest))
        return linear, nonlinear

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
        if set(expressions) != set(self.fields):
            raise ValueError(
                f"expressions: got {', '.join(expressions)}, wanted {', '.join(self.fields)}"
            )
        given = {name: _by_name(expressions[name]) for name in self.fields}
        substituted = {}
        for jet in self.space.jets(sympy.Tuple(*self._plain.values())):
            column, orders = parse_derivative(jet.name, self.fields, self.coordinates)
            value = given[column]
            for axis, order in zip(self.coordinates, orders, strict=True):
                value = value.diff(coordinate(axis), order)
            substituted[jet] = value
        exact = self._exact_parameters()
        return {
            name: (given[name].diff(TIME) - rhs.xreplace(substituted)).xreplace(exact)
            for name, rhs in self._plain.items()
        }

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

    def __str__(self) -> str:
        return self.text()

    def __hash__(self) -> int:
        return hash((self.name, self.coordinates, frozenset(self.rhs.items())))

    def __reduce__(self) -> tuple:
        return Equation.from_json, (self.to_json(),)

    def _exact_parameters(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {parameter(name): number(value) for name, value in self.parameters.items()}

    def _collected(self, symbolic: bool = False) -> dict[str, dict[Term, sympy.Expr]]:
        exact = {} if symbolic else self._exact_parameters()
        return {
            row: collect(normalize(expr.xreplace(exact), self.space) if exact else expr, self.space)
            for row, expr in self._plain.items()
        }


def _check_names(
    fields: tuple[str, ...],
    coordinates: tuple[str, ...],
    parameters: Mapping[str, float],
    complex_fields: frozenset[str],
) -> None:
    if not fields:
        raise ValueError("rhs: no field, wanted at least one right-hand side")
    for axis in coordinates:
        if not (len(axis) == 1 and axis.isalpha() and axis.isascii()) or axis in ("t", "I"):
            raise ValueError(f"coordinates: got {axis!r}, wanted one letter other than t and I")
    if not coordinates or len(set(coordinates)) < len(coordinates):
        raise ValueError(f"coordinates: got {coordinates}, wanted one or more different letters")
    for kind, names in (("rhs", fields), ("parameters", tuple(parameters))):
        for name in names:
            if not (name.isidentifier() and name.isascii()) or name.startswith("_"):
                raise ValueError(f"{kind}: {name!r} is no name; use letters, digits, underscores")
            if name in FUNCTIONS or name in ("I", "pi", "t") or name in coordinates:
                raise ValueError(f"{kind}: the name {name!r} has another meaning; choose another")
            others = [f for f in fields if f != name or kind == "parameters"]
            if JetSpace(tuple(others), coordinates).parse(sympy.Symbol(name)):
                raise ValueError(f"{kind}: {name!r} reads as a field or a derivative; rename it")
    for name, value in parameters.items():
        if not math.isfinite(value):
            raise ValueError(f"parameters: {name} is {value}, wanted a finite number")
    unknown = complex_fields - set(fields)
    if unknown:
        raise ValueError(f"complex_fields: {sorted(unknown)} are no fields; fields are {fields}")


def _check_symbols(
    row: str, expr: sympy.Expr, space: JetSpace, parameters: Mapping[str, float]
) -> None:
    known = {"t", *space.coordinates, *parameters}
    for symbol in expr.free_symbols:
        if not space.parse(symbol) and symbol.name not in known:
            raise ValueError(
                f"rhs of {row}: unknown symbol {symbol.name!r}.{closest(symbol.name, parameters)} "
                f"Give its value in parameters"
            )
    if expr.has(sympy.I) and row not in space.complex_fields:
        raise ValueError(
            f"rhs of {row}: the imaginary unit in the equation of a real field; "
            f"name it in complex_fields=({row!r},)"
        )
    for power in expr.atoms(sympy.Pow):
        for symbol in power.exp.free_symbols:
            # Such a power is expanded when values are put in, so its size has to be bounded.
            if abs(parameters.get(symbol.name, 0.0)) > MAX_EXPONENT:
                raise ValueError(
                    f"parameters: {symbol.name} is an exponent of {parameters[symbol.name]}, "
                    f"beyond {MAX_EXPONENT}"
                )


def _single_jet(term: Term) -> sympy.Symbol | None:
    """The jet of a term that is one field or derivative with a constant coefficient."""
    if len(term.factors) != 1 or term.explicit != 1 or not term.is_polynomial:
        return None
    ((jet, power),) = term.factors
    return jet if power == 1 and isinstance(jet, sympy.Symbol) else None


def _by_name(expr: sympy.Expr) -> sympy.Expr:
    expr = sympy.S(0) + expr
    return expr.xreplace({s: sympy.Symbol(s.name, real=True) for s in expr.free_symbols})
