"""A steady problem with loads and data such that known fields solve it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sympy

from pdes.boundary import Dirichlet, Neumann, Robin
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate

_NORMALS = {"x-": (-1, 0), "x+": (1, 0), "y-": (0, -1), "y+": (0, 1)}


def with_solution(
    problem: SteadyProblem,
    fields: Mapping[str, Any],
    box: Mapping[str, tuple[float, float]],
    *,
    coefficients: Mapping[str, Any] | None = None,
    flux: Mapping[str, tuple[Any, Any]] | None = None,
) -> SteadyProblem:
    """The problem with loads and data of its sides such that these fields solve it.

    Equations, domain, solver and the kind of condition on every side stay.
    """
    coefficients = {**problem.coefficients, **(coefficients or {})}
    given = {unknown(name): value for name, value in coefficients.items()}
    known = {**given, **{unknown(name): value for name, value in fields.items()}}
    rows: Mapping[str, Any] = flux or problem.flux or {}
    residual, loads, closed = {}, {}, {}
    for name, expression in problem.residual.items():
        loads[f"load_{name}"] = load = expression.subs(known).doit()
        residual[name] = expression - unknown(f"load_{name}")
        closed[name] = expression.subs(given).doit() - load
    boundary: dict[str, Any] = {}
    for side, wanted in problem.boundary.items():
        own = wanted if isinstance(wanted, Mapping) else dict.fromkeys(fields, wanted)
        boundary[side] = {
            name: _condition(one, fields[name], _normal(rows.get(name), side, known))
            for name, one in own.items()
        }
    exact = SteadySolution(
        name="manufactured",
        residuals=closed,
        fields=dict(fields),
        parameters=problem.parameters,
        box=box,
        source="method of manufactured solutions",
    )
    return dataclasses.replace(
        problem,
        residual=residual,
        coefficients={**coefficients, **loads},
        boundary=boundary,
        exact={exact.name: exact},
        exact_name=exact.name,
    )


def _normal(row: Any, side: str, known: Mapping[Any, Any]) -> Any:
    """Flux of the solution out of a side."""
    if row is None:
        return sympy.S.Zero
    return sum(
        n * (f + 0 * coordinate("x")).subs(known).doit()
        for n, f in zip(_NORMALS[side], row, strict=True)
    )


def _condition(one: Any, value: Any, outward: Any) -> Any:
    if isinstance(one, Dirichlet):
        return Dirichlet(value)
    if isinstance(one, Neumann):
        return Neumann(outward)
    if isinstance(one, Robin):
        return Robin(one.coefficient, outward + one.coefficient * value)
    raise TypeError(f"no manufactured data for {one!r}")
