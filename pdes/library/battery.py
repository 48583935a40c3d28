"""Heat in a battery of five materials (problem 5 of the NIST suite): no closed form is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Neumann, Robin
from pdes.library.poisson import SOURCE
from pdes.mesh import Mesh, tensor_mesh
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, number

# Lines on which materials meet, in x and in y.
X_LINES = (0.0, 6.1, 6.5, 8.0, 8.4)
Y_LINES = (0.0, 0.8, 1.6, 3.6, 18.8, 21.2, 23.2, 24.0)
# Material of each block, by row from the bottom.
MATERIALS = ("1111", "5451", "2451", "3451", "2451", "5551", "1111")
# Material to conductivity along x, along y, and source.
CONSTANTS = {
    "1": (25.0, 25.0, 0.0),
    "2": (7.0, 0.8, 1.0),
    "3": (5.0, 1e-4, 1.0),
    "4": (0.2, 0.2, 0.0),
    "5": (0.05, 0.05, 0.0),
}


@dataclass(frozen=True)
class Blocks:
    """Recipe of a rectangle whose grid contains the lines between materials.

    Examples
    --------
    >>> Blocks()(1).cells.shape
    (56, 3)
    """

    x: tuple[float, ...] = X_LINES
    y: tuple[float, ...] = Y_LINES

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many cells across each block."""
        pieces = np.arange(resolution) / resolution
        lines = []
        for ends in (self.x, self.y):
            starts, widths = np.array(ends[:-1]), np.diff(ends)
            inner = (starts[:, None] + widths[:, None] * pieces).ravel()
            lines.append(np.append(inner, ends[-1]))
        return tensor_mesh(*lines)


@register("battery", tags=["steady", "2d", "nist", "interface"], aliases=["nist_5"])
def battery() -> SteadyProblem:
    """``-(p u_x)_x - (q u_y)_y = f``, constant in each material; heat is lost on three sides."""
    u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    p, q, f = (unknown(name) for name in "pqf")
    return SteadyProblem(
        name="battery",
        residual={"u": -(p * u.diff(x)).diff(x) - (q * u.diff(y)).diff(y) - f},
        coefficients={name: by_material(place) for place, name in enumerate("pqf")},
        domain=Blocks(),
        boundary={
            "x-": Neumann(),
            "y+": Robin(1.0, 3.0),
            "x+": Robin(2.0, 2.0),
            "y-": Robin(3.0, 1.0),
        },
        resolution=8,
        notes="Judged by the balance of heat and against finer meshes.",
        source=SOURCE + "5",
    )


def by_material(place: int) -> sympy.Expr:
    """One of the constants of the materials as an expression that jumps between blocks.

    Parameters
    ----------
    place : int
        0 and 1 for the conductivities, 2 for the source.

    Returns
    -------
    sympy.Expr

    Examples
    --------
    >>> by_material(0).subs({coordinate("x"): 1.0, coordinate("y"): 10.0})
    5
    """
    x, y = coordinate("x"), coordinate("y")
    rows: list[Any] = []
    for row, top in zip(MATERIALS, Y_LINES[1:], strict=True):
        blocks = [
            (number(CONSTANTS[kind][place]), x < number(right))
            for kind, right in zip(row, X_LINES[1:], strict=True)
        ]
        rows.append((_pieces(blocks), y < number(top)))
    return _pieces(rows)


def _pieces(pairs: list[Any]) -> Any:
    """Piecewise expression that extends its last piece."""
    return sympy.Piecewise(*pairs[:-1], (pairs[-1][0], True))
