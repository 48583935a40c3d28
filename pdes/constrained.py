"""Evolution equations with auxiliary fields that constraints determine at every instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any, Self

import sympy

from pdes.equation import Equation
from pdes.jets import JetSpace, parse_derivative
from pdes.latex import latex_system
from pdes.names import check_name
from pdes.normal_form import normalize
from pdes.parser import parse_expression
from pdes.printing import joined, term_text
from pdes.residual import residual_of
from pdes.symbols import coordinate
from pdes.term import Term, collect


@dataclass(frozen=True, kw_only=True)
class ConstrainedEquation(Equation):
    """An `Equation` whose right-hand sides may use fields that do not evolve by themselves.

    Incompressible flow needs it: the pressure, or the streamfunction of a vorticity, follows from
    the evolving fields at each instant by an elliptic equation.

    Parameters
    ----------
    constraints : mapping of str to sympy.Expr
        Auxiliary field to an expression without time derivatives that vanishes.

    Raises
    ------
    ValueError
        If a name clashes or an expression uses an unknown function.

    Examples
    --------
    >>> from pdes.symbols import coordinate, field
    >>> y, w, psi = coordinate("y"), field("w", ("x", "y")), field("psi", ("x", "y"))
    >>> shear = ConstrainedEquation(
    ...     name="tilting",
    ...     rhs={"w": psi.diff(y)},
    ...     constraints={"psi": w + psi.diff(y, 2)},
    ...     coordinates=("x", "y"),
    ... )
    >>> shear.fields, shear.auxiliary, shear.jets
    (('w',), ('psi',), ('psi_y',))
    >>> print(shear)
    w_t = psi_y
    0 = w + psi_yy
    """

    constraints: Mapping[str, sympy.Expr] = dataclass_field(default_factory=dict)

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Names of the fields that constraints determine."""
        return tuple(self.constraints)

    @cached_property
    def space(self) -> JetSpace:
        """Evolving and auxiliary fields, and coordinates."""
        return JetSpace(
            (*self.rhs, *self.constraints), tuple(self.coordinates), frozenset(self.complex_fields)
        )

    def _check_names(self) -> None:
        super()._check_names()
        for name in self.constraints:
            others = [other for other in self.space.fields if other != name]
            check_name("field", name, others, self.coordinates)

    @cached_property
    def plain_constraints(self) -> dict[str, sympy.Expr]:
        """Constraints in plain symbols, multiplied out."""
        return {
            name: normalize(self.space.from_functions(sympy.S.Zero + expr), self.space)
            for name, expr in self.constraints.items()
        }

    def residual(self, expressions: Mapping[str, sympy.Expr]) -> dict[str, sympy.Expr]:
        """What is left of evolution equations and constraints when expressions are put in.

        Parameters
        ----------
        expressions : mapping of str to sympy.Expr
            For each evolving and auxiliary field an expression in t and the coordinates.

        Returns
        -------
        dict
            Field to residual, parameters substituted.
        """
        exact = self._exact_parameters()
        found: dict[str, Any] = dict(residual_of(self._plain, self.space, expressions))
        known: dict[str, Any] = {}
        for name, expr in expressions.items():
            renamed = {s: sympy.Symbol(str(s), real=True) for s in expr.free_symbols}
            known[name] = sympy.S.Zero + expr.xreplace(renamed)
        for name, constraint in self.plain_constraints.items():
            substituted = {}
            for jet in self.space.jets(constraint):
                column, orders = parse_derivative(jet.name, self.space.fields, self.coordinates)
                value = known[column]
                for axis, order in zip(self.coordinates, orders, strict=True):
                    value = value.diff(coordinate(axis), order)
                substituted[jet] = value
            found[name] = constraint.xreplace(substituted)
        return {name: value.xreplace(exact) for name, value in found.items()}

    def text(self, *, symbolic: bool = False) -> str:
        """Evolution equations, then one line ``0 = ...`` for each constraint."""
        lines = [super().text(symbolic=symbolic)]
        for terms in self._collected_constraints(symbolic):
            written = [term_text(c, t.name(self.space)) for t, c in terms.items()]
            lines.append("0 = " + joined(written))
        return "\n".join(lines)

    def latex(self, *, symbolic: bool = False) -> str:
        """LaTeX of the evolution equations and of the constraints."""
        rows = [
            latex_system({"X": terms}, self.space).partition(" = ")[2]
            for terms in self._collected_constraints(symbolic)
        ]
        lines = [super().latex(symbolic=symbolic), *(f"0 = {row}" for row in rows)]
        return " \\\\\n".join(lines)

    def _collected_constraints(self, symbolic: bool) -> list[dict[Term, sympy.Expr]]:
        exact = {} if symbolic else self._exact_parameters()
        valued: list[Any] = [expr.xreplace(exact) for expr in self.plain_constraints.values()]
        return [collect(expr, self.space) for expr in valued]

    def to_json(self) -> dict[str, Any]:
        """Plain dict for JSON; the constraints are part of the text."""
        return {**super().to_json(), "auxiliary": list(self.auxiliary)}

    @classmethod
    def written(
        cls,
        rhs: Mapping[str, str],
        constraints: Mapping[str, str],
        *,
        name: str,
        parameters: Mapping[str, float] | None = None,
        coordinates: Sequence[str] = ("x", "y"),
    ) -> Self:
        """Read both kinds of equations from text.

        Parameters
        ----------
        rhs : mapping of str to str
            Evolving field to its right-hand side.
        constraints : mapping of str to str
            Auxiliary field to the expression that vanishes.
        name : str
            What to call it.
        parameters : mapping of str to float, optional
            Names that stay symbolic, with their values.
        coordinates : sequence of str
            Spatial axes.

        Returns
        -------
        ConstrainedEquation

        Examples
        --------
        >>> print(ConstrainedEquation.written(
        ...     {"w": "psi_y"}, {"psi": "w + psi_xx + psi_yy"}, name="drift"
        ... ))
        w_t = psi_y
        0 = w + psi_xx + psi_yy
        """
        space = JetSpace((*rhs, *constraints), tuple(coordinates))
        known = tuple(parameters or {})
        read = {
            field: space.to_functions(parse_expression(text, space, known))
            for field, text in {**rhs, **constraints}.items()
        }
        return cls(
            name=name,
            rhs={field: read[field] for field in rhs},
            constraints={field: read[field] for field in constraints},
            parameters=parameters or {},
            coordinates=tuple(coordinates),
        )

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Equation from the dict that `to_json` made.

        Examples
        --------
        >>> drift = ConstrainedEquation.written(
        ...     {"w": "k*psi_y"}, {"psi": "w + psi_xx"}, name="drift", parameters={"k": 2.0}
        ... )
        >>> ConstrainedEquation.from_json(drift.to_json()) == drift
        True
        """
        sides = [line.split(" = ", 1) for line in record["text"].splitlines()]
        return cls.written(
            {left.removesuffix("_t"): right for left, right in sides if left != "0"},
            dict(zip(record["auxiliary"], [r for left, r in sides if left == "0"], strict=True)),
            name=record["name"],
            parameters=record["parameters"],
            coordinates=record["coordinates"],
        )

    def __reduce__(self) -> tuple:
        return type(self).from_json, (self.to_json(),)

    def __hash__(self) -> int:
        return hash((super().__hash__(), frozenset(self.constraints.items())))
