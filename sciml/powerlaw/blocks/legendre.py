"""Axisymmetric harmonic blocks ``r^nu P_nu(cos theta)`` of three dimensions, for real degrees."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.blocks.radial import log_radius, off_center, raise_to

WIDEST = math.radians(170.0)
"""Largest polar angle; beyond it the series takes thousands of terms and loses digits."""

SMALLEST_TERM = 1e-17


class AxialJet(NamedTuple):
    """One harmonic, axisymmetric column with its derivatives; the Laplacian is zero.

    Attributes
    ----------
    value, euler, angular : array
        ``F``, ``r dF/dr`` and ``dF/dtheta``, with the polar angle ``theta`` from the axis.
    parameters : tuple of one tuple of three arrays
        The same three differentiated by the degree.
    """

    value: Any
    euler: Any
    angular: Any
    parameters: tuple[tuple[Any, Any, Any], ...]

    @property
    def slopes(self) -> tuple[Any, ...]:
        """Derivatives of the column by the parameters."""
        return tuple(part[0] for part in self.parameters)

    def laplacian(self) -> Any:
        """Zero, everywhere but at a singular center."""
        return 0.0 * self.value

    def gradient(self, x: Any, r: Any) -> Any:
        """Cartesian gradient at points ``x`` of shape (..., 3), the axis being the last coordinate.

        On the axis and at the center the transversal part is 0.
        """
        xp = namespace(r)
        zero = xp.zeros_like(r)
        inside = off_center(r)
        square = xp.where(inside, r, xp.ones_like(r)) ** 2
        across = xp.sqrt(x[..., 0] ** 2 + x[..., 1] ** 2)
        off = across > 0
        safe = xp.where(off, across, xp.ones_like(across))
        # unit vector of theta times r: (x z/rho, y z/rho, -rho)
        ratio = xp.where(off, x[..., 2] / safe, zero)
        turn = xp.stack([x[..., 0] * ratio, x[..., 1] * ratio, -across], axis=-1)
        total = self.euler[..., None] * x + self.angular[..., None] * turn
        return xp.where(inside[..., None], total / square[..., None], xp.zeros_like(total))


def legendre_function(theta: Any, nu: Any) -> tuple[Any, Any, Any, Any]:
    """``P_nu(cos theta)``, its derivatives by ``theta``, by ``nu``, and by both.

    The hypergeometric series in ``z = (1 - cos theta)/2``: the ratio of its terms depends on the
    degree through ``nu(nu+1)`` alone, which makes the derivative by ``nu`` a second series.

    Parameters
    ----------
    theta : array of float64
        Polar angles from 0 to 170 degrees.
    nu : array or float
        Real degree; broadcast against them.

    Returns
    -------
    tuple of four arrays
        ``P``, ``dP/dtheta``, ``dP/dnu``, ``d^2P/dtheta dnu``.

    Raises
    ------
    ValueError
        For angles outside.

    Examples
    --------
    >>> import numpy as np
    >>> value, slope, *_ = legendre_function(np.array([np.pi / 3]), 2.0)
    >>> value, slope
    (array([-0.125]), array([-1.2990381]))
    """
    xp = namespace(theta)
    lowest, widest = _number(xp.min(theta)), _number(xp.max(theta))
    if not (lowest >= 0.0 and widest <= WIDEST * (1 + 1e-12)):
        raise ValueError(
            f"theta runs from {math.degrees(lowest):.6g} to {math.degrees(widest):.6g} degrees: "
            "wanted polar angles from 0 to 170 degrees, where the series of P_nu converges"
        )
    half = xp.sin(0.5 * theta)
    z = half * half
    top = _number(xp.max(z))
    product = nu * (nu + 1.0)
    one = xp.ones_like(z + product)
    term, term_nu = one, 0.0 * one  # t_k z^k and its derivative by nu(nu+1)
    value, value_nu = one, 0.0 * one
    slope, slope_nu = 0.0 * one, 0.0 * one  # derivatives by z
    largest = _number(xp.max(xp.abs(product + 0.0 * one)))
    k = 0
    while True:
        ratio = (k * (k + 1.0) - product) / (k + 1.0) ** 2
        # the term t_(k+1) (k+1) z^k of dP/dz, then the next term itself
        step, step_nu = term * ratio, term_nu * ratio - term / (k + 1.0) ** 2
        slope, slope_nu = slope + (k + 1.0) * step, slope_nu + (k + 1.0) * step_nu
        term, term_nu = step * z, step_nu * z
        value, value_nu = value + term, value_nu + term_nu
        k += 1
        if k * (k + 1.0) > largest and (k + 1.0) * top**k < SMALLEST_TERM:
            break
    turn = 0.5 * xp.sin(theta)  # dz/dtheta
    by_degree = 2.0 * nu + 1.0
    return value, turn * slope, by_degree * value_nu, by_degree * turn * slope_nu


def legendre(r: Any, theta: Any, nu: Any) -> AxialJet:
    """The column ``r^nu P_nu(cos theta)``, harmonic for every real degree.

    Parameters
    ----------
    r, theta : array of float64
        Distance from the apex, and polar angle from the axis, at most 170 degrees.
    nu : array or float
        Degree, which is the exponent too; broadcast against them.

    Returns
    -------
    AxialJet
        With the parameter ``nu``.

    Examples
    --------
    Degree one is the coordinate along the axis:

    >>> import numpy as np
    >>> legendre(np.array([2.0]), np.array([np.pi / 3]), 1.0).value
    array([1.])
    """
    p, p_theta, p_nu, p_both = legendre_function(theta, nu)
    grown, log = raise_to(r, nu), log_radius(r)
    value, angular = grown * p, grown * p_theta
    value_nu = log * value + grown * p_nu
    return AxialJet(
        value,
        nu * value,
        angular,
        ((value_nu, value + nu * value_nu, log * angular + grown * p_both),),
    )


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)
