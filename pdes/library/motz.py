"""The problem of Motz: half of one side is fixed, the other half insulated."""

from __future__ import annotations

from pdes.boundary import Dirichlet, Neumann
from pdes.exact import motz as series
from pdes.fan import Fan
from pdes.library.ranges import check_range
from pdes.registry import register
from pdes.steady import SteadyProblem


@register("motz", tags=["steady", "2d", "corner"])
def motz(grading: float = 1.0) -> SteadyProblem:
    """Laplace on (-1, 1) x (0, 1): 0 on y = 0, x < 0; 500 on x = 1; no flux elsewhere."""
    exact = series.motz()
    outer = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
    return SteadyProblem(
        name="motz",
        residual=exact.residuals,
        domain=Fan(
            outer=outer,
            sides=("x+", "y+", "y+", "x-"),
            grading=check_range("motz", "grading", grading, 0.05, 1.0),
        ),
        boundary={
            "start": Neumann(),
            "end": Dirichlet(),
            "x+": Dirichlet(series.VALUE),
            "x-": Neumann(),
            "y+": Neumann(),
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        notes="The solution grows like r^(1/2) at the origin: values converge with order 1.",
        source=exact.source,
    )
