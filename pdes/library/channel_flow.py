"""Channel flow: a stream enters between two walls and leaves at the open end."""

from __future__ import annotations

import numpy as np

from pdes.boundary import NoSlip, Outflow
from pdes.equation import coordinate
from pdes.exact.poiseuille import poiseuille
from pdes.grid import Axis, Grid
from pdes.library.navier_stokes import navier_stokes_velocity_equation
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


@register("channel_flow", tags=["2d", "nonlinear", "flow", "not periodic"], aliases=["poiseuille"])
def channel_flow(viscosity: float = 0.02, speed: float = 1.0) -> Problem:
    """Poiseuille flow in a channel of length 2 and height 1, with its parabola at the inlet."""
    viscosity = check_range("channel_flow", "viscosity", viscosity, 1e-4, 10.0)
    speed = check_range("channel_flow", "speed", speed, 0.0, 100.0, open_low=True)
    y = coordinate("y")
    exact = poiseuille(navier_stokes_velocity_equation(viscosity), speed=speed, length=2.0)
    return Problem(
        equation=exact.equation,
        grid=Grid((Axis("x", 0.0, 2.0, 65, False), Axis("y", 0.0, 1.0, 33, False))),
        initial=exact.initial,
        boundary={
            "x-": NoSlip((4 * speed * y * (1 - y), 0.0)),
            "x+": Outflow(),
            "y-": NoSlip(),
            "y+": NoSlip(),
        },
        times=np.linspace(0.0, 2.0, 11),
        solver="mac_rk3",
        exact={"poiseuille": exact},
        exact_name="poiseuille",
        notes="The pressure is zero on the open side.",
        source=exact.source,
    )
