"""Recipes of meshes around a corner: wedges, the L-shape and slits, uniform or graded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pdes.mesh import Mesh

__all__ = ["Fan", "l_shape", "slit_square", "wedge"]


@dataclass(frozen=True)
class Fan:
    """Recipe of a star-shaped polygon around the origin, graded toward the origin.

    Ring ``i`` of ``n`` is the outer polygon scaled by ``(i/n)^(1/grading)``, each of its edges
    cut into ``i`` pieces. A grading below 1 gathers cells at the origin, where solutions at a
    corner are singular; elements of degree ``p`` keep their full order in the mean square if
    ``grading < a / p`` for the exponent ``a`` of the singularity (G. Raugel, C. R. Acad. Sci.
    Paris A 286, 791, 1978).

    Parameters
    ----------
    outer : sequence of pair of float
        Corners of the polygon, counterclockwise. If the first and the last are the same place the
        two ends stay apart as the faces of a slit, unless `closed`.
    sides : sequence of str
        Name for each outer edge; the two edges at the origin are ``"start"`` and ``"end"``.
    grading : float, default 1
        In (0, 1]; 1 is uniform.
    closed : bool, default False
        The origin is inside, and the last corner is joined to the first.

    Examples
    --------
    >>> square = Fan(outer=((1, 0), (1, 1), (0, 1)), sides=("right", "top"))
    >>> square(3).area
    1.0
    """

    outer: Sequence[tuple[float, float]]
    sides: Sequence[str]
    grading: float = 1.0
    closed: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.grading <= 1.0:
            raise ValueError(f"grading={self.grading}, wanted a number in (0, 1]")
        edges = len(self.outer) - (0 if self.closed else 1)
        if len(self.sides) != edges:
            raise ValueError(f"sides: got {len(self.sides)} names for {edges} outer edges")

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many rings."""
        corners = np.asarray(self.outer, float)
        if self.closed:
            corners = np.vstack([corners, corners[:1]])
        edges = len(corners) - 1
        points, rings = [np.zeros((1, 2))], [np.zeros(1, int)]
        count = 1
        for i in range(1, resolution + 1):
            share = (np.arange(i) / i)[None, :, None]
            line = corners[:-1, None] * (1 - share) + corners[1:, None] * share
            ring = np.vstack([line.reshape(-1, 2), corners[-1:]])
            index = count + np.arange(edges * i + 1)
            if self.closed:
                ring, index[-1] = ring[:-1], index[0]
            points.append(ring * (i / resolution) ** (1.0 / self.grading))
            rings.append(index)
            count += len(ring)
        return Mesh(
            points=np.vstack(points), cells=_fan_cells(rings, edges), sides=self._named(rings)
        )

    def _named(self, rings: list[np.ndarray]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        outer, n = rings[-1], len(rings) - 1
        for place, name in enumerate(self.sides):
            line = outer[place * n : (place + 1) * n + 1]
            edges = np.stack([line[:-1], line[1:]], axis=1)
            found[name] = np.vstack([found[name], edges]) if name in found else edges
        if not self.closed:
            for name, end in (("start", 0), ("end", -1)):
                line = np.array([ring[end] for ring in rings])
                found[name] = np.stack([line[:-1], line[1:]], axis=1)
        return found


def _fan_cells(rings: list[np.ndarray], edges: int) -> np.ndarray:
    """Triangles between rings: in each sector ring i - 1 has one point fewer than ring i."""
    cells = []
    for i in range(1, len(rings)):
        inner, outer = rings[i - 1], rings[i]
        for sector in range(edges):
            below = inner[sector * (i - 1) : (sector + 1) * (i - 1) + 1] if i > 1 else inner
            above = outer[sector * i : (sector + 1) * i + 1]
            cells.append(np.stack([below, above[:-1], above[1:]], axis=1))
            cells.append(np.stack([below[:-1], above[1:-1], below[1:]], axis=1))
    return np.vstack(cells)


def wedge(angle: float, grading: float = 1.0) -> Fan:
    """Recipe of a polygon with a corner of this angle at the origin, from the x axis on.

    Parameters
    ----------
    angle : float
        In (0, 2 pi]; the outer corners lie on the unit circle.
    grading : float, default 1
        See `Fan`.

    Returns
    -------
    Fan
        With sides ``"start"``, ``"end"`` and ``"arc"``.

    Examples
    --------
    >>> sorted(wedge(1.5 * math.pi)(2).sides)
    ['arc', 'end', 'start']
    """
    if not 0.0 < angle <= 2.0 * math.pi:
        raise ValueError(f"angle={angle}, wanted a number in (0, 2 pi]")
    sectors = max(2, math.ceil(angle / (math.pi / 3) - 1e-9))
    angles = np.linspace(0.0, angle, sectors + 1)
    outer = tuple((float(np.cos(a)), float(np.sin(a))) for a in angles)
    return Fan(outer=outer, sides=("arc",) * sectors, grading=grading)


def l_shape(grading: float = 1.0) -> Fan:
    """Recipe of the square (-1, 1)^2 without its fourth quadrant; sides start, end and outer.

    Examples
    --------
    >>> l_shape()(2).area
    3.0
    """
    outer = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1))
    return Fan(outer=outer, sides=("outer",) * 6, grading=grading)


def slit_square(grading: float = 1.0) -> Fan:
    """Recipe of the square (-1, 1)^2 slit along the positive x axis; the faces are start and end.

    Examples
    --------
    >>> slit_square()(2).area
    4.0
    """
    # The last corner is below the slit: its angle is 2 pi, that of the first is 0.
    outer = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, -0.0))
    return Fan(outer=outer, sides=("outer",) * 8, grading=grading)
