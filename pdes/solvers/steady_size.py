"""How much memory a solver of steady problems wants, estimated before anything is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pdes.grid import Grid
from pdes.memory import check_memory

if TYPE_CHECKING:
    from pdes.steady import SteadyProblem

__all__ = ["check_solver_memory", "unknowns"]

# Bytes for each point of a field, as little as was measured at some ten thousand to hundred
# thousand points: the factors of a sparse matrix grow a little faster than the points.
_BYTES = {
    "cell_centered": 1400.0,
    "fast_poisson": 130.0,
    "fast_sweeping": 160.0,
    "finite_element": 2000.0,
    "helmholtz": 2000.0,
    "taylor_hood": 15000.0,
}
_PROBE = 4
"""Resolution of the mesh that the points of finer ones are estimated from."""


def unknowns(problem: SteadyProblem, arguments: Mapping[str, Any]) -> float:
    """Points of one field: of the grid, or of a mesh as fine as asked, scaled from a coarse one.

    Parameters
    ----------
    problem : SteadyProblem
        What is to be solved.
    arguments : mapping
        Of the solver: ``resolution`` and ``degree`` count.

    Returns
    -------
    float

    Examples
    --------
    >>> import pdes
    >>> unknowns(pdes.get("poisson_peak"), {"resolution": 8, "degree": 1})
    100.0
    """
    if isinstance(problem.domain, Grid):
        return math.prod(map(float, problem.domain.shape))
    resolution = int(arguments.get("resolution", problem.resolution))
    coarse = min(resolution, _PROBE)
    points = problem.domain(coarse).points
    degree = 2 if problem.solver == "taylor_hood" else arguments.get("degree", 1)
    degree = degree if isinstance(degree, int) else 1
    return float(len(points)) * (degree * resolution / coarse) ** points.shape[1]


def check_solver_memory(problem: SteadyProblem, solver: str, arguments: Mapping[str, Any]) -> None:
    """Refuse a steady solve that does not fit into the memory of this machine.

    Parameters
    ----------
    problem : SteadyProblem
        What is to be solved.
    solver : str
        Name of the solver.
    arguments : mapping
        Of the solver.

    Raises
    ------
    ValueError
        With the estimate and what would make it smaller.
    """
    count = unknowns(problem, arguments)
    # Collocation has full matrices, of which it keeps several.
    each = 48.0 * count if solver == "chebyshev" else _BYTES.get(solver, 100.0)
    if isinstance(problem.domain, Grid):
        points = " x ".join(map(str, problem.domain.shape))
        what, remedy = f"a grid of {points} points", "take fewer points"
    else:
        resolution = arguments.get("resolution", problem.resolution)
        what = f"resolution={resolution}, about {count:.2g} points"
        remedy = "take a smaller resolution"
    check_memory(
        count * each * len(problem.fields), f"{problem.name} by {solver!r} on {what}", remedy
    )
