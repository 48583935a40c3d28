"""A linear second-order equation as coefficients of derivatives."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.solvers.linear_form import linear_form
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate

__all__ = ["strong_form"]

Orders = tuple[int, ...]


def strong_form(problem: SteadyProblem) -> tuple[dict[Orders, Any], Any]:
    """Coefficients in ``sum c_alpha d^alpha u = f``, from the divergence form of one equation.

    Parameters
    ----------
    problem : SteadyProblem
        Linear, with one field.

    Returns
    -------
    terms : dict of tuple of int to sympy.Expr
        Order along each axis to coefficient.
    source : sympy.Expr
        Right-hand side.

    Examples
    --------
    >>> import pdes
    >>> strong_form(pdes.get("poisson_interval"))
    ({(2,): -1}, -exp(rate*x))
    """
    form = linear_form(problem)
    dimension = len(problem.coordinates)
    terms: dict[Orders, Any] = {}

    def add(orders: Orders, value: Any) -> None:
        terms[orders] = terms.get(orders, sympy.S.Zero) + value

    def unit(*axes: int) -> Orders:
        return tuple(axes.count(k) for k in range(dimension))

    source = form.load.get((0,), sympy.S.Zero)
    for (_, k, _, m), value in form.second.items():
        add(unit(k, m), -value)
        add(unit(m), -value.diff(coordinate(problem.coordinates[k])))
    for (_, k, _), value in form.drift.items():
        add(unit(k), -value)
        add(unit(), -value.diff(coordinate(problem.coordinates[k])))
    for (_, k), value in form.prestress.items():
        source = source + value.diff(coordinate(problem.coordinates[k]))
    for (_, _, m), value in form.first.items():
        add(unit(m), value)
    for value in form.zeroth.values():
        add(unit(), value)
    return {orders: value for orders, value in terms.items() if value != 0}, source
