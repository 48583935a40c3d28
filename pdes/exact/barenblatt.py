"""The self-similar solution of the porous medium equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid
from pdes.symbols import TIME, number


@dataclass(frozen=True, kw_only=True)
class CompactSolution(ExactSolution):
    """A closed form that holds where its `base` is positive and is zero elsewhere.

    Parameters
    ----------
    base : sympy.Expr
        Positive inside the support.
    """

    base: sympy.Expr

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Fields on a grid at some times, zero outside the support."""
        with np.errstate(invalid="ignore"):
            found = super().evaluate(grid, times)
        inside = ExactSolution(
            name=self.name,
            equation=self.equation,
            fields=dict.fromkeys(self.fields, self.base),
            parameters=self.parameters,
            start=self.start,
        ).evaluate(grid, times)
        return {n: np.where(inside[n] > 0.0, values, 0.0) for n, values in found.items()}


def barenblatt(equation: Equation, *, exponent: float, constant: float = 1.0) -> ExactSolution:
    r"""Spreading of a point source, ``u = t^-a (C - k |x|^2 t^(-2 b))_+^(1/(m - 1))``.

    In ``n`` dimensions ``a = n/(n (m - 1) + 2)``, ``b = a/n`` and ``k = a (m - 1)/(2 m n)``. Its
    mass does not change, and its edge is a front of infinite slope for ``m > 2``.

    Parameters
    ----------
    equation : Equation
        Porous medium equation in one or two dimensions.
    exponent : float
        ``m``, greater than one; the one in the equation.
    constant : float
        ``C``, which sets the mass.

    Returns
    -------
    ExactSolution
        For times from 1 on.

    Examples
    --------
    >>> from pdes.library.porous_medium import porous_medium_equation
    >>> barenblatt(porous_medium_equation(3.0), exponent=3.0).residual() < 1e-25
    True
    """
    if not exponent > 1.0:
        raise ValueError(f"exponent={exponent}: the support is compact for exponents above 1 only")
    if not 0.0 < constant < np.inf:
        raise ValueError(f"constant={constant} must be positive and finite")
    n, m = len(equation.coordinates), number(exponent)
    alpha = n / (n * (m - 1) + 2)
    beta = alpha / n
    kappa = alpha * (m - 1) / (2 * m * n)
    square = sum(coordinate(name) ** 2 for name in equation.coordinates)
    base = parameter("constant") - kappa * square * TIME ** (-2 * beta)
    front = float(np.sqrt(constant / float(kappa)))
    return CompactSolution(
        name="barenblatt",
        equation=equation,
        fields={"u": TIME**-alpha * base ** (1 / (m - 1))},
        parameters={"constant": constant},
        start=1.0,
        box=0.7 * front / np.sqrt(n),
        base=base,
        source="Barenblatt, Prikl. Mat. Mekh. 16 (1952) 67",
    )
