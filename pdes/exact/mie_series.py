"""A plane wave scattered by a disc: the series of Mie in the plane."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import scipy.special
import sympy

from pdes.exact.helmholtz_waves import helmholtz_operator
from pdes.exact.kondratiev import polar
from pdes.exact.steady_solution import SteadySolution
from pdes.steady import unknown
from pdes.symbols import coordinate, number, parameter

__all__ = ["Surface", "mie_coefficients", "mie_series", "mie_terms"]

Surface = Literal["soft", "hard"]


def mie_terms(size: float) -> int:
    """Number of terms after which the series has converged to rounding.

    The value of a term on the circle is ``J_n(k a)``, which falls faster than exponentially beyond
    the order ``k a``.

    Parameters
    ----------
    size : float
        Wave number times radius.

    Examples
    --------
    >>> mie_terms(5.0)
    26
    """
    count = math.ceil(size)
    while abs(scipy.special.jv(count, size)) > 1e-16:
        count += 1
    return count


def mie_coefficients(size: float, surface: Surface, terms: int | None = None) -> np.ndarray:
    """Coefficients ``b_n`` of ``sum_n b_n H_n(k r) cos(n theta)``, the scattered wave.

    The incident ``exp(i k x)`` is ``sum_n e_n i^n J_n(k r) cos(n theta)`` with ``e_0 = 1`` and
    ``e_n = 2``; the sum of both, or its normal derivative, vanishes on the circle.

    Parameters
    ----------
    size : float
        Wave number times radius, ``k a``.
    surface : {"soft", "hard"}
        Zero value, or zero normal derivative, on the circle.
    terms : int, optional
        As many as `mie_terms` says without.

    Returns
    -------
    ndarray of complex, shape (terms,)

    Examples
    --------
    >>> found = mie_coefficients(5.0, "soft")
    >>> bool(abs(found[-1] * scipy.special.hankel1(len(found) - 1, 5.0)) < 1e-14)
    True
    """
    n = np.arange(mie_terms(size) if terms is None else terms)
    bessel, hankel = scipy.special.jv, scipy.special.hankel1
    if surface == "hard":
        bessel, hankel = scipy.special.jvp, scipy.special.h1vp
    weight = np.where(n == 0, 1.0, 2.0) * 1j ** (n % 4)
    return -weight * bessel(n, size) / hankel(n, size)


def mie_series(
    wavenumber: float, radius: float = 1.0, surface: Surface = "soft", outer: float = 2.0
) -> SteadySolution:
    """``exp(i k x)`` and what a disc about the origin scatters of it.

    Every term solves Helmholtz' equation; how many there are decides how well the condition on the
    circle holds, which is to rounding.

    Parameters
    ----------
    wavenumber : float
        The ``k``.
    radius : float, default 1
        Of the disc.
    surface : {"soft", "hard"}
        Zero value, or zero normal derivative, on the circle.
    outer : float, default 2
        Radius of the region that is looked at.

    Returns
    -------
    SteadySolution

    Examples
    --------
    >>> wave = mie_series(2.0)
    >>> wave.residual(points=2) < 1e-25
    True
    >>> bool(abs(wave.evaluate(x=np.cos(1.0), y=np.sin(1.0))["u"]) < 1e-13)
    True
    """
    k = parameter("wavenumber")
    r, theta = polar()
    total = sympy.exp(sympy.I * k * coordinate("x"))
    for n, value in enumerate(mie_coefficients(wavenumber * radius, surface)):
        total += number(complex(value)) * sympy.hankel1(n, k * r) * sympy.cos(n * theta)
    return SteadySolution(
        name="mie_series",
        residuals={"u": helmholtz_operator(unknown("u"))},
        fields={"u": total},
        parameters={"wavenumber": wavenumber},
        box={"x": (-outer, outer), "y": (0.0, outer)},
        # The formula goes on within the circle, where straight edges of elements cut it.
        where=r > number(radius) / 2,
        source="P. M. Morse and H. Feshbach, Methods of Theoretical Physics (1953), section 11.2",
    )
