"""Flow around bodies on a staggered grid: a disc in a turning fluid, a block in a channel."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from pdes.boundary import NoSlip, Obstacle, Outflow
from pdes.equation import coordinate
from pdes.exact.circular_couette import circular_couette as turning
from pdes.grid import Axis, Grid
from pdes.initial import FromExpression
from pdes.library.navier_stokes import navier_stokes_velocity_equation
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import number, parameter

_STAIRCASE = (
    "A cell is solid when its center is in the body: first order in the size of the cells, unless "
    "the surface runs along faces of cells. Corners of the grid in a body are at rest."
)


@register("circular_couette", tags=["2d", "nonlinear", "flow", "not periodic", "obstacle"])
def circular_couette(viscosity: float = 0.1, rate: float = 1.0, radius: float = 0.4) -> Problem:
    """Fluid turning around a disc at rest, its velocities given on the sides of a square."""
    name = "circular_couette"
    viscosity = check_range(name, "viscosity", viscosity, 1e-3, 10.0)
    rate = check_range(name, "rate", rate, -100.0, 100.0)
    radius = check_range(name, "radius", radius, 0.05, 0.9)
    exact = turning(navier_stokes_velocity_equation(viscosity), rate=rate, radius=radius)
    values = {parameter(n): number(v) for n, v in exact.parameters.items()}
    velocity: Any = tuple(exact.fields[field].xreplace(values) for field in ("u", "v"))
    x, y = coordinate("x"), coordinate("y")
    return Problem(
        equation=exact.equation,
        grid=Grid((Axis("x", -1.0, 1.0, 49, False), Axis("y", -1.0, 1.0, 49, False))),
        initial=exact.initial,
        boundary={
            **dict.fromkeys(("x-", "x+", "y-", "y+"), NoSlip(velocity)),
            "disc": Obstacle(x**2 + y**2 - number(radius) ** 2),
        },
        times=np.linspace(0.0, 2.0, 11),
        solver="mac_rk3",
        exact={exact.name: exact},
        exact_name=exact.name,
        notes=_STAIRCASE + " Steady: what changes is the error of the scheme.",
        source=exact.source,
    )


@register("channel_block", tags=["2d", "nonlinear", "flow", "not periodic", "obstacle"])
def channel_block(reynolds: float = 60.0, blockage: float = 0.25) -> Problem:
    """A square block in the middle of a channel, from rest; ``reynolds`` counts its side."""
    name = "channel_block"
    reynolds = check_range(name, "reynolds", reynolds, 1.0, 1e3)
    side = check_range(name, "blockage", blockage, 0.05, 0.8)
    x, y = coordinate("x"), coordinate("y")
    half = number(side) / 2
    level = sympy.Max(sympy.Abs(x - 1) - half, sympy.Abs(y - sympy.Rational(1, 2)) - half)
    return Problem(
        equation=navier_stokes_velocity_equation(side / reynolds),
        grid=Grid((Axis("x", 0.0, 4.0, 129, False), Axis("y", 0.0, 1.0, 33, False))),
        initial=FromExpression({"u": 4 * y * (1 - y), "v": sympy.S.Zero}),
        boundary={
            "x-": NoSlip((4 * y * (1 - y), 0.0)),
            "x+": Outflow(),
            "y-": NoSlip(),
            "y+": NoSlip(),
            "block": Obstacle(level),
        },
        times=np.linspace(0.0, 2.0, 11),
        solver="mac_rk3",
        notes=(
            "A channel of height 1 and length 4, the block around (1, 1/2); the speed is 1 on the "
            "center line of the inlet. Starts as the stream without the block, made free of "
            "divergence. " + _STAIRCASE
        ),
        source="M. Breuer et al., Int. J. Heat Fluid Flow 21 (2000) 186",
    )
