"""The linear differential operator of an equation, term by term, with the weight of every term."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportCallIssue=false
# pyright: reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false

from __future__ import annotations

from dataclasses import dataclass

import sympy

from pdes.equation import Equation
from pdes.jets import parse_derivative
from pdes.symbols import number, parameter

__all__ = ["OperatorTerms", "UnsupportedEquation", "WeightedTerm", "read_operator"]


class UnsupportedEquation(ValueError):  # noqa: N818
    """The equation has no phase and amplitude of the kind that is built here."""


@dataclass(frozen=True)
class WeightedTerm:
    """One term ``coefficient * d^orders d_t^time_order`` of the operator ``d_t^r - rhs``.

    Parameters
    ----------
    coefficient : sympy.Expr
        Function of position and time.
    time_order : int
        Derivatives in time.
    orders : tuple of int
        Derivatives along each coordinate.
    weight : int
        Power of the large frequency by which the term is multiplied.
    """

    coefficient: sympy.Expr
    time_order: int
    orders: tuple[int, ...]
    weight: int = 0


@dataclass(frozen=True)
class OperatorTerms:
    """Right-hand side of a linear scalar equation.

    Parameters
    ----------
    equation : Equation
        Where it comes from.
    time_order : int
        1 or 2.
    terms : dict
        ``(derivatives in time, orders in space)`` to coefficient.
    """

    equation: Equation
    time_order: int
    terms: dict[tuple[int, tuple[int, ...]], sympy.Expr]

    @property
    def order(self) -> int:
        """Highest order of differentiation in space."""
        return max(sum(orders) for _, orders in self.terms)

    def weighted(self) -> list[WeightedTerm]:
        """All terms of ``d_t^r - rhs``, each split into what turns the phase and what damps.

        Raises
        ------
        UnsupportedEquation
            If a term of the highest order damps: the phase would not be real.
        """
        m, r = self.order, self.time_order
        if (r * m) % r or m % r:
            raise UnsupportedEquation(
                f"equation {self.equation.name!r} is of order {m} in space and {r} in time: its "
                "frequencies are complex. It needs a real leading symbol, as waves and beams have"
            )
        zeros = (0,) * len(self.equation.coordinates)
        found = [WeightedTerm(sympy.S.One, r, zeros, m - r)]
        for (in_time, orders), coefficient in self.terms.items():
            turning, damping = self._split(coefficient, in_time + sum(orders))
            order = in_time + sum(orders)
            if turning != 0:
                found.append(WeightedTerm(-turning, in_time, orders, m - order))
            if damping != 0:
                self._check_damping(damping, in_time, orders)
                found.append(WeightedTerm(-damping, in_time, orders, m - 1 - order))
        return found

    def _split(self, coefficient: sympy.Expr, order: int) -> tuple[sympy.Expr, sympy.Expr]:
        """Parts whose symbols are in phase with that of the time derivative, and a quarter off."""
        real, imaginary = coefficient.as_real_imag()
        parts = (real, sympy.I * imaginary)
        return parts if (order - self.time_order) % 2 == 0 else (parts[1], parts[0])

    def _check_damping(self, part: sympy.Expr, in_time: int, orders: tuple[int, ...]) -> None:
        if in_time + sum(orders) * self.time_order / self.order < self.time_order:
            return
        what = "".join(c * n for c, n in zip(self.equation.coordinates, orders, strict=True))
        raise UnsupportedEquation(
            f"equation {self.equation.name!r}: the leading term {part}*u_{what} damps instead of "
            "turning the phase, so that phases would be complex (diffusion). A propagator of this "
            "kind needs transport, waves or dispersion at the leading order"
        )


def read_operator(equation: Equation) -> OperatorTerms:
    """Read the operator of a linear scalar equation.

    Parameters
    ----------
    equation : Equation
        One equation of first order in time, or ``u_t = v, v_t = ...``.

    Returns
    -------
    OperatorTerms

    Raises
    ------
    UnsupportedEquation
        If it is nonlinear, vector-valued or without derivatives in space.

    Examples
    --------
    >>> read_operator(Equation.from_text("u_t = -x*u_x")).terms
    {(0, (1,)): -x}
    """
    if not isinstance(equation, Equation):
        raise TypeError(
            f"equation is {type(equation).__name__}: wanted a pdes.Equation; of a Problem take "
            "problem.equation"
        )
    if len(equation.fields) > 1:
        return _velocity_form(equation)
    field = equation.fields[0]
    terms = {(0, orders): c for (_, orders), c in _linear_row(equation, field).items()}
    return _checked(OperatorTerms(equation, 1, terms))


def _velocity_form(equation: Equation) -> OperatorTerms:
    """Read ``u_t = v, v_t = ...`` as one equation of second order in time."""
    zeros = (0,) * len(equation.coordinates)
    if len(equation.fields) == 2:
        for field, velocity in (equation.fields, equation.fields[::-1]):
            if _linear_row(equation, field) == {(velocity, zeros): 1}:
                row = _linear_row(equation, velocity)
                terms = {(int(name == velocity), orders): c for (name, orders), c in row.items()}
                return _checked(OperatorTerms(equation, 2, terms))
    raise UnsupportedEquation(
        f"equation {equation.name!r} has the fields {', '.join(equation.fields)}: phase and "
        "amplitude are built for one field. Of several fields only u_t = v, v_t = ..., which "
        "stands for one equation of second order in time, is read"
    )


def _linear_row(equation: Equation, row: str) -> dict[tuple[str, tuple[int, ...]], sympy.Expr]:
    """Coefficients of the fields' derivatives in one right-hand side."""
    space = equation.space
    values = {parameter(n): number(v) for n, v in equation.parameters.items()}
    expr = sympy.expand(space.from_functions(equation.rhs[row]).xreplace(values))
    jets = space.jets(expr)
    found, rest = {}, expr
    for jet in jets:
        slope = sympy.diff(expr, jet)
        if slope.has(*jets) or slope.has(sympy.conjugate):
            raise UnsupportedEquation(
                f"equation {equation.name!r} is nonlinear in {jet.name}: {equation}. A propagator "
                "moves any initial field by one rule, which only linear equations have"
            )
        found[parse_derivative(jet.name, space.fields, space.coordinates)] = sympy.factor(slope)
        rest = rest - slope * jet
    if sympy.simplify(rest) != 0:
        raise UnsupportedEquation(
            f"equation {equation.name!r} holds {sympy.simplify(rest)}, which is not linear in its "
            "field: only linear equations without a source have a propagator"
        )
    return found


def _checked(operator: OperatorTerms) -> OperatorTerms:
    if not operator.terms or operator.order == 0:
        raise UnsupportedEquation(
            f"equation {operator.equation.name!r} has no derivative in space: nothing propagates"
        )
    return operator
