"""Closed forms of equations with constraints: evolving and auxiliary fields together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pdes.constrained import ConstrainedEquation
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid


@dataclass(frozen=True, kw_only=True)
class FlowSolution(ExactSolution):
    """An `ExactSolution` that also gives the auxiliary fields, so that constraints are checked.

    Parameters
    ----------
    name, equation, fields, parameters, start, stop, box, source
        As for `ExactSolution`; `equation` is a `ConstrainedEquation` and `fields` holds its
        evolving fields and its auxiliary ones (streamfunction or pressure).

    Examples
    --------
    >>> from pdes.exact.taylor_green import taylor_green
    >>> from pdes.incompressible import VorticityEquation
    >>> vortices = taylor_green(VorticityEquation.of(viscosity=0.1))
    >>> sorted(vortices.fields), vortices.residual() < 1e-25
    (['psi', 'w'], True)
    """

    def __post_init__(self) -> None:
        if not isinstance(self.equation, ConstrainedEquation):
            raise ValueError(f"{self.name}: the equation has no constraints; use ExactSolution")
        wanted = {*self.equation.fields, *self.equation.auxiliary}
        if set(self.fields) != wanted:
            raise ValueError(f"fields are {sorted(self.fields)}, wanted {sorted(wanted)}")
        for name, value in self.parameters.items():
            if not math.isfinite(value):
                raise ValueError(f"{self.name}: parameter {name} must be finite, got {value}")

    def initial(
        self, grid: Grid, rng: np.random.Generator | None = None, *, time: float = 0.0
    ) -> dict[str, np.ndarray]:
        """Evolving fields at one time; `rng` is not used."""
        found = super().initial(grid, time=time)
        return {name: found[name] for name in self.equation.fields}
