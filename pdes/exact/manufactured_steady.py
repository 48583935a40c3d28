"""Equations that have a chosen function as their solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown


def manufactured_steady(
    name: str,
    operator: Callable[[Any], Any],
    solution: sympy.Expr,
    box: Mapping[str, tuple[float, float]],
    *,
    parameters: Mapping[str, float] | None = None,
    where: Any = sympy.true,
    source: str = "",
) -> SteadySolution:
    """Closed form of ``operator(u) = f``, where ``f`` is what the operator makes of the solution.

    Parameters
    ----------
    name : str
        What the solution is called.
    operator : callable
        Function of a field, such as ``lambda u: -u.diff(x, 2) - u.diff(y, 2)``.
    solution : sympy.Expr
        In the coordinates of the box and the parameters.
    box : mapping of str to pair of float
        Extent of the domain; its keys are the coordinates.
    parameters : mapping of str to float, optional
        Values of the symbols.
    where : sympy condition, default True
        Where the solution holds.
    source : str
        Where it is from.

    Returns
    -------
    SteadySolution
        Its `residuals` are the equations to solve, for a field ``u``.

    Examples
    --------
    >>> x = sympy.Symbol("x", real=True)
    >>> box = {"x": (0.0, 1.0)}
    >>> solution = manufactured_steady("sine", lambda u: -u.diff(x, 2), sympy.sin(x), box)
    >>> solution.residuals["u"]
    -sin(x) - Derivative(u(x), (x, 2))
    """
    load = sympy.S.Zero + operator(solution)
    return SteadySolution(
        name=name,
        residuals={"u": operator(unknown("u", tuple(box))) - load.doit()},
        fields={"u": solution},
        parameters=parameters or {},
        box=box,
        where=where,
        source=source,
    )
