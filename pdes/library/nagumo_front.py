"""A front between the two stable states of the Nagumo equation."""

from __future__ import annotations

import numpy as np

from pdes.boundary import Dirichlet
from pdes.exact.nagumo_front import nagumo_front as front_solution
from pdes.grid import Axis, Grid
from pdes.library.nagumo import nagumo_equation
from pdes.problem import Problem
from pdes.registry import register


@register("nagumo_front", tags=["1d", "nonlinear", "reaction", "not periodic"])
def nagumo_front(diffusivity: float = 0.05, growth: float = 4.0, threshold: float = 0.3) -> Problem:
    """The front on an interval whose ends follow the closed form."""
    equation = nagumo_equation(diffusivity, growth, threshold)
    front = front_solution(equation)
    length = float(np.sqrt(diffusivity / growth))
    ends = Dirichlet(front.fields["u"])
    return Problem(
        equation=equation,
        grid=Grid((Axis("x", -25.0 * length, 35.0 * length, 257, periodic=False),)),
        boundary={"x-": ends, "x+": ends},
        initial=front.initial,
        times=np.linspace(0.0, 10.0 / growth, 41),
        exact={"front": front},
        exact_name="front",
        solver="finite_difference",
    )
