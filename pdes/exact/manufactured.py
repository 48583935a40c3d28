"""A wanted field, and the source that makes it a solution."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import sympy

from pdes.equation import Equation
from pdes.exact.solution import ExactSolution


def manufactured(
    equation: Equation, fields: Mapping[str, sympy.Expr], *, box: float = 1.0
) -> ExactSolution:
    """Add to an equation the source that makes given fields solve it.

    Parameters
    ----------
    equation : Equation
        Any equation.
    fields : mapping of str to sympy.Expr
        For each field an expression in time and the coordinates.
    box : float
        Half width of the region where the residual is checked.

    Returns
    -------
    ExactSolution
        Its `equation` is the one with the source.

    Examples
    --------
    >>> from pdes.equation import coordinate
    >>> heat = Equation.from_text("u_t = u_xx", name="heat")
    >>> print(manufactured(heat, {"u": sympy.sin(coordinate("x"))}).equation)
    u_t = sin(x) + u_xx
    """
    source = equation.residual(fields)
    forced = dataclasses.replace(
        equation,
        name=f"{equation.name}_manufactured",
        rhs={name: rhs + source[name] for name, rhs in equation.rhs.items()},
    )
    return ExactSolution(
        name="manufactured",
        equation=forced,
        fields=dict(fields),
        box=box,
        source="method of manufactured solutions",
    )
