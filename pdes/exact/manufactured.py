"""A wanted field, and the source that makes it a solution."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import sympy

from pdes.constrained import ConstrainedEquation
from pdes.equation import Equation
from pdes.exact.flow_solution import FlowSolution
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
        For each field an expression in time and the coordinates; for an equation with constraints
        also the streamfunction or the pressure, and all fields must satisfy the constraints.
    box : float
        Half width of the region where the residual is checked.

    Returns
    -------
    ExactSolution
        Its `equation` is the one with the source.

    Raises
    ------
    ValueError
        If a constraint is not satisfied.

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
    kind = ExactSolution
    if isinstance(equation, ConstrainedEquation):
        kind = FlowSolution
        broken = [n for n in equation.auxiliary if sympy.simplify(source[n]) != 0]
        if broken:
            raise ValueError(
                f"fields: the constraint for {', '.join(broken)} is not satisfied; a source enters "
                "the evolving fields alone: take w = -(psi_xx + psi_yy), or u = psi_y, v = -psi_x"
            )
    return kind(
        name="manufactured",
        equation=forced,
        fields=dict(fields),
        box=box,
        source="method of manufactured solutions",
    )
