"""Burgers' equation without viscosity, ``u_t = -u*u_x``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import Dirichlet
from pdes.equation import Equation, coordinate
from pdes.exact.burgers_riemann import BurgersRiemann
from pdes.exact.characteristics import Characteristics
from pdes.grid import Grid
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.solvers.cell_sides import cell_grid
from pdes.symbols import number

_ENTROPY = Invariant(
    name="entropy",
    density="u^2/2",
    law="nonincreasing",
    note="constant while the field is smooth, lost in shocks",
)


def burgers_inviscid_equation() -> Equation:
    """Burgers' equation without viscosity.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(burgers_inviscid_equation())
    u_t = -u*u_x
    """
    return Equation.from_text("u_t = -u*u_x", name="burgers_inviscid")


@register("burgers_inviscid", tags=["1d", "nonlinear", "hyperbolic"])
def burgers_inviscid(amplitude: float = 1.0, mean: float = 0.5) -> Problem:
    """A sine wave on a circle of length ``2 pi`` that steepens until just before its shock."""
    amplitude = check_range("burgers_inviscid", "amplitude", amplitude, 0.01, 10.0)
    mean = check_range("burgers_inviscid", "mean", mean, -10.0, 10.0)
    equation = burgers_inviscid_equation()
    profile = number(mean) + number(amplitude) * sympy.sin(coordinate("x"))
    solution = Characteristics(equation=equation, profile=profile)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=solution.initial,
        times=np.linspace(0.0, 0.8 * solution.stop, 41),
        exact={"characteristics": solution},
        exact_name="characteristics",
        invariants=(mass(), _ENTROPY),
        solver="weno5",
        notes=f"The closed form ends at the first shock, t={solution.stop:.6g}.",
    )


@register("burgers_riemann", tags=["1d", "nonlinear", "hyperbolic", "not periodic"])
def burgers_riemann(left: float = 1.0, right: float = 0.0) -> Problem:
    """A jump that travels as a shock, or opens into a fan if the left state is the lower one."""
    left = check_range("burgers_riemann", "left", left, -10.0, 10.0)
    right = check_range("burgers_riemann", "right", right, -10.0, 10.0)
    equation = burgers_inviscid_equation()
    solution = BurgersRiemann(equation=equation, left=left, right=right)
    fastest = max(abs(left), abs(right), 1e-3)
    return Problem(
        equation=equation,
        grid=cell_grid(x=(-1.0, 1.0, 200)),
        boundary={"x-": Dirichlet(left), "x+": Dirichlet(right)},
        initial=solution.initial,
        times=np.linspace(0.0, 0.8 / fastest, 41),
        exact={"riemann": solution},
        exact_name="riemann",
        invariants=(
            Invariant(
                name="mass",
                density="u",
                law="balance",
                rate=number(0.25 * (left**2 - right**2)),
                note="inflow minus outflow, over the length 2",
            ),
        ),
        solver="weno5",
    )
