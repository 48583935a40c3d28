"""Networks with radial and angular parts about one center."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from pdes.tokens import closest
from sciml.nn.model_registry import register_model
from sciml.powerlaw.angular_functions import CircularFunctions, SphericalFunctions
from sciml.powerlaw.exponent_maps import ExponentMapName, Exponents
from sciml.powerlaw.network import R_MIN, AbstractPowerLaw, check_count, check_finite_number
from sciml.powerlaw.radial import RANGE, radial_families
from sciml.powerlaw.terms import AbstractTerms, AngularTerms, HarmonicTerms

HIGHEST_DEGREE = 8


@register_model
class RMNAngular(AbstractPowerLaw):
    """A radial network plus ``sum_(l,k) A_lk r^(mu_k) Y_l``.

    Parameters
    ----------
    dimension : {2, 3}
        Of space.
    K_r, K_a : int, default 6 and 4
        Powers of the radial and of the angular part; either may be 0.
    frequencies : int, sequence of float, or "harmonic", default 2
        A whole number ``L``: all degrees up to it, which are ``1, cos theta, sin theta, ...`` in
        the plane and real spherical harmonics in space. A sequence (plane only): these angular
        frequencies, any reals. ``"harmonic"`` (plane only): the frequency of each term is its own
        exponent, so that the terms solve Laplace's equation whatever the exponents are. Whole
        frequencies alone cannot represent a crack.
    theta0 : float, default 0
        The angle lies in ``[theta0, theta0 + 2 pi)``: put the cut outside of the domain.
    bounds, log_term, bias, exponent_map, r_min, generator
        As in :class:`RMNDirect`.

    References
    ----------
    Radial Müntz-Szász networks, arXiv:2602.08419.

    Examples
    --------
    >>> import torch
    >>> [sum(p.numel() for p in RMNAngular(d).parameters()) for d in (2, 3)]
    [39, 55]
    >>> crack = RMNAngular(2, K_r=0, K_a=1, frequencies="harmonic", log_term=False, bias=False)
    >>> crack.families[0].names
    ['cos mu theta', 'sin mu theta']
    """

    def __init__(
        self,
        dimension: int,
        K_r: int = 6,
        K_a: int = 4,
        *,
        frequencies: int | Sequence[float] | str = 2,
        theta0: float = 0.0,
        bounds: Sequence[float] = RANGE,
        log_term: bool = True,
        bias: bool = True,
        exponent_map: ExponentMapName = "identity",
        r_min: float | None = R_MIN,
        generator: torch.Generator | None = None,
    ) -> None:
        if dimension not in (2, 3):
            raise ValueError(f"dimension is {dimension!r}, wanted 2 or 3; RMNDirect takes any")
        super().__init__(dimension, bias=bias, r_min=r_min)
        check_count("K_r", K_r, 0)
        check_count("K_a", K_a, 0 if K_r or log_term else 1)
        for family in radial_families(K_r, bounds, log_term, exponent_map, generator):
            self.add(family)
        if K_a:
            exponents = Exponents(K_a, bounds, map=exponent_map, generator=generator)
            start = check_finite_number("theta0", theta0)
            self.add(_angular_family(exponents, dimension, frequencies, start, generator))


def _angular_family(
    exponents: Exponents,
    dimension: int,
    frequencies: Any,
    start: float,
    generator: torch.Generator | None,
) -> AbstractTerms:
    if isinstance(frequencies, str):
        if frequencies != "harmonic":
            raise ValueError(
                f"frequencies is {frequencies!r}, wanted a whole number, a sequence of numbers or "
                f"'harmonic'.{closest(frequencies, ['harmonic'])}"
            )
        if dimension != 2:
            raise ValueError(
                "frequencies='harmonic' needs dimension=2; in space use a whole number, the "
                "largest degree"
            )
        return HarmonicTerms(exponents, start, generator)
    if hasattr(frequencies, "__index__"):
        highest = check_count("frequencies", frequencies, 0)
        if highest > HIGHEST_DEGREE and dimension == 3:
            raise ValueError(f"frequencies is {highest}, wanted at most {HIGHEST_DEGREE} in space")
        functions = (
            CircularFunctions(range(highest + 1), start)
            if dimension == 2
            else SphericalFunctions(highest)
        )
        return AngularTerms(exponents, functions, generator)
    if dimension != 2:
        raise ValueError(
            f"frequencies is {frequencies!r}: in space wanted a whole number, the largest degree"
        )
    return AngularTerms(exponents, CircularFunctions(_real(frequencies), start), generator)


def _real(frequencies: Sequence[float]) -> list[float]:
    found = [check_finite_number("frequencies", value) for value in frequencies]
    if not found or min(found) < 0.0 or len(set(found)) < len(found):
        raise ValueError(
            f"frequencies: got {found}, wanted one or more different numbers that are not negative"
        )
    return found
