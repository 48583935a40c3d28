"""Split-step Fourier method for equations of Schroedinger type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as xnp
import sympy
from array_api_compat import is_torch_namespace

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.solvers.evaluate import Evaluator
from pdes.solvers.fourier import FourierBasis
from pdes.solvers.lines import StepLimits
from pdes.solvers.lowering import lower
from pdes.solvers.spectral import PseudoSpectral
from pdes.time.splitting import Splitting

Array = Any


class SplitStep:
    """``h_t = i (dispersion + potential(abs(h)^2, x)) h`` by two flows that are exact.

    Dispersion multiplies each Fourier coefficient by a phase, the potential each point value:
    neither changes ``abs(h)^2``, so the mass is kept to rounding, at any step.

    Parameters
    ----------
    equation : Equation
        One complex field.
    grid : Grid
        Periodic axes.
    method : Splitting
        How the flows are composed.
    xp, dtype, device, parameters
        As for `pdes.solvers.finite_volume.FiniteVolume`.

    Raises
    ------
    ValueError
        If the equation is not of this form.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes.time import STRANG
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 32))
    >>> nls = Equation.from_text("h_t = 1/2*I*h_xx + I*abs(h)^2*h", complex_fields=("h",))
    >>> kernel = SplitStep(nls, grid, STRANG)
    >>> h = kernel.make_step(0.1)(kernel.forward({"h": np.ones(32)}), 0.0, None)
    >>> bool(np.allclose(h, np.exp(0.1j)))
    True
    """

    def __init__(
        self,
        equation: Equation,
        grid: Grid,
        method: Splitting,
        *,
        xp: Any = None,
        dtype: str = "float64",
        device: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.equation, self.grid, self.method = equation, grid, method
        self.xp: Any = xnp if xp is None else xp
        self.dimension = len(grid.shape)
        if len(equation.fields) != 1 or not equation.complex_fields:
            raise ValueError(
                f"{equation.name}: splitting takes one complex field, got {equation.fields}"
            )
        (self._field,) = equation.fields
        self.basis = FourierBasis(grid, self.xp, dtype, device, real=False, degree=1)
        evaluator = Evaluator(
            space=equation.space,
            parameters={**equation.parameters, **(parameters or {})},
            coordinates={n: self.basis.asarray(x) for n, x in grid.mesh().items()},
            backend="torch" if is_torch_namespace(self.xp) else "numpy",
        )
        self._symbol = self._dispersion(evaluator)
        self._potential = evaluator.program(self._potential_expression())

    def forward(self, fields: Mapping[str, Array], time: float = 0.0) -> Array:
        """Field of shape ``(*batch, *grid)`` as a state with one more axis."""
        h = self.basis.asarray(fields[self._field])
        return self.xp.astype(h, self.basis.complex_dtype)[self._inserted]

    def backward(self, state: Array, time: float = 0.0) -> dict[str, Array]:
        """Field by name."""
        return {self._field: self.basis.pick(state, 0)}

    def limits(self, state: Array, time: float) -> StepLimits:
        """The potential turns the phase by at most one radian a step, by default a tenth."""
        size = self.xp.max(self.xp.abs(_detached(self._rate(_detached(state)))))
        name = "the phase that the potential turns in a step"
        return StepLimits(rates={name: float(size)}, largest={name: 1.0}, default={name: 0.02})

    def warning(self, state: Array, time: float) -> str:
        """Complaint about a field whose highest modes are not small, empty if there is none."""
        tail = float(self.xp.max(self.basis.tail(self.basis.forward(_detached(state)))))
        if tail <= PseudoSpectral.tail_limit:
            return ""
        meaning = PseudoSpectral.tail_meaning.format(tail=tail)
        return (
            f"initial field {self._field!r}: {meaning} at t={time:.4g} (limit "
            f"{PseudoSpectral.tail_limit:g}): the field is not resolved, or not periodic"
        )

    def make_step(self, size: float) -> Callable[[Array, float, Any], Array]:
        """Step function for one size."""
        xp, basis = self.xp, self.basis

        def drift(duration: float) -> Callable[[Array], Array]:
            phase = xp.astype(xp.exp(1j * duration * self._symbol), basis.complex_dtype)
            return lambda state: basis.inverse(phase * basis.forward(state))

        def kick(duration: float) -> Callable[[Array], Array]:
            return lambda state: state * xp.exp(1j * duration * self._rate(state))

        step = self.method.stepper(drift, kick, size)
        return lambda state, time, _: step(state)

    @property
    def _inserted(self) -> tuple:
        return (..., None, *(slice(None),) * self.dimension)

    def _rate(self, state: Array) -> Array:
        return self.xp.real(self._potential({self._field: state}, 0.0))

    def _dispersion(self, evaluator: Evaluator) -> Array:
        """Real symbol ``omega(k)`` of the linear part ``i omega h``."""
        xp, lowered = self.xp, lower(self.equation)
        total: Any = xp.zeros(self.basis.modes, dtype=xp.complex128, device=self.basis.device)
        for orders, coefficient in lowered.linear.get((self._field, self._field), {}).items():
            symbol = xp.asarray(self.basis.derivative(orders), device=self.basis.device)
            total = total + evaluator.value(coefficient) * symbol
        if float(xp.max(xp.abs(xp.real(total)))) > 1e-12 * float(xp.max(xp.abs(total)) + 1.0):
            raise ValueError(
                f"{self.equation.name}: the linear part grows or decays, which splitting of "
                "Schroedinger type does not take; use etdrk4"
            )
        return xp.imag(total)

    def _potential_expression(self) -> sympy.Expr:
        """``g`` of the nonlinear part ``i g h``; must be real and must not see the phase of h."""
        space = self.equation.space
        h = space.symbol(self._field, (0,) * self.dimension)
        lowered = lower(self.equation)
        raw: Any = space.from_functions(self.equation.rhs[self._field])
        for orders, c in lowered.linear.get((self._field, self._field), {}).items():
            raw = raw - c * space.symbol(self._field, orders)
        potential = sympy.expand(raw / (sympy.I * h))
        square = sympy.Dummy("square", positive=True)
        seen = sympy.expand(potential.xreplace({sympy.conjugate(h): square / h}))
        if h in seen.free_symbols or space.jets(seen):
            raise ValueError(
                f"{self.equation.name}: splitting wants i g(abs(h)^2, x) h beside the dispersion, "
                f"got {raw}"
            )
        if sympy.im(seen) != 0:
            raise ValueError(f"{self.equation.name}: the potential {potential} is not real")
        return seen.xreplace({square: h * sympy.conjugate(h)})


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
