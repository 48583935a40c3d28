"""Burgers' equation without viscosity, before the first shock, by its characteristics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import sympy

from pdes.equation import Equation, coordinate
from pdes.grid import Grid
from pdes.pointwise import pointwise


@dataclass(frozen=True, kw_only=True)
class Characteristics:
    """``u = f(y)`` with ``y + t f(y) = x``: each value travels at its own speed.

    The map from ``y`` to ``x`` is one to one until the first characteristics meet, at
    ``-1/min f'``.

    Parameters
    ----------
    equation : Equation
        ``u_t = -u*u_x``.
    profile : sympy.Expr
        The field ``f`` at time zero, in ``x``, smooth and of period `period`.
    period : float
        Period of the profile.
    name, box, source
        As for `pdes.exact.ExactSolution`.

    Examples
    --------
    >>> from pdes.library.burgers_inviscid import burgers_inviscid_equation
    >>> solution = Characteristics(
    ...     equation=burgers_inviscid_equation(), profile=sympy.sin(coordinate("x"))
    ... )
    >>> round(solution.stop, 9), solution.residual(points=2) < 1e-25
    (1.0, True)
    """

    equation: Equation
    profile: sympy.Expr
    period: float = 2.0 * math.pi
    name: str = "characteristics"
    box: float = 4.0
    start: float = 0.0
    source: str = "method of characteristics"
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def stop(self) -> float:
        """Time of the first shock, infinite if the profile never steepens."""
        return self._shock

    @cached_property
    def _shock(self) -> float:
        fine = np.linspace(0.0, self.period, 4097)
        slopes = self._values(self.profile.diff(coordinate("x")), fine)
        # A parabola through the lowest samples finds the minimum to the fourth order.
        i = int(np.argmin(slopes[:-1]))
        low, mid, high = slopes[i - 1 if i else -2], slopes[i], slopes[i + 1]
        bend = low - 2.0 * mid + high
        steepest = mid - (high - low) ** 2 / (8.0 * bend) if bend > 0.0 else mid
        return -1.0 / float(steepest) if steepest < 0.0 else math.inf

    @property
    def fields(self) -> dict[str, sympy.Expr]:
        """The profile at time zero; later the field is implicit."""
        return {"u": self.profile}

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Field on a grid at some times, by Newton steps kept inside a bracket.

        Raises
        ------
        ValueError
            If a time is negative, or not before the first shock.
        """
        moments = np.asarray(times, dtype=np.float64).reshape(-1)
        outside = ~((moments >= self.start) & (moments < self.stop))
        if np.any(outside):
            raise ValueError(
                f"{self.name} holds for times in [{self.start:g}, {self.stop:g}), before the first "
                f"shock, got {moments[outside][0]:g}"
            )
        x = grid.coordinates()["x"]
        values = [self._values(self.profile, self._origins(x, float(t))) for t in moments]
        return {"u": np.stack(values)}

    def initial(self, grid: Grid, rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """Field at time zero; `rng` is not used."""
        return {"u": self.evaluate(grid, [0.0])["u"][0]}

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest ``u_t + u u_x`` at random points, by differences in extended precision."""
        rng = np.random.default_rng(seed)
        formula = _precise(self.profile)
        worst = 0.0
        with mpmath.workdps(digits + 15):

            def u(place: Any, time: Any) -> Any:
                guess = self._origins(np.array([float(place)]), float(time))[0]
                return formula(
                    mpmath.findroot(lambda y: y + time * formula(y) - place, mpmath.mpf(guess))
                )

            for _ in range(points):
                place = mpmath.mpf(float(rng.uniform(-self.box, self.box)))
                time = mpmath.mpf(float(rng.uniform(0.1, 0.8) * min(self.stop, 1.0)))
                rate = mpmath.diff(u, (place, time), (0, 1))
                slope = mpmath.diff(u, (place, time), (1, 0))
                worst = max(worst, float(abs(rate + u(place, time) * slope)))
        return worst

    def latex(self) -> str:
        """LaTeX of the implicit relation."""
        return rf"u = f(x - u t), \quad f(x) = {sympy.latex(self.profile)}"

    def _values(self, expression: sympy.Expr, x: np.ndarray) -> np.ndarray:
        return pointwise(sympy.S.Zero + expression, {"x": x})

    def _origins(self, x: np.ndarray, time: float) -> np.ndarray:
        """Where the characteristics through the points start."""
        sample = self._values(self.profile, np.linspace(0.0, self.period, 257))
        margin = 0.05 * (np.ptp(sample) + 1e-12)
        low = x - time * (sample.max() + margin)
        high = x - time * (sample.min() - margin)
        slope = self.profile.diff(coordinate("x"))
        y = np.clip(x - time * self._values(self.profile, x), low, high)
        for _ in range(80):
            defect = y + time * self._values(self.profile, y) - x
            low, high = np.where(defect < 0.0, y, low), np.where(defect > 0.0, y, high)
            newton = y - defect / (1.0 + time * self._values(slope, y))
            inside = (newton >= low) & (newton <= high)
            y, before = np.where(inside, newton, 0.5 * (low + high)), y
            if np.max(np.abs(y - before)) <= 4e-16 * (1.0 + np.max(np.abs(x))):
                break
        return y


def _precise(profile: sympy.Expr) -> Any:
    """Profile as a function of an extended-precision number, at the precision of the moment."""
    x = coordinate("x")

    def value(y: Any) -> Any:
        digits = mpmath.mp.dps + 5
        exact = sympy.Float(str(mpmath.nstr(y, digits)), digits)
        found: Any = sympy.N(profile.xreplace({x: exact}), digits)
        return mpmath.mpf(str(found))

    return value
