"""Errors that models of powers of the radius cannot go below, whatever their training.

A function that is smooth, radial and a sum ``f(x) + g(y)`` has ``g'' = g'/r`` and is therefore
``a r^2 + b``: no other radial field is additive. A radial model in turn cannot see a field whose
mean over every circle is zero, and whole angular modes cannot represent a crack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from sciml.theory.prediction import Prediction


def additive_distance(
    field: ArrayLike | Callable[[NDArray, NDArray], ArrayLike], points: int = 64
) -> float:
    """Relative distance of a field on a square from the sums ``f(x) + g(y)``.

    Parameters
    ----------
    field : callable or array_like, shape (n, m)
        Function of ``x, y`` on [-1, 1]^2, or its values on a grid of cells of equal size.
    points : int, default 64
        Midpoints a side, if a function is given.

    Returns
    -------
    float
        Norm of what is left when row and column means are taken away, over the norm of the field.

    Examples
    --------
    >>> additive_distance(lambda x, y: x**2 + y**2) < 1e-15
    True
    >>> round(additive_distance(lambda x, y: np.log(np.hypot(x, y))), 3)
    0.353
    """
    if callable(field):
        if points < 2:
            raise ValueError(f"points={points}, wanted at least 2")
        side = (2.0 * np.arange(points) + 1.0) / points - 1.0
        values = np.asarray(field(*np.meshgrid(side, side, indexing="ij")), dtype=np.float64)
    else:
        values = np.asarray(field, dtype=np.float64)
    if values.ndim != 2 or not np.all(np.isfinite(values)):
        raise ValueError(f"field: shape {values.shape}, wanted finite values on a grid (n, m)")
    norm = float(np.linalg.norm(values))
    if norm == 0.0:
        return 0.0
    rest = values - values.mean(0) - values.mean(1, keepdims=True) + values.mean()
    return float(np.linalg.norm(rest)) / norm


def crack_floor(modes: int) -> float:
    """Relative error of the best fit of ``sin(theta/2)`` by whole angular modes up to `modes`.

    Expanding on ``(-pi, pi)``, the share of mode ``n`` is ``(8 n/(pi (4 n^2 - 1)))^2``; the error
    falls like ``2/(pi sqrt(modes))``. A crack needs half-integer frequencies.

    Parameters
    ----------
    modes : int
        Largest frequency ``L``, not negative.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(crack_floor(modes), 3) for modes in (1, 2, 4, 8, 16)]
    [0.529, 0.405, 0.301, 0.218, 0.157]
    """
    if not (isinstance(modes, (int, np.integer)) and modes >= 0):
        raise ValueError(f"modes={modes!r}, wanted an integer that is not negative")
    kept = math.fsum((8.0 * n / (math.pi * (4.0 * n * n - 1.0))) ** 2 for n in range(1, modes + 1))
    return math.sqrt(max(1.0 - kept, 0.0))


def product_of_sines_floor(modes: Iterable[int] = (), *, digits: int | None = None) -> Any:
    """Relative error left of ``sin(pi x) sin(pi y)`` on the unit disc by some angular modes.

    In polar coordinates the field is ``2 sum sin(m pi/2) J_2m(sqrt 2 pi r) sin(2 m theta)`` over
    odd ``m``. Its mean over every circle is zero, so that a radial model leaves all of it.

    Parameters
    ----------
    modes : iterable of int
        Angular frequencies ``2 m`` whose radial factors are matched exactly; none by default.
    digits : int, optional
        Decimal digits; double precision by default.

    Returns
    -------
    float, or mpmath.mpf if digits are asked for

    Examples
    --------
    >>> product_of_sines_floor()
    1.0
    >>> round(product_of_sines_floor([2]), 4)
    0.0865
    """
    matched = {int(mode) for mode in modes}
    with mpmath.workdps((digits or 20) + 10):
        argument = mpmath.sqrt(2) * mpmath.pi

        def energy(order: int) -> Any:
            # Lommel's integral of J_n(k r)^2 r over [0, 1].
            j = [mpmath.besselj(order + shift, argument) for shift in (-1, 0, 1)]
            return (j[1] ** 2 - j[0] * j[2]) / 2

        shares = {2 * m: energy(2 * m) for m in range(1, 30 + (digits or 20), 2)}
        left = mpmath.fsum(e for frequency, e in shares.items() if frequency not in matched)
        value = mpmath.sqrt(left / mpmath.fsum(shares.values()))
    return value if digits else float(value)


def additive_and_radial() -> sympy.Expr:
    """The smooth functions of the radius that are sums ``f(x) + g(y)``.

    Their mixed derivative vanishes: ``x y (g''/r^2 - g'/r^3) = 0``.

    Returns
    -------
    sympy.Expr
        General solution of ``g'' = g'/r``.

    Examples
    --------
    >>> additive_and_radial()
    C1 + C2*r**2
    """
    r = sympy.Symbol("r", positive=True)
    g = sympy.Function("g")
    solution: Any = sympy.dsolve(g(r).diff(r, 2) - g(r).diff(r) / r, g(r))
    return solution.rhs


def predict_radial_floor(name: str = "error of a radial model") -> Prediction:
    """Predict that a radial model explains nothing of a field with zero mean over every circle.

    It holds for ``sin(pi x) sin(pi y)`` and for a dipole ``z/r^3``.

    Parameters
    ----------
    name : str
        Name of the prediction.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> predict_radial_floor().statement
    '1 +- 1e-12'
    """
    return Prediction(
        name=name,
        value=1.0,
        kind="equals",
        rtol=1e-12,
        formula=sympy.Integer(1),
        source="orthogonality of angular modes: the best radial approximation is the mean over "
        "circles, here 0",
    )
