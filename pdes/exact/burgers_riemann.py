"""Burgers' equation without viscosity from a jump: a shock or a rarefaction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.grid import Grid
from pdes.symbols import TIME, number


@dataclass(frozen=True, kw_only=True)
class BurgersRiemann:
    """The entropy solution from ``left`` for ``x < 0`` and ``right`` for ``x > 0``.

    If ``left > right`` a shock moves with their mean; otherwise a fan ``x/t`` opens between them.

    Parameters
    ----------
    equation : Equation
        ``u_t = -u*u_x``.
    left, right : float
        The two states.
    name, start, stop, box, source
        As for `pdes.exact.ExactSolution`.

    Examples
    --------
    >>> from pdes.library.burgers_inviscid import burgers_inviscid_equation
    >>> shock = BurgersRiemann(equation=burgers_inviscid_equation(), left=1.0, right=0.0)
    >>> shock.speed, shock.residual()
    (0.5, 0.0)
    """

    equation: Equation
    left: float
    right: float
    name: str = "riemann"
    start: float = 0.0
    stop: float = math.inf
    box: float = 1.0
    source: str = "LeVeque, Finite Volume Methods for Hyperbolic Problems (2002), section 11.7"
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        """Speed of the shock; of the middle of the fan."""
        return 0.5 * (self.left + self.right)

    @property
    def is_shock(self) -> bool:
        """Whether the jump stays a jump."""
        return self.left > self.right

    @property
    def fields(self) -> dict[str, sympy.Expr]:
        """The solution as pieces."""
        x, left, right = coordinate("x"), number(self.left), number(self.right)
        if self.is_shock:
            return {"u": sympy.Piecewise((left, x < number(self.speed) * TIME), (right, True))}
        fan = (left, x <= left * TIME), (x / TIME, x < right * TIME), (right, True)
        return {"u": sympy.Piecewise(*fan)}

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Field on a grid at some times.

        Raises
        ------
        ValueError
            If a time is negative.
        """
        moments = np.asarray(times, dtype=np.float64).reshape(-1)
        if np.any(~(moments >= 0.0)):
            raise ValueError(f"{self.name} holds for times in [0, inf), got {moments.min():g}")
        x = grid.coordinates()["x"]
        frames = []
        for time in moments:
            if self.is_shock or time == 0.0:
                place = self.speed * time
                middle = 0.5 * (self.left + self.right)
                sides = np.where(x > place, self.right, middle)
                frames.append(np.where(x < place, self.left, sides))
            else:
                frames.append(np.clip(x / time, self.left, self.right))
        return {"u": np.stack(frames)}

    def initial(self, grid: Grid, rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """Field at time zero; `rng` is not used."""
        return {"u": self.evaluate(grid, [0.0])["u"][0]}

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest residual of the pieces, and what is missing in the jump condition at the shock.

        A shock of speed ``s`` must carry ``s (left - right) = left^2/2 - right^2/2``.
        """
        rng = np.random.default_rng(seed)
        pieces = [number(self.left), number(self.right)]
        pieces += [] if self.is_shock else [coordinate("x") / TIME]
        worst = 0.0
        for piece in pieces:
            left_over = self.equation.residual({"u": sympy.S.Zero + piece})["u"]
            for _ in range(points):
                place = {
                    coordinate("x"): number(float(rng.uniform(-self.box, self.box))),
                    TIME: number(float(rng.uniform(0.1, 1.0))),
                }
                worst = max(worst, abs(complex(sympy.N(left_over.xreplace(place), digits))))
        if self.is_shock:
            flux = [number(state) ** 2 / 2 for state in (self.left, self.right)]
            carried = number(self.speed) * (number(self.left) - number(self.right))
            worst = max(worst, abs(float(carried - flux[0] + flux[1])))
        return worst

    def latex(self) -> str:
        """LaTeX of the pieces."""
        return sympy.latex(self.fields["u"])
