"""Kovasznay flow: a closed form of the full steady equations, for checking solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdes.boundary import NoSlip
from pdes.exact.kovasznay import kovasznay as wake
from pdes.grid import Axis, Grid
from pdes.library.navier_stokes import navier_stokes_velocity_equation
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import number, parameter


@register("kovasznay", tags=["2d", "nonlinear", "flow", "not periodic"])
def kovasznay(reynolds: float = 40.0) -> Problem:
    """Steady vortices behind a grid, their velocities given at both ends; periodic across."""
    reynolds = check_range("kovasznay", "reynolds", reynolds, 1.0, 1e3)
    exact = wake(navier_stokes_velocity_equation(1.0 / reynolds))
    value = {parameter("viscosity"): number(exact.equation.parameters["viscosity"])}
    velocity: Any = tuple(exact.fields[name].xreplace(value) for name in ("u", "v"))
    return Problem(
        equation=exact.equation,
        grid=Grid((Axis("x", -0.5, 1.0, 49, False), Axis("y", -0.5, 0.5, 32))),
        initial=exact.initial,
        boundary={"x-": NoSlip(velocity), "x+": NoSlip(velocity)},
        times=np.linspace(0.0, 2.0, 11),
        solver="mac_rk3",
        exact={"kovasznay": exact},
        exact_name="kovasznay",
        notes="Steady: what changes is the error of the scheme.",
        source=exact.source,
    )
