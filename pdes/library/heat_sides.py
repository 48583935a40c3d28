"""The heat equation on an interval whose ends are cold, insulated, or lose heat."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import Boundary, Dirichlet, Neumann, Robin
from pdes.equation import coordinate, parameter
from pdes.exact.closed_form import ClosedForm
from pdes.exact.robin_mode import robin_mode
from pdes.exact.side_modes import side_modes
from pdes.exact.solution import ExactSolution
from pdes.grid import Axis, Grid
from pdes.invariant import Invariant, mass
from pdes.library.heat import heat_equation
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import TIME

_SQUARE = Invariant(name="square", density="u^2/2", law="nonincreasing")


@register("heat_dirichlet", tags=["1d", "linear", "not periodic"])
def heat_dirichlet(diffusivity: float = 0.1) -> Problem:
    """Two modes of a rod whose ends are kept at zero: sines, exact in time."""
    equation = heat_equation(diffusivity)
    solution = side_modes(equation, "sine", {1: 1.0, 4: 0.5})
    return _problem(solution, Dirichlet(0.0), "sine_cosine", (_SQUARE,))


@register("heat_neumann", tags=["1d", "linear", "not periodic"])
def heat_neumann(diffusivity: float = 0.1) -> Problem:
    """Two modes and the mean of an insulated rod: cosines, exact in time."""
    equation = heat_equation(diffusivity)
    solution = side_modes(equation, "cosine", {0: 0.7, 1: 1.0, 3: 0.5})
    return _problem(solution, Neumann(0.0), "sine_cosine", (mass(), _SQUARE))


@register("heat_robin", tags=["1d", "linear", "not periodic"])
def heat_robin(diffusivity: float = 0.1, loss: float = 0.2) -> Problem:
    """The slowest mode of a rod that loses heat through its ends."""
    equation = heat_equation(diffusivity)
    loss = check_range("heat_robin", "loss", loss, 1e-3, 100.0)
    solution = robin_mode(equation, loss=loss)
    return _problem(solution, Robin(loss, 0.0), "finite_difference", (_SQUARE,))


@register("heat_driven", tags=["1d", "linear", "not periodic"])
def heat_driven(diffusivity: float = 0.1, frequency: float = 4.0) -> Problem:
    """A rod whose end follows an oscillating temperature: the wave that it sends inward."""
    equation = heat_equation(diffusivity)
    frequency = check_range("heat_driven", "frequency", frequency, 0.1, 50.0)
    depth = sympy.sqrt(parameter("frequency") / (2 * parameter("diffusivity")))
    x = coordinate("x")
    wave = sympy.exp(-depth * x) * sympy.cos(parameter("frequency") * TIME - depth * x)
    solution = ExactSolution(
        name="heat_driven",
        equation=equation,
        fields={"u": wave},
        parameters={"frequency": frequency},
        source="Carslaw and Jaeger, Conduction of Heat in Solids (1959), section 2.6",
    )
    given = wave.subs(parameter("frequency"), sympy.Rational(str(frequency)))
    return _problem(solution, Dirichlet(given), "finite_difference", ())


def _problem(
    solution: ClosedForm,
    condition: Dirichlet | Neumann | Robin,
    solver: str,
    invariants: tuple[Invariant, ...],
) -> Problem:
    sides: Boundary = {"x-": condition, "x+": condition}
    return Problem(
        equation=solution.equation,
        grid=Grid((Axis("x", 0.0, 1.0, 129, periodic=False),)),
        boundary=sides,
        initial=solution.initial,
        times=np.linspace(0.0, 1.0, 41),
        time_step=1.0 / 400,
        exact={solution.name: solution},
        exact_name=solution.name,
        invariants=invariants,
        solver=solver,
    )
