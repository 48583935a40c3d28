"""Values of a steady problem's expressions and coefficients at the points of a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from pdes.grid import Grid
from pdes.pointwise import pointwise
from pdes.steady import SteadyProblem, unknown

__all__ = ["GridSampler", "grid_errors", "grid_of"]


def grid_of(problem: SteadyProblem, solver: str) -> Grid:
    """Grid of a problem, or an error if it lives on a mesh."""
    if not isinstance(problem.domain, Grid):
        raise ValueError(
            f"{problem.name}: solver {solver!r} works on grids and the domain is a mesh; use "
            "'finite_element', or give a Grid as the domain"
        )
    if len(problem.fields) != 1:
        raise ValueError(
            f"{problem.name}: solver {solver!r} takes one field, got {list(problem.fields)}"
        )
    return problem.domain


class GridSampler:
    """Evaluates expressions of a problem at fixed points.

    Parameters
    ----------
    problem : SteadyProblem
        Its coefficients may be expressions, numbers, functions ``(**coordinates) -> array`` or
        arrays with one value for each point; arrays may have a leading sample axis.
    places : mapping of str to ndarray
        Coordinates, of shapes that broadcast together.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("poisson_box")
    >>> GridSampler(problem, {"x": np.array([0.5]), "y": np.array([1.0])})(sympy.Symbol("x") ** 2)
    array([0.25])
    """

    def __init__(self, problem: SteadyProblem, places: Mapping[str, np.ndarray]) -> None:
        self.problem, self.places = problem, dict(places)
        self.shape = np.broadcast_shapes(*[np.shape(place) for place in places.values()])
        self.values: dict[str, Any] = {**self.places, **problem.parameters}
        self.named: dict[Any, sympy.Symbol] = {}
        for name, given in problem.coefficients.items():
            label = f"coefficient {name}"
            self.values[label] = self._coefficient(name, given)
            self.named[unknown(name, problem.coordinates)] = sympy.Symbol(label, real=True)

    def __call__(self, expression: Any) -> np.ndarray:
        """Values at the points; of the shape of the points, or with a sample axis before it."""
        plain = expression.xreplace(self.named) if hasattr(expression, "xreplace") else expression
        free = {s.name for s in getattr(plain, "free_symbols", ())}
        used = {n: v for n, v in self.values.items() if n in free or n in self.places}
        found = pointwise(plain, used)
        if not np.all(np.isfinite(found)):
            raise ValueError(
                f"{self.problem.name}: {expression} is not finite at "
                f"{int(np.sum(~np.isfinite(found)))} of {found.size} points; check coefficients "
                "and data there"
            )
        return found

    def _coefficient(self, name: str, given: Any) -> np.ndarray:
        if callable(given) and not isinstance(given, sympy.Basic):
            values = np.asarray(given(**self.places))
        elif isinstance(given, sympy.Basic | float | int):
            return pointwise(given, {**self.places, **self.problem.parameters})
        else:
            values = np.asarray(given)
        dimension = len(self.shape)
        fits = values.shape[-dimension:] == self.shape and values.ndim in (dimension, dimension + 1)
        if not fits and values.shape != ():
            raise ValueError(
                f"{self.problem.name}: coefficient {name!r} has the shape {values.shape}, wanted "
                f"one value for each of the {self.shape} points, or a sample axis before them"
            )
        return values


def grid_errors(
    problem: SteadyProblem, places: Mapping[str, np.ndarray], values: np.ndarray, cell: float
) -> dict[str, dict[str, float]]:
    """Discrete norms of the error against the problem's closed form, empty without one.

    Parameters
    ----------
    problem : SteadyProblem
        With `exact_name` if there is a closed form.
    places : mapping of str to ndarray
        Coordinates of the points.
    values : ndarray
        Of the only field.
    cell : float
        Volume that a point stands for.

    Returns
    -------
    dict
        Field to ``{"l1", "l2", "max", "l1_exact", "l2_exact"}``.
    """
    if problem.exact_name is None or values.ndim != len(places):
        return {}
    (name,) = problem.fields
    exact = problem.exact[problem.exact_name].evaluate(**places)[name]
    gap, size = np.abs(values - exact), np.abs(exact)
    return {
        name: {
            "l1": float(cell * gap.sum()),
            "l2": math.sqrt(cell * float((gap**2).sum())),
            "max": float(gap.max()),
            "l1_exact": float(cell * size.sum()),
            "l2_exact": math.sqrt(cell * float((size**2).sum())),
        }
    }
