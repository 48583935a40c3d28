"""A flow past the block of `channel_block` that is known, and the force that drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.boundary import NoSlip
from pdes.incompressible import VelocityEquation
from pdes.pointwise import pointwise
from pdes.solvers.staggered import FlowMarch, StaggeredFlow
from pdes.symbols import coordinate, number

X, Y = coordinate("x"), coordinate("y")
_A, _B, _SIGN_X, _SIGN_Y = sympy.symbols("a b sign_x sign_y", real=True)
_HALF, _VISCOSITY = sympy.Rational(1, 8), sympy.Rational(1, 80)


def _along(expression: Any, axis: int) -> Any:
    """Derivative of an expression in the coordinates and the distances beyond the block."""
    place, away, sign = ((X, _A, _SIGN_X), (Y, _B, _SIGN_Y))[axis]
    return expression.diff(place) + sign * expression.diff(away)


def _around_the_block() -> tuple[list[Any], list[Any]]:
    """Velocities of a flow that rests on the block, and the force along each axis.

    The streamfunction is ``(a^6 + b^6)^(1/3)`` times a smooth one, where ``a`` and ``b`` are the
    distances beyond the faces of the block, zero between them: next to a face it is the square of
    the distance, so that the velocity falls to zero along a slope; at a corner, homogeneous of
    degree two.
    """
    # The tiny number keeps 0/0 out of the block.
    bulge = (_A**6 + _B**6 + number(1e-60)) ** sympy.Rational(1, 3)
    psi = bulge * sympy.exp(-((X - 1) ** 2) / 2) * (1 + Y)
    pressure = sympy.sin(X) * sympy.cos(2 * Y) / 5
    velocity = (_along(psi, 1), -_along(psi, 0))
    shown: dict[Any, Any] = {}
    for s, middle, away, sign in ((X, 1, _A, _SIGN_X), (Y, sympy.S.Half, _B, _SIGN_Y)):
        beyond = sympy.Abs(s - middle) - _HALF
        shown[away] = (beyond + sympy.Abs(beyond)) / 2
        # The sign of s - middle wherever the distance is not zero.
        ends = sympy.Abs(s - middle + _HALF) - sympy.Abs(s - middle - _HALF)
        shown[sign] = ends / (2 * _HALF)
    forces = []
    for axis, part in enumerate(velocity):
        carried = velocity[0] * _along(part, 0) + velocity[1] * _along(part, 1)
        spread = sum(_along(_along(part, i), i) for i in (0, 1))
        force = carried + pressure.diff((X, Y)[axis]) - _VISCOSITY * spread
        forces.append(force.xreplace(shown))
    return [part.xreplace(shown) for part in velocity], forces


class _Driven(StaggeredFlow):
    """A flow under a force given on its faces."""

    faces: tuple[np.ndarray, np.ndarray]

    def force(self, place: int, time: float) -> Any:
        return self.faces[place]


def _sampled(expressions: Sequence[Any], grid: pdes.Grid) -> list[np.ndarray]:
    mesh = grid.mesh()
    places = dict(zip("xy", np.broadcast_arrays(mesh["x"], mesh["y"]), strict=True))
    return [pointwise(expression, places) for expression in expressions]


def block_error(cells: int) -> tuple[float, float, float]:
    """Mean square and largest error of the velocities, and the divergence left."""
    axes = (
        pdes.Axis("x", 0.0, 4.0, 4 * cells + 1, False),
        pdes.Axis("y", 0.0, 1.0, cells + 1, False),
    )
    problem = pdes.get("channel_block", grid=pdes.Grid(axes), reynolds=20.0)
    velocity, forces = _around_the_block()
    outer = dict.fromkeys(("x-", "x+", "y-", "y+"), NoSlip(tuple(velocity)))
    boundary = {**outer, "block": problem.boundary["block"]}
    equation = VelocityEquation.of(viscosity=float(_VISCOSITY))
    flow = _Driven(equation, problem.grid, boundary)
    grids = [flow.box.face_grid(place) for place in (0, 1)]
    flow.faces = (_sampled(forces[:1], grids[0])[0], _sampled(forces[1:], grids[1])[0])
    march = FlowMarch(
        flow,
        flow.from_functions(
            lambda grid: dict(zip("uv", _sampled(velocity, grid), strict=True)), 0.0
        ),
    )
    march.to(0.25)
    off = [march.state[i] - _sampled(velocity, grids[i])[i] for i in (0, 1)]
    square = float(np.sqrt(sum(np.mean(part**2) for part in off)))
    return square, max(float(np.abs(part).max()) for part in off), march.divergence
