"""The problem of Motz: a flat side that changes from fixed to insulated (Q. Appl. Math. 4, 371)."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy

from pdes.exact.kondratiev import polar
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, number

VALUE = 500.0


@cache
def motz_coefficients(terms: int = 36, points: int = 200) -> tuple[float, ...]:
    """Coefficients ``d_i`` of ``sum d_i r^(i - 1/2) cos((i - 1/2) theta)``.

    Every term satisfies the equation and the conditions on both halves of the flat side; the other
    three sides are fitted by least squares at Gauss points.

    Parameters
    ----------
    terms : int, default 36
        Number of terms.
    points : int, default 200
        Points on each unit of the boundary.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> [round(d, 4) for d in motz_coefficients()[:3]]
    [401.1625, 87.6559, 17.2379]
    """
    rows, wanted = _equations(terms, points)
    # On r > 1 the powers grow: columns of equal length keep the fit well conditioned.
    scale = np.linalg.norm(rows, axis=0)
    found, *_ = np.linalg.lstsq(rows / scale, wanted, rcond=None)
    return tuple(float(d) for d in found / scale)


def motz_residual(terms: int = 36) -> float:
    """Root mean square of what the series leaves of the boundary conditions, relative to 500.

    Examples
    --------
    >>> motz_residual() < 1e-8
    True
    """
    rows, wanted = _equations(terms, 333)
    defect = rows @ np.array(motz_coefficients(terms)) - wanted
    return float(np.sqrt(np.mean(defect**2)) / VALUE)


def _equations(terms: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Boundary conditions as linear equations: u = 500 at x = 1, no flux at y = 1 and x = -1."""
    nodes = 0.5 + 0.5 * np.polynomial.legendre.leggauss(points)[0]
    wide = np.concatenate([-nodes, nodes])
    powers = np.arange(terms) + 0.5

    def at(x: np.ndarray, y: np.ndarray, kind: str) -> np.ndarray:
        z = (x + 1j * y)[:, None]
        # u = Re sum d z^p, so that u_x - i u_y = sum d p z^(p - 1).
        if kind == "value":
            return (z**powers).real
        slope = powers * z ** (powers - 1.0)
        return slope.real if kind == "x" else -slope.imag

    one = np.ones_like(nodes)
    rows = [at(one, nodes, "value"), at(wide, np.ones_like(wide), "y"), at(-one, nodes, "x")]
    return np.vstack(rows), np.concatenate([VALUE * one, np.zeros(3 * points)])


def motz(terms: int = 36) -> SteadySolution:
    """Solution of the problem of Motz as its series about the singular point.

    Parameters
    ----------
    terms : int, default 36
        Number of terms; 36 leave 3e-9 of the boundary values.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> solution = motz()
    >>> round(float(solution.evaluate(x=1.0, y=0.5)["u"]), 5)
    500.0
    """
    x, y = coordinate("x"), coordinate("y")
    radius, theta = polar(sympy.pi)
    u = unknown("u")
    total = sympy.S.Zero
    for place, value in enumerate(motz_coefficients(terms)):
        power = sympy.Rational(2 * place + 1, 2)
        total += number(value) * radius**power * sympy.cos(power * theta)
    return SteadySolution(
        name="motz",
        residuals={"u": -u.diff(x, 2) - u.diff(y, 2)},
        fields={"u": total},
        box={"x": (-0.9, 0.9), "y": (0.05, 0.9)},
        source="H. Motz, Q. Appl. Math. 4, 371 (1947)",
    )
