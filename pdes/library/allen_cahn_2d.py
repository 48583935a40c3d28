"""The Allen-Cahn equation in the plane: a disc of one phase shrinks by its curvature."""

from __future__ import annotations

import math

import numpy as np
import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import TIME, number


def allen_cahn_2d_equation(width: float = 0.05) -> Equation:
    """Allen-Cahn equation ``u_t = width^2 lap u + u - u^3`` in the plane.

    Parameters
    ----------
    width : float
        Width of interfaces, a length in (0, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(allen_cahn_2d_equation(0.5))
    u_t = u - u^3 + 0.25*u_xx + 0.25*u_yy
    """
    width = check_range("allen_cahn_2d", "width", width, 0.0, 10.0, open_low=True)
    return Equation.from_text(
        "u_t = width^2*(u_xx + u_yy) + u - u^3", name="allen_cahn_2d", parameters={"width": width}
    )


def circle_radius(times: np.ndarray, radius: float, width: float) -> np.ndarray:
    """Radius of a disc that shrinks by curvature, ``R^2 = R0^2 - 2 width^2 t``.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times since the radius was `radius`, before the disc vanishes.
    radius, width : float
        Radius at time 0, and width of the interface.

    Returns
    -------
    ndarray, shape (n,)
        The square is off by terms of order ``width^2`` (Rubinstein, Sternberg and Keller, SIAM J.
        Appl. Math. 49 (1989) 116).

    Raises
    ------
    ValueError
        If a time is at or after ``radius^2/(2 width^2)``, when the disc has vanished.

    Examples
    --------
    >>> circle_radius([0.0, 32.0], 0.5, 0.05).tolist()
    [0.5, 0.3]
    """
    squared = radius**2 - 2.0 * width**2 * np.asarray(times, dtype=np.float64)
    if np.any(squared <= 0.0):
        raise ValueError(
            f"times reach {np.max(times):g}, but a disc of radius {radius:g} has vanished at "
            f"{radius**2 / (2.0 * width**2):g}: stay before that"
        )
    return np.sqrt(squared)


def crossing(grid: Grid, values: np.ndarray) -> float:
    """Where a field of the plane first falls through zero on the way from the origin along x.

    Parameters
    ----------
    grid : Grid
        Axes x and y, symmetric about an origin that is a grid point.
    values : ndarray, shape (nx, ny)
        Positive at the origin.

    Returns
    -------
    float
        Root of the cubic spline; NaN if the field stays positive, as once a disc has vanished.

    Examples
    --------
    >>> grid = Grid.periodic(x=(-1.0, 1.0, 64), y=(-1.0, 1.0, 64))
    >>> x, y = grid.mesh().values()
    >>> round(crossing(grid, 0.25 - x**2 - y**2), 12)
    0.5
    """
    from scipy.interpolate import CubicSpline

    x = grid.axes[0].values()
    i, j = (n // 2 for n in grid.shape)
    roots = CubicSpline(x[i:], values[i:, j]).roots(extrapolate=False)
    return float(roots.min()) if roots.size and values[i, j] > 0.0 else math.nan


@register("allen_cahn_2d", tags=["2d", "nonlinear", "reaction"])
def allen_cahn_2d(width: float = 0.05, radius: float = 0.6) -> Problem:
    """A disc of one phase in the other, on the torus [-1, 1]^2, that shrinks by its curvature."""
    equation = allen_cahn_2d_equation(width)
    radius = check_range("allen_cahn_2d", "radius", radius, 0.0, 0.8, open_low=True)
    x, y, e = coordinate("x"), coordinate("y"), parameter("width")
    distance = number(radius) - sympy.sqrt(x**2 + y**2)
    along = (3 * x + 4 * y) / 5
    front = ExactSolution(
        name="allen_cahn_2d_front",
        equation=equation,
        fields={"u": (1 + sympy.tanh(along / (2 * sympy.sqrt(2) * e) + 3 * TIME / 4)) / 2},
        source="the front on a line, turned in the plane",
    )
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-1.0, 1.0, 192), y=(-1.0, 1.0, 192)),
        initial=FromExpression({"u": sympy.tanh(distance / (math.sqrt(2.0) * width))}),
        times=np.linspace(0.0, 40.0, 21),
        largest_spacing=float(width),
        exact={"front": front},
        invariants=(
            Invariant(
                name="energy",
                density="width^2*(u_x^2 + u_y^2)/2 + (1 - u^2)^2/4",
                law="nonincreasing",
            ),
        ),
        notes="`pdes.library.allen_cahn_2d.circle_radius` predicts where the interface is.",
        source="Allen and Cahn, Acta Metall. 27 (1979) 1085",
    )
