"""Initial fields written as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import sympy

from pdes.grid import Grid
from pdes.jets import JetSpace
from pdes.solvers.evaluate import Evaluator


@dataclass(frozen=True)
class FromExpression:
    """The same field every time: a sympy expression in the coordinates.

    Parameters
    ----------
    expressions : mapping of str to sympy.Expr
        Field to expression in `pdes.equation.coordinate` symbols.
    parameters : mapping of str to float
        Values of the other symbols.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> from pdes import Grid
    >>> from pdes.equation import coordinate
    >>> wave = FromExpression({"u": sympy.cos(coordinate("x"))})
    >>> wave(Grid.periodic(x=(0.0, 2 * np.pi, 8)), np.random.default_rng(0))["u"][:3]
    array([1.0000000e+00, 7.0710678e-01, 6.123234e-17])
    """

    expressions: Mapping[str, sympy.Expr]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.expressions, Mapping) or not self.expressions:
            raise ValueError(
                f"expressions: got {self.expressions!r}, wanted a mapping of field to expression, "
                "such as {'u': sympy.cos(pdes.equation.coordinate('x'))}"
            )
        for name, given in self.expressions.items():
            if not isinstance(given, sympy.Expr | int | float | complex):
                raise ValueError(
                    f"expressions[{name!r}]: got {given!r}, wanted a sympy expression in the "
                    "symbols of pdes.equation.coordinate"
                )

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Fields of the grid's shape; `rng` is not used."""
        known = {*grid.names, *self.parameters}
        for name, given in self.expressions.items():
            unknown = sorted({str(s) for s in sympy.sympify(given).free_symbols} - known)
            if unknown:
                raise ValueError(
                    f"FromExpression: {name!r} contains {unknown}, which are neither axes of the "
                    f"grid, {tuple(grid.names)}, nor among the parameters {sorted(self.parameters)}"
                )
        space = JetSpace(tuple(self.expressions), tuple(grid.names))
        evaluator = Evaluator(
            space=space, parameters=dict(self.parameters), coordinates=grid.mesh()
        )
        return {
            name: np.broadcast_to(evaluator.value(sympy.S(0) + e), grid.shape).copy()
            for name, e in self.expressions.items()
        }
