"""What every closed form offers, explicit or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import sympy

    from pdes.equation import Equation
    from pdes.grid import Grid


class ClosedForm(Protocol):
    """A known solution of an equation.

    `pdes.exact.ExactSolution` is one whose fields are explicit formulas; others solve for their
    values, or hold in pieces.
    """

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def equation(self) -> Equation:
        """The equation that it solves."""
        ...

    @property
    def fields(self) -> Mapping[str, sympy.Expr]:
        """Formulas of the fields, as far as there are any."""
        ...

    @property
    def stop(self) -> float:
        """Time until which it holds."""
        ...

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Fields on a grid at some times."""
        ...

    def initial(self, grid: Grid, rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """Fields at time zero."""
        ...

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest residual of the equation at random points, in extended precision."""
        ...

    def latex(self) -> str:
        """LaTeX of the fields."""
        ...
