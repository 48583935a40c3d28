"""First times of arrival: around points, and where the speed grows linearly."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

__all__ = ["eikonal_residual", "linear_speed", "linear_travel_time", "travel_distance", "two_times"]

UNIT = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def eikonal_residual(time: Any, speed: Any) -> Any:
    """``c^2 (T_x^2 + T_y^2) - 1``.

    Examples
    --------
    >>> eikonal_residual(coordinate("x") / 2, 2)
    0
    """
    x, y = coordinate("x"), coordinate("y")
    return speed**2 * (time.diff(x) ** 2 + time.diff(y) ** 2) - 1


def travel_distance(speed: float, x_source: float, y_source: float) -> SteadySolution:
    """``T = r/c``: time from a point in a uniform medium.

    Parameters
    ----------
    speed : float
        Positive.
    x_source, y_source : float
        Where the signal starts.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> travel_distance(2.0, 0.5, 0.5).residual(points=4) < 1e-25
    True
    """
    return SteadySolution(
        name="distance",
        residuals={"T": eikonal_residual(unknown("T"), parameter("speed"))},
        fields={"T": _distance("x_source", "y_source") / parameter("speed")},
        parameters={"speed": speed, "x_source": x_source, "y_source": y_source},
        box=UNIT,
        source="straight rays",
    )


def linear_travel_time(
    speed: float, x_slope: float, y_slope: float, x_source: float, y_source: float
) -> SteadySolution:
    """``T = acosh(1 + g^2 r^2/(2 c c_0))/g`` where ``c = speed + x_slope x + y_slope y``.

    Parameters
    ----------
    speed : float
        At the origin.
    x_slope, y_slope : float
        Gradient of the speed, not zero.
    x_source, y_source : float
        Where the signal starts.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> linear_travel_time(1.0, 0.5, 1.0, 0.3, 0.4).residual(points=4) < 1e-25
    True
    """
    slope = sympy.sqrt(parameter("x_slope") ** 2 + parameter("y_slope") ** 2)
    there = linear_speed()
    at_source = {
        coordinate("x"): parameter("x_source"),
        coordinate("y"): parameter("y_source"),
    }
    here = there.subs(at_source)
    square = _distance("x_source", "y_source") ** 2
    return SteadySolution(
        name="linear_speed",
        residuals={"T": eikonal_residual(unknown("T"), there)},
        fields={"T": sympy.acosh(1 + slope**2 * square / (2 * there * here)) / slope},
        parameters={
            "speed": speed,
            "x_slope": x_slope,
            "y_slope": y_slope,
            "x_source": x_source,
            "y_source": y_source,
        },
        box=UNIT,
        source="M. M. Slotnick, Lessons in Seismic Computing (1959): rays are arcs of circles",
    )


def linear_speed() -> Any:
    """``speed + x_slope x + y_slope y``.

    Examples
    --------
    >>> linear_speed()
    speed + x*x_slope + y*y_slope
    """
    x, y = coordinate("x"), coordinate("y")
    return parameter("speed") + parameter("x_slope") * x + parameter("y_slope") * y


def two_times(
    speed: float, x_source: float, y_source: float, x_second: float, y_second: float
) -> SteadySolution:
    """The smaller of two distances over the speed: first arrival from two points.

    Parameters
    ----------
    speed : float
        Positive.
    x_source, y_source, x_second, y_second : float
        Where the two signals start.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> two_times(1.0, 0.2, 0.3, 0.8, 0.6).residual(points=4) < 1e-25
    True
    """
    first, second = _distance("x_source", "y_source"), _distance("x_second", "y_second")
    nearer: Any = sympy.Piecewise((first, first < second), (second, True))
    return SteadySolution(
        name="two_times",
        residuals={"T": eikonal_residual(unknown("T"), parameter("speed"))},
        fields={"T": nearer / parameter("speed")},
        parameters={
            "speed": speed,
            "x_source": x_source,
            "y_source": y_source,
            "x_second": x_second,
            "y_second": y_second,
        },
        box=UNIT,
        source="the least of two viscosity solutions is one, as the equation is convex",
    )


def _distance(x_name: str, y_name: str) -> Any:
    x, y = coordinate("x"), coordinate("y")
    return sympy.sqrt((x - parameter(x_name)) ** 2 + (y - parameter(y_name)) ** 2)
