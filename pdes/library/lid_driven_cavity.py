"""Lid-driven cavity: flow in a square box whose top moves."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import NoSlip
from pdes.grid import Axis, Grid
from pdes.initial import FromExpression
from pdes.library.navier_stokes import navier_stokes_velocity_equation
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


@register("lid_driven_cavity", tags=["2d", "nonlinear", "flow", "not periodic"], aliases=["cavity"])
def lid_driven_cavity(reynolds: float = 100.0) -> Problem:
    """Unit square from rest, its lid moving with speed one; viscosity ``1/reynolds``."""
    reynolds = check_range("lid_driven_cavity", "reynolds", reynolds, 1.0, 1e4)
    wall = NoSlip()
    return Problem(
        equation=navier_stokes_velocity_equation(1.0 / reynolds),
        grid=Grid((Axis("x", 0.0, 1.0, 33, False), Axis("y", 0.0, 1.0, 33, False))),
        initial=FromExpression({"u": sympy.S.Zero, "v": sympy.S.Zero}),
        boundary={"x-": wall, "x+": wall, "y-": wall, "y+": NoSlip((1.0, 0.0))},
        times=np.linspace(0.0, 10.0, 21),
        solver="mac_rk3",
        notes=(
            "The lid meets the walls in two corners where the velocity jumps: convergence near "
            "them is slower than the order of the scheme. At rest until t = 0."
        ),
        source="Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982) 387",
    )
