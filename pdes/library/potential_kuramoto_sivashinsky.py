"""The potential Kuramoto-Sivashinsky equation ``u_t = -u_x^2/2 - u_xx - u_xxxx``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.exact.kuramoto_sivashinsky_front import potential_kuramoto_sivashinsky_front
from pdes.grid import Grid
from pdes.initial import FromExpression
from pdes.invariant import Invariant
from pdes.problem import Problem
from pdes.registry import register


def potential_kuramoto_sivashinsky_equation() -> Equation:
    """Equation of the flame front whose slope obeys the Kuramoto-Sivashinsky equation.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(potential_kuramoto_sivashinsky_equation())
    u_t = -0.5*u_x^2 - u_xx - u_xxxx
    """
    return Equation.from_text(
        "u_t = -1/2*u_x^2 - u_xx - u_xxxx", name="potential_kuramoto_sivashinsky"
    )


@register(
    "potential_kuramoto_sivashinsky",
    tags=["second tier", "1d", "nonlinear", "chaotic"],
    aliases=["potential_ks"],
)
def potential_kuramoto_sivashinsky() -> Problem:
    """A chaotic front on a circle of length ``32 pi``, 40 time units after its start."""
    equation, phase = potential_kuramoto_sivashinsky_equation(), coordinate("x") / 16
    # The slope of this field is the initial field of the Kuramoto-Sivashinsky benchmark.
    height = 16 * sympy.sin(phase) + 8 * sympy.sin(phase) ** 2
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 32.0 * np.pi, 512)),
        initial=FromExpression({"u": height}),
        invariants=(Invariant(name="height", density="u", law="balance", rate="-u_x^2/2"),),
        times=np.linspace(0.0, 50.0, 251),
        time_step=0.2 / 10,
        discard=40.0,
        stored_points=256,
        exact={"front": potential_kuramoto_sivashinsky_front(equation)},
        notes="The mean height falls steadily: noise levels should refer to the fluctuation.",
    )
