"""Equations whose solutions break: not for Fourier methods."""

from __future__ import annotations

from pdes.constrained import ConstrainedEquation
from pdes.equation import Equation
from pdes.jets import parse_derivative


def refuse_shocks(equation: Equation) -> None:
    """Refuse a nonlinear first-order equation, which nothing keeps smooth.

    Characteristics of such an equation cross after a finite time. A Fourier method then shows
    oscillations that no number of points removes.

    Parameters
    ----------
    equation : Equation
        What is to be solved by a pseudo-spectral method.

    Raises
    ------
    ValueError
        If no derivative is of higher order than one, and a speed depends on the fields.

    Examples
    --------
    >>> refuse_shocks(Equation.from_text("u_t = -u*u_x + 0.01*u_xx"))
    >>> refuse_shocks(Equation.from_text("u_t = -u*u_x", name="inviscid"))
    Traceback (most recent call last):
        ...
    ValueError: inviscid: nothing keeps the field smooth (viscosity 0): use solver='weno5'...
    """
    if isinstance(equation, ConstrainedEquation):
        return
    space = equation.space
    orders = {
        name: sum(parse_derivative(name, space.fields, space.coordinates)[1])
        for name in equation.jets
    }
    if max(orders.values(), default=0) != 1:
        return
    for row in equation.fields:
        rate = space.from_functions(equation.rhs[row])
        for jet in space.jets(rate):
            if orders.get(jet.name) == 1 and space.jets(rate.diff(jet)):
                raise ValueError(
                    f"{equation.name}: nothing keeps the field smooth (viscosity 0): use "
                    "solver='weno5', or add viscosity; a Fourier method rings at the shock"
                )
