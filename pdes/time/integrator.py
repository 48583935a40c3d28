"""What a time integrator offers, and the table of those that `pdes.simulate` knows by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pdes.time.etdrk import ETDRK4
from pdes.time.runge_kutta import RK4, SSPRK3

Array = Any
Nonlinear = Callable[[Array, float], Array]
Step = Callable[[Array, float, Nonlinear], Array]


class Integrator(Protocol):
    """One-step method for ``v' = linear * v + nonlinear(v, t)`` with a diagonal linear part.

    Attributes
    ----------
    name : str
        Name under which `pdes.simulate` finds it.
    order : int
        Declared order of the error at a fixed time; the conformance tests measure it.
    """

    @property
    def name(self) -> str:
        """Name under which the method is found."""
        ...

    @property
    def order(self) -> int:
        """Declared order."""
        ...

    def stepper(self, linear: Array, time_step: float, dtype: Any = None) -> Any:
        """Prepare all coefficients that depend on the time step and return the step function."""
        ...


INTEGRATORS: dict[str, Integrator] = {method.name: method for method in (ETDRK4(), RK4, SSPRK3)}
