"""The N-wave of Burgers' equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid
from pdes.symbols import TIME


@dataclass(frozen=True, kw_only=True)
class LaterSolution(ExactSolution):
    """A closed form that holds after its `start`, and is singular at it."""

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Fields on a grid at some times, each after `start`.

        Raises
        ------
        ValueError
            If a time is at `start` or outside the validity of the solution.
        """
        moments = np.asarray(times, dtype=np.float64).reshape(-1)
        if np.any(moments == self.start):
            raise ValueError(
                f"{self.name} holds for times in ({self.start:g}, {self.stop:g}), got "
                f"{self.start:g}, where it is singular; start later: initial(grid, time=1.0)"
            )
        return super().evaluate(grid, moments)


def n_wave(equation: Equation, *, age: float = 1.0) -> ExactSolution:
    r"""Two shocks that run apart and decay, joined by a straight line: the letter N.

    ``u = (x/t) sqrt(a/t) G/(1 + sqrt(a/t) G)`` with ``G = exp(-x^2/(4 nu t))``, which is
    ``-2 nu (log phi)_x`` for ``phi = 1 + sqrt(a/t) G``: a uniform field and a heat kernel.

    Parameters
    ----------
    equation : Equation
        Burgers' equation with a parameter ``viscosity``.
    age : float, default 1
        ``a``, positive, in the unit of time: until then the wave is steep.

    Returns
    -------
    ExactSolution
        For times after zero.

    Raises
    ------
    ValueError
        If `age` is not positive and finite.

    Examples
    --------
    >>> from pdes.library.burgers import burgers_equation
    >>> n_wave(burgers_equation()).residual() < 1e-25
    True
    """
    if not 0.0 < age < np.inf:
        raise ValueError(f"age={age} must be positive and finite: the wave is real for these only")
    x, a = coordinate("x"), parameter("age")
    # Divided by the kernel: where that underflows, its inverse is infinite and the wave is zero.
    inverse = sympy.sqrt(TIME / a) * sympy.exp(x**2 / (4 * parameter("viscosity") * TIME))
    return LaterSolution(
        name="n_wave",
        equation=equation,
        fields={"u": x / TIME / (1 + inverse)},
        parameters={"age": age},
        start=0.0,
        source="Whitham, Linear and Nonlinear Waves (1974), section 4.5",
    )
