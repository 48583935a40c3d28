"""The Swift-Hohenberg equation ``u_t = forcing*u - (1 + d_xx)^2 u - u^3``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def swift_hohenberg_equation(forcing: float = 0.3) -> Equation:
    """Swift-Hohenberg equation: patterns of wave number near 1 grow at the rate `forcing`.

    Parameters
    ----------
    forcing : float
        Distance from the onset, in [-5, 5].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(swift_hohenberg_equation())
    u_t = -0.7*u - u^3 - 2*u_xx - u_xxxx
    """
    forcing = check_range("swift_hohenberg", "forcing", forcing, -5.0, 5.0)
    return Equation.from_text(
        "u_t = (forcing - 1)*u - 2*u_xx - u_xxxx - u^3",
        name="swift_hohenberg",
        parameters={"forcing": forcing},
    )


@register("swift_hohenberg", tags=["second tier", "1d", "nonlinear", "pattern"])
def swift_hohenberg(forcing: float = 0.3) -> Problem:
    """Rolls growing out of a random field on a circle of length ``16 pi``."""
    return Problem(
        equation=swift_hohenberg_equation(forcing),
        grid=Grid.periodic(x=(0.0, 16.0 * np.pi, 256)),
        initial=RandomFourier(modes=12, amplitude=0.5),
        initial_seed=9,
        invariants=(
            Invariant(
                name="energy", density="(u + u_xx)^2/2 - forcing*u^2/2 + u^4/4", law="nonincreasing"
            ),
        ),
        times=np.linspace(0.0, 20.0, 201),
        time_step=0.1 / 10,
        source="Swift and Hohenberg, Phys. Rev. A 15 (1977) 319",
    )
