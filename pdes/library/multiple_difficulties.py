"""A corner, a peak, a front and a layer at once (problem 12 of the NIST suite)."""

from __future__ import annotations

import sympy

from pdes.boundary import Dirichlet
from pdes.exact.kondratiev import corner_function
from pdes.exact.manufactured_steady import manufactured_steady
from pdes.fan import l_shape
from pdes.library.poisson import SOURCE, minus_laplacian, peak, wave_front
from pdes.library.ranges import check_range
from pdes.registry import register
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate


@register("poisson_multiple", tags=["steady", "2d", "nist", "corner"], aliases=["nist_12"])
def poisson_multiple(
    sharpness: float = 1000.0, steepness: float = 200.0, layer: float = 0.01, grading: float = 1.0
) -> SteadyProblem:
    """Sum of four difficulties on the L-shape, each of which can be made milder."""
    name = "poisson_multiple"
    values = {
        "sharpness": check_range(name, "sharpness", sharpness, 0.0, 1e6, open_low=True),
        "steepness": check_range(name, "steepness", steepness, 0.0, 1e4, open_low=True),
        "layer": check_range(name, "layer", layer, 1e-4, 10.0),
    }
    sharp, steep, thick = (sympy.Symbol(n, real=True) for n in values)
    quarter, place = sympy.Rational(1, 4), sympy.Rational(3, 4)
    solution = (
        corner_function(1.5 * float(sympy.pi)).fields["u"]
        + peak(sharp, sympy.sqrt(5) / 4, -quarter)
        + wave_front(steep, 0, -place, place)
        + sympy.exp(-(1 + coordinate("y")) / thick)
    )
    exact = manufactured_steady(
        name,
        minus_laplacian,
        solution,
        {"x": (-0.9, -0.1), "y": (-0.9, 0.9)},
        parameters=values,
        source=SOURCE + "12",
    )
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=values,
        domain=l_shape(check_range(name, "grading", grading, 0.05, 1.0)),
        boundary=dict.fromkeys(("start", "end", "outer"), Dirichlet(solution)),
        exact={name: exact},
        exact_name=name,
        resolution=64,
        source=SOURCE + "12",
    )
