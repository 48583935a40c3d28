"""Poisson's equation on an interval, by collocation at Chebyshev's points."""

from __future__ import annotations

from pdes.boundary import Dirichlet
from pdes.exact.poisson_exponential import poisson_exponential
from pdes.grid import Axis, Grid
from pdes.library.ranges import check_range, check_whole
from pdes.registry import register
from pdes.steady import SteadyProblem


@register("poisson_interval", tags=["steady", "1d", "elliptic"])
def poisson_interval(rate: float = 4.0, points: int = 17) -> SteadyProblem:
    """``u'' = exp(rate x)`` on (-1, 1) with ``u = 0`` at both ends."""
    name = "poisson_interval"
    points = check_whole(name, "points", points, 4, 1025)
    exact = poisson_exponential(check_range(name, "rate", rate, 0.1, 30.0))
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=exact.parameters,
        coordinates=("x",),
        domain=Grid((Axis("x", -1.0, 1.0, points, periodic=False),)),
        boundary={"x-": Dirichlet(), "x+": Dirichlet()},
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="chebyshev",
        notes="Analytic: errors fall exponentially, the sooner the smaller the rate.",
        source=exact.source,
    )
