"""Norms of the error of a finite element solution against a closed form, by quadrature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import skfem

from pdes.steady import SteadyProblem


def error_norms(
    problem: SteadyProblem, basis: skfem.Basis, fields: Mapping[str, np.ndarray]
) -> dict[str, dict[str, float]]:
    """Errors of each field against the problem's closed form.

    Parameters
    ----------
    problem : SteadyProblem
        With `exact_name` if there is a closed form.
    basis : skfem.Basis
        Scalar basis of the fields.
    fields : mapping of str to ndarray
        Values at the nodes.

    Returns
    -------
    dict
        Field to ``{"l2", "h1", "max", "l2_exact", "h1_exact"}``: root of the integral of the
        squared error and of its squared gradient, largest error at a node, and the first two of
        the closed form itself. Empty without one.
    """
    if problem.exact_name is None:
        return {}
    exact = problem.exact[problem.exact_name]
    fine: Any = skfem.Basis(basis.mesh, basis.elem, intorder=2 * basis.elem.maxdeg + 4)
    places = dict(zip(problem.coordinates, np.asarray(fine.global_coordinates()), strict=True))
    nodes = dict(zip(problem.coordinates, basis.doflocs, strict=True))
    values, slopes, at_nodes = (
        exact.evaluate(**places),
        exact.gradient(**places),
        exact.evaluate(**nodes),
    )
    found = {}
    for name, numbers in fields.items():
        field = fine.interpolate(numbers)
        slope = np.stack(slopes[name])
        finite = np.isfinite(at_nodes[name])
        found[name] = {
            "l2": _norm(fine, np.asarray(field) - values[name]),
            "h1": _norm(fine, np.asarray(field.grad) - slope),
            "max": float(np.max(np.abs(numbers - at_nodes[name])[finite])),
            "l2_exact": _norm(fine, values[name]),
            "h1_exact": _norm(fine, slope),
        }
    return found


def _norm(basis: Any, values: np.ndarray) -> float:
    size = np.abs(values) ** 2
    squares = size if size.ndim == 2 else np.sum(size, axis=0)
    return float(np.sqrt(np.sum(squares * basis.dx)))
