"""Quadratic terms of incompressible flow on Fourier coefficients, four transforms a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import is_numpy_namespace

if TYPE_CHECKING:
    from pdes.solvers.incompressible import PeriodicFlow, VelocityKernel, VorticityKernel

Array = Any


class Transport:
    """Quadratic part of a flow: velocities, their products, two multipliers for each row."""

    groups: tuple[Any, ...] = ()
    is_zero = False

    def __init__(self, kernel: PeriodicFlow) -> None:
        self._kernel, self._basis, self._xp = kernel, kernel.basis, kernel.xp
        sources = kernel.sources()
        self._source = None if sources.is_zero else sources
        self._in_place = is_numpy_namespace(kernel.xp)

    def velocity(self, state: Array) -> Array:
        """Velocities on the grid, shape (*batch, 2, *grid)."""
        raise NotImplementedError

    def jets(self, state: Array) -> dict[str, Array]:
        """Velocities by name."""
        values = self.velocity(state)
        return {"u": self._basis.pick(values, 0), "v": self._basis.pick(values, 1)}

    def _products(self, state: Array) -> Array:
        """Coefficients of ``u v`` and ``v^2 - u^2``, shape (*batch, 2, *modes)."""
        values = self.velocity(state)
        u, v = values[..., 0, :, :], values[..., 1, :, :]
        if not self._in_place:
            return self._basis.forward(self._xp.stack([u * v, v * v - u * u], axis=-3))
        # The same without copies: they cost as much as a third of a transform.
        products = np.empty_like(values)
        product, difference = products[..., 0, :, :], products[..., 1, :, :]
        np.multiply(u, v, out=product)
        np.multiply(v, v, out=difference)
        np.multiply(u, u, out=u)
        difference -= u
        return self._basis.forward(products)

    def _with_source(self, rate: Array, state: Array, time: float) -> Array:
        return rate if self._source is None else rate + self._source(state, time)


class VorticityTransport(Transport):
    """``-(u w_x + v w_y)`` and the curl of the force."""

    def __init__(self, kernel: VorticityKernel) -> None:
        super().__init__(kernel)
        basis, inverse = kernel.basis, kernel.inverse_laplacian()
        x, y = basis.derivative((1, 0)), basis.derivative((0, 1))
        self._curl = basis.multiplier(np.stack([y * inverse, -x * inverse]))
        first = basis.derivative((0, 2)) - basis.derivative((2, 0))
        self._product = basis.multiplier(first * basis.mask)
        self._difference = basis.multiplier(-(x * y) * basis.mask)

    def velocity(self, state: Array) -> Array:
        """Velocities of a vorticity."""
        return self._basis.inverse(state * self._curl)

    def __call__(self, state: Array, time: float) -> Array:
        """Rate of change of the vorticity's coefficients."""
        flux = self._products(state)
        rate = flux[..., :1, :, :] * self._product
        rate = rate + flux[..., 1:, :, :] * self._difference
        return self._with_source(rate, state, time)


class MomentumTransport(Transport):
    """``-(u u_x + v u_y)``, likewise ``v``, and the force, both projected."""

    def __init__(self, kernel: VelocityKernel) -> None:
        super().__init__(kernel)
        basis, inverse = kernel.basis, kernel.inverse_laplacian()
        x, y = basis.derivative((1, 0)), basis.derivative((0, 1))
        # Curl of the flux divergence, then back to a velocity with that curl.
        curl = np.stack([y * inverse, -x * inverse]) * basis.mask
        first = basis.derivative((0, 2)) - basis.derivative((2, 0))
        self._product = basis.multiplier(curl * first)
        self._difference = basis.multiplier(curl * -(x * y))
        # What the force does to the mean flow is no curl: keep it as it is.
        self._project = kernel.project

    def velocity(self, state: Array) -> Array:
        """Velocities themselves."""
        return self._basis.inverse(state)

    def __call__(self, state: Array, time: float) -> Array:
        """Rate of change of the velocity's coefficients, free of divergence."""
        flux = self._products(state)
        rate = flux[..., :1, :, :] * self._product
        rate = rate + flux[..., 1:, :, :] * self._difference
        if self._source is None:
            return rate
        return rate + self._project(self._source(state, time))
