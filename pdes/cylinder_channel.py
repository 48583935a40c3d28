"""Recipe of a channel with a cylinder in it: a ring of blocks around it, straight columns after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdes.mesh import Mesh


@dataclass(frozen=True)
class CylinderChannel:
    """Channel with a circular hole; sides ``inlet``, ``outlet``, ``walls`` and ``cylinder``.

    Parameters
    ----------
    length, height : float
        Of the channel, which begins at the origin.
    center : pair of float
        Of the cylinder, within the square of the channel's height.
    radius : float
        Of the cylinder.
    stretch : float, default 2
        Cells grow away from the cylinder by this power of the distance.

    Examples
    --------
    >>> mesh = CylinderChannel()(4)
    >>> round(2.2 * 0.41 - mesh.area, 4), sorted(mesh.sides)
    (0.0076, ['cylinder', 'inlet', 'outlet', 'walls'])
    """

    length: float = 2.2
    height: float = 0.41
    center: tuple[float, float] = (0.2, 0.2)
    radius: float = 0.05
    stretch: float = 2.0

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with this many cells along each side of the square around the cylinder."""
        n = resolution
        ring = self._ring(n)
        layers = len(ring)
        index = np.arange(layers * 4 * n).reshape(layers, 4 * n)
        after = np.roll(index, -1, axis=1)
        quads = np.stack([index[:-1], index[1:], after[1:], after[:-1]], axis=-1).reshape(-1, 4)
        # The right side of the square runs from its lower corner up: the first n + 1 points.
        joint = index[-1, : n + 1]
        columns, tail = self._columns(n, joint, index.size)
        quads = np.vstack([quads, tail])
        points = np.vstack([ring.reshape(-1, 2), self._column_points(n)])
        outer = np.append(index[-1], index[-1, 0])
        sides = {
            "cylinder": np.stack([index[0], after[0]], axis=1),
            "inlet": _edges(outer[2 * n : 3 * n + 1]),
            "walls": np.vstack(
                [
                    _edges(outer[n : 2 * n + 1]),
                    _edges(outer[3 * n :]),
                    _edges(columns[:, 0]),
                    _edges(columns[:, -1]),
                ]
            ),
            "outlet": _edges(columns[-1]),
        }
        return Mesh(
            points=points,
            cells=np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]),
            sides=sides,
            mapping=self.bent,
            reference=points,
        )

    def bent(self, points: np.ndarray) -> np.ndarray:
        """Points, with those inside the circle moved out onto it: middles of its chords."""
        away = points - np.array(self.center)
        distance = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
        onto = np.array(self.center) + away * (self.radius / distance)
        return np.where(distance < self.radius * (1.0 - 1e-12), onto, points)

    def _ring(self, n: int) -> np.ndarray:
        """Points between the circle and the square, from the inside out, shape (layers, 4n, 2)."""
        h, share = self.height, np.arange(n) / n
        zero = np.zeros(n)
        outer = np.concatenate(
            [
                np.stack([h + zero, h * share], axis=1),
                np.stack([h * (1 - share), h + zero], axis=1),
                np.stack([zero, h * (1 - share)], axis=1),
                np.stack([h * share, zero], axis=1),
            ]
        )
        center = np.array(self.center)
        away = outer - center
        inner = center + self.radius * away / np.linalg.norm(away, axis=1, keepdims=True)
        depth = (np.arange(n + 1) / n)[:, None, None]
        # A mix of even and growing layers: none is thinner than a third of the even one.
        depth = depth / self.stretch + (1 - 1 / self.stretch) * depth**2
        return inner + depth * (outer - inner)

    def _column_points(self, n: int) -> np.ndarray:
        x, y = self._lines(n)
        return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)

    def _lines(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        count = max(2, round(n * (self.length - self.height) / self.height))
        return (
            np.linspace(self.height, self.length, count + 1)[1:],
            np.linspace(0.0, self.height, n + 1),
        )

    def _columns(self, n: int, joint: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the points of the columns, the shared one first, and their cells."""
        count = len(self._lines(n)[0])
        own = start + np.arange(count * (n + 1)).reshape(count, n + 1)
        index = np.vstack([joint, own])
        a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
        return index, np.stack([a, b, c, d], axis=-1).reshape(-1, 4)


def _edges(line: np.ndarray) -> np.ndarray:
    return np.stack([line[:-1], line[1:]], axis=1)
