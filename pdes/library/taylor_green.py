"""Taylor-Green vortices: the decaying flow that every solver is checked with."""

from __future__ import annotations

import numpy as np

from pdes.exact.taylor_green import taylor_green as vortices
from pdes.grid import Grid
from pdes.library.navier_stokes import (
    navier_stokes_equation,
    navier_stokes_velocity_equation,
    velocity_invariants,
    vorticity_invariants,
)
from pdes.problem import Problem
from pdes.registry import register

_NOTES = "Advection vanishes on this flow: it tests viscosity and signs, not the nonlinear terms."


@register("taylor_green", tags=["2d", "flow"])
def taylor_green(viscosity: float = 0.1) -> Problem:
    """Four counter-rotating vortices that decay, in vorticity."""
    exact = vortices(navier_stokes_equation(viscosity))
    return Problem(
        equation=exact.equation,
        invariants=vorticity_invariants(navier_stokes_equation(viscosity)),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 32), y=(0.0, 2.0 * np.pi, 32)),
        initial=exact.initial,
        times=np.linspace(0.0, 2.0, 21),
        exact={"taylor_green": exact},
        exact_name="taylor_green",
        notes=_NOTES,
        source=exact.source,
    )


@register("taylor_green_velocity", tags=["2d", "flow"])
def taylor_green_velocity(viscosity: float = 0.1) -> Problem:
    """Four counter-rotating vortices that decay, in velocities."""
    exact = vortices(navier_stokes_velocity_equation(viscosity))
    return Problem(
        equation=exact.equation,
        invariants=velocity_invariants(),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 32), y=(0.0, 2.0 * np.pi, 32)),
        initial=exact.initial,
        times=np.linspace(0.0, 2.0, 21),
        exact={"taylor_green": exact},
        exact_name="taylor_green",
        notes=_NOTES,
        source=exact.source,
    )
