"""Burgers' equations in the plane, ``u_t = -u u_x - v u_y + nu lap u`` and the same for ``v``."""

from __future__ import annotations

import numpy as np

from pdes.boundary import Boundary, Dirichlet
from pdes.equation import Equation
from pdes.exact.fletcher import fletcher
from pdes.grid import Axis, Grid
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def burgers_2d_equation(viscosity: float = 0.05) -> Equation:
    """Burgers' equations in two dimensions.

    Parameters
    ----------
    viscosity : float
        ``nu`` in length squared per time, in [1e-3, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(burgers_2d_equation(0.1))
    u_t = -u*u_x - v*u_y + 0.1*u_xx + 0.1*u_yy
    v_t = -u*v_x - v*v_y + 0.1*v_xx + 0.1*v_yy
    """
    viscosity = check_range("burgers_2d", "viscosity", viscosity, 1e-3, 10.0)
    return Equation.from_text(
        "u_t = -u*u_x - v*u_y + viscosity*(u_xx + u_yy);"
        "v_t = -u*v_x - v*v_y + viscosity*(v_xx + v_yy)",
        name="burgers_2d",
        parameters={"viscosity": viscosity},
    )


@register("burgers_2d", tags=["2d", "nonlinear", "not periodic"])
def burgers_2d(viscosity: float = 0.05) -> Problem:
    """An oblique front crossing the unit square, whose sides follow the closed form."""
    equation = burgers_2d_equation(viscosity)
    solution = fletcher(equation)
    given = {name: Dirichlet(expression) for name, expression in solution.fields.items()}
    boundary: Boundary = dict.fromkeys(("x-", "x+", "y-", "y+"), given)
    return Problem(
        equation=equation,
        grid=Grid(tuple(Axis(name, 0.0, 1.0, 65, periodic=False) for name in "xy")),
        boundary=boundary,
        initial=solution.initial,
        times=np.linspace(0.0, 1.0, 21),
        exact={"fletcher": solution},
        exact_name="fletcher",
        solver="finite_difference",
    )
