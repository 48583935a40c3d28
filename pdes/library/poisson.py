"""Poisson's equation with manufactured solutions that are hard in different ways.

Problems of the suite by W. F. Mitchell, *A collection of 2D elliptic problems for testing adaptive
algorithms*, NISTIR 7668 (2010): source and boundary values follow from the solution. Numbers 2, 3,
5, 11 and 12 are in files of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Dirichlet
from pdes.exact.manufactured_steady import manufactured_steady
from pdes.library.choices import check_choice
from pdes.library.ranges import check_range, check_whole
from pdes.mesh import Mesh, Rectangle, tensor_mesh
from pdes.registry import register
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate, number, parameter

SOURCE = "W. F. Mitchell, NISTIR 7668 (2010), problem "
UNIT = (0.0, 1.0)
WIDE = (-1.0, 1.0)
# Of (steepness, x, y, radius) for the wave front: mild, steep, asymmetric, and a well.
WAVE_FRONTS = {
    "mild": (20.0, -0.05, -0.05, 0.7),
    "steep": (1000.0, -0.05, -0.05, 0.7),
    "asymmetric": (1000.0, 1.5, 0.25, 0.92),
    "well": (50.0, 0.5, 0.5, 0.25),
}


def minus_laplacian(u: Any) -> Any:
    """``-u_xx - u_yy``.

    Examples
    --------
    >>> x, y = coordinate("x"), coordinate("y")
    >>> minus_laplacian(x**2 + y**2)
    -4
    """
    x, y = coordinate("x"), coordinate("y")
    return -u.diff(x, 2) - u.diff(y, 2)


def in_rectangle(
    name: str,
    solution: sympy.Expr,
    *,
    side: tuple[float, float] = UNIT,
    operator: Any = minus_laplacian,
    parameters: dict[str, float] | None = None,
    **options: Any,
) -> SteadyProblem:
    """Problem on a square with the solution's own values on its boundary.

    Parameters
    ----------
    name : str
        Of the problem.
    solution : sympy.Expr
        In ``x``, ``y`` and the parameters.
    side : pair of float
        Extent of the square in both directions.
    operator : callable
        Of the equation ``operator(u) = f``.
    parameters : dict, optional
        Values of the symbols.
    **options
        For `SteadyProblem`.

    Returns
    -------
    SteadyProblem
    """
    exact = manufactured_steady(
        name,
        operator,
        solution,
        {"x": side, "y": side},
        parameters=parameters,
        source=options.get("source", ""),
    )
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=parameters or {},
        boundary=dict.fromkeys(("x-", "x+", "y-", "y+"), Dirichlet(solution)),
        exact={name: exact},
        exact_name=name,
        **{"domain": Rectangle(x=side, y=side), **options},
    )


@register("poisson_polynomial", tags=["steady", "2d", "nist"], aliases=["nist_1"])
def poisson_polynomial(power: int = 10) -> SteadyProblem:
    """``2^(4p) (x (1 - x) y (1 - y))^p``: smooth, and flat but for the middle."""
    power = check_whole("poisson_polynomial", "power", power, 1, 20)
    x, y = coordinate("x"), coordinate("y")
    solution = 2 ** (4 * power) * x**power * (1 - x) ** power * y**power * (1 - y) ** power
    return in_rectangle("poisson_polynomial", solution, source=SOURCE + "1")


@register("poisson_peak", tags=["steady", "2d", "nist"], aliases=["nist_4"])
def poisson_peak(
    sharpness: float = 1000.0, x_center: float = 0.5, y_center: float = 0.5
) -> SteadyProblem:
    """``exp(-sharpness ((x - xc)^2 + (y - yc)^2))``: a peak of width ``sharpness^(-1/2)``."""
    sharpness = check_range("poisson_peak", "sharpness", sharpness, 0.0, 1e6, open_low=True)
    x_center = check_range("poisson_peak", "x_center", x_center, 0.0, 1.0)
    y_center = check_range("poisson_peak", "y_center", y_center, 0.0, 1.0)
    return in_rectangle(
        "poisson_peak",
        peak(parameter("sharpness"), parameter("x_center"), parameter("y_center")),
        parameters={"sharpness": sharpness, "x_center": x_center, "y_center": y_center},
        resolution=64,
        source=SOURCE + "4",
    )


def peak(sharpness: Any, x_center: Any, y_center: Any) -> Any:
    """Gaussian peak as an expression."""
    x, y = coordinate("x"), coordinate("y")
    return sympy.exp(-sharpness * ((x - x_center) ** 2 + (y - y_center) ** 2))


@dataclass(frozen=True)
class TowardLine:
    """Recipe of the unit square with columns at ``(i/n)^(1/grading)``.

    Examples
    --------
    >>> TowardLine(0.5)(2).points[:, 0].tolist()
    [0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 1.0, 1.0, 1.0]
    """

    grading: float = 1.0

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many columns and rows."""
        lines = np.linspace(0.0, 1.0, resolution + 1)
        return tensor_mesh(lines ** (1.0 / self.grading), lines)


@register("poisson_line_singularity", tags=["steady", "2d", "nist"], aliases=["nist_7"])
def poisson_line_singularity(exponent: float = 0.6, grading: float = 1.0) -> SteadyProblem:
    """``x^exponent``: the slope is infinite along the whole left side."""
    grading = check_range("poisson_line_singularity", "grading", grading, 0.05, 1.0)
    exponent = check_range(
        "poisson_line_singularity", "exponent", exponent, 0.5, 3.0, open_low=True
    )
    return in_rectangle(
        "poisson_line_singularity",
        coordinate("x") ** parameter("exponent"),
        parameters={"exponent": exponent},
        domain=TowardLine(grading),
        notes="On uniform meshes derivatives converge with order exponent - 1/2 only.",
        source=SOURCE + "7",
    )


@register("poisson_oscillatory", tags=["steady", "2d", "nist"], aliases=["nist_8"])
def poisson_oscillatory(oscillations: float = 2.5) -> SteadyProblem:
    """``sin(1/(a + r))`` with ``a = 1/(N pi)``, for ``-lap u - u/(a + r)^4 = f``."""
    name = "poisson_oscillatory"
    oscillations = check_range(name, "oscillations", oscillations, 0.0, 50.0, open_low=True)
    x, y = coordinate("x"), coordinate("y")
    depth = 1 / (sympy.pi * parameter("oscillations")) + sympy.sqrt(x**2 + y**2)
    return in_rectangle(
        name,
        sympy.sin(1 / depth),
        operator=lambda u: minus_laplacian(u) - u / depth**4,
        parameters={"oscillations": oscillations},
        resolution=64,
        notes="Smooth at the corner if oscillations + 1/2 is whole, otherwise like a cone.",
        source=SOURCE + "8",
    )


@register("poisson_wave_front", tags=["steady", "2d", "nist"], aliases=["nist_9"])
def poisson_wave_front(front: str = "mild") -> SteadyProblem:
    """``atan(steepness (r - radius))``: a circular front; mild, steep, asymmetric, or a well."""
    front = check_choice("poisson_wave_front", "front", front, tuple(WAVE_FRONTS))
    return in_rectangle(
        "poisson_wave_front",
        wave_front(*[number(value) for value in WAVE_FRONTS[front]]),
        resolution=64,
        source=SOURCE + "9",
    )


def wave_front(steepness: Any, x_center: Any, y_center: Any, radius: Any) -> Any:
    """Circular front as an expression."""
    x, y = coordinate("x"), coordinate("y")
    distance = sympy.sqrt((x - x_center) ** 2 + (y - y_center) ** 2)
    return sympy.atan(steepness * (distance - radius))


@register("poisson_interior_line", tags=["steady", "2d", "nist"], aliases=["nist_10"])
def poisson_interior_line(exponent: float = 2.5, slope: float = 0.6) -> SteadyProblem:
    """``cos(pi y/2)`` plus ``s^exponent`` where ``s = x - slope (y + 1)`` is positive."""
    name = "poisson_interior_line"
    exponent = check_range(name, "exponent", exponent, 2.0, 5.0, open_low=True)
    slope = check_range(name, "slope", slope, 0.0, 1.0)
    x, y = coordinate("x"), coordinate("y")
    beyond = x - parameter("slope") * (y + 1)
    ridge = sympy.Piecewise((beyond ** parameter("exponent"), beyond > 0), (0, True))
    return in_rectangle(
        name,
        sympy.cos(sympy.pi * y / 2) + ridge,
        side=WIDE,
        parameters={"exponent": exponent, "slope": slope},
        notes="The line cuts through cells: order exponent - 1/2 for derivatives at most.",
        source=SOURCE + "10",
    )


@register("advection_diffusion_layer", tags=["steady", "2d", "nist"], aliases=["nist_6"])
def advection_diffusion_layer(diffusivity: float = 0.1) -> SteadyProblem:
    """``-e lap u + 2 u_x + u_y = f`` with layers of thickness ``e`` along two sides."""
    name = "advection_diffusion_layer"
    diffusivity = check_range(name, "diffusivity", diffusivity, 1e-4, 1.0)
    x, y, e = coordinate("x"), coordinate("y"), parameter("diffusivity")
    layers = (1 - sympy.exp((x - 1) / e)) * (1 - sympy.exp((y - 1) / e))
    return in_rectangle(
        name,
        layers * sympy.cos(sympy.pi * (x + y)),
        side=WIDE,
        operator=lambda u: e * minus_laplacian(u) + 2 * u.diff(x) + u.diff(y),
        parameters={"diffusivity": diffusivity},
        resolution=64,
        notes="Cells must be smaller than the layers: a warning says when they are not.",
        source=SOURCE + "6",
    )
