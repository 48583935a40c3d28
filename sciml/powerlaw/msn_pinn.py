"""Power sums on a half-line and in a wedge."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sciml.nn.model_registry import register_model
from sciml.powerlaw.exponent_maps import ExponentMapName, Exponents
from sciml.powerlaw.network import R_MIN, AbstractPowerLaw, check_count, check_finite_number
from sciml.powerlaw.polar import Position
from sciml.powerlaw.terms import AbstractTerms, HarmonicTerms, PowerTerms

RANGE = (0.1, 3.0)
"""Exponents, unless told otherwise (arXiv:2601.22751)."""


@register_model
class MSNPinn(AbstractPowerLaw):
    """``sum_k c_k x^(mu_k)``, or ``sum_k r^(mu_k) (A_k cos mu_k theta + B_k sin mu_k theta)``.

    Parameters
    ----------
    K : int, default 4
        Number of exponents.
    angle : float, optional
        Opening of a wedge in radians, in (0, 2 pi]: the second form, in the plane, harmonic for
        every exponent. Without it the first form, for ``x >= 0``.
    theta0 : float, default 0
        Direction of the first edge. Angles are counted from the x axis on the branch that is cut
        in the middle of what lies outside the wedge.
    bounds : pair of float, default (0.1, 3)
        Of the exponents.
    exponent_map, r_min, generator
        As in :class:`RMNDirect`.

    Raises
    ------
    ValueError
        For an angle outside (0, 2 pi].

    References
    ----------
    MSN-PINN, arXiv:2601.22751.

    Examples
    --------
    >>> import torch
    >>> line, wedge = MSNPinn(4), MSNPinn(4, angle=1.5 * math.pi)
    >>> [sum(p.numel() for p in model.parameters()) for model in (line, wedge)]
    [8, 12]
    >>> wedge.value_grad_lap(torch.tensor([[0.0, -0.5]])).laplacian
    tensor([[0.]], ...)
    """

    def __init__(
        self,
        K: int = 4,
        *,
        angle: float | None = None,
        theta0: float = 0.0,
        bounds: Sequence[float] = RANGE,
        exponent_map: ExponentMapName = "identity",
        r_min: float | None = R_MIN,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(1 if angle is None else 2, bias=False, r_min=r_min)
        check_count("K", K, 1)
        exponents = Exponents(K, bounds, map=exponent_map, generator=generator)
        self.angle = angle
        family: AbstractTerms
        if angle is None:
            family = PowerTerms(exponents, generator, scale=0.1)
        else:
            opening = check_angle(angle)
            start = check_finite_number("theta0", theta0) - 0.5 * (2.0 * math.pi - opening)
            family = HarmonicTerms(exponents, start, generator, scale=0.1)
        self.add(family)

    def _places(self, x: Tensor) -> list[Position]:
        places = super()._places(x)
        if self.dimension == 1 and self.r_min is not None and bool((x.detach() < 0.0).any()):
            raise ValueError(
                f"x contains {float(x.detach().min()):g}: x^mu is defined for x >= 0; measure x "
                "from the singular end, or use MSN for both signs"
            )
        return places


def check_angle(angle: float) -> float:
    """Refuse an opening outside (0, 2 pi].

    Examples
    --------
    >>> check_angle(270.0)
    Traceback (most recent call last):
    ValueError: angle is 270 radians, wanted more than 0 and at most 2 pi (6.28319): 270 degrees ...
    """
    opening = check_finite_number("angle", angle)
    if not 0.0 < opening <= 2.0 * math.pi * (1.0 + 1e-12):
        degrees = math.radians(opening)
        hint = f": {opening:g} degrees are {degrees:.6g} radians" if 0 < degrees < 6.3 else ""
        raise ValueError(
            f"angle is {opening:g} radians, wanted more than 0 and at most 2 pi (6.28319){hint}"
        )
    return opening
