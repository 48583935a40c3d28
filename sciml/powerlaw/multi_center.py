"""Radial networks about several centers that move."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from sciml.nn.model_registry import register_model
from sciml.powerlaw.exponent_maps import ExponentMapName
from sciml.powerlaw.network import R_MIN, AbstractPowerLaw, check_centers, check_count
from sciml.powerlaw.radial import RANGE, radial_families


@register_model
class RMNMultiCenter(AbstractPowerLaw):
    """``b + sum_j [sum_k a_jk r_j^(mu_jk) + c_j psi(r_j, mu_j)]`` with trainable centers.

    Parameters
    ----------
    dimension : int
        Of space.
    J : int, default 2
        Number of centers.
    K : int, default 6
        Powers about each center; 0 leaves the sources ``c_j psi(r_j, mu_j)`` alone.
    centers : sequence of points, shape (J, dimension), optional
        Start of the centers; by default they are drawn from ``0.3 N(0, 1)``.
    box : pair of sequences of float, shape (dimension,) each, optional
        Lower and upper corner of the domain: given centers must lie in it.
    bounds, log_term, bias, exponent_map, r_min, generator
        As in :class:`RMNDirect`.

    Raises
    ------
    ValueError
        If there are centers outside the box, or equal ones.

    References
    ----------
    Radial Müntz-Szász networks, arXiv:2602.08419.

    Examples
    --------
    >>> import torch
    >>> model = RMNMultiCenter(2, generator=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in model.parameters())
    33
    """

    def __init__(
        self,
        dimension: int,
        J: int = 2,
        K: int = 6,
        *,
        centers: Sequence[Sequence[float]] | None = None,
        box: tuple[Sequence[float], Sequence[float]] | None = None,
        bounds: Sequence[float] = RANGE,
        log_term: bool = True,
        bias: bool = True,
        exponent_map: ExponentMapName = "identity",
        r_min: float | None = R_MIN,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(dimension, bias=bias, r_min=r_min)
        check_count("J", J, 1)
        check_count("K", K, 0 if log_term else 1)
        if centers is None:
            start = 0.3 * torch.randn(J, dimension, generator=generator)
        else:
            start = check_centers(centers, dimension)
            if len(start) != J:
                raise ValueError(f"centers: got {len(start)}, wanted J={J}")
        if box is not None:
            check_inside(start, box)
        self.centers = nn.Parameter(start.to(torch.get_default_dtype()))
        for center in range(J):
            for family in radial_families(K, bounds, log_term, exponent_map, generator):
                self.add(family, center)


def check_inside(centers: torch.Tensor, box: tuple[Sequence[float], Sequence[float]]) -> None:
    """Refuse centers outside of a box.

    Examples
    --------
    >>> check_inside(torch.tensor([[2.0, 0.0]]), ([-1, -1], [1, 1]))
    Traceback (most recent call last):
    ValueError: centers: [[2.0, 0.0]] lie outside the box from [-1.0, -1.0] to [1.0, 1.0]: ...
    """
    low, high = (torch.as_tensor(corner, dtype=centers.dtype) for corner in box)
    if low.shape != high.shape or low.shape != centers.shape[1:] or not bool((low < high).all()):
        raise ValueError(
            f"box: got {low.tolist()} and {high.tolist()}, wanted a lower and an upper corner of "
            f"{centers.shape[1]} coordinates"
        )
    outside = ((centers < low) | (centers > high)).any(-1)
    if bool(outside.any()):
        raise ValueError(
            f"centers: {centers[outside].tolist()} lie outside the box from {low.tolist()} to "
            f"{high.tolist()}: start sources where there are data"
        )
