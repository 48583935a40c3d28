"""Fourier pseudo-spectral right-hand side of any equation on a periodic box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import array_api_compat.numpy as xnp
from array_api_compat import is_torch_namespace

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.fourier import FourierBasis
from pdes.solvers.lowering import LoweredEquation, lower
from pdes.solvers.nonlinear import NonlinearPart
from pdes.solvers.periodicity import check_periodic

Array = Any


class PseudoSpectral:
    """``d_t v = linear * v + nonlinear(v, t)`` for the Fourier coefficients ``v`` of the fields.

    Derivatives are exact for the modes that the grid carries. Products are formed on the grid and
    dealiased: with at most ``p`` factors only modes up to ``(N - 1)//(p + 1)`` are kept, so that
    no product folds back onto them. Where possible products are summed under a common outer
    derivative, ``-u*u_x`` as ``(-u^2/2)_x``.

    Parameters
    ----------
    equation : Equation
        Its coefficients may be periodic functions of the coordinates, and depend on time.
    grid : Grid
        All axes periodic.
    xp : module, optional
        Namespace of the array API, numpy by default.
    dtype : str, default "float64"
        Or ``"float32"``: precision of the fields.
    device : optional
        Device of the namespace.
    parameters : mapping, optional
        Values that replace those of the equation; scalars of the namespace keep their gradient.
    dealias : bool, default True
        Keep all modes when False.

    Attributes
    ----------
    linear : array, shape (fields, *modes)
        Diagonal linear part in double precision.
    nonlinear : NonlinearPart
        Everything else; ``nonlinear(state, time)`` returns Fourier coefficients.
    coupling : list of (row, column, array)
        Constant-coefficient terms between different fields, also part of `nonlinear`.
    basis : FourierBasis
        Transforms and modes.

    Raises
    ------
    ValueError
        If an axis is not periodic, has an odd number of points or fewer than 8, or a coefficient
        does not have the period of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 32))
    >>> kernel = PseudoSpectral(Equation.from_text("u_t = -u*u_x", name="inviscid"), grid)
    >>> x = grid.coordinates()["x"]
    >>> state = kernel.forward({"u": np.sin(x)})
    >>> rate = kernel.backward(kernel.nonlinear(state, 0.0))["u"]
    >>> bool(np.abs(rate + np.sin(x) * np.cos(x)).max() < 1e-15)
    True
    """

    tail_limit: ClassVar[float] = 1e-6
    """A field is not resolved when `tail` exceeds this number."""
    tail_meaning: ClassVar[str] = "the highest modes hold {tail:.1e} of the spectrum's peak"
    tail_refused: ClassVar[bool] = False
    """Whether a run stops at a tail above the limit, instead of warning."""

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
        dealias: bool = True,
    ) -> None:
        self.equation, self.grid = equation, grid
        self.xp: Any = xnp if xp is None else xp
        self.fields = tuple(equation.fields)
        self.lowered = self._lower()
        self.dealias = dealias and self.lowered.degree > 1
        self.basis = FourierBasis(
            grid,
            self.xp,
            dtype,
            device,
            real=not equation.complex_fields,
            degree=self.lowered.degree if self.dealias else 1,
        )
        values = {**equation.parameters, **(parameters or {})}
        check_periodic(self.lowered, grid, values)
        self.evaluator = Evaluator(
            space=equation.space,
            parameters=values,
            coordinates={name: self.basis.asarray(x) for name, x in grid.mesh().items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )
        self._mask = self.basis.multiplier(self.basis.mask)
        self.linear, self.coupling = self._linear_part()
        self.nonlinear: Any = self._nonlinear_part()

    def _lower(self) -> LoweredEquation:
        """Pieces of the equation that enter the basis and the linear part."""
        return lower(self.equation)

    def _nonlinear_part(self) -> Any:
        """Everything but the linear part; solvers of special equations have a cheaper form."""
        return NonlinearPart(self.lowered, self.basis, self.evaluator, self.coupling)

    def rate_meter(self, integrator: Any) -> Any:
        """What limits the time step, as `pdes.solvers.limits.RateMeter` measures it."""
        from pdes.solvers.limits import RateMeter

        return RateMeter(self, integrator)

    @property
    def is_linear(self) -> bool:
        """Whether the diagonal linear part is everything."""
        return self.nonlinear.is_zero

    def forward(self, fields: Mapping[str, Array]) -> Array:
        """Fourier coefficients, shape ``(*batch, fields, *modes)``, zero above the cutoff.

        Each field has shape ``(*batch, *grid)``.
        """
        stacked = self.xp.stack([fields[n] for n in self.fields], axis=self.basis.field_axis)
        if not self.basis.real:
            stacked = self.xp.astype(stacked, self.basis.complex_dtype)
        return self.basis.forward(stacked) * self._mask

    def backward(self, state: Array) -> dict[str, Array]:
        """Fields on the grid, each of shape ``(*batch, *grid)``."""
        values = self.basis.inverse(state)
        found = {name: self.basis.pick(values, i) for i, name in enumerate(self.fields)}
        if self.basis.real:
            return found
        return {
            name: value if name in self.equation.complex_fields else self.xp.real(value)
            for name, value in found.items()
        }

    def tail(self, state: Array) -> Array:
        """Largest coefficient in the top tenth of the kept modes over the largest, per sample."""
        return self.xp.max(self.basis.tail(state), axis=-1)

    def _linear_part(self) -> tuple[Array, list[tuple[int, int, Array]]]:
        """Diagonal symbols in double precision, and the couplings between fields."""
        xp, basis = self.xp, self.basis
        zero = xp.zeros(basis.modes, dtype=xp.float64, device=basis.device)
        diagonal, coupling = [zero] * len(self.fields), []
        for (row, column), operator in self.lowered.linear.items():
            total = zero
            for orders, coefficient in operator.items():
                symbol = xp.asarray(basis.derivative(orders), device=basis.device)
                total = total + self.evaluator.value(coefficient) * symbol
            i, j = self.fields.index(row), self.fields.index(column)
            if i == j:
                diagonal[i] = total
            else:
                coupling.append((i, j, basis.multiplier(total)))
        if any(xp.isdtype(symbol.dtype, "complex floating") for symbol in diagonal):
            diagonal = [xp.astype(symbol, xp.complex128) for symbol in diagonal]
        return xp.stack(diagonal, axis=0), coupling
