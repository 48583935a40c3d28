"""The Fisher-KPP equation ``u_t = diffusivity*u_xx + growth*u*(1 - u)``."""

from __future__ import annotations

import numpy as np

from pdes.boundary import Dirichlet
from pdes.equation import Equation
from pdes.exact.fisher_front import fisher_front as front_solution
from pdes.grid import Axis, Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def fisher_kpp_equation(diffusivity: float = 0.1, growth: float = 1.0) -> Equation:
    """Fisher-KPP equation.

    Parameters
    ----------
    diffusivity : float
        Length squared per time, in (0, 100].
    growth : float
        Rate at which a small population grows, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(fisher_kpp_equation())
    u_t = u - u^2 + 0.1*u_xx
    """
    name = "fisher_kpp"
    parameters = {
        "diffusivity": check_range(name, "diffusivity", diffusivity, 0.0, 100.0, open_low=True),
        "growth": check_range(name, "growth", growth, 0.0, 100.0, open_low=True),
    }
    return Equation.from_text(
        "u_t = diffusivity*u_xx + growth*u*(1 - u)", name=name, parameters=parameters
    )


@register("fisher_kpp", tags=["benchmark", "1d", "nonlinear", "reaction"], aliases=["fisher"])
def fisher_kpp(diffusivity: float = 0.1, growth: float = 1.0) -> Problem:
    """A random population between the states 0 and 1 on a circle of length ``4 pi``."""
    equation = fisher_kpp_equation(diffusivity, growth)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 4.0 * np.pi, 512)),
        initial=RandomFourier(modes=5, amplitude=0.18, mean=0.45),
        initial_seed=5,
        invariants=(
            Invariant(
                name="energy",
                density="diffusivity*u_x^2/2 - growth*(u^2/2 - u^3/3)",
                law="nonincreasing",
            ),
        ),
        times=np.linspace(0.0, 5.0, 201),
        time_step=0.025 / 20,
        stored_points=256,
        exact={"front": front_solution(equation)},
        source="discovery benchmark",
    )


@register("fisher_front", tags=["second tier", "1d", "nonlinear", "reaction", "not periodic"])
def fisher_front(diffusivity: float = 0.1, growth: float = 1.0) -> Problem:
    """A front invading the empty state: sampled from its closed form."""
    equation = fisher_kpp_equation(diffusivity, growth)
    front = front_solution(equation)
    length = float(np.sqrt(diffusivity / growth))
    ends = Dirichlet(front.fields["u"])
    return Problem(
        equation=equation,
        grid=Grid((Axis("x", -15.0 * length, 45.0 * length, 256, periodic=False),)),
        boundary={"x-": ends, "x+": ends},
        initial=front.initial,
        times=np.linspace(0.0, 10.0 / growth, 201),
        exact={"front": front},
        exact_name="front",
        solver="exact",
        notes="The closed form is sampled; solver='finite_difference' integrates, its ends given.",
    )
