"""Waves of one frequency: plane, from a point, and the modes of a box."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

__all__ = ["box_mode", "helmholtz_operator", "plane_wave", "point_source"]

UNIT = (0.0, 1.0)


def helmholtz_operator(u: Any, coordinates: tuple[str, ...] = ("x", "y")) -> Any:
    """``-lap u - k^2 u`` with the parameter ``wavenumber``.

    Examples
    --------
    >>> helmholtz_operator(sympy.sin(coordinate("x")), ("x",))
    -wavenumber**2*sin(x) + sin(x)
    """
    laplacian = sum(u.diff(coordinate(axis), 2) for axis in coordinates)
    return -laplacian - parameter("wavenumber") ** 2 * u


def plane_wave(
    wavenumber: float, angle: float = 0.0, coordinates: tuple[str, ...] = ("x", "y")
) -> SteadySolution:
    """``exp(i k (x cos angle + y sin angle))``, or ``exp(i k x)`` on a line.

    Parameters
    ----------
    wavenumber : float
        The ``k``.
    angle : float
        Of the direction, in radians; in the plane.
    coordinates : tuple of str
        One or two.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> plane_wave(20.0, 0.5).residual(points=4) < 1e-25
    True
    """
    k, turn = parameter("wavenumber"), parameter("angle")
    way: Any = coordinate(coordinates[0])
    parameters = {"wavenumber": wavenumber}
    if len(coordinates) == 2:
        way = way * sympy.cos(turn) + coordinate(coordinates[1]) * sympy.sin(turn)
        parameters["angle"] = angle
    return SteadySolution(
        name="plane_wave",
        residuals={"u": helmholtz_operator(unknown("u", coordinates), coordinates)},
        fields={"u": sympy.exp(sympy.I * k * way)},
        parameters=parameters,
        box=dict.fromkeys(coordinates, UNIT),
        source="any textbook of waves",
    )


def point_source(wavenumber: float, x_source: float, y_source: float) -> SteadySolution:
    """``i/4 H_0(k r)``: the wave that a point outside the unit square sends out.

    Parameters
    ----------
    wavenumber : float
        The ``k``.
    x_source, y_source : float
        Where the point is; not in the closed square.

    Returns
    -------
    SteadySolution

    Raises
    ------
    ValueError
        If the point lies in the square, where the field is infinite.

    Examples
    --------
    >>> point_source(10.0, -0.5, 0.5).residual(points=2) < 1e-25
    True
    """
    if 0.0 <= x_source <= 1.0 and 0.0 <= y_source <= 1.0:
        raise ValueError(
            f"x_source={x_source}, y_source={y_source}: the source is in the unit square, where "
            "its field is infinite; move it out"
        )
    x, y, k = coordinate("x"), coordinate("y"), parameter("wavenumber")
    distance = sympy.sqrt((x - parameter("x_source")) ** 2 + (y - parameter("y_source")) ** 2)
    return SteadySolution(
        name="point_source",
        residuals={"u": helmholtz_operator(unknown("u"))},
        fields={"u": sympy.I / 4 * sympy.hankel1(0, k * distance)},
        parameters={"wavenumber": wavenumber, "x_source": x_source, "y_source": y_source},
        box={"x": UNIT, "y": UNIT},
        source="free-space Green's function in the plane (M. Abramowitz and I. Stegun, 9.1)",
    )


def box_mode(wavenumber: float, x_mode: int, y_mode: int) -> SteadySolution:
    """``sin(m pi x) sin(n pi y)`` driven by ``(pi^2 (m^2 + n^2) - k^2)`` times itself.

    Parameters
    ----------
    wavenumber : float
        The ``k``; at resonance the drive is zero.
    x_mode, y_mode : int
        Number of half waves along each axis.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> box_mode(10.0, 2, 1).residual(points=4) < 1e-25
    True
    """
    x, y, k = coordinate("x"), coordinate("y"), parameter("wavenumber")
    mode = sympy.sin(x_mode * sympy.pi * x) * sympy.sin(y_mode * sympy.pi * y)
    drive = (sympy.pi**2 * (x_mode**2 + y_mode**2) - k**2) * mode
    return SteadySolution(
        name="box_mode",
        residuals={"u": helmholtz_operator(unknown("u")) - drive},
        fields={"u": mode},
        parameters={"wavenumber": wavenumber},
        box={"x": UNIT, "y": UNIT},
        source="eigenfunctions of the Laplacian on the square",
    )
