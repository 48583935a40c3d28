"""Harmonic blocks of the plane: real and imaginary parts of powers of ``x + i y``, and their pairs.

With ``zeta = log r + i theta`` every analytic function of ``zeta`` is harmonic, so a corner's terms
``r^mu cos(mu theta)``, ``r^mu sin(mu theta)`` and what becomes of them as two exponents meet are
harmonic for all parameters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.blocks.entire import pair_functions
from sciml.powerlaw.blocks.radial import log_radius, off_center, raise_to


class PlanarJet(NamedTuple):
    """One harmonic column with its derivatives; the Laplacian is zero.

    Attributes
    ----------
    value, euler, angular : array
        ``F``, ``r dF/dr`` and ``dF/dtheta``.
    parameters : tuple of tuples of three arrays
        The same three differentiated by each parameter of the block.
    """

    value: Any
    euler: Any
    angular: Any
    parameters: tuple[tuple[Any, Any, Any], ...]

    @property
    def slopes(self) -> tuple[Any, ...]:
        """Derivatives of the column by the parameters."""
        return tuple(part[0] for part in self.parameters)

    def gradient(self, x: Any, r: Any) -> Any:
        """Cartesian gradient at points ``x`` of shape (..., 2) relative to the center.

        It is 0 at the center, also where the gradient is singular.
        """
        xp = namespace(r)
        inside = off_center(r)
        square = xp.where(inside, r, xp.ones_like(r)) ** 2
        across = xp.stack([-x[..., 1], x[..., 0]], axis=-1)
        total = self.euler[..., None] * x + self.angular[..., None] * across
        return xp.where(inside[..., None], total / square[..., None], xp.zeros_like(total))

    def laplacian(self) -> Any:
        """Zero, everywhere but at a singular center."""
        return 0.0 * self.value


def angle(x: Any, start: float = 0.0) -> Any:
    """Polar angle in ``[start, start + 2 pi)`` of points ``x`` of shape (..., 2).

    Parameters
    ----------
    x : array, shape (..., 2)
        Relative to the center.
    start : float, default 0
        Where the branch begins: the first edge of the sector, so that no cut lies in it.

    Examples
    --------
    >>> import numpy as np
    >>> angle(np.array([[0.0, -1.0]])) / np.pi
    array([1.5])
    """
    xp = namespace(x)
    full = 2.0 * xp.pi
    raw = xp.atan2(x[..., 1], x[..., 0])
    turned = raw - full * xp.floor((raw - start) / full)
    # rounding can leave an angle a hair outside
    turned = xp.where(turned >= start + full, turned - full, turned)
    return xp.where(turned < start, turned + full, turned)


def harmonic(r: Any, theta: Any, mu: Any) -> tuple[PlanarJet, PlanarJet]:
    """The columns ``r^mu cos(mu theta)`` and ``r^mu sin(mu theta)``.

    Parameters
    ----------
    r, theta : array of float64
        Polar coordinates; the branch of the angle is the caller's, see `angle`.
    mu : array or float
        Exponent; broadcast against them.

    Returns
    -------
    tuple of two PlanarJet
        Each with the parameter ``mu``.

    Examples
    --------
    The crack field ``sqrt(r) sin(theta/2)`` ahead of and on the crack:

    >>> import numpy as np
    >>> _, sine = harmonic(np.array([4.0, 4.0]), np.array([0.0, np.pi]), 0.5)
    >>> sine.value
    array([0., 2.])
    """
    xp = namespace(r, theta)
    log, grown = log_radius(r), raise_to(r, mu)
    phase = mu * theta
    real, imag = grown * xp.cos(phase), grown * xp.sin(phase)
    # derivative by mu: zeta e^(mu zeta)
    real_mu, imag_mu = log * real - theta * imag, log * imag + theta * real
    return (
        PlanarJet(
            real,
            mu * real,
            -mu * imag,
            ((real_mu, real + mu * real_mu, -imag - mu * imag_mu),),
        ),
        PlanarJet(
            imag,
            mu * imag,
            mu * real,
            ((imag_mu, imag + mu * imag_mu, real + mu * real_mu),),
        ),
    )


def pair_harmonic(r: Any, theta: Any, s: Any, q: Any) -> tuple[PlanarJet, ...]:
    """Four harmonic columns of two exponents that may merge or become complex.

    ``G1 = e^(s zeta) C(q zeta^2)`` and ``G2 = e^(s zeta) zeta S(q zeta^2)``, each with its real and
    its imaginary part; for ``q = 0`` these are ``z^s`` and ``z^s log z``, as resonant data need
    (derived here).

    Parameters
    ----------
    r, theta : array of float64
        Polar coordinates; ``r`` positive.
    s, q : array or float
        Mean exponent and squared half gap.

    Returns
    -------
    tuple of four PlanarJet
        ``Re G1, Im G1, Re G2, Im G2``, each with the parameters ``s, q``.

    Examples
    --------
    >>> import numpy as np
    >>> block = pair_harmonic(np.array([2.0]), np.array([0.0]), 1.0, 0.0)
    >>> [float(column.value[0]) for column in block]
    [2.0, 0.0, 1.3863, 0.0]
    """
    xp = namespace(r, theta)
    zeta = log_radius(r) + 1j * theta
    c, s_value, s_slope = pair_functions(q * zeta * zeta)
    grown = xp.exp(s * zeta)
    g1, g2 = grown * c, grown * zeta * s_value
    g1_s, g2_s = zeta * g1, zeta * g2
    g1_q, g2_q = 0.5 * zeta * g2, grown * zeta**3 * s_slope
    # derivative by zeta: G M with M = [[s, 1], [q, s]]
    e1, e2 = s * g1 + q * g2, g1 + s * g2
    e1_s, e2_s = g1 + s * g1_s + q * g2_s, g1_s + g2 + s * g2_s
    e1_q, e2_q = s * g1_q + g2 + q * g2_q, g1_q + s * g2_q
    return (
        *_parts(xp, g1, e1, ((g1_s, e1_s), (g1_q, e1_q))),
        *_parts(xp, g2, e2, ((g2_s, e2_s), (g2_q, e2_q))),
    )


def _parts(
    xp: Any, value: Any, slope: Any, parameters: tuple[tuple[Any, Any], ...]
) -> tuple[PlanarJet, PlanarJet]:
    """Real and imaginary columns of an analytic function with derivative ``slope`` by zeta.

    ``r d/dr`` acts as d/dzeta, and d/dtheta as i d/dzeta.
    """
    real, imag = xp.real, xp.imag
    return (
        PlanarJet(
            real(value),
            real(slope),
            -imag(slope),
            tuple((real(f), real(g), -imag(g)) for f, g in parameters),
        ),
        PlanarJet(
            imag(value),
            imag(slope),
            real(slope),
            tuple((imag(f), imag(g), real(g)) for f, g in parameters),
        ),
    )
