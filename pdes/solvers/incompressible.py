"""Periodic incompressible flow in its cheapest exact spectral form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pdes.jets import JetSpace
from pdes.solvers.flow_transport import MomentumTransport, VorticityTransport
from pdes.solvers.limits import RateMeter, Rates
from pdes.solvers.lowering import LoweredEquation, lower
from pdes.solvers.nonlinear import NonlinearPart
from pdes.solvers.spectral import PseudoSpectral

Array = Any

_DIVERGENCE_LIMIT = 1e-6


class PeriodicFlow(PseudoSpectral):
    """What the two forms share: sources, the step limit, and when a flow counts as resolved."""

    tail_limit = 1e-3
    tail_meaning = "the top third of the spectrum holds {tail:.1e} of the enstrophy"
    tail_refused = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        numbers = [np.abs(number) for number in self.basis.mode_numbers]
        cutoffs = self.basis.cutoffs
        top = np.zeros(self.basis.modes, dtype=bool)
        for number, cutoff in zip(numbers, cutoffs, strict=True):
            top = top | (number > 2.0 * cutoff / 3.0)
        # All modes but those of the first column stand for themselves and their conjugate.
        doubled = np.where(numbers[-1] > 0, 2.0, 1.0) * self.basis.mask
        self._weight = self.basis.asarray(doubled)
        self._top_weight = self.basis.asarray(doubled * top)

    def tail(self, state: Array) -> Array:
        """Share of the enstrophy in the modes above two thirds of the cutoff, per sample."""
        xp = self.xp
        spectrum = xp.abs(self._vorticity(state)) ** 2
        whole = xp.sum(spectrum * self._weight, axis=(-2, -1))
        top = xp.sum(spectrum * self._top_weight, axis=(-2, -1))
        return top / (whole + float(np.finfo(self.basis.dtype).tiny))

    def rate_meter(self, integrator: Any) -> RateMeter:
        """What limits the time step: advection by the largest velocity along each axis."""
        return _FlowRates(self, integrator)

    def _vorticity(self, state: Array) -> Array:
        """Vorticity coefficients, shape (*batch, *modes)."""
        raise NotImplementedError

    def _lower(self) -> LoweredEquation:
        """Equation without the auxiliary field, whose terms the nonlinear part computes."""
        found, fields = lower(self.equation), self.fields
        return replace(
            found,
            linear={key: value for key, value in found.linear.items() if key[1] in fields},
        )

    def sources(self) -> NonlinearPart:
        """Forcing alone, as the general solver treats it."""
        bare = {
            row: {powers: value for powers, value in products.items() if not powers}
            for row, products in self.lowered.monomials.items()
        }
        space = JetSpace(self.fields, tuple(self.equation.coordinates))
        forced = replace(self.lowered, space=space, monomials=bare)
        return NonlinearPart(forced, self.basis, self.evaluator, [])

    def inverse_laplacian(self) -> np.ndarray:
        """``1/k^2``, zero for the mean."""
        x, y = (self.basis.derivative(orders) for orders in ((2, 0), (0, 2)))
        laplacian = np.asarray(x + y)
        return np.divide(-1.0, laplacian, out=np.zeros(self.basis.modes), where=laplacian != 0)


class VorticityKernel(PeriodicFlow):
    r"""Vorticity form of the Navier-Stokes equations on a periodic box.

    Four transforms a call: two to the velocities and two back,
    ``-F[u w_x + v w_y] = (kx^2 - ky^2) F[u v] + kx ky F[v^2 - u^2]``, where the usual form takes
    four and one. The two are equal because ``(u v)_xx - (u v)_yy + (v^2 - u^2)_xy`` is the
    divergence of ``(u w, v w)`` when ``u_x + v_y = 0``.

    Parameters
    ----------
    equation : VorticityEquation
        Gives viscosity, drag and forcing.
    grid, xp, dtype, device, parameters, dealias
        As for `PseudoSpectral`.

    Examples
    --------
    A field on one shell of wave numbers is advected along its own streamlines:

    >>> import numpy as np
    >>> from pdes import Grid
    >>> from pdes.incompressible import VorticityEquation
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 16), y=(0.0, 2 * np.pi, 16))
    >>> kernel = VorticityKernel(VorticityEquation.of(viscosity=0.1), grid)
    >>> mesh = grid.mesh()
    >>> state = kernel.forward({"w": 2 * np.sin(mesh["x"]) * np.sin(mesh["y"])})
    >>> bool(np.abs(kernel.nonlinear(state, 0.0)).max() < 1e-12)
    True
    """

    def _vorticity(self, state: Array) -> Array:
        return self.basis.pick(state, 0)

    def forward(self, fields: Mapping[str, Array]) -> Array:
        """Coefficients of the vorticity; its mean is zero on a periodic box, or it is refused."""
        state = super().forward(fields)
        mean = self.xp.abs(state[..., 0, 0])
        largest = self.xp.max(self.xp.abs(state), axis=(-2, -1))
        if bool(self.xp.any(mean > _DIVERGENCE_LIMIT * largest)):
            raise ValueError(
                "initial field 'w' has a mean that is not zero, but the vorticity of a periodic "
                "velocity has none; subtract the mean"
            )
        return state

    def _nonlinear_part(self) -> Any:
        return VorticityTransport(self)


class VelocityKernel(PeriodicFlow):
    """Velocity form of the Navier-Stokes equations on a periodic box, without pressure.

    The divergence of the momentum flux is projected on the divergence-free fields mode by mode
    (Leray projection). A gradient is projected away, so ``u^2 - v^2`` serves for the diagonal of
    the flux: two transforms to the velocities and two back.

    Parameters
    ----------
    equation : VelocityEquation
        Gives viscosity, drag and force.
    grid, xp, dtype, device, parameters, dealias
        As for `PseudoSpectral`.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Grid
    >>> from pdes.incompressible import VelocityEquation
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 16), y=(0.0, 2 * np.pi, 16))
    >>> kernel = VelocityKernel(VelocityEquation.of(viscosity=0.1), grid)
    >>> zero, shear = np.zeros(grid.shape), np.sin(grid.mesh()["y"]) + np.zeros(grid.shape)
    >>> rate = kernel.nonlinear(kernel.forward({"u": shear, "v": zero}), 0.0)
    >>> bool(np.abs(rate).max() < 1e-12)
    True
    """

    def _vorticity(self, state: Array) -> Array:
        x, y = (self.basis.multiplier(self.basis.derivative(o)) for o in ((1, 0), (0, 1)))
        return x * self.basis.pick(state, 1) - y * self.basis.pick(state, 0)

    def forward(self, fields: Mapping[str, Array]) -> Array:
        """Coefficients of the velocity; a field with divergence is refused."""
        state, xp = super().forward(fields), self.xp
        solenoidal = self.project(state)
        whole = xp.max(xp.abs(state), axis=(-3, -2, -1))
        defect = xp.max(xp.abs(state - solenoidal), axis=(-3, -2, -1))
        if bool(xp.any(defect > _DIVERGENCE_LIMIT * whole)):
            raise ValueError(
                "initial fields 'u', 'v' have divergence (relative size "
                f"{float(xp.max(defect) / xp.max(whole)):.1e}): the flow is incompressible; take "
                "the curl of a streamfunction, or project the fields first"
            )
        return solenoidal

    def project(self, state: Array) -> Array:
        """Nearest divergence-free field, of the same shape."""
        x, y, inverse = self._symbols()
        u, v = self.basis.pick(state, 0), self.basis.pick(state, 1)
        excess = (x * u + y * v) * inverse
        return self.xp.stack([u + x * excess, v + y * excess], axis=self.basis.field_axis)

    def _symbols(self) -> tuple[Array, Array, Array]:
        basis = self.basis
        x, y = (basis.multiplier(basis.derivative(orders)) for orders in ((1, 0), (0, 1)))
        return x, y, basis.multiplier(self.inverse_laplacian())

    def _nonlinear_part(self) -> Any:
        return MomentumTransport(self)


class _FlowRates(RateMeter):
    """Courant number of a flow, and what explicit methods feel of the viscosity."""

    def __init__(self, kernel: PeriodicFlow, integrator: Any) -> None:
        super().__init__(kernel, integrator)
        self.advects = True

    def measure(self, state: Array, time: float) -> Rates:
        return replace(super().measure(state, time), advective=self.advective(state, time))

    def advective(self, state: Array, time: float) -> float:
        xp, kernel = self.kernel.xp, self.kernel
        speeds = kernel.nonlinear.jets(state.detach() if hasattr(state, "detach") else state)
        rates = [
            float(xp.max(xp.abs(speeds[name]))) / spacing
            for name, spacing in zip(("u", "v"), kernel.grid.spacings, strict=True)
        ]
        return sum(rates)
