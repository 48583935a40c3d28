"""Poisson's equation on boxes with sides of every kind, for the fast solvers."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.boundary import Boundary, Dirichlet, Neumann, Periodic
from pdes.exact.manufactured_steady import manufactured_steady
from pdes.grid import Axis, Grid
from pdes.library.choices import check_choice
from pdes.library.ranges import check_whole
from pdes.registry import register
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate

KINDS = ("dirichlet", "neumann", "periodic", "mixed", "channel")
LENGTHS = {"x": 1.0, "y": 1.5, "z": 1.25}


@register("poisson_box", tags=["steady", "2d", "elliptic"])
def poisson_box(kind: str = "dirichlet", points: int = 33, dimension: int = 2) -> SteadyProblem:
    """``-lap u = f`` with a smooth solution and the values or fluxes that it has on the sides."""
    name = "poisson_box"
    kind = check_choice(name, "kind", kind, KINDS)
    points = check_whole(name, "points", points, 8, 4097)
    dimension = check_whole(name, "dimension", dimension, 1, 3)
    names = tuple("xyz"[:dimension])
    around = {"periodic": set(names), "channel": {"x"}}.get(kind, set())
    box = {axis: (0.0, LENGTHS[axis]) for axis in names}
    exact = manufactured_steady(
        "smooth", _minus_laplacian(names), _solution(names, around, kind == "neumann"), box,
    )  # fmt: skip
    axes = tuple(
        Axis(axis, *box[axis], points - (axis in around), periodic=axis in around) for axis in names
    )
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        domain=Grid(axes),
        boundary=_sides(kind, names, around, exact.fields["u"]),
        coordinates=names,
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="fast_poisson",
        options={"order": 4},
        notes="kind 'mixed': values below, fluxes above; 'channel': periodic along x only.",
        source="method of manufactured solutions",
    )


def _minus_laplacian(names: tuple[str, ...]) -> Any:
    def operator(u: Any) -> Any:
        return sympy.S.Zero - sum(u.diff(coordinate(axis), 2) for axis in names)

    return operator


def _solution(names: tuple[str, ...], around: set[str], centered: bool) -> Any:
    """Product of exponentials and waves; of mean zero if nothing else holds it."""
    product, total = sympy.S.One, sympy.S.One
    for place, axis in enumerate(names):
        s, length = coordinate(axis), sympy.Rational(str(LENGTHS[axis]))
        if axis in around:
            factor = sympy.exp(sympy.sin(2 * sympy.pi * s / length + place))
        else:
            factor = sympy.exp(s / 2) * sympy.sin(3 * s + 1 + place)
            total *= sympy.integrate(factor, (s, 0, length)) / length if centered else 1
        product *= factor
    if len(around) == len(names):
        # The mean of exp(sin) is the modified Bessel function at 1.
        total = sympy.Rational(repr(1.2660658777520084)) ** len(names)
        return product - total
    return product - total if centered else product


def _sides(kind: str, names: tuple[str, ...], around: set[str], solution: Any) -> Boundary:
    sides: dict[str, Any] = {}
    for axis in names:
        s = coordinate(axis)
        for end, place, sign in (("-", 0, -1), ("+", sympy.Rational(str(LENGTHS[axis])), 1)):
            if axis in around:
                sides[axis + end] = Periodic()
            elif kind == "neumann" or (kind == "mixed" and end == "+"):
                sides[axis + end] = Neumann(sign * solution.diff(s).subs(s, place))
            else:
                sides[axis + end] = Dirichlet(solution.subs(s, place))
    return sides
