"""The heat equation ``u_t = diffusivity * u_xx``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.linear_modes import linear_modes
from pdes.exact.solution import ExactSolution
from pdes.exact.spreading_gaussian import spreading_gaussian
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant, mass
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register

_INVARIANTS = (
    mass(),
    Invariant(name="square", density="u^2/2", law="balance", rate="-diffusivity*u_x^2"),
)


def heat_equation(diffusivity: float = 0.1) -> Equation:
    """Heat equation in one dimension.

    Parameters
    ----------
    diffusivity : float
        ``k`` in length squared per time, in (0, 100].

    Returns
    -------
    Equation

    Examples
    --------
    >>> print(heat_equation())
    u_t = 0.1*u_xx
    """
    diffusivity = check_range("heat", "diffusivity", diffusivity, 0.0, 100.0, open_low=True)
    return Equation.from_text(
        "u_t = diffusivity*u_xx", name="heat", parameters={"diffusivity": diffusivity}
    )


@register("heat", tags=["benchmark", "1d", "linear"])
def heat(diffusivity: float = 0.1) -> Problem:
    """Six random modes that decay on a circle of length ``2 pi``."""
    equation = heat_equation(diffusivity)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 512)),
        initial=RandomFourier(modes=6),
        initial_seed=1,
        invariants=_INVARIANTS,
        times=np.linspace(0.0, 2.0, 201),
        time_step=0.01 / 20,
        stored_points=256,
        exact={
            "modes": linear_modes(equation, {1.0: 1.0, 3.0: 0.5}),
            "gaussian": spreading_gaussian(equation),
        },
        source="discovery benchmark",
    )


@register("heat_one_mode", tags=["second tier", "1d", "linear", "unidentifiable"])
def heat_one_mode(diffusivity: float = 0.1) -> Problem:
    """One decaying mode: ``u``, ``u_xx`` and ``u_xxxx`` are multiples of each other."""
    equation = heat_equation(diffusivity)
    return _decaying(
        equation,
        linear_modes(equation, {2.0: 1.0}),
        "No data of one mode tells diffusion from decay: the equation cannot be identified.",
    )


@register("heat_two_modes", tags=["second tier", "1d", "linear"])
def heat_two_modes(diffusivity: float = 0.1) -> Problem:
    """Two decaying modes: the fewest that tell diffusion from decay."""
    equation = heat_equation(diffusivity)
    return _decaying(equation, linear_modes(equation, {1.0: 1.0, 3.0: 0.7}), "")


def _decaying(equation: Equation, modes: ExactSolution, notes: str) -> Problem:
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 256)),
        initial=modes.initial,
        invariants=_INVARIANTS,
        times=np.linspace(0.0, 2.0, 201),
        exact={modes.name: modes},
        exact_name=modes.name,
        notes=notes,
    )
