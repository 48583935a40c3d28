"""The FitzHugh-Nagumo system ``u_t = Du lap u + u - u^3 - k - v``, ``v_t = Dv lap v + u - v``."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import Boundary, Neumann
from pdes.equation import Equation, coordinate
from pdes.exact.manufactured import manufactured
from pdes.grid import Axis, Grid
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import TIME

_RATE = "u - u^3 - threshold - v"
_INSULATED: Boundary = dict.fromkeys(("x-", "x+", "y-", "y+"), Neumann(0.0))


def fitzhugh_nagumo_equation(
    diffusivity_u: float = 1e-3, diffusivity_v: float = 5e-3, threshold: float = 5e-3
) -> Equation:
    """FitzHugh-Nagumo system in the plane.

    Parameters
    ----------
    diffusivity_u, diffusivity_v : float
        ``Du`` and ``Dv`` in length squared per time, in (0, 10].
    threshold : float
        ``k``, in [-1, 1].

    Returns
    -------
    Equation

    Examples
    --------
    >>> fitzhugh_nagumo_equation().fields
    ('u', 'v')
    """
    name = "fitzhugh_nagumo"
    parameters = {
        "diffusivity_u": check_range(name, "diffusivity_u", diffusivity_u, 0, 10, open_low=True),
        "diffusivity_v": check_range(name, "diffusivity_v", diffusivity_v, 0, 10, open_low=True),
        "threshold": check_range(name, "threshold", threshold, -1.0, 1.0),
    }
    text = f"u_t = diffusivity_u*(u_xx + u_yy) + {_RATE}; v_t = diffusivity_v*(v_xx + v_yy) + u - v"
    return Equation.from_text(text, name=name, parameters=parameters)


@register("fitzhugh_nagumo", tags=["2d", "nonlinear", "reaction", "not periodic"])
def fitzhugh_nagumo(
    diffusivity_u: float = 1e-3, diffusivity_v: float = 5e-3, threshold: float = 5e-3
) -> Problem:
    """Patterns that grow from noise in an insulated square."""
    equation = fitzhugh_nagumo_equation(diffusivity_u, diffusivity_v, threshold)
    return Problem(
        equation=equation,
        grid=Grid(tuple(Axis(name, -1.0, 1.0, 129, periodic=False) for name in "xy")),
        boundary=_INSULATED,
        initial=_noise,
        times=np.linspace(0.0, 5.0, 101),
        invariants=(
            Invariant(name="activator", density="u", law="balance", rate=_RATE),
            Invariant(name="inhibitor", density="v", law="balance", rate="u - v"),
        ),
        # The data start from noise, whose fast modes Crank-Nicolson alone would not damp.
        solver="finite_difference_damped",
        source="PDEBench: Takamoto et al., NeurIPS Datasets and Benchmarks (2022), section D.4",
    )


@register("fitzhugh_nagumo_manufactured", tags=["2d", "nonlinear", "reaction", "manufactured"])
def fitzhugh_nagumo_manufactured(
    diffusivity_u: float = 1e-3, diffusivity_v: float = 5e-3, threshold: float = 5e-3
) -> Problem:
    """The same square with a source that makes a known pattern the solution."""
    x, y = (sympy.pi * (coordinate(name) + 1) / 2 for name in "xy")
    solution = manufactured(
        fitzhugh_nagumo_equation(diffusivity_u, diffusivity_v, threshold),
        {
            "u": sympy.cos(2 * TIME) * sympy.cos(x) * sympy.cos(2 * y),
            "v": sympy.sin(TIME) * sympy.cos(2 * x) * sympy.cos(y) / 2,
        },
    )
    return Problem(
        equation=solution.equation,
        grid=Grid(tuple(Axis(name, -1.0, 1.0, 65, periodic=False) for name in "xy")),
        boundary=_INSULATED,
        initial=solution.initial,
        times=np.linspace(0.0, 1.0, 11),
        exact={"manufactured": solution},
        exact_name="manufactured",
        solver="finite_difference",
    )


def _noise(grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Independent normal values at every point, as in the published data."""
    return {name: rng.standard_normal(grid.shape) for name in ("u", "v")}
