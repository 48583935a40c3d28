"""Waves of one frequency: ``-lap u - k^2 u = f`` in closed boxes and with sides that absorb."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.boundary import Boundary, Dirichlet, Robin
from pdes.exact.helmholtz_waves import box_mode, plane_wave, point_source
from pdes.exact.steady_solution import SteadySolution
from pdes.grid import Axis, Grid
from pdes.library.ranges import check_range, check_whole
from pdes.registry import register
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate, parameter

_NOTES = "Finite differences turn the phase by k (k h)^2/24 per unit length: refine as k^(3/2)."


def _grid(points: int, names: str = "xy") -> Grid:
    return Grid(tuple(Axis(name, 0.0, 1.0, points, periodic=False) for name in names))


def _wavenumber(problem: str, value: float) -> float:
    return check_range(problem, "wavenumber", value, 0.0, 1e3, open_low=True)


def _points(problem: str, value: int) -> int:
    return check_whole(problem, "points", value, 8, 4097)


def _absorbing(solution: Any, names: str) -> Boundary:
    """``du/dn - i k u`` on every side, with the values that it has for a solution."""
    k, sides = parameter("wavenumber"), {}
    for name in names:
        s = coordinate(name)
        for end, place, sign in (("-", 0, -1), ("+", 1, 1)):
            data = sign * solution.diff(s) - sympy.I * k * solution
            sides[name + end] = Robin(-sympy.I * k, data.subs(s, place))
    return sides


def _problem(
    name: str, exact: SteadySolution, points: int, names: str, boundary: Boundary, **options: Any
) -> SteadyProblem:
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=exact.parameters,
        coordinates=tuple(names),
        domain=_grid(_points(name, points), names),
        boundary=boundary,
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="helmholtz",
        options=options,
        notes=_NOTES,
        source=exact.source,
    )


@register("helmholtz_interval", tags=["steady", "1d", "elliptic", "wave"])
def helmholtz_interval(wavenumber: float = 20.0, points: int = 81) -> SteadyProblem:
    """``exp(i k x)`` from a given value on the left to an impedance on the right."""
    name = "helmholtz_interval"
    exact = plane_wave(_wavenumber(name, wavenumber), coordinates=("x",))
    sides = {"x-": Dirichlet(1.0), "x+": Robin(-sympy.I * parameter("wavenumber"), 0.0)}
    return _problem(name, exact, points, "x", sides)


@register("helmholtz_plane_wave", tags=["steady", "2d", "elliptic", "wave"])
def helmholtz_plane_wave(
    wavenumber: float = 10.0, angle: float = 0.5, points: int = 65
) -> SteadyProblem:
    """Plane wave through a square whose sides absorb it."""
    name = "helmholtz_plane_wave"
    angle = check_range(name, "angle", angle, -3.1416, 3.1416)
    exact = plane_wave(_wavenumber(name, wavenumber), angle)
    return _problem(name, exact, points, "xy", _absorbing(exact.fields["u"], "xy"))


@register("helmholtz_point_source", tags=["steady", "2d", "elliptic", "wave"])
def helmholtz_point_source(
    wavenumber: float = 10.0, x_source: float = -0.3, y_source: float = 0.4, points: int = 65
) -> SteadyProblem:
    """Wave of a point beside a square whose sides absorb it."""
    name = "helmholtz_point_source"
    exact = point_source(
        _wavenumber(name, wavenumber),
        check_range(name, "x_source", x_source, -10.0, 10.0),
        check_range(name, "y_source", y_source, -10.0, 10.0),
    )
    return _problem(name, exact, points, "xy", _absorbing(exact.fields["u"], "xy"))


@register("helmholtz_box", tags=["steady", "2d", "elliptic", "wave"])
def helmholtz_box(
    wavenumber: float = 10.0, x_mode: int = 2, y_mode: int = 1, points: int = 33
) -> SteadyProblem:
    """Driven mode of a square with hard walls; refused at its resonances."""
    name = "helmholtz_box"
    exact = box_mode(
        _wavenumber(name, wavenumber),
        check_whole(name, "x_mode", x_mode, 1, 64),
        check_whole(name, "y_mode", y_mode, 1, 64),
    )
    sides: Boundary = {side: Dirichlet() for side in ("x-", "x+", "y-", "y+")}
    return _problem(name, exact, points, "xy", sides)
