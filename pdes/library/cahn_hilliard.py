"""The Cahn-Hilliard equation ``u_t = (u^3 - u - gradient_energy*u_xx)_xx``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.cahn_hilliard_kink import cahn_hilliard_kink
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def cahn_hilliard_equation(gradient_energy: float = 0.05) -> Equation:
    """Cahn-Hilliard equation: phases separate and the total amount stays.

    Parameters
    ----------
    gradient_energy : float
        Cost of interfaces, in [1e-4, 100]; they are ``sqrt(2*gradient_energy)`` thick.

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(cahn_hilliard_equation())
    u_t = 6*u*u_x^2 - u_xx + 3*u^2*u_xx - 0.05*u_xxxx
    """
    value = check_range("cahn_hilliard", "gradient_energy", gradient_energy, 1e-4, 100.0)
    return Equation.from_text(
        "u_t = (u^3 - u - gradient_energy*u_xx)_xx",
        name="cahn_hilliard",
        parameters={"gradient_energy": value},
    )


@register("cahn_hilliard", tags=["second tier", "1d", "nonlinear", "pattern"])
def cahn_hilliard(gradient_energy: float = 0.05) -> Problem:
    """A random mixture that separates on a circle of length ``2 pi``."""
    equation = cahn_hilliard_equation(gradient_energy)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=RandomFourier(modes=5, amplitude=0.4),
        initial_seed=10,
        invariants=(
            mass(),
            Invariant(
                name="energy",
                density="gradient_energy*u_x^2/2 + (1 - u^2)^2/4",
                law="nonincreasing",
            ),
        ),
        times=np.linspace(0.0, 1.0, 201),
        exact={"kink": cahn_hilliard_kink(equation)},
    )
