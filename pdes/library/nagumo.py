"""The Nagumo equation ``u_t = diffusivity*u_xx + growth*u*(1 - u)*(u - threshold)``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.nagumo_front import nagumo_front
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def nagumo_equation(
    diffusivity: float = 0.05, growth: float = 4.0, threshold: float = 0.3
) -> Equation:
    """Nagumo equation: two stable states, 0 and 1, on either side of a threshold.

    Parameters
    ----------
    diffusivity : float
        Length squared per time, in (0, 100].
    growth : float
        Rate of the reaction, in (0, 100].
    threshold : float
        Unstable state between the stable ones, in [0, 1].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(nagumo_equation(growth=1.0, threshold=0.25))
    u_t = -0.25*u + 1.25*u^2 - u^3 + 0.05*u_xx
    """
    parameters = {
        "diffusivity": check_range("nagumo", "diffusivity", diffusivity, 0.0, 100.0, open_low=True),
        "growth": check_range("nagumo", "growth", growth, 0.0, 100.0, open_low=True),
        "threshold": check_range("nagumo", "threshold", threshold, 0.0, 1.0),
    }
    return Equation.from_text(
        "u_t = diffusivity*u_xx + growth*u*(1 - u)*(u - threshold)",
        name="nagumo",
        parameters=parameters,
    )


@register("nagumo", tags=["second tier", "1d", "nonlinear", "reaction"])
def nagumo(diffusivity: float = 0.05, growth: float = 4.0, threshold: float = 0.3) -> Problem:
    """A random field on both sides of the threshold, on a circle of length ``4 pi``."""
    equation = nagumo_equation(diffusivity, growth, threshold)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 4.0 * np.pi, 256)),
        initial=RandomFourier(modes=6, amplitude=0.35, mean=0.4),
        initial_seed=8,
        invariants=(
            Invariant(
                name="energy",
                density="diffusivity*u_x^2/2"
                " + growth*(u^4/4 - (1 + threshold)*u^3/3 + threshold*u^2/2)",
                law="nonincreasing",
            ),
        ),
        times=np.linspace(0.0, 4.0, 201),
        time_step=0.02 / 10,
        exact={"front": nagumo_front(equation)},
    )
