"""Exponential load on an interval that is held at both ends."""

from __future__ import annotations

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

__all__ = ["poisson_exponential"]


def poisson_exponential(rate: float = 4.0) -> SteadySolution:
    """``u = (exp(r x) - x sinh r - cosh r)/r^2``, which solves ``u'' = exp(r x)``.

    Parameters
    ----------
    rate : float
        The ``r`` of the load, not zero.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> poisson_exponential().residual(points=4) < 1e-25
    True
    """
    x, u, r = coordinate("x"), unknown("u", ("x",)), parameter("rate")
    return SteadySolution(
        name="exponential",
        residuals={"u": sympy.exp(r * x) - u.diff(x, 2)},
        fields={"u": (sympy.exp(r * x) - x * sympy.sinh(r) - sympy.cosh(r)) / r**2},
        parameters={"rate": rate},
        box={"x": (-1.0, 1.0)},
        source="L. N. Trefethen, Spectral Methods in MATLAB (2000), program 13",
    )
