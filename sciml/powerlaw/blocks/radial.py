"""Radial blocks ``r^mu``, ``(r^mu - 1)/mu`` and the pair block, with everything an equation needs.

All follow from Euler's operator ``E = r d/dr``, under which each block is closed:
``E r^mu = mu r^mu``, ``E psi = r^mu``, and ``E (F1, F2) = (F1, F2) M`` with
``M = [[s, 1], [q, s]]`` (derived here). In ``d`` dimensions, with an angular factor of degree
``l``, ``grad F = (E F) x/r^2`` and ``lap (F Y_l) = ((E^2 + (d-2) E - l(l+d-2)) F) Y_l / r^2``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.blocks.entire import pair_functions, phi1_slope


class RadialJet(NamedTuple):
    """One column with its first two Euler derivatives, and the derivatives of all three.

    Attributes
    ----------
    euler : tuple of three arrays
        ``F``, ``E F`` and ``E^2 F`` with ``E = r d/dr``.
    parameters : tuple of tuples of three arrays
        The same three differentiated by each parameter of the block.
    """

    euler: tuple[Any, Any, Any]
    parameters: tuple[tuple[Any, Any, Any], ...]

    @property
    def value(self) -> Any:
        """The column itself."""
        return self.euler[0]

    @property
    def slopes(self) -> tuple[Any, ...]:
        """Derivatives of the column by the parameters."""
        return tuple(part[0] for part in self.parameters)

    def derivative(self, r: Any) -> Any:
        """``dF/dr``; 0 at ``r = 0``."""
        return radial_derivative(self.euler, r)

    def second_derivative(self, r: Any) -> Any:
        """``d^2F/dr^2``; 0 at ``r = 0``."""
        return radial_second_derivative(self.euler, r)

    def gradient(self, x: Any, r: Any) -> Any:
        """Gradient at points ``x`` of shape (..., d), at distance ``r`` from the center.

        Shape (..., d). It is 0 at the center, also where the gradient is singular.
        """
        return (_over(self.euler[1], r, 2))[..., None] * x

    def laplacian(self, r: Any, dimension: float, degree: float = 0) -> Any:
        """Laplacian in ``dimension`` dimensions, with an angular factor of this degree divided off.

        In the plane any real angular frequency is a degree.
        """
        return radial_laplacian(self.euler, r, dimension, degree)


def radial_derivative(euler: tuple[Any, Any, Any], r: Any) -> Any:
    """``dF/dr`` from Euler derivatives; takes those of a parameter as well."""
    return _over(euler[1], r, 1)


def radial_second_derivative(euler: tuple[Any, Any, Any], r: Any) -> Any:
    """``d^2F/dr^2 = (E^2 - E) F / r^2``."""
    return _over(euler[2] - euler[1], r, 2)


def radial_laplacian(
    euler: tuple[Any, Any, Any], r: Any, dimension: float, degree: float = 0
) -> Any:
    """``(E^2 + (d-2) E - l(l+d-2)) F / r^2``.

    Examples
    --------
    The field of a point charge is harmonic:

    >>> import numpy as np
    >>> jet = power(np.array([0.3, 2.0]), -1.0)
    >>> radial_laplacian(jet.euler, np.array([0.3, 2.0]), dimension=3)
    array([0., 0.])
    """
    value, first, second = euler
    total = second + (dimension - 2) * first - degree * (degree + dimension - 2) * value
    return _over(total, r, 2)


def off_center(r: Any) -> Any:
    """Where a radius is not 0; also at NaN, which must not become the value at the center."""
    return ~(r <= 0)


def log_radius(r: Any) -> Any:
    """``log r``, and 0 at ``r = 0``, where no block needs it."""
    xp = namespace(r)
    return xp.log(xp.where(off_center(r), r, xp.ones_like(r)))


def raise_to(r: Any, mu: Any) -> Any:
    """``r^mu``: 0, 1 or infinite at ``r = 0`` as ``mu`` is positive, 0 or negative.

    Gradients by torch stay finite at ``r = 0`` for ``mu >= 0``.
    """
    xp = namespace(r, mu)
    inside = off_center(r)
    values = xp.where(inside, r, xp.ones_like(r)) ** mu
    if bool(xp.all(inside)):
        return values
    zero = 0.0 * values
    mu = mu + zero
    center = xp.where(mu > 0, zero, xp.where(mu == 0, zero + 1.0, zero + float("inf")))
    return xp.where(inside, values, center)


def power(r: Any, mu: Any) -> RadialJet:
    """The block ``r^mu``.

    Parameters
    ----------
    r : array of float64
        Distances from the center, not negative.
    mu : array or float
        Exponent; broadcast against ``r``.

    Returns
    -------
    RadialJet
        With one parameter, ``mu``.

    Examples
    --------
    >>> import numpy as np
    >>> jet = power(np.array([0.25]), 0.5)
    >>> jet.value, jet.derivative(np.array([0.25]))
    (array([0.5]), array([1.]))
    """
    value = raise_to(r, mu)
    slope = _at_center(log_radius(r) * value, r)
    return RadialJet(
        (value, mu * value, mu * mu * value),
        ((slope, value + mu * slope, 2.0 * mu * value + mu * mu * slope),),
    )


def log_primitive(r: Any, mu: Any) -> RadialJet:
    """The block ``psi = (r^mu - 1)/mu``, which is ``log r`` at ``mu = 0``.

    Parameters
    ----------
    r : array of float64
        Distances, not negative; positive unless ``mu > 0``.
    mu : array or float
        Exponent; broadcast against ``r``.

    Returns
    -------
    RadialJet
        With one parameter, ``mu``.

    Examples
    --------
    >>> import numpy as np
    >>> log_primitive(np.array([0.5]), 0.0).value
    array([-0.6931])
    """
    xp = namespace(r, mu)
    grown = raise_to(r, mu)
    log = log_radius(r)
    z = mu * log
    mu = mu + 0.0 * z
    # far from 1 the difference is exact enough; near 1 it is expm1 that is
    far = xp.abs(z) > 1.0
    tiny = z == 0
    safe = xp.where(tiny, xp.ones_like(z), z)
    # two terms of the series at 0, so that autograd finds the derivatives by mu there
    center = 1.0 + z * (0.5 + z / 6.0)
    near = log * xp.where(tiny, center, xp.expm1(xp.where(far, 0.5 + 0 * z, safe)) / safe)
    value = xp.where(far, (grown - 1.0) / xp.where(far, mu, xp.ones_like(mu)), near)
    slope = log * log * phi1_slope(z)
    inside = off_center(r)
    if not bool(xp.all(inside)):
        # value -1/mu, slope 1/mu^2 at the center
        sign = xp.where(mu > 0, mu, xp.ones_like(mu))
        infinite = xp.full_like(value, -float("inf"))
        value = xp.where(inside, value, xp.where(mu > 0, -1.0 / sign, infinite))
        slope = xp.where(inside, slope, xp.where(mu > 0, 1.0 / sign**2, xp.zeros_like(slope)))
    grown_slope = _at_center(log * grown, r)
    return RadialJet((value, grown, mu * grown), ((slope, grown_slope, grown + mu * grown_slope),))


def pair_block(r: Any, s: Any, q: Any) -> tuple[RadialJet, RadialJet]:
    """Two columns that span two powers, a power with its logarithm, or an oscillation.

    ``F1 = r^s C(q log^2 r)`` and ``F2 = r^s log(r) S(q log^2 r)``: for ``q > 0`` the powers
    ``s +- sqrt(q)``, for ``q = 0`` ``r^s`` and ``r^s log r``, for ``q < 0`` the pair of exponents
    ``s +- i sqrt(-q)``. All are smooth in ``q``, and well conditioned where powers are not (derived
    here).

    Parameters
    ----------
    r : array of float64
        Distances, not negative.
    s, q : array or float
        Mean exponent and squared half gap; broadcast against ``r``.

    Returns
    -------
    tuple of two RadialJet
        Each with the parameters ``s, q``.

    Examples
    --------
    >>> import numpy as np
    >>> first, second = pair_block(np.array([0.5]), 1.0, 0.0)
    >>> first.value, second.value
    (array([0.5]), array([-0.3466]))
    """
    grown = raise_to(r, s)
    log = log_radius(r)
    c, s_value, s_slope = pair_functions(q * log * log + 0.0 * grown)
    first, second = grown * c, _at_center(grown * log * s_value, r)
    zero = 0.0 * first
    by_s = (_at_center(log * first, r), log * second)
    by_q = (0.5 * log * second, _at_center(grown * log**3 * s_slope, r))
    one, two = _euler_pair(first, second, s, q)
    one_s, two_s = _euler_pair(*by_s, s, q)
    one_q, two_q = _euler_pair(*by_q, s, q)
    # derivatives of M by s (identity) and by q (second column into the first)
    ds1, ds2 = _matrix_terms_s(first, second, s, q)
    dq1, dq2 = _matrix_terms_q(first, second, s, zero)
    return (
        RadialJet(one, (_sum(one_s, ds1), _sum(one_q, dq1))),
        RadialJet(two, (_sum(two_s, ds2), _sum(two_q, dq2))),
    )


def _euler_pair(f1: Any, f2: Any, s: Any, q: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """``F, F M, F M^2`` column by column."""
    e1, e2 = s * f1 + q * f2, f1 + s * f2
    return (f1, e1, s * e1 + q * e2), (f2, e2, e1 + s * e2)


def _matrix_terms_s(f1: Any, f2: Any, s: Any, q: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """``F dM/ds`` and ``F d(M^2)/ds = 2 F M``."""
    zero = 0.0 * f1
    return (
        (zero, f1, 2.0 * (s * f1 + q * f2)),
        (zero, f2, 2.0 * (f1 + s * f2)),
    )


def _matrix_terms_q(f1: Any, f2: Any, s: Any, zero: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """``F dM/dq`` and ``F d(M^2)/dq``: ``M^2 = [[s^2+q, 2s], [2sq, s^2+q]]``."""
    return (zero, f2, f1 + 2.0 * s * f2), (zero, zero, f2)


def _sum(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    a, b, c = (x + y for x, y in zip(left, right, strict=True))
    return a, b, c


def _at_center(values: Any, r: Any) -> Any:
    """Put 0 at the center, where a product of 0 and infinity would stand."""
    xp = namespace(values)
    inside = off_center(r)
    if bool(xp.all(inside)):
        return values
    return xp.where(inside, values, xp.zeros_like(values))


def _over(values: Any, r: Any, order: int) -> Any:
    """``values / r^order``, and 0 at the center."""
    xp = namespace(r)
    inside = off_center(r)
    if bool(xp.all(inside)):
        return values / r**order
    safe = xp.where(inside, r, xp.ones_like(r))
    ratio = values / safe**order
    return xp.where(inside, ratio, xp.zeros_like(ratio))
