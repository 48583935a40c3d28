"""What the sides of a box prescribe, as arrays for the stencils."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Neumann
from pdes.solvers.box_problem import BoxProblem
from pdes.solvers.box_stencil import side_slope
from pdes.symbols import coordinate

__all__ = ["ghosts", "given_values"]


def given_values(box: BoxProblem) -> np.ndarray:
    """Zero but on Dirichlet sides."""
    places = box.grid.mesh()
    values = np.zeros(box.grid.shape)
    for k, axis in enumerate(box.axes):
        for kind, end, index in ((axis.low, "-", 0), (axis.high, "+", -1)):
            if kind != "dirichlet":
                continue
            side = f"{axis.axis.name}{end}"
            there = {**places, axis.axis.name: np.take(places[axis.axis.name], [index], axis=k)}
            data = box.conditions[side].values(**there, **box.problem.parameters)["value"]
            _check_finite(box, side, data)
            values = values.astype(np.result_type(values, data))
            values[(*[slice(None)] * k, index)] = np.take(data, 0, axis=k)
    return values


def ghosts(box: BoxProblem, order: int, shift: float) -> dict[str, np.ndarray]:
    """What the node behind each Neumann side exceeds its mirror image by."""
    found = {}
    places = box.grid.mesh()
    lead = box.source.ndim - len(box.axes)
    for k, axis in enumerate(box.axes):
        for kind, end, index in ((axis.low, "-", 0), (axis.high, "+", -1)):
            if kind != "neumann":
                continue
            side, h = f"{axis.axis.name}{end}", axis.axis.spacing
            there = {**places, axis.axis.name: np.take(places[axis.axis.name], [index], axis=k)}
            there |= {n: np.asarray(v) for n, v in box.problem.parameters.items()}
            condition: Any = box.conditions[side]
            slope = condition.values(**there)["flux"] / box.diffusivity
            _check_finite(box, side, slope)
            found[side] = 2.0 * h * slope
            if order == 4:
                third = shift * slope - _bending(box, condition, there, k)
                third = third - side_slope(box.source, lead + k, h, end) / box.diffusivity
                found[side] = found[side] + h**3 / 3.0 * third
    return found


def _bending(
    box: BoxProblem, condition: Any, there: Mapping[str, np.ndarray], across: int
) -> np.ndarray:
    """Second derivatives of a side's slope along the side."""
    flux = sympy.S.Zero + condition.flux
    total = sum(
        flux.diff(coordinate(axis.axis.name), 2) for k, axis in enumerate(box.axes) if k != across
    )
    return Neumann(sympy.S.Zero + total).values(**there)["flux"] / box.diffusivity


def _check_finite(box: BoxProblem, side: str, data: np.ndarray) -> None:
    if not np.all(np.isfinite(data)):
        raise ValueError(
            f"{box.problem.name}: data on the side {side!r} are not finite at "
            f"{int(np.sum(~np.isfinite(data)))} of {data.size} nodes; check the expression there"
        )
