"""The Keller-Segel system: cells that follow what they secrete."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def keller_segel_equation(sensitivity: float = 2.0) -> Equation:
    """Keller-Segel system ``u_t = u_xx - sensitivity*(u*v_x)_x``, ``v_t = v_xx + u - v``.

    Parameters
    ----------
    sensitivity : float
        How strongly cells ``u`` climb the gradient of the signal ``v``, in [0, 10]. In one
        dimension aggregates stay bounded; in two they would not.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(keller_segel_equation())
    u_t = -2*u_x*v_x + u_xx - 2*u*v_xx
    v_t = u - v + v_xx
    """
    value = check_range("keller_segel", "sensitivity", sensitivity, 0.0, 10.0)
    return Equation.from_text(
        ["u_t = u_xx - sensitivity*(u*v_x)_x", "v_t = v_xx + u - v"],
        name="keller_segel",
        parameters={"sensitivity": value},
    )


@register("keller_segel", tags=["second tier", "1d", "nonlinear", "system"])
def keller_segel(sensitivity: float = 2.0) -> Problem:
    """Cells that gather from a random density around 1 on a circle of length ``8 pi``."""
    return Problem(
        equation=keller_segel_equation(sensitivity),
        grid=Grid.periodic(x=(0.0, 8.0 * np.pi, 256)),
        initial=RandomFourier(modes=8, amplitude=0.2, mean=1.0, fields=("u", "v")),
        initial_seed=13,
        invariants=(
            mass("u", "cells"),
            Invariant(name="signal", density="v", law="balance", rate="u - v"),
        ),
        times=np.linspace(0.0, 4.0, 201),
        time_step=0.02 / 10,
        source="Keller and Segel, J. Theor. Biol. 26 (1970) 399",
    )
