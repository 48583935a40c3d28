"""First times of arrival, ``c |grad T| = 1``: uniform and linear speed, one source or two."""

from __future__ import annotations

import math
from typing import Any

from pdes.boundary import Outflow
from pdes.exact.steady_solution import SteadySolution
from pdes.exact.travel_times import (
    eikonal_residual,
    linear_speed,
    linear_travel_time,
    travel_distance,
    two_times,
)
from pdes.grid import Axis, Grid
from pdes.library.ranges import check_range, check_whole
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import parameter

_NOTES = (
    "Of first order with exact times in a ball around the source (ball=0.15) or factored=True; "
    "with ball=0 the error is h log h."
)
BALL = 0.15


def _problem(
    name: str, exact: SteadySolution, speed: Any, points: int, *sources: tuple[float, float]
) -> SteadyProblem:
    points = check_whole(name, "points", points, 8, 4097)
    return SteadyProblem(
        name=name,
        residual={"T": eikonal_residual(unknown("T"), unknown("c"))},
        parameters=exact.parameters,
        coefficients={"c": speed},
        domain=Grid(tuple(Axis(axis, 0.0, 1.0, points, periodic=False) for axis in "xy")),
        boundary={side: Outflow() for side in ("x-", "x+", "y-", "y+")},
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="fast_sweeping",
        options={"sources": sources, "ball": BALL},
        notes=_NOTES,
        source=exact.source,
    )


def _place(name: str, **values: float) -> list[float]:
    return [check_range(name, key, value, 0.0, 1.0) for key, value in values.items()]


def _speed(name: str, value: float) -> float:
    return check_range(name, "speed", value, 0.0, 1e6, open_low=True)


@register("eikonal_distance", tags=["steady", "2d", "eikonal"])
def eikonal_distance(
    speed: float = 1.0, x_source: float = 0.5, y_source: float = 0.5, points: int = 65
) -> SteadyProblem:
    """Distance from a point over the speed."""
    name = "eikonal_distance"
    x, y = _place(name, x_source=x_source, y_source=y_source)
    exact = travel_distance(_speed(name, speed), x, y)
    return _problem(name, exact, parameter("speed"), points, (x, y))


@register("eikonal_linear_speed", tags=["steady", "2d", "eikonal"])
def eikonal_linear_speed(
    speed: float = 0.5,
    x_slope: float = 0.25,
    y_slope: float = 1.0,
    x_source: float = 0.5,
    y_source: float = 0.5,
    points: int = 65,
) -> SteadyProblem:
    """Speed ``speed + x_slope x + y_slope y``: rays are arcs of circles."""
    name = "eikonal_linear_speed"
    x, y = _place(name, x_source=x_source, y_source=y_source)
    x_slope = check_range(name, "x_slope", x_slope, -1e6, 1e6)
    y_slope = check_range(name, "y_slope", y_slope, -1e6, 1e6)
    speed = _speed(name, speed)
    slowest = speed + min(x_slope, 0.0) + min(y_slope, 0.0)
    if not slowest > 0.0 or math.hypot(x_slope, y_slope) == 0.0:
        raise ValueError(
            f"{name}: speed={speed:g} with x_slope={x_slope:g}, y_slope={y_slope:g} is "
            f"{slowest:g} in a corner; wanted it positive everywhere and not uniform"
        )
    exact = linear_travel_time(speed, x_slope, y_slope, x, y)
    return _problem(name, exact, linear_speed(), points, (x, y))


@register("eikonal_two_sources", tags=["steady", "2d", "eikonal"])
def eikonal_two_sources(
    speed: float = 1.0,
    x_source: float = 0.25,
    y_source: float = 0.375,
    x_second: float = 0.75,
    y_second: float = 0.625,
    points: int = 65,
) -> SteadyProblem:
    """First arrival from two points: a kink where both arrive at once."""
    name = "eikonal_two_sources"
    x, y = _place(name, x_source=x_source, y_source=y_source)
    other = _place(name, x_second=x_second, y_second=y_second)
    exact = two_times(_speed(name, speed), x, y, *other)
    return _problem(name, exact, parameter("speed"), points, (x, y), (other[0], other[1]))
