"""Exact projection of velocities on faces, between walls, inlets, outlets and around bodies."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import array_api_compat.torch as xp
import numpy as np
import torch
from torch import Tensor

from pdes.solvers.fast_poisson import fast_poisson
from pdes.solvers.staggered.projection import face_divergence, pressure_gradient
from sciml.repair.arguments import shape_hint
from sciml.repair.box_faces import Sides, box_faces
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.sparse_solve import SymmetricSystem

__all__ = ["StaggeredProjection"]

_BALANCED = 1e-6


class StaggeredProjection(AbstractProjection):
    """Nearest velocities on faces that leave every cell without a source.

    On a staggered grid the discrete gradient is minus the adjoint of the discrete divergence, also
    at walls and openings. What is taken away is therefore orthogonal to every flow without
    divergence: the projection is exact, without periodicity. The equation of the pressure is solved
    by fast transforms, or around bodies by a matrix that is factored once.

    Parameters
    ----------
    cells : sequence of int
        Cells along each axis, two or three axes.
    spacings : sequence of float
        Their sizes.
    sides : sequence of str or pair of str
        For each axis "periodic", or for its low and high side "wall" (the normal velocity is
        known), "inlet" (it is taken from the state as it comes) or "open" (it is free).
    normal_velocity : mapping, optional
        Velocity through walls that is not zero, ``{"x-": profile}``: a number, or one for each face
        of that side. The map is then onto an affine set.
    fluid : array_like of bool, shape cells, optional
        False inside bodies, whose faces are closed.
    openings : sequence of array_like, optional
        Open share of each face in [0, 1], for cells cut by a body. The inner product weighs faces
        by it.
    balance_flux : bool, default False
        In a closed box, spread the net flux of the inlets over them, instead of refusing it.

    Raises
    ------
    ValueError
        If arguments do not fit each other, or the given velocities let in more than out.

    Notes
    -----
    States are tensors ``(*batch, d, *extents)`` in the order of `FaceLayout`; `layout` packs and
    unpacks the components. With inlets the map is the nearest flow *with the inlet velocities of
    the state*: it leaves true states alone, but where a forecast is wrong at the inlet, it carries
    that error inside, and can raise it. `exact` is then false. An inlet whose velocity is known is
    a "wall" with `normal_velocity`.

    References
    ----------
    F. H. Harlow and J. E. Welch, Phys. Fluids 8 (1965) 2182; for cut cells Y. T. Ng, C. Min and
    F. Gibou, J. Comput. Phys. 228 (2009) 8807.

    Examples
    --------
    >>> project = StaggeredProjection((8, 8), (0.125, 0.125), ("wall", "wall"))
    >>> flow = torch.randn(2, 9, 9, dtype=torch.float64, generator=torch.manual_seed(0))
    >>> bool(project.defect(project(flow)) < 1e-12)
    True
    """

    _free: Tensor
    _given: Tensor
    _kept: Tensor
    _openings: Tensor
    _weights: Tensor

    def __init__(
        self,
        cells: Sequence[int],
        spacings: Sequence[float],
        sides: Sides,
        *,
        normal_velocity: Mapping[str, Any] | None = None,
        fluid: Any = None,
        openings: Sequence[Any] | None = None,
        balance_flux: bool = False,
    ) -> None:
        super().__init__()
        self.faces = box_faces(
            cells, spacings, sides, normal_velocity=normal_velocity, fluid=fluid, openings=openings
        )
        self.layout = self.faces.layout
        self.sample_axes = self.layout.dimension + 1
        self.balance_flux = bool(balance_flux)
        self._has_inlets = any(bool(kept.any()) for kept in self.faces.kept)
        self.exact = not self._has_inlets
        pack = self.layout.pack
        for name, parts in (
            ("free", self.faces.free),
            ("given", self.faces.given),
            ("kept", self.faces.kept),
            ("openings", self.faces.openings),
            ("weights", self.faces.weights),
        ):
            packed = pack([torch.from_numpy(np.array(part, dtype=np.float64)) for part in parts])
            self.register_buffer(f"_{name}", packed, persistent=False)
        self._weights[~self.layout.mask()] = 1.0
        self._check_given()

    def forward(self, u: Tensor) -> Tensor:
        """Velocities without divergence, in the layout of `u`."""
        self._check(u)
        u = self._with_given(u)
        gradient = self._gradient(self._divergence(u))
        return u - gradient * self._like(self._free, u)

    def defect(self, u: Tensor) -> Tensor:
        """Largest divergence of a cell, or deviation from a given velocity over the cell size.

        Relative to the largest velocity over the smallest cell size.
        """
        self._check(u)
        axes = tuple(range(-self.layout.dimension, 0))
        h = min(self.faces.spacings)
        deviation = (u - self._with_given(u)).abs().amax((*axes, axes[0] - 1)) / h
        divergence = self._divergence(u).abs().amax(axes)
        scale = u.abs().amax((*axes, axes[0] - 1)) / h
        return torch.maximum(deviation, divergence) / scale.clamp_min(torch.finfo(u.dtype).tiny)

    def metric(self, u: Tensor) -> Tensor | None:
        """Open share of each face, and half on open sides."""
        return self._like(self._weights, u)

    def _divergence(self, u: Tensor) -> Tensor:
        weighted = u if self.faces.plain else u * self._like(self._openings, u)
        found = face_divergence(self.layout.unpack(weighted), self.faces.spacings)
        if not self.faces.plain:
            found = found * torch.from_numpy(self.faces.fluid).to(found)
        return found

    def _gradient(self, divergence: Tensor) -> Tensor:
        if self.faces.plain:
            pressure = fast_poisson(divergence, self.faces.spacings, self.faces.kinds)
        else:
            fluid = torch.from_numpy(self.faces.fluid).to(divergence.device)
            solved = self._system(divergence[..., fluid])
            pressure = torch.zeros_like(divergence)
            pressure = pressure.masked_scatter(fluid.expand_as(pressure), -solved)
        gradient = pressure_gradient(pressure, self.faces.spacings, self.faces.kinds, xp)
        return self.layout.pack(gradient)

    @functools.cached_property
    def _system(self) -> SymmetricSystem:
        found, columns = self.faces.divergence_matrix()
        matrix: Any = found
        weights = np.ones(matrix.shape[1])
        for column, weight in zip(columns, self.faces.weights, strict=True):
            weights[column[column >= 0]] = weight[column >= 0]
        return SymmetricSystem(matrix.multiply(1.0 / weights[None, :]).tocsr() @ matrix.T)

    def _with_given(self, u: Tensor) -> Tensor:
        free, kept = self._like(self._free, u), self._like(self._kept, u)
        u = u * (free + kept) + self._like(self._given, u)
        if self._has_inlets and self.faces.closed:
            u = self._balanced(u, kept)
        return u

    def _balanced(self, u: Tensor, kept: Tensor) -> Tensor:
        axes, volume = tuple(range(-self.layout.dimension, 0)), 1.0
        for h in self.faces.spacings:
            volume *= h
        net = self._divergence(u).sum(axes) * volume
        signs = self._outward(u) * kept * self._like(self._openings, u)
        area = signs.abs().sum((*axes, axes[0] - 1))
        if not self.balance_flux:
            gross = (signs * u).abs().sum((*axes, axes[0] - 1))
            worst = float((net.abs() - _BALANCED * gross).max()) if net.numel() else 0.0
            if worst > 0.0:
                raise ValueError(
                    f"u lets {float(net.abs().max()):.3g} more out of the closed box than in (net "
                    "flux through the inlets): no flow without divergence does; make one side "
                    "'open', or pass balance_flux=True"
                )
        shift = (net / area).reshape(*net.shape, *[1] * self.sample_axes)
        return u - shift * signs.sign()

    def _outward(self, u: Tensor) -> Tensor:
        """Area of each outer face, positive on high sides and negative on low ones."""
        found, h = torch.zeros_like(u[(0,) * (u.ndim - self.sample_axes)]), self.faces.spacings
        for axis in range(self.layout.dimension):
            area = 1.0
            for other, size in enumerate(h):
                area *= 1.0 if other == axis else size
            found[axis].select(axis, 0)[...] = -area
            found[axis].select(axis, -1)[...] = area
        return found

    def _check(self, u: Tensor) -> None:
        shape = self.layout.shape
        wanted = f"(*batch, {', '.join(map(str, shape))})"
        check_fields("u", u, self.sample_axes, wanted)
        if tuple(u.shape[-self.sample_axes :]) != shape:
            hint = ""
            if tuple(u.shape[-self.sample_axes :]) == (len(shape) - 1, *self.layout.cells):
                hint = (
                    "; these look like velocities at the centers of cells: RangeProjection takes "
                    "them"
                )
            hint = hint or shape_hint(u.shape, shape)
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted {wanted}, velocities on the faces of "
                f"{self.layout.cells} cells as FaceLayout packs them{hint}"
            )

    def _check_given(self) -> None:
        if self._has_inlets or not self.faces.closed:
            return
        given = self._given
        net = float(self._divergence(given).sum())
        gross = float((self._divergence(given.abs()).abs()).sum())
        if abs(net) > _BALANCED * max(gross, 1e-300):
            volume = float(np.prod(self.faces.spacings))
            raise ValueError(
                f"normal_velocity lets {net * volume:.6g} more out of the closed box than in: "
                "balance the velocities, or make one side 'open'"
            )

    @staticmethod
    def _like(part: Tensor, u: Tensor) -> Tensor:
        return part.to(dtype=u.dtype, device=u.device)
