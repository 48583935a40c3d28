"""Finite volumes for balance laws: WENO of fifth order with a Lax-Friedrichs flux."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import array_api_compat.numpy as xnp
from array_api_compat import is_torch_namespace

from pdes.boundary import Boundary
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.solvers.cell_sides import CellSides
from pdes.solvers.conservation_form import balance_law
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.lines import StepLimits, as_field
from pdes.solvers.weno import WIDTH, weno5_left, weno5_right

Array = Any


class FiniteVolume:
    """Right-hand side of ``u_t + div flux = lap diffusion + source`` on a uniform grid of cells.

    The physical flux is split by the largest speed, ``(f + a u)/2`` and ``(f - a u)/2``, and each
    half is reconstructed at the faces from its upwind side. What leaves one cell enters the next,
    so the sum over cells changes through the sides and the source only. The points carry values at
    the centers, whose fluxes are the cell averages of the flux that is reconstructed (the
    conservative form of Shu and Osher, J. Comput. Phys. 83 (1989) 32); this keeps order five in
    several dimensions, where averages of the field itself would need quadrature on each face.
    Diffusion is the central second difference of its potential, of order two.

    Parameters
    ----------
    equation : Equation
        See `pdes.solvers.conservation_form.balance_law`.
    grid : Grid
        Centers of the cells.
    boundary : mapping, optional
        Conditions at the sides, see `CellSides`; all axes are periodic without.
    xp : module, optional
        Namespace of the array API, numpy by default.
    dtype : str, default "float64"
        Or ``"float32"``.
    device : optional
        Device of the namespace.
    parameters : mapping, optional
        Values that replace those of the equation; scalars of the namespace keep their gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 64))
    >>> kernel = FiniteVolume(Equation.from_text("u_t = -u*u_x", name="inviscid"), grid)
    >>> x = grid.coordinates()["x"]
    >>> rate = kernel.nonlinear(kernel.forward({"u": np.sin(x)}), 0.0)[0]
    >>> bool(np.abs(rate + np.sin(x) * np.cos(x)).max() < 1e-4)
    True
    """

    largest_courant: ClassVar[float] = 1.0
    default_courant: ClassVar[float] = 0.5
    linear: ClassVar[float] = 0.0

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        boundary: Boundary | None = None,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.equation, self.grid = equation, grid
        self.xp: Any = xnp if xp is None else xp
        self.fields, self.dtype, self.device = tuple(equation.fields), dtype, device
        self.dimension = len(grid.shape)
        for axis in grid.axes:
            if axis.points < 2 * WIDTH:
                raise ValueError(
                    f"axis {axis.name}: got {axis.points} cells, WENO wants at least {2 * WIDTH}"
                )
        self._values = {**equation.parameters, **(parameters or {})}
        self.law = balance_law(equation)
        self._sides = CellSides(
            equation,
            grid,
            boundary,
            width=WIDTH,
            parameters={n: _number(v) for n, v in self._values.items()},
            asarray=self.asarray,
        )
        padded = [self._evaluator(self._sides.centers(axis)) for axis in range(self.dimension)]
        own = self._evaluator(grid.mesh())
        law = self.law
        self._flux = {k: padded[k[1]].program(e) for k, e in law.flux.items()}
        self._speed = {k: padded[k[2]].program(e) for k, e in law.slopes(law.flux).items()}
        self._diffusion = {k: padded[k[1]].program(e) for k, e in law.diffusion.items()}
        self._stiffness = {k: own.program(e) for k, e in law.slopes(law.diffusion).items()}
        self._source = {k: own.program(e) for k, e in law.source.items()}

    def asarray(self, values: Any) -> Array:
        """Array of the kernel's namespace, precision and device."""
        return as_field(values, self.xp, self.dtype, self.device)

    def forward(self, fields: Mapping[str, Array], time: float = 0.0) -> Array:
        """Stack fields of shape ``(*batch, *grid)`` into ``(*batch, fields, *grid)``."""
        stacked = [self.asarray(fields[name]) for name in self.fields]
        return self.xp.stack(stacked, axis=-self.dimension - 1)

    def backward(self, state: Array, time: float = 0.0) -> dict[str, Array]:
        """Fields by name."""
        return dict(zip(self.fields, self._columns(state), strict=True))

    def nonlinear(self, state: Array, time: float) -> Array:
        """Rate of change of the state."""
        values = self._columns(state)
        rates: dict[str, Any] = {}
        for axis in range(self.dimension):
            self._add_axis(rates, values, axis, time)
        jets = dict(zip(self.fields, values, strict=True))
        for row, program in self._source.items():
            rates[row] = rates.get(row, 0.0) + program(jets, time)
        found = [rates.get(name, 0.0 * v) for name, v in zip(self.fields, values, strict=True)]
        return self.xp.stack(found, axis=-self.dimension - 1)

    def limits(self, state: Array, time: float) -> StepLimits:
        """Largest and default step at a state: Courant numbers 1 and 0.5, and the diffusive ones.

        Explicit diffusion at rate ``4 d/h^2`` per axis leaves the region of SSPRK3 at 2.51; below
        2 each stage is an average of its neighbors, which keeps positive what was positive.
        """
        values = self._columns(state)
        jets = dict(zip(self.fields, values, strict=True))
        advective = diffusive = 0.0
        for axis, spacing in enumerate(self.grid.spacings):
            if any(key[2] == axis for key in self._speed):
                padded = self._sides.pad(values, axis, time)
                speed = self._fastest(dict(zip(self.fields, padded, strict=True)), axis, time)
                advective += float(self.xp.max(_detached(speed))) / spacing
            rows: dict[str, float] = {}
            for (row, _, along), program in self._stiffness.items():
                if along == axis:
                    size = float(self.xp.max(self.xp.abs(_detached(program(jets, time)))))
                    rows[row] = rows.get(row, 0.0) + size
            diffusive += 4.0 * max(rows.values(), default=0.0) / spacing**2
        return StepLimits(
            rates={"the Courant number": advective, "dt times the diffusive rate": diffusive},
            largest={"the Courant number": 1.0, "dt times the diffusive rate": 2.5},
            default={"the Courant number": 0.5, "dt times the diffusive rate": 1.6},
        )

    def _evaluator(self, mesh: Mapping[str, Any]) -> Evaluator:
        return Evaluator(
            space=self.law.space,
            parameters=self._values,
            coordinates={name: self.asarray(x) for name, x in mesh.items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )

    def _columns(self, state: Array) -> list[Array]:
        whole = (slice(None),) * self.dimension
        return [state[(..., i, *whole)] for i in range(len(self.fields))]

    def _fastest(self, jets: Mapping[str, Array], axis: int, time: float) -> Array:
        """Bound of the characteristic speeds along an axis: the largest row sum, per sample."""
        rows: dict[str, Any] = {}
        for (row, _, along), program in self._speed.items():
            if along == axis:
                rows[row] = rows.get(row, 0.0) + self.xp.abs(program(jets, time))
        axes = tuple(range(-self.dimension, 0))
        sizes = [self.xp.max(total, axis=axes, keepdims=True) for total in rows.values()]
        bound = sizes[0]
        for size in sizes[1:]:
            bound = self.xp.maximum(bound, size)
        return bound

    def _add_axis(self, rates: dict[str, Any], values: list[Array], axis: int, time: float) -> None:
        rows = [row for row, along in self._flux if along == axis]
        diffused = [row for row, along in self._diffusion if along == axis]
        if not rows and not diffused:
            return
        padded = self._sides.pad(values, axis, time)
        jets = dict(zip(self.fields, padded, strict=True))
        # A numpy scalar would turn single precision into double.
        spacing = float(self.grid.spacings[axis])
        fastest = self._fastest(jets, axis, time) if rows else None
        for row in rows:
            flux = self._flux[row, axis](jets, time)
            change = self._flux_difference(flux, fastest * jets[row], axis)
            rates[row] = rates.get(row, 0.0) - change / spacing
        for row in diffused:
            potential = self._last(self._diffusion[row, axis](jets, time), axis)
            inner = potential[..., WIDTH - 1 : 1 - WIDTH]
            second = inner[..., 2:] - 2.0 * inner[..., 1:-1] + inner[..., :-2]
            rates[row] = rates.get(row, 0.0) + self._back(second, axis) / spacing**2

    def _flux_difference(self, flux: Array, carried: Array, axis: int) -> Array:
        """Flux through the right face of each cell minus that through its left face."""
        right_going = self._last(0.5 * (flux + carried), axis)
        left_going = self._last(0.5 * (flux - carried), axis)
        through = weno5_left(right_going[..., :-1]) + weno5_right(left_going[..., 1:], self.xp)
        return self._back(through[..., 1:] - through[..., :-1], axis)

    def _last(self, value: Array, axis: int) -> Array:
        return self.xp.moveaxis(value, axis - self.dimension, -1) if self.dimension > 1 else value

    def _back(self, value: Array, axis: int) -> Array:
        return self.xp.moveaxis(value, -1, axis - self.dimension) if self.dimension > 1 else value


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
