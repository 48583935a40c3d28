"""Laplace's equation at a corner: wedges, the L-shape and a slit, uniform or graded meshes."""

from __future__ import annotations

import math

from pdes.boundary import Boundary, Dirichlet, Neumann
from pdes.exact.kondratiev import corner_function
from pdes.fan import Fan, l_shape, slit_square, wedge
from pdes.library.choices import check_choice
from pdes.library.ranges import check_range
from pdes.registry import register
from pdes.steady import SteadyProblem

_NOTES = (
    "Elements of degree 1 on a uniform mesh: derivatives converge with order a, values with 2 a, "
    "where a is the exponent of the solution. A grading below a/degree restores the full orders."
)


@register("laplace_wedge", tags=["steady", "2d", "nist", "corner"], aliases=["nist_2"])
def laplace_wedge(
    angle: float = 1.5 * math.pi, mixed: bool = False, grading: float = 1.0
) -> SteadyProblem:
    """``r^a sin(a theta)`` with ``a = pi/angle``; with a free side if mixed, and ``a`` halved."""
    angle = check_range("laplace_wedge", "angle", angle, 0.1, 2.0 * math.pi)
    return _corner("laplace_wedge", wedge(angle, _grading("laplace_wedge", grading)), angle, mixed)


@register("laplace_l_shape", tags=["steady", "2d", "corner"])
def laplace_l_shape(grading: float = 1.0) -> SteadyProblem:
    """``r^(2/3) sin(2 theta/3)`` on the square without a quadrant."""
    mesh = l_shape(_grading("laplace_l_shape", grading))
    return _corner("laplace_l_shape", mesh, 1.5 * math.pi, False, outer="outer")


@register("laplace_slit", tags=["steady", "2d", "corner"])
def laplace_slit(mixed: bool = False, grading: float = 1.0) -> SteadyProblem:
    """``r^(1/2) sin(theta/2)`` on the square with a slit; the lower face is free if mixed."""
    mesh = slit_square(_grading("laplace_slit", grading))
    return _corner("laplace_slit", mesh, 2.0 * math.pi, mixed, outer="outer")


def _grading(name: str, grading: float) -> float:
    return check_range(name, "grading", grading, 0.05, 1.0)


def _corner(
    name: str, mesh: Fan, angle: float, mixed: bool, *, outer: str = "arc"
) -> SteadyProblem:
    mixed = check_choice(name, "mixed", mixed, (True, False))
    exact = corner_function(angle, mixed)
    boundary: Boundary = {
        "start": Dirichlet(),
        "end": Neumann() if mixed else Dirichlet(),
        outer: Dirichlet(exact.fields["u"]),
    }
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        domain=mesh,
        boundary=boundary,
        exact={exact.name: exact},
        exact_name=exact.name,
        notes=_NOTES,
        source=exact.source,
    )
