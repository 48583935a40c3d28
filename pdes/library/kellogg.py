"""Diffusion where two interfaces cross: 161.4476 in two opposite quadrants, 1 in the others."""

from __future__ import annotations

from pdes.boundary import Dirichlet
from pdes.exact import kellogg as crossing
from pdes.fan import Fan
from pdes.library.ranges import check_range
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, parameter

_SQUARE = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


@register("kellogg", tags=["steady", "2d", "nist", "interface"], aliases=["nist_11"])
def kellogg(grading: float = 1.0) -> SteadyProblem:
    """``-div(a grad u) = 0`` with a solution like ``r^0.1`` at the crossing."""
    exact = crossing.kellogg()
    u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    a = unknown("a")
    contrast = parameter("contrast")
    return SteadyProblem(
        name="kellogg",
        residual={"u": -(a * u.diff(x)).diff(x) - (a * u.diff(y)).diff(y)},
        parameters=exact.parameters,
        coefficients={"a": crossing.quadrants(contrast, 1, contrast, 1)},
        domain=Fan(
            outer=_SQUARE,
            sides=("outer",) * 8,
            grading=check_range("kellogg", "grading", grading, 0.05, 1.0),
            closed=True,
        ),
        boundary={"outer": Dirichlet(exact.fields["u"])},
        exact={exact.name: exact},
        exact_name=exact.name,
        notes="On a uniform mesh derivatives converge with order 0.1: grade it.",
        source=exact.source,
    )
