"""Velocities on the faces of cells as one tensor, so that a network can forecast them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["FaceLayout"]


@dataclass(frozen=True)
class FaceLayout:
    """Where the faces of a box of cells stand in a tensor ``(*batch, d, *extents)``.

    Component j holds the normal velocities on the faces across axis j, from the low side to the
    high side. An axis of ``n`` cells takes ``n`` entries if it is periodic, and ``n + 1`` if not;
    across it, the components of the other axes fill ``n`` entries only, and the last is zero.

    Parameters
    ----------
    cells : tuple of int
        Cells along each axis, two or three axes.
    periodic : tuple of bool
        Whether an axis is periodic.

    Examples
    --------
    >>> layout = FaceLayout((4, 6), (False, True))
    >>> layout.extents, [tuple(face.shape) for face in layout.unpack(torch.zeros(2, 5, 6))]
    ((5, 6), [(5, 6), (4, 7)])
    """

    cells: tuple[int, ...]
    periodic: tuple[bool, ...]

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.cells)

    @property
    def extents(self) -> tuple[int, ...]:
        """Entries of the tensor along each axis of the grid."""
        return tuple(n + (not p) for n, p in zip(self.cells, self.periodic, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one state."""
        return (self.dimension, *self.extents)

    def occupied(self, component: int) -> tuple[slice, ...]:
        """Entries of a component that stand for a face."""
        return tuple(
            slice(0, e if axis == component else n)
            for axis, (n, e) in enumerate(zip(self.cells, self.extents, strict=True))
        )

    def mask(self) -> Tensor:
        """True where an entry stands for a face, shape `shape`."""
        found = torch.zeros(self.shape, dtype=torch.bool)
        for component in range(self.dimension):
            found[(component, *self.occupied(component))] = True
        return found

    def unpack(self, u: Tensor) -> tuple[Tensor, ...]:
        """Faces of each component, both ends included: as the solvers of `pdes` store them.

        Parameters
        ----------
        u : Tensor, shape (*batch, *shape)
            Velocities in this layout.

        Returns
        -------
        tuple of Tensor
            ``n + 1`` entries along the own axis; on a periodic axis the last repeats the first.
        """
        found = []
        for j, component in enumerate(u.unbind(-self.dimension - 1)):
            face, axis = component[(..., *self.occupied(j))], j - self.dimension
            if self.periodic[j]:
                face = torch.cat([face, face.narrow(axis, 0, 1)], dim=axis)
            found.append(face)
        return tuple(found)

    def pack(self, faces: Sequence[Tensor]) -> Tensor:
        """The inverse of `unpack`: one tensor from the faces of each component."""
        found = []
        for j, face in enumerate(faces):
            axis = j - self.dimension
            kept = face.narrow(axis, 0, self.extents[j])
            pads: list[int] = []
            for other in reversed(range(self.dimension)):
                empty = self.extents[other] - kept.shape[other - self.dimension]
                pads += [0, empty]
            found.append(functional.pad(kept, pads) if any(pads) else kept)
        return torch.stack(found, dim=-self.dimension - 1)
