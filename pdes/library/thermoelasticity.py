"""Heat that deforms: temperature and displacements solved together, plane strain."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdes.boundary import Dirichlet, Neumann
from pdes.exact.heated_cylinder import heated_cylinder
from pdes.exact.plane_elasticity import POISSON, equilibrium
from pdes.exact.steady_solution import SteadySolution
from pdes.exact.thermoelastic_mode import thermoelastic_mode as mode_solution
from pdes.library.choices import check_choice
from pdes.library.elasticity import check_material, stress_rows
from pdes.library.ranges import check_range
from pdes.mesh import Annulus, CellType, Rectangle
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, parameter


@register("thermoelastic_cylinder", tags=["steady", "2d", "elasticity"])
def thermoelastic_cylinder(
    young: float = 1.0,
    poisson: float = 0.3,
    expansion: float = 0.1,
    temperature: float = 1.0,
    cell_type: CellType = "quad",
) -> SteadyProblem:
    """Quarter of a hollow cylinder of radii 1 and 2, hot inside, free of traction."""
    name = "thermoelastic_cylinder"
    cell_type = check_choice(name, "cell_type", cell_type, ("triangle", "quad"))
    exact = heated_cylinder(
        1.0,
        2.0,
        check_range(name, "temperature", temperature, -1e6, 1e6),
        check_range(name, "expansion", expansion, -1.0, 1.0),
        **check_material(name, young, poisson),
    )
    free: dict[str, Any] = {"u": Neumann(), "v": Neumann()}
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=_fluxes(),
        parameters=exact.parameters,
        domain=Annulus(inner=1.0, outer=2.0, cell_type=cell_type),
        boundary={
            "inner": {"T": Dirichlet(parameter("temperature")), **free},
            "outer": {"T": Dirichlet(), **free},
            "start": {"T": Neumann(), "u": Neumann(), "v": Dirichlet()},
            "end": {"T": Neumann(), "u": Dirichlet(), "v": Neumann()},
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        options={"degree": 2},
        in_time={"times": np.linspace(0.0, 2.0, 11)},
        source=exact.source,
    )


@register("thermoelastic_free", tags=["steady", "2d", "elasticity"])
def thermoelastic_free(
    young: float = 1.0, poisson: float = 0.3, expansion: float = 0.1, temperature: float = 1.0
) -> SteadyProblem:
    """A square heated evenly and free to grow: it expands without any stress in its plane."""
    name = "thermoelastic_free"
    parameters = {
        **check_material(name, young, poisson),
        "expansion": check_range(name, "expansion", expansion, -1.0, 1.0),
        "temperature": check_range(name, "temperature", temperature, -1e6, 1e6),
    }
    x, y, hot = coordinate("x"), coordinate("y"), parameter("temperature")
    growth = (1 + POISSON) * parameter("expansion") * hot
    exact = SteadySolution(
        name=name,
        residuals=_residuals(),
        fields={"T": hot + 0 * x, "u": growth * x, "v": growth * y},
        parameters=parameters,
        box={"x": (0.0, 1.0), "y": (0.0, 1.0)},
    )
    free: dict[str, Any] = {"T": Dirichlet(hot), "u": Neumann(), "v": Neumann()}
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=_fluxes(),
        parameters=parameters,
        domain=Rectangle(),
        boundary={
            "x-": {**free, "u": Dirichlet()},
            "x+": free,
            "y-": {**free, "v": Dirichlet()},
            "y+": free,
        },
        exact={name: exact},
        exact_name=name,
        in_time={"times": np.linspace(0.0, 0.5, 11)},
        notes="The two held sides are lines of symmetry.",
        source="patch test",
    )


@register("thermoelastic_mode", tags=["steady", "2d", "elasticity"])
def thermoelastic_mode(
    young: float = 1.0, poisson: float = 0.3, expansion: float = 0.1, temperature: float = 1.0
) -> SteadyProblem:
    """A square warmed from within, cold at its sides, which do not slide and push nowhere."""
    name = "thermoelastic_mode"
    exact = mode_solution(
        check_range(name, "temperature", temperature, -1e6, 1e6),
        check_range(name, "expansion", expansion, -1.0, 1.0),
        **check_material(name, young, poisson),
    )
    upright: dict[str, Any] = {"T": Dirichlet(), "u": Neumann(), "v": Dirichlet()}
    level: dict[str, Any] = {"T": Dirichlet(), "u": Dirichlet(), "v": Neumann()}
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        flux=_fluxes(),
        parameters=exact.parameters,
        domain=Rectangle(),
        boundary={"x-": upright, "x+": upright, "y-": level, "y+": level},
        exact={exact.name: exact},
        exact_name=exact.name,
        options={"degree": 2},
        in_time={"times": np.linspace(0.0, 0.5, 11)},
        notes="pdes.simulate follows it in time: the mode grows at one known rate.",
        source=exact.source,
    )


def _residuals() -> dict[str, Any]:
    x, y, heat = coordinate("x"), coordinate("y"), unknown("T")
    balance = equilibrium(heating=parameter("expansion") * heat)
    return {"T": -heat.diff(x, 2) - heat.diff(y, 2), **balance}


def _fluxes() -> dict[str, tuple[Any, Any]]:
    heat = unknown("T")
    rows = stress_rows(heating=parameter("expansion") * heat)
    return {"T": (heat.diff(coordinate("x")), heat.diff(coordinate("y"))), **rows}
