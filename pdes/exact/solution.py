"""A closed-form solution of an equation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.grid import Grid
from pdes.jets import JetSpace
from pdes.solvers.evaluate import Evaluator
from pdes.symbols import TIME, number


@dataclass(frozen=True, kw_only=True)
class ExactSolution:
    """Fields as explicit functions of space and time, with the equation that they solve.

    Parameters
    ----------
    name : str
        What it is called, for example ``"cole_hopf"``.
    equation : Equation
        The equation, with the values of its parameters.
    fields : mapping of str to sympy.Expr
        Field to expression in time, the coordinates, the equation's parameters and `parameters`.
    parameters : mapping of str to float
        Free parameters of the solution, such as an amplitude.
    start, stop : float
        Times between which the expressions hold.
    box : float, default 4
        Half width of the region in which `residual` draws its points; where the solution lives.
    source : str
        Where it is from.

    Examples
    --------
    >>> import sympy
    >>> from pdes import Equation
    >>> from pdes.equation import coordinate, parameter
    >>> t, x, k = coordinate("t"), coordinate("x"), parameter("k")
    >>> decay = ExactSolution(
    ...     name="mode",
    ...     equation=Equation.from_text("u_t = k*u_xx", name="heat", parameters={"k": 0.1}),
    ...     fields={"u": sympy.exp(-k * t) * sympy.sin(x)},
    ... )
    >>> decay.residual() < 1e-25
    True
    """

    name: str
    equation: Equation
    fields: Mapping[str, sympy.Expr]
    parameters: Mapping[str, float] = field(default_factory=dict)
    start: float = -math.inf
    stop: float = math.inf
    box: float = 4.0
    source: str = ""

    def __post_init__(self) -> None:
        if set(self.fields) != set(self.equation.fields):
            raise ValueError(
                f"fields are {sorted(self.fields)}, the equation has {list(self.equation.fields)}"
            )
        for name, value in self.parameters.items():
            if not math.isfinite(value):
                raise ValueError(f"{self.name}: parameter {name} must be finite, got {value}")

    def evaluate(self, grid: Grid, times: np.ndarray | list[float]) -> dict[str, np.ndarray]:
        """Fields on a grid at some times.

        Parameters
        ----------
        grid : Grid
            Periodic or not; the expressions are simply sampled.
        times : array_like, shape (n,)
            Within `start` and `stop`.

        Returns
        -------
        dict of str to ndarray, shape (n, *grid)
            Real for real fields, complex for complex ones.

        Raises
        ------
        ValueError
            If a time is outside the validity of the solution.
        """
        moments = np.asarray(times, dtype=np.float64).reshape(-1)
        outside = (moments < self.start) | (moments > self.stop) | ~np.isfinite(moments)
        if np.any(outside):
            raise ValueError(
                f"{self.name} holds for times in [{self.start:g}, {self.stop:g}], got "
                f"{moments[outside][0]:g}"
            )
        shape = (moments.size, *grid.shape)
        evaluator = Evaluator(
            space=JetSpace(tuple(self.fields), tuple(grid.names)),
            parameters={**self.equation.parameters, **self.parameters},
            coordinates={name: values[None] for name, values in grid.mesh().items()},
        )
        clock = moments.reshape(-1, *(1 for _ in grid.shape))
        found = {}
        # Tails of sech and the like overflow to infinity below a fraction, which is then 0: fine.
        with np.errstate(over="ignore"):
            for name, expression in self.fields.items():
                values = np.broadcast_to(evaluator.value(_plain(expression), clock), shape)
                kind = np.complex128 if name in self.equation.complex_fields else np.float64
                found[name] = values.astype(kind)
        return found

    def initial(
        self, grid: Grid, rng: np.random.Generator | None = None, *, time: float = 0.0
    ) -> dict[str, np.ndarray]:
        """Fields at one time: usable as the initial field of a `Problem`; `rng` is not used."""
        return {name: values[0] for name, values in self.evaluate(grid, [time]).items()}

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest residual of the equation at random points, in extended precision.

        Parameters
        ----------
        points : int, default 16
            Number of points in space and time.
        digits : int, default 40
            Decimal digits of the arithmetic.
        seed : int, default 0
            Seed of the points.

        Returns
        -------
        float
            Zero up to rounding, say below 1e-25, for a solution.
        """
        rng = np.random.default_rng(seed)
        begin, end = max(self.start, -1.0), min(self.stop, 1.0 + max(self.start, 0.0))
        digits = digits + 15
        free = {parameter(n): number(v) for n, v in self.parameters.items()}
        residuals = self.equation.residual({n: _plain(e) for n, e in self.fields.items()})
        worst = 0.0
        for _ in range(points):
            place = {
                coordinate(axis): float(rng.uniform(-self.box, self.box))
                for axis in self.equation.coordinates
            }
            place[TIME] = float(rng.uniform(begin, end))
            values = {**free, **place}
            exact = {s: sympy.Float(sympy.Rational(v), digits) for s, v in values.items()}
            for residual in residuals.values():
                worst = max(worst, abs(complex(sympy.N(residual.xreplace(exact), digits))))
        return worst

    def latex(self) -> str:
        """LaTeX of the fields, parameters as symbols."""
        return r" \\ ".join(f"{n} = {sympy.latex(e)}" for n, e in self.fields.items())


def _plain(expression: sympy.Expr) -> sympy.Expr:
    """Expression in functions that every backend knows."""
    plain: Any = sympy.S.Zero + expression
    return plain.replace(sympy.sech, lambda z: 1 / sympy.cosh(z))
