"""Navier-Stokes equations on a torus: vorticity form and velocity form."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from pdes.equation import coordinate, field, parameter
from pdes.grid import Grid
from pdes.incompressible import VelocityEquation, VorticityEquation
from pdes.initial import GaussianRandomField, TurbulentVelocity
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def navier_stokes_equation(
    viscosity: float = 1e-3, drag: float = 0.0, forcing: sympy.Expr | float = 0.0
) -> VorticityEquation:
    """Vorticity form ``w_t + u w_x + v w_y = viscosity lap w - drag w + forcing``.

    Parameters
    ----------
    viscosity : float
        In [1e-7, 10].
    drag : float, default 0
        Rayleigh friction, in [0, 100].
    forcing : sympy.Expr or float, default 0
        Curl of the body force.

    Returns
    -------
    VorticityEquation

    Examples
    --------
    >>> print(navier_stokes_equation(0.5))
    w_t = -w_x*psi_y + w_y*psi_x + 0.5*w_xx + 0.5*w_yy
    0 = w + psi_xx + psi_yy
    """
    return VorticityEquation.of(
        viscosity=check_range("navier_stokes", "viscosity", viscosity, 1e-7, 10.0),
        drag=check_range("navier_stokes", "drag", drag, 0.0, 100.0),
        forcing=forcing,
    )


def navier_stokes_velocity_equation(viscosity: float = 1e-2, drag: float = 0.0) -> VelocityEquation:
    """Velocity form with pressure, density one.

    Parameters
    ----------
    viscosity : float
        In [1e-7, 10].
    drag : float, default 0
        Rayleigh friction, in [0, 100].

    Returns
    -------
    VelocityEquation

    Examples
    --------
    >>> navier_stokes_velocity_equation().auxiliary
    ('p',)
    """
    return VelocityEquation.of(
        viscosity=check_range("navier_stokes_velocity", "viscosity", viscosity, 1e-7, 10.0),
        drag=check_range("navier_stokes_velocity", "drag", drag, 0.0, 100.0),
    )


def vorticity_invariants(equation: VorticityEquation, forcing: Any = 0) -> tuple[Invariant, ...]:
    """Circulation, which is conserved, and enstrophy, which viscosity, drag and force change.

    Parameters
    ----------
    equation : VorticityEquation
        Names its parameters.
    forcing : sympy.Expr or float, default 0
        Curl of the body force.

    Returns
    -------
    tuple of Invariant

    Examples
    --------
    >>> [invariant.name for invariant in vorticity_invariants(navier_stokes_equation())]
    ['circulation', 'enstrophy']
    """
    w, x, y = field("w", ("x", "y")), coordinate("x"), coordinate("y")
    rate = -parameter("viscosity") * (w.diff(x) ** 2 + w.diff(y) ** 2) + forcing * w
    if "drag" in equation.parameters:
        rate -= parameter("drag") * w**2
    return (
        Invariant(name="circulation", density="w"),
        Invariant(name="enstrophy", density="w^2/2", law="balance", rate=rate),
    )


def velocity_invariants() -> tuple[Invariant, ...]:
    """Momentum, which is conserved on a torus, and kinetic energy, which viscosity takes away.

    Examples
    --------
    >>> velocity_invariants()[-1].law
    'balance'
    """
    losses = "-viscosity*(u_x^2 + u_y^2 + v_x^2 + v_y^2)"
    return (
        Invariant(name="momentum along x", density="u"),
        Invariant(name="momentum along y", density="v"),
        Invariant(name="energy", density="(u^2 + v^2)/2", law="balance", rate=losses),
    )


@register("navier_stokes", tags=["2d", "nonlinear", "flow", "random"])
def navier_stokes(viscosity: float = 1e-3) -> Problem:
    """Random vorticity on the unit torus under a diagonal force, as operator learning uses it."""
    phase = 2 * sympy.pi * (coordinate("x") + coordinate("y"))
    forcing = sympy.Rational(1, 10) * (sympy.sin(phase) + sympy.cos(phase))
    equation = navier_stokes_equation(viscosity, forcing=forcing)
    return Problem(
        equation=equation,
        invariants=vorticity_invariants(equation, forcing),
        grid=Grid.periodic(x=(0.0, 1.0, 128), y=(0.0, 1.0, 128)),
        stored_points=64,
        # The law is N(0, 7^(3/2) (-laplacian + 49)^(-5/2)): sigma is the root of its factor.
        initial=GaussianRandomField(tau=7.0, alpha=2.5, sigma=7.0**0.75, fields=("w",)),
        times=np.linspace(0.0, 10.0, 11),
        time_step=0.02,
        notes=(
            "Published for viscosities 1e-3 (to t = 50), 1e-4 (t = 30) and 1e-5 (t = 20). The "
            "released generator multiplies the field by 7^(3/2) sqrt(2) where the paper states "
            "the variance; replace the initial field to follow the former. A run stops when the "
            "top third of the spectrum holds more than 1e-3 of the enstrophy: use more points."
        ),
        source="Li et al., Fourier Neural Operator, ICLR 2021, section 5.3",
    )


@register("navier_stokes_velocity", tags=["2d", "nonlinear", "flow", "random"])
def navier_stokes_velocity(viscosity: float = 1e-2) -> Problem:
    """Decaying turbulence on a torus of length ``2 pi``, in velocities."""
    return Problem(
        equation=navier_stokes_velocity_equation(viscosity),
        invariants=velocity_invariants(),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 128), y=(0.0, 2.0 * np.pi, 128)),
        stored_points=64,
        initial=TurbulentVelocity(lowest=2, highest=5),
        initial_seed=5,
        times=np.linspace(0.0, 2.0, 21),
        time_step=0.02,
        notes="The pressure is eliminated by projecting on divergence-free fields.",
    )
