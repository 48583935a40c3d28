"""The Kuramoto-Sivashinsky equation ``u_t = -u*u_x - u_xx - u_xxxx``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.kuramoto_sivashinsky_front import kuramoto_sivashinsky_front
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def kuramoto_sivashinsky_equation(hyperviscosity: float = 1.0) -> Equation:
    """Kuramoto-Sivashinsky equation ``u_t = -u*u_x - u_xx - hyperviscosity*u_xxxx``.

    Parameters
    ----------
    hyperviscosity : float
        Coefficient of the stabilizing fourth derivative, in [0.01, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(kuramoto_sivashinsky_equation())
    u_t = -u*u_x - u_xx - u_xxxx
    """
    value = check_range("kuramoto_sivashinsky", "hyperviscosity", hyperviscosity, 0.01, 100.0)
    return Equation.from_text(
        "u_t = -u*u_x - u_xx - hyperviscosity*u_xxxx",
        name="kuramoto_sivashinsky",
        parameters={"hyperviscosity": value},
    )


@register("kuramoto_sivashinsky", tags=["benchmark", "1d", "nonlinear", "chaotic"], aliases=["ks"])
def kuramoto_sivashinsky(hyperviscosity: float = 1.0) -> Problem:
    """Spatio-temporal chaos on a circle of length ``32 pi``, 40 time units after its start."""
    equation, phase = kuramoto_sivashinsky_equation(hyperviscosity), coordinate("x") / 16
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 32.0 * np.pi, 512)),
        initial=FromExpression({"u": sympy.cos(phase) * (1 + sympy.sin(phase))}),
        invariants=(
            mass(),
            Invariant(
                name="energy", density="u^2/2", law="balance", rate="u_x^2 - hyperviscosity*u_xx^2"
            ),
        ),
        times=np.linspace(0.0, 100.0, 251),
        time_step=0.4 / 20,
        discard=40.0,
        stored_points=256,
        exact={"front": kuramoto_sivashinsky_front(equation)},
        notes="Chaotic: trajectories agree for a few Lyapunov times only (about 10 time units).",
        source="discovery benchmark; initial field of Kassam and Trefethen (2005)",
    )
