"""Radial networks about one center."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sciml.nn.model_registry import register_model
from sciml.powerlaw.exponent_maps import ExponentMapName, Exponents
from sciml.powerlaw.network import R_MIN, AbstractPowerLaw, check_count
from sciml.powerlaw.terms import AbstractTerms, LogTerm, PowerTerms

RANGE = (-2.0, 4.0)
"""Exponents of the radial networks, unless told otherwise (arXiv:2602.08419)."""


@register_model
class RMNDirect(AbstractPowerLaw):
    """``b + sum_k a_k r^(mu_k) + c psi(r, mu_log)`` with ``psi = (r^mu - 1)/mu``.

    Parameters
    ----------
    dimension : int
        Of space.
    K : int, default 12
        Number of powers; 12 make 27 parameters.
    bounds : pair of float, default (-2, 4)
        Of the exponents. A field is square integrable at the center if they exceed
        ``-dimension/2``; smaller ones are for punctured domains.
    log_term, bias : bool, default True
        Whether ``psi`` and the constant are there.
    exponent_map : str, default "identity"
        See :class:`~sciml.powerlaw.exponent_maps.Exponents`.
    r_min : float or None, default 1e-12
        Nearer points are refused while the field is singular.
    generator : torch.Generator, optional
        Draws the start.

    References
    ----------
    Radial Müntz-Szász networks, arXiv:2602.08419.

    Examples
    --------
    >>> import torch
    >>> model = RMNDirect(2, generator=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in model.parameters()), model(torch.ones(5, 2)).shape
    (27, torch.Size([5, 1]))
    """

    def __init__(
        self,
        dimension: int,
        K: int = 12,
        *,
        bounds: Sequence[float] = RANGE,
        log_term: bool = True,
        bias: bool = True,
        exponent_map: ExponentMapName = "identity",
        r_min: float | None = R_MIN,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(dimension, bias=bias, r_min=r_min)
        for family in radial_families(
            check_count("K", K, 0 if log_term else 1), bounds, log_term, exponent_map, generator
        ):
            self.add(family)


def radial_families(
    count: int,
    bounds: Sequence[float],
    log_term: bool,
    exponent_map: ExponentMapName,
    generator: torch.Generator | None,
) -> list[AbstractTerms]:
    """Powers and, if wanted, the log-primitive about one center."""
    found: list[AbstractTerms] = []
    if count:
        exponents = Exponents(count, bounds, map=exponent_map, generator=generator)
        found.append(PowerTerms(exponents, generator))
    if log_term:
        found.append(LogTerm(log_exponent(bounds, exponent_map, generator)))
    return found


def log_exponent(
    bounds: Sequence[float], exponent_map: ExponentMapName, generator: torch.Generator | None
) -> Exponents:
    """Exponent of ``psi``: within the bounds from 0 on, or ``tanh(w)/2`` with the other maps."""
    if exponent_map != "identity":
        return Exponents(1, (-0.5, 0.5), map="tanh", generator=generator)
    exponent = Exponents(1, bounds, generator=generator)
    low, high = exponent.bounds
    exponent.set([min(max(0.0, low), high)])
    return exponent
