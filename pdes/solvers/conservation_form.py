"""Write an equation as a balance law: fluxes of first order, diffusive fluxes, and a source."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from pdes.equation import Equation
from pdes.jets import JetSpace, parse_derivative

__all__ = ["BalanceLaw", "balance_law"]

Rows = Mapping[tuple[str, int], sympy.Expr]


@dataclass(frozen=True, kw_only=True)
class BalanceLaw:
    """``u_t + sum_a D_a flux = sum_a D_a^2 diffusion + source`` for every field ``u``.

    Parameters
    ----------
    space : JetSpace
        Names the fields; fluxes, diffusion and sources are in their plain symbols.
    flux, diffusion : mapping of (field, axis) to sympy.Expr
        Zero ones are left out.
    source : mapping of str to sympy.Expr
        Without any derivative.
    """

    space: JetSpace
    flux: Rows
    diffusion: Rows
    source: Mapping[str, sympy.Expr]

    def slopes(self, rows: Rows) -> dict[tuple[str, str, int], sympy.Expr]:
        """Derivatives of fluxes by the fields: (row, column, axis) to expression."""
        zeros = (0,) * len(self.space.coordinates)
        found = {}
        for (row, axis), expression in rows.items():
            for column in self.space.fields:
                slope = expression.diff(self.space.symbol(column, zeros))
                if slope != 0:
                    found[row, column, axis] = slope
        return found


def balance_law(equation: Equation) -> BalanceLaw:
    """Balance law that equals an equation exactly.

    Parameters
    ----------
    equation : Equation
        With derivatives up to the second order, real fields, and a right-hand side that is the
        divergence of something plus a source.

    Returns
    -------
    BalanceLaw

    Raises
    ------
    ValueError
        If there are complex fields, or a derivative is left that no flux accounts for.

    Examples
    --------
    >>> from pdes import Equation
    >>> law = balance_law(Equation.from_text("u_t = -u*u_x + 0.1*u_xx"))
    >>> law.flux[("u", 0)], law.diffusion[("u", 0)], law.source
    (u**2/2, u/10, {})
    """
    space = equation.space
    if equation.complex_fields:
        raise ValueError(
            f"{equation.name}: finite volumes take real fields, {sorted(equation.complex_fields)} "
            "are complex; use a spectral solver"
        )
    flux: dict[tuple[str, int], sympy.Expr] = {}
    diffusion: dict[tuple[str, int], sympy.Expr] = {}
    source: dict[str, sympy.Expr] = {}
    for row in equation.fields:
        rest = space.from_functions(equation.rhs[row])
        for axis, name in enumerate(space.coordinates):
            found = _potential(rest, space, axis, order=2)
            if found != 0:
                diffusion[row, axis] = found
                twice = space.derivative(space.derivative(found, name), name)
                rest = sympy.expand(rest - twice)
        for axis, name in enumerate(space.coordinates):
            found = _potential(rest, space, axis, order=1)
            if found != 0:
                flux[row, axis] = -found
                rest = sympy.expand(rest - space.derivative(found, name))
        rest = _without_hidden_zeros(rest, space)
        left = _derivatives(rest, space)
        if left:
            raise ValueError(
                f"{equation.name}: the equation of {row} is no balance law for finite volumes: "
                f"{left} are left in {rest} after taking out all fluxes"
            )
        if rest != 0:
            source[row] = rest
    return BalanceLaw(space=space, flux=flux, diffusion=diffusion, source=source)


def _potential(rest: sympy.Expr, space: JetSpace, axis: int, order: int) -> sympy.Expr:
    """Function of the fields whose derivative along the axis holds the leading terms."""
    total: sympy.Expr = sympy.S.Zero
    zeros = (0,) * len(space.coordinates)
    orders = tuple(order if a == axis else 0 for a in range(len(zeros)))
    for column in space.fields:
        field = space.symbol(column, zeros)
        slope = sympy.expand(rest.diff(space.symbol(column, orders)))
        # What a flux of the earlier fields already explains must not be counted again.
        slope = sympy.expand(slope - total.diff(field))
        if slope == 0 or _derivatives(slope, space):
            continue
        total = total + sympy.integrate(slope, field)
    return total


def _without_hidden_zeros(rest: sympy.Expr, space: JetSpace) -> sympy.Expr:
    """Simplify only where trigonometric coefficients hide that a derivative cancels."""
    if _derivatives(rest, space):
        jets = space.jets(rest)
        collected = sympy.collect(sympy.expand(rest), jets, evaluate=False)
        return sympy.Add(*[sympy.simplify(c) * m for m, c in collected.items()])
    return rest


def _derivatives(expression: sympy.Expr, space: JetSpace) -> list[sympy.Symbol]:
    """Jets of order one and more."""
    return [
        jet
        for jet in space.jets(expression)
        if any(parse_derivative(jet.name, space.fields, space.coordinates)[1])
    ]
