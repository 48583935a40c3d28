"""From free parameters to exponents: five maps, ordered or not, bounded all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from pdes.tokens import closest

ExponentMapName = Literal["identity", "sigmoid", "gaps", "sorted_sigmoid", "tanh"]

SMALLEST_GAP = 0.05
"""Added to every gap of the map ``"gaps"`` before normalization."""

EDGE = 1e-3
"""Distance that ``"sorted_sigmoid"`` keeps from both bounds."""


class Exponents(nn.Module):
    """Trainable exponents between two bounds.

    ==================  ==========================================================================
    map                 exponents of the raw parameters ``w``
    ==================  ==========================================================================
    ``identity``        ``w``, clipped to the bounds
    ``sigmoid``         ``lo + (hi - lo) sigmoid(w)``
    ``gaps``            ``lo + (hi - lo) cumsum(g)/sum(g)`` with ``g = softplus(w) + 0.05``:
                        increasing, and the largest one is always ``hi``
    ``sorted_sigmoid``  ``sort(sigmoid(w))``, stretched to the bounds less a thousandth each
    ``tanh``            ``(hi + lo)/2 + (hi - lo)/2 tanh(w)``: the sigmoid, twice as steep
    ==================  ==========================================================================

    Parameters
    ----------
    count : int
        Number of exponents; may be 0.
    bounds : pair of float
        Smallest and largest exponent.
    map : {"identity", "sigmoid", "gaps", "sorted_sigmoid", "tanh"}, default "identity"
        How raw parameters become exponents.
    generator : torch.Generator, optional
        Draws the start: one exponent in each of `count` equal bins for ``"identity"``, standard
        normal raw parameters otherwise.

    Raises
    ------
    ValueError
        If the map is not known, or the bounds are not finite and increasing.

    References
    ----------
    arXiv:2601.22751 (sigmoid); arXiv:2602.08419 (gaps); arXiv:2512.22222 (sorted sigmoid).

    Examples
    --------
    >>> exponents = Exponents(3, (-2.0, 4.0), map="gaps")
    >>> exponents().max().item()
    4.0
    """

    raw: nn.Parameter

    def __init__(
        self,
        count: int,
        bounds: Sequence[float],
        *,
        map: ExponentMapName = "identity",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if map not in get_args(ExponentMapName):
            raise ValueError(
                f"exponent_map is {map!r}, wanted one of {', '.join(get_args(ExponentMapName))}."
                f"{closest(str(map), get_args(ExponentMapName))}"
            )
        self.map = map
        self.bounds = check_bounds("bounds", bounds)
        low, high = self.bounds
        if map == "identity":
            share = (torch.arange(count) + torch.rand(count, generator=generator)) / max(count, 1)
            start = low + (high - low) * share
        else:
            start = torch.randn(count, generator=generator)
        self.raw = nn.Parameter(start.to(torch.get_default_dtype()))

    def forward(self) -> Tensor:
        """Exponents, shape ``(count,)``."""
        low, high = self.bounds
        if self.map == "identity" or not len(self.raw):
            return self.raw.clamp(low, high)
        if self.map == "sigmoid":
            return low + (high - low) * torch.sigmoid(self.raw)
        if self.map == "tanh":
            return 0.5 * (high + low) + 0.5 * (high - low) * torch.tanh(self.raw)
        if self.map == "gaps":
            total = torch.cumsum(functional.softplus(self.raw) + SMALLEST_GAP, 0)
            return low + (high - low) * total / total[-1]
        low, high = low + EDGE, high - EDGE
        return low + (high - low) * torch.sort(torch.sigmoid(self.raw)).values

    @torch.no_grad()
    def set(self, exponents: Sequence[float] | Tensor) -> None:
        """Choose the raw parameters so that these exponents result.

        Parameters
        ----------
        exponents : sequence of float, shape (count,)
            Within the bounds.

        Raises
        ------
        ValueError
            If the map cannot give these exponents.

        Examples
        --------
        >>> exponents = Exponents(2, (0.0, 2.0), map="sigmoid")
        >>> exponents.set([0.5, 1.5])
        >>> exponents().tolist()
        [0.5, 1.5]
        """
        wanted = torch.as_tensor(exponents, dtype=torch.float64).detach().cpu().reshape(-1)
        if wanted.shape != self.raw.shape:
            raise ValueError(f"exponents: got {wanted.numel()}, wanted {self.raw.numel()}")
        if not bool(torch.isfinite(wanted).all()):
            raise ValueError(f"exponents: got {wanted.tolist()}, wanted finite numbers")
        self.raw.copy_(self._inverse(wanted))

    def _inverse(self, wanted: Tensor) -> Tensor:
        low, high = self.bounds
        slack = 1e-12 * (1.0 + abs(low) + abs(high))
        outside = [float(m) for m in wanted if not low - slack <= m <= high + slack]
        if outside:
            raise ValueError(
                f"exponents {outside} are outside the bounds ({low:g}, {high:g}): widen bounds="
            )
        if self.map == "identity" or not len(wanted):
            return wanted
        if self.map == "gaps":
            return _raw_of_gaps(torch.diff(wanted, prepend=torch.tensor([low])), wanted, high)
        edge = EDGE if self.map == "sorted_sigmoid" else 0.0
        share = (wanted - low - edge) / (high - low - 2.0 * edge)
        if not bool(((share > 0.0) & (share < 1.0)).all()):
            raise ValueError(
                f"exponents {wanted.tolist()} touch the bounds ({low:g}, {high:g}), which the map "
                f"{self.map!r} never reaches: use exponent_map='identity' or wider bounds"
            )
        return torch.logit(share) * (0.5 if self.map == "tanh" else 1.0)

    def extra_repr(self) -> str:
        """What the constructor was told."""
        return f"{len(self.raw)}, bounds={self.bounds}, map={self.map!r}"


def _raw_of_gaps(gaps: Tensor, wanted: Tensor, high: float) -> Tensor:
    if not bool((gaps > 0.0).all()) or abs(float(wanted[-1]) - high) > 1e-9 * (1.0 + abs(high)):
        raise ValueError(
            f"exponents {wanted.tolist()} cannot come from the map 'gaps', which gives increasing "
            f"exponents above the lower bound with the largest at {high:g}: use "
            "exponent_map='identity'"
        )
    # Any multiple of the gaps gives the same exponents; this one leaves room for the smallest gap.
    scaled = gaps * (2.0 * SMALLEST_GAP / float(gaps.min()))
    return torch.log(torch.expm1(scaled - SMALLEST_GAP))


def check_bounds(name: str, bounds: Sequence[float]) -> tuple[float, float]:
    """Bounds as floats; refuse what is not two finite increasing numbers.

    Examples
    --------
    >>> check_bounds("bounds", (-3, 5))
    (-3.0, 5.0)
    """
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}: got {bounds!r}, wanted two numbers (smallest, largest)"
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(
            f"{name}: got ({low:g}, {high:g}), wanted two finite numbers, the smaller one first"
        )
    return low, high
