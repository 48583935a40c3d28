"""Flow through two layers of different permeability, with a source and closed ends."""

from __future__ import annotations

import sympy

from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

__all__ = ["darcy_layers", "layers"]


def darcy_layers(left: float = 12.0, right: float = 3.0, interface: float = 0.5) -> SteadySolution:
    """``-(a u')' = 1`` on (0, 1) with ``u = 0`` at both ends and ``a`` constant in two layers.

    The flux is ``a u' = q - x`` everywhere; ``q`` follows from ``int (q - x)/a dx = 0``.

    Parameters
    ----------
    left, right : float
        Permeability below and above the interface, positive.
    interface : float
        Where the permeability jumps, inside (0, 1).

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> darcy_layers().residual(points=4) < 1e-25
    True
    """
    x, u = coordinate("x"), unknown("u", ("x",))
    a, b, s = parameter("left"), parameter("right"), parameter("interface")
    flux = (s**2 / a + (1 - s**2) / b) / (2 * (s / a + (1 - s) / b))
    below = (flux * x - x**2 / 2) / a
    above = (x**2 / 2 - sympy.Rational(1, 2) - flux * (x - 1)) / -b
    return SteadySolution(
        name="layers",
        residuals={"u": -(layers() * u.diff(x)).diff(x) - 1},
        fields={"u": sympy.Piecewise((below, x < s), (above, True))},
        parameters={"left": left, "right": right, "interface": interface},
        box={"x": (0.0, 1.0)},
        source="one-dimensional flow in series: the flux is continuous",
    )


def layers() -> sympy.Expr:
    """The permeability: ``left`` below the interface, ``right`` above.

    Examples
    --------
    >>> layers().args[0]
    (left, interface > x)
    """
    x = coordinate("x")
    return sympy.Piecewise(
        (parameter("left"), x < parameter("interface")), (parameter("right"), True)
    )
