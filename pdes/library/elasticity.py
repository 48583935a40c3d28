"""Plane elasticity: a cylinder under pressure, the tip of a crack, a slit."""

from __future__ import annotations

from typing import Any

import sympy

from pdes.boundary import Boundary, Dirichlet, Neumann
from pdes.exact import lame_cylinder, notch, westergaard
from pdes.exact.kondratiev import polar
from pdes.exact.plane_elasticity import equilibrium, stress
from pdes.exact.steady_solution import SteadySolution
from pdes.fan import Fan, slit_square
from pdes.library.choices import check_choice
from pdes.library.ranges import check_range
from pdes.mesh import Annulus, CellType, Rectangle
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, parameter

_NOTES = "Displacements u, v. Above a Poisson ratio of 0.49 elements of degree 1 lock."


def stress_rows(plane: str = "strain", heating: Any = 0) -> dict[str, tuple[Any, Any]]:
    """Rows of the stress tensor, whose normal components are tractions.

    Examples
    --------
    >>> rows = stress_rows()
    >>> rows["u"][1] == rows["v"][0]
    True
    """
    xx, xy, yy = stress(unknown("u"), unknown("v"), plane, heating)
    return {"u": (xx, xy), "v": (xy, yy)}


def check_material(name: str, young: float, poisson: float) -> dict[str, float]:
    """Values of a material, checked; in a unit of stress that keeps Young's modulus below 1e6.

    Parameters
    ----------
    name : str
        Of the problem.
    young, poisson : float
        Young's modulus and Poisson's ratio.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> check_material("plate", 210.0, 0.3)
    {'young': 210.0, 'poisson': 0.3}
    """
    return {
        "young": check_range(name, "young", young, 0.0, 1e6, open_low=True),
        "poisson": check_range(name, "poisson", poisson, 0.0, 0.49999),
    }


@register("lame_cylinder", tags=["steady", "2d", "elasticity"])
def pressurized_cylinder(
    young: float = 1.0, poisson: float = 0.3, pressure: float = 1.0, cell_type: CellType = "quad"
) -> SteadyProblem:
    """Quarter of a thick cylinder of radii 1 and 2 under inner pressure, plane strain."""
    name = "lame_cylinder"
    material = check_material(name, young, poisson)
    cell_type = check_choice(name, "cell_type", cell_type, ("triangle", "quad"))
    pressure = check_range(name, "pressure", pressure, -1e6, 1e6)
    exact = lame_cylinder.lame_cylinder(1.0, 2.0, pressure, **material)
    x, y = coordinate("x"), coordinate("y")
    push = parameter("pressure") / polar()[0]
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=stress_rows(),
        parameters=exact.parameters,
        domain=Annulus(inner=1.0, outer=2.0, cell_type=cell_type),
        boundary={
            "inner": {"u": Neumann(push * x), "v": Neumann(push * y)},
            "outer": Neumann(),
            "start": {"u": Neumann(), "v": Dirichlet()},
            "end": {"u": Dirichlet(), "v": Neumann()},
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        options={"degree": 2},
        notes=_NOTES,
        source=exact.source,
    )


@register("crack_tip", tags=["steady", "2d", "elasticity", "corner"])
def crack_tip(
    young: float = 1.0, poisson: float = 0.3, intensity: float = 1.0, grading: float = 1.0
) -> SteadyProblem:
    """Upper half of a square with a crack that opens: displacements like ``r^(1/2)``."""
    name = "crack_tip"
    material = check_material(name, young, poisson)
    exact = westergaard.westergaard(
        check_range(name, "intensity", intensity, -1e6, 1e6), **material
    )
    outer = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=stress_rows(),
        parameters=exact.parameters,
        domain=Fan(
            outer=outer,
            sides=("outer",) * 4,
            grading=check_range(name, "grading", grading, 0.05, 1.0),
        ),
        boundary={
            "start": {"u": Neumann(), "v": Dirichlet()},
            "end": Neumann(),
            "outer": _displaced(exact.fields),
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        notes=_NOTES,
        source=exact.source,
    )


@register("elastic_slit", tags=["steady", "2d", "nist", "elasticity", "corner"], aliases=["nist_3"])
def elastic_slit(
    mode: int = 1, young: float = 1.0, poisson: float = 0.3, grading: float = 1.0
) -> SteadyProblem:
    """Coupled displacements like ``r^0.544`` or ``r^0.909`` about a slit, given on its faces."""
    name = "elastic_slit"
    mode = check_choice("elastic_slit", "mode", mode, (1, 2))
    exact = notch.notch(mode, **check_material(name, young, poisson))
    # The faces of the slit are one place: only the side says which angle is meant.
    lower = notch.notch_fields(mode, polar()[0], 2 * sympy.pi)
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=stress_rows(),
        parameters=exact.parameters,
        domain=slit_square(check_range(name, "grading", grading, 0.05, 1.0)),
        boundary={
            "outer": _displaced(exact.fields),
            "start": _displaced(exact.fields),
            "end": _displaced(dict(zip("uv", lower, strict=True))),
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        notes=_NOTES,
        source=exact.source,
    )


@register("elastic_stretch", tags=["steady", "2d", "elasticity"])
def elastic_stretch(
    young: float = 1.0, poisson: float = 0.3, plane: str = "strain", strain: float = 0.1
) -> SteadyProblem:
    """A square in uniform strain: every element reproduces it to rounding."""
    name = "elastic_stretch"
    plane = check_choice(name, "plane", plane, ("strain", "stress"))
    parameters = {
        **check_material(name, young, poisson),
        "strain": check_range(name, "strain", strain, -1.0, 1.0),
    }
    x, y, s = coordinate("x"), coordinate("y"), parameter("strain")
    fields = {"u": s * (x + y / 2), "v": s * (y / 4 - x / 3)}
    exact = SteadySolution(
        name=name,
        residuals=equilibrium(plane),
        fields=fields,
        parameters=parameters,
        box={"x": (0.0, 1.0), "y": (0.0, 1.0)},
    )
    xx, xy, yy = stress(fields["u"], fields["v"], plane)
    boundary: Boundary = {
        "x-": _displaced(fields),
        "x+": {"u": Neumann(xx), "v": Neumann(xy)},
        "y-": _displaced(fields),
        "y+": {"u": Neumann(xy), "v": Neumann(yy)},
    }
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=stress_rows(plane),
        parameters=parameters,
        domain=Rectangle(),
        boundary=boundary,
        exact={name: exact},
        exact_name=name,
        notes=_NOTES,
        source=f"patch test, plane {plane}",
    )


def _displaced(fields: Any) -> dict[str, Dirichlet]:
    return {name: Dirichlet(fields[name]) for name in ("u", "v")}
