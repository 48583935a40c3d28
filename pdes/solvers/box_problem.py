"""The problems that fast transforms solve: one field, constant coefficients, a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Condition
from pdes.grid import Grid
from pdes.solvers.box_modes import BoxAxis, box_axis
from pdes.solvers.grid_sampling import GridSampler, grid_of
from pdes.solvers.linear_form import linear_form
from pdes.steady import SteadyProblem
from pdes.symbols import number

__all__ = ["BoxProblem", "box_problem", "constant_coefficients"]


@dataclass(frozen=True)
class BoxProblem:
    """A problem ``-diffusivity lap u + reaction u = source`` on a box, with its data sampled.

    Parameters
    ----------
    problem : SteadyProblem
        Where it is from.
    grid : Grid
        Nodes.
    axes : tuple of BoxAxis
        Axes with the kinds of their sides.
    conditions : mapping of str to Condition
        Side to condition.
    diffusivity, reaction : float
        Constant coefficients.
    load : sympy.Expr
        Source as an expression.
    source : ndarray
        Source at the nodes; a leading axis for many samples.
    sample : GridSampler
        Evaluates expressions at the nodes.
    """

    problem: SteadyProblem
    grid: Grid
    axes: tuple[BoxAxis, ...]
    conditions: Mapping[str, Condition]
    diffusivity: float
    reaction: float
    load: Any
    source: np.ndarray
    sample: GridSampler

    @property
    def floating(self) -> bool:
        """Whether a constant can be added to the solution."""
        tied = any("dirichlet" in (axis.low, axis.high) for axis in self.axes)
        return not tied and self.reaction == 0.0


def box_problem(problem: SteadyProblem, solver: str = "fast_poisson") -> BoxProblem:
    """Coefficients, sides and data of a problem that fast transforms can solve.

    Parameters
    ----------
    problem : SteadyProblem
        To be solved.
    solver : str
        Name of the solver, for errors.

    Returns
    -------
    BoxProblem

    Raises
    ------
    ValueError
        If the equation has other terms, coefficients that vary, or sides of another kind.
    """
    grid = grid_of(problem, solver)
    if len(grid.axes) > 3:
        raise ValueError(f"{problem.name}: {len(grid.axes)} axes, wanted one to three")
    sides = [f"{name}{end}" for name in grid.names for end in "-+"]
    field = problem.fields[0]
    conditions = {side: row[field] for side, row in problem.conditions(sides).items()}
    axes = tuple(
        box_axis(problem.name, a, conditions[f"{a.name}-"], conditions[f"{a.name}+"])
        for a in grid.axes
    )
    diffusivity, reaction, load = constant_coefficients(problem, solver)
    sample = GridSampler(problem, grid.mesh())
    return BoxProblem(
        problem, grid, axes, conditions, diffusivity, reaction, load, sample(load), sample
    )


def constant_coefficients(problem: SteadyProblem, solver: str) -> tuple[float, float, Any]:
    """The numbers ``a`` and ``c`` and the source of ``-a lap u + c u = f``.

    Examples
    --------
    >>> import pdes
    >>> constant_coefficients(pdes.get("poisson_box", kind="periodic"), "fast_poisson")[:2]
    (1.0, 0.0)
    """
    form = linear_form(problem)
    known = {sympy.Symbol(n, real=True): number(v) for n, v in problem.parameters.items()}
    dimension = len(problem.coordinates)
    straight = sorted((0, k, 0, k) for k in range(dimension))
    values: list[Any] = [form.second.get(slot, sympy.S.Zero) for slot in straight]
    values = [(sympy.S.Zero + value).xreplace(known) for value in values]
    reaction: Any = (sympy.S.Zero + form.zeroth.get((0, 0), sympy.S.Zero)).xreplace(known)
    others = [*form.first, *form.drift, *form.prestress, *(set(form.second) - set(straight))]
    constant = all(value.is_number and value.is_real for value in [*values, reaction])
    if others or not constant or any(value != values[0] for value in values):
        raise ValueError(
            f"{problem.name}: solver {solver!r} takes -a lap u + c u = f with constant a and c, "
            f"got {problem.equation}; use 'cell_centered' or a mesh with 'finite_element'"
        )
    if not float(values[0]) > 0.0:
        raise ValueError(
            f"{problem.name}: the diffusivity is {float(values[0]):g}, wanted it positive"
        )
    return float(values[0]), float(reaction), form.load.get((0,), sympy.S.Zero)
