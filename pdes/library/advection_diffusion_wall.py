"""Advection against a wall: the steady layer of advection and diffusion on an interval."""

from __future__ import annotations

import numpy as np

from pdes.boundary import Boundary, Dirichlet
from pdes.equation import coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.exact.steady_layer import layer, steady_layer
from pdes.grid import Axis, Grid
from pdes.library.advection_diffusion import advection_diffusion_equation
from pdes.library.ranges import check_range, check_whole
from pdes.problem import Problem
from pdes.registry import register
from pdes.steady import SteadyProblem

_SIDES: Boundary = {"x-": Dirichlet(0.0), "x+": Dirichlet(1.0)}


@register("advection_diffusion_wall", tags=["1d", "linear", "not periodic"])
def advection_diffusion_wall(
    speed: float = 1.0, diffusivity: float = 0.1, points: int = 129
) -> Problem:
    """Flow toward a wall with 0 and 1 at the ends: ``(exp(Pe x) - 1)/(exp(Pe) - 1)``, at rest."""
    name = "advection_diffusion_wall"
    speed = check_range(name, "speed", speed, 0.1, 10.0)
    diffusivity = check_range(name, "diffusivity", diffusivity, 1e-3, 10.0)
    solution = ExactSolution(
        name="steady_layer",
        equation=advection_diffusion_equation(speed, diffusivity),
        fields={"u": layer(parameter("speed") / parameter("diffusivity"), coordinate("x"))},
        parameters={"speed": speed, "diffusivity": diffusivity},
        source="P. J. Roache, Computational Fluid Dynamics (1972)",
    )
    points = check_whole(name, "points", points, 5, 4097)
    return Problem(
        equation=solution.equation,
        grid=Grid((Axis("x", 0.0, 1.0, points, periodic=False),)),
        boundary=_SIDES,
        initial=solution.initial,
        times=np.linspace(0.0, 2.0, 41),
        time_step=1.0 / 400,
        exact={solution.name: solution},
        exact_name=solution.name,
        solver="finite_difference",
        notes="Central differences ring where speed*spacing/diffusivity is above 2, and warn.",
    )


@register("advection_diffusion_interval", tags=["steady", "1d", "linear"])
def advection_diffusion_interval(peclet: float = 10.0, points: int = 33) -> SteadyProblem:
    """The layer of ``Pe u' = u''`` with 0 and 1 at the ends, by collocation."""
    name = "advection_diffusion_interval"
    exact = steady_layer(check_range(name, "peclet", peclet, 0.01, 1000.0))
    points = check_whole(name, "points", points, 5, 1025)
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=exact.parameters,
        coordinates=("x",),
        domain=Grid((Axis("x", 0.0, 1.0, points, periodic=False),)),
        boundary=_SIDES,
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="chebyshev",
        notes="Analytic: errors fall exponentially once the layer, of width 1/Pe, is resolved.",
        source=exact.source,
    )
