"""Rows of a Poisson problem at a corner: where the equation and the boundary data are to hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from pdes.boundary import Dirichlet, Neumann
from pdes.fan import Fan
from pdes.pointwise import pointwise
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate

GAUSS = 0.5 + 0.5 * np.polynomial.legendre.leggauss(3)[0]
"""Places of the points on a piece of the boundary."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Points with polar angles about the corner, and what holds there.

    Attributes
    ----------
    x : ndarray, shape (n, 2)
    theta : ndarray, shape (n,)
        Counted from the x axis without a jump inside the domain; on the faces of a slit it tells
        them apart.
    kind : str
        ``"laplacian"`` (``-lap u``), ``"value"`` or ``"flux"`` (``du/dn``).
    target : ndarray, shape (n,)
    normal : ndarray, shape (n, 2)
        Outward; zero where it plays no part.
    """

    x: NDArray
    theta: NDArray
    kind: str
    target: NDArray
    normal: NDArray


@dataclass(frozen=True, eq=False)
class CornerProblem:
    """A Poisson problem in a polygon that is star-shaped about its corner at the origin.

    Attributes
    ----------
    rows : tuple of Rows
    angle, theta0 : float
        Opening of the corner, and direction of its first edge.
    conditions : str
        Of the two edges: ``"D"`` or ``"N"`` each.
    """

    rows: tuple[Rows, ...]
    angle: float
    theta0: float
    conditions: str

    @classmethod
    def of(cls, problem: SteadyProblem, resolution: int) -> CornerProblem:
        """Collocation rows of a problem of the registry.

        Parameters
        ----------
        problem : SteadyProblem
            ``-lap u = f`` on a `Fan`, with Dirichlet and Neumann sides.
        resolution : int
            Of the mesh whose cell centers and boundary pieces give the points.

        Raises
        ------
        ValueError
            If it is another equation, domain or kind of side.

        Examples
        --------
        >>> import pdes
        >>> found = CornerProblem.of(pdes.get("motz"), 4)
        >>> found.conditions, round(found.angle / math.pi, 6)
        ('ND', 1.0)
        """
        if not isinstance(problem, SteadyProblem) or not isinstance(problem.domain, Fan):
            raise ValueError(
                f"problem is a {type(problem).__name__} on a "
                f"{type(getattr(problem, 'domain', None)).__name__}, wanted a steady problem on a "
                "fan about its corner, such as pdes.get('laplace_l_shape')"
            )
        source = _source(problem)
        outer = np.asarray(problem.domain.outer, float)
        theta0 = math.atan2(outer[0, 1], outer[0, 0])
        turns = np.unwrap(np.arctan2(outer[:, 1], outer[:, 0]))
        angle = float(turns[-1] - turns[0])
        mesh = problem.domain(resolution)
        middles = mesh.points[mesh.cells].mean(axis=1)
        rows = [
            Rows(
                middles,
                _angles(middles, theta0, angle),
                "laplacian",
                _at(source, middles, problem),
                np.zeros_like(middles),
            )
        ]
        conditions = problem.conditions(sorted(mesh.sides))
        kinds = {}
        for name, edges in mesh.sides.items():
            ends = mesh.points[edges]
            along = ends[:, 1] - ends[:, 0]
            points = (ends[:, :1] + GAUSS[None, :, None] * along[:, None]).reshape(-1, 2)
            theta = _angles(points, theta0, angle)
            if name in ("start", "end"):
                theta = np.full(len(points), theta0 + (angle if name == "end" else 0.0))
            normal = np.repeat(_outward(along, name, theta0, angle, points), 1, axis=0)
            (condition,) = conditions[name].values()
            kinds[name], kind, key = _kind(problem, name, condition)
            given = {"x": points[:, 0], "y": points[:, 1], **problem.parameters}
            target = np.broadcast_to(condition.values(**given)[key], len(points))
            rows.append(Rows(points, theta, kind, np.array(target, float), normal))
        return cls(tuple(rows), angle, theta0, kinds["start"] + kinds["end"])


def _kind(problem: SteadyProblem, name: str, condition: Any) -> tuple[str, str, str]:
    if isinstance(condition, Dirichlet):
        return "D", "value", "value"
    if isinstance(condition, Neumann):
        return "N", "flux", "flux"
    raise ValueError(
        f"{problem.name}: side {name!r} is {condition.kind}, wanted Dirichlet or Neumann"
    )


def _source(problem: SteadyProblem) -> sympy.Expr:
    """``f`` of ``-lap u = f``; refuse any other equation."""
    if list(problem.residual) and len(problem.residual) == 1:
        ((name, residual),) = problem.residual.items()
        x, y = coordinate("x"), coordinate("y")
        u = sympy.Function(name, real=True)(x, y)
        source = -residual.subs(u, 0).doit()
        if sympy.simplify(residual + u.diff(x, 2) + u.diff(y, 2) + source) == 0:
            return source
    raise ValueError(
        f"{problem.name}: the equation is {problem.equation}, wanted one of the form -lap u = f"
    )


def _at(source: sympy.Expr, points: NDArray, problem: SteadyProblem) -> NDArray:
    given = {"x": points[:, 0], "y": points[:, 1], **problem.parameters}
    return np.array(np.broadcast_to(pointwise(source, given), len(points)), float)


def _angles(points: NDArray, theta0: float, angle: float) -> NDArray:
    """Polar angles, cut in the middle of what is outside."""
    start = theta0 - 0.5 * (2.0 * math.pi - angle)
    raw = np.arctan2(points[:, 1], points[:, 0])
    return raw - 2.0 * math.pi * np.floor((raw - start) / (2.0 * math.pi))


def _outward(along: NDArray, name: str, theta0: float, angle: float, points: NDArray) -> NDArray:
    """Outward normals, one for each point."""
    if name == "start":
        return np.tile([math.sin(theta0), -math.cos(theta0)], (len(points), 1))
    if name == "end":
        last = theta0 + angle
        return np.tile([-math.sin(last), math.cos(last)], (len(points), 1))
    turned = np.stack([along[:, 1], -along[:, 0]], axis=1)
    normal = np.repeat(turned / np.linalg.norm(turned, axis=1, keepdims=True), len(GAUSS), axis=0)
    # The domain is star-shaped about the origin.
    return normal * np.sign(np.sum(normal * points, axis=1, keepdims=True))
