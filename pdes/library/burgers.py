"""Burgers' equation ``u_t = -u*u_x + viscosity*u_xx``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdes.boundary import Dirichlet
from pdes.equation import Equation, parameter
from pdes.exact.burgers_shock import burgers_shock as shock_solution
from pdes.exact.cole_hopf import cole_hopf
from pdes.exact.n_wave import n_wave
from pdes.grid import Axis, Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import number


def burgers_equation(viscosity: float = 0.1) -> Equation:
    """Burgers' equation.

    Parameters
    ----------
    viscosity : float
        ``nu`` in length squared per time, in [1e-4, 10]. Without viscosity shocks form, which no
        Fourier method resolves.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(burgers_equation(0.05))
    u_t = -u*u_x + 0.05*u_xx
    """
    viscosity = check_range("burgers", "viscosity", viscosity, 1e-4, 10.0)
    return Equation.from_text(
        "u_t = -u*u_x + viscosity*u_xx", name="burgers", parameters={"viscosity": viscosity}
    )


@register("burgers", tags=["benchmark", "1d", "nonlinear"])
def burgers(viscosity: float = 0.1) -> Problem:
    """Four random modes that steepen and decay on a circle of length ``2 pi``."""
    equation = burgers_equation(viscosity)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 512)),
        initial=RandomFourier(modes=4),
        initial_seed=3,
        invariants=(
            mass(),
            Invariant(name="energy", density="u^2/2", law="balance", rate="-viscosity*u_x^2"),
        ),
        times=np.linspace(0.0, 2.0, 201),
        time_step=0.01 / 20,
        stored_points=256,
        exact={
            "cole_hopf": cole_hopf(equation),
            "shock": shock_solution(equation),
            "n_wave": n_wave(equation),
        },
        source="discovery benchmark",
    )


@register("burgers_shock", tags=["second tier", "1d", "nonlinear", "not periodic"])
def burgers_shock(viscosity: float = 0.1, left: float = 1.0, right: float = 0.0) -> Problem:
    """A viscous shock crossing an interval: sampled from its closed form."""
    equation = burgers_equation(viscosity)
    left = check_range("burgers_shock", "left", left, -10.0, 10.0)
    right = check_range("burgers_shock", "right", right, -10.0, 10.0)
    shock = shock_solution(equation, left=left, right=right)
    # Of the parameters only the viscosity is one of the equation.
    known: dict[Any, Any] = {parameter("left"): number(left), parameter("right"): number(right)}
    ends = Dirichlet(shock.fields["u"].subs(known))
    return Problem(
        equation=equation,
        grid=Grid((Axis("x", -4.0, 8.0, 256, periodic=False),)),
        boundary={"x-": ends, "x+": ends},
        initial=shock.initial,
        times=np.linspace(0.0, 8.0, 201),
        exact={"shock": shock},
        exact_name="shock",
        solver="exact",
        notes="The closed form is sampled; solver='finite_difference' integrates, its ends given.",
    )
