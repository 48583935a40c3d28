"""Normalization layers whose statistics are integrals over the domain, not means over points.

J. Kim, R. Kawano, Y. Iwasawa and Y. Matsuo, QuadNorm: resolution-robust normalization for neural
operators, arXiv:2605.07375 (2026).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from sciml.nn.axis_kind import check_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.quadrature import Quadrature, quadrature_weights, weights_for
from sciml.operators.spectral_conv import check_field
from sciml.operators.weighted_norm import weighted_norm, weighted_norm_plain

__all__ = ["BlendQuadNorm", "QuadNorm"]


@register_model
class QuadNorm(nn.Module):
    """Normalize by the mean and variance of the function that the values are samples of.

    ``y = gamma (x - mu)/sqrt(v + eps) + beta`` with ``mu`` and ``v`` weighted by a quadrature rule
    of the points, for each sample and group of channels. On points that count alike (periodic axes,
    cell centers) this is instance or group normalization.

    Parameters
    ----------
    num_channels : int
        Channels.
    groups : int, optional
        Groups of channels with statistics of their own. By default each channel, as in instance
        normalization; 1 is what operator codes call layer normalization, and what we recommend.
    eps : float, default 1e-5
        Added to the variance.
    affine : bool, default True
        Learn ``gamma`` (`weight`) and ``beta`` (`bias`).
    rms : bool, default False
        Divide by the root of the mean square, subtract nothing.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`) if no grid is given.
    grid : optional
        Grid or weights of the input, if they are always the same.
    differentiable_twice : bool, default False
        Use plain operations, which are slower, so that gradients can be differentiated again.

    Raises
    ------
    ValueError
        In the call, if the kinds of the axes are not known: they are never guessed.

    Examples
    --------
    A field that is 1 on the boundary and 0 inside: boundary points stand for half a cell.

    >>> import torch
    >>> layer = QuadNorm(1, axis_kinds="node")
    >>> x = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0]).view(1, 1, 5)
    >>> layer(x).view(-1)
    tensor([ 1.7320, -0.5773, -0.5773, -0.5773,  1.7320], ...)
    """

    def __init__(
        self,
        num_channels: int,
        groups: int | None = None,
        *,
        eps: float = 1e-5,
        affine: bool = True,
        rms: bool = False,
        axis_kinds: str | Sequence[str] | None = None,
        grid: Any = None,
        differentiable_twice: bool = False,
    ) -> None:
        super().__init__()
        self.num_channels = num_channels
        self.groups = check_groups(num_channels, groups)
        self.eps, self.rms, self.differentiable_twice = eps, rms, differentiable_twice
        self.axis_kinds = check_kinds(axis_kinds)
        self.grid = None if grid is None else quadrature_weights(grid)
        self.weight = nn.Parameter(torch.ones(num_channels)) if affine else None
        self.bias = nn.Parameter(torch.zeros(num_channels)) if affine and not rms else None

    def forward(self, x: torch.Tensor, weights: Any = None) -> torch.Tensor:
        """Normalize a field.

        Parameters
        ----------
        x : Tensor, shape (batch, num_channels, *points)
            Real, of any memory order, which is kept.
        weights : Quadrature, Tensor or ndarray, optional
            Of the points of this input, shape (*points) or (batch, *points); see
            `sciml.nn.weights_for` for what counts without it.

        Returns
        -------
        Tensor, shape (batch, num_channels, *points)
        """
        check_field(x, self.num_channels, None, "QuadNorm")
        return self.normalize(x, self.quadrature(x, weights))

    def quadrature(self, x: torch.Tensor, weights: Any = None) -> Quadrature:
        """Weights of the points of ``x``."""
        return weights_for(
            x, weights=weights, grid=self.grid, axis_kinds=self.axis_kinds, layer="QuadNorm"
        )

    def normalize(self, x: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
        """Normalize a field on points of known weights."""
        function = weighted_norm_plain if self.differentiable_twice else weighted_norm
        return function(x, self.weight, self.bias, quadrature, self.groups, self.eps, self.rms)

    def extra_repr(self) -> str:
        """Arguments for print."""
        return (
            f"{self.num_channels}, groups={self.groups}, eps={self.eps}, rms={self.rms}, "
            f"axis_kinds={self.axis_kinds}"
        )


@register_model
class BlendQuadNorm(nn.Module):
    """Interpolation between layer normalization with equal weights and `QuadNorm` by channel.

    ``y = gamma [(1 - alpha) LN(x) + alpha QN(x)] + beta``. The definition is ours: the abstract of
    arXiv:2605.07375 names the layer and reports that alpha = 0.3 keeps the accuracy of periodic
    operators. It keeps the part ``1 - alpha`` of the first-order mismatch of LN between grids, and
    is here for comparison; where the axis kinds are known, ``QuadNorm(groups=1)`` needs no blend.

    Parameters
    ----------
    num_channels : int
        Channels.
    alpha : float, default 0.3
        0 is layer normalization, 1 is QuadNorm.
    eps, axis_kinds, grid, affine
        As in `QuadNorm`.

    Examples
    --------
    >>> import torch
    >>> x = torch.rand(2, 3, 9)
    >>> whole = BlendQuadNorm(3, alpha=1.0, axis_kinds="node")(x)
    >>> bool(torch.allclose(whole, QuadNorm(3, axis_kinds="node")(x)))
    True
    """

    def __init__(
        self,
        num_channels: int,
        alpha: float = 0.3,
        *,
        eps: float = 1e-5,
        affine: bool = True,
        axis_kinds: str | Sequence[str] | None = None,
        grid: Any = None,
    ) -> None:
        super().__init__()
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha: got {alpha}, wanted 0 (layer normalization) to 1 (QuadNorm)")
        self.num_channels, self.alpha, self.eps = num_channels, alpha, eps
        self.axis_kinds = check_kinds(axis_kinds)
        self.grid = None if grid is None else quadrature_weights(grid)
        self.weight = nn.Parameter(torch.ones(num_channels)) if affine else None
        self.bias = nn.Parameter(torch.zeros(num_channels)) if affine else None

    def forward(self, x: torch.Tensor, weights: Any = None) -> torch.Tensor:
        """Normalize a field of shape (batch, num_channels, *points), as `QuadNorm` does."""
        check_field(x, self.num_channels, None, "BlendQuadNorm")
        quadrature = weights_for(
            x, weights=weights, grid=self.grid, axis_kinds=self.axis_kinds, layer="BlendQuadNorm"
        )
        return self.normalize(x, quadrature)

    def normalize(self, x: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
        """Normalize a field on points of known weights."""
        gain = self.weight if self.weight is not None else x.new_ones(self.num_channels)
        scaled, shift = gain * (1.0 - self.alpha), self.bias
        if x.dtype == torch.float64:  # group_norm takes weights of its own or of lower precision
            scaled, shift = scaled.double(), None if shift is None else shift.double()
        layer = nn.functional.group_norm(x, 1, scaled, shift, self.eps)
        own = weighted_norm(x, gain * self.alpha, None, quadrature, self.num_channels, self.eps)
        return layer + own

    def extra_repr(self) -> str:
        """Arguments for print."""
        return f"{self.num_channels}, alpha={self.alpha}, axis_kinds={self.axis_kinds}"


def check_groups(num_channels: int, groups: int | None) -> int:
    """Number of groups, one for each channel by default."""
    if not isinstance(num_channels, int) or num_channels < 1:
        raise ValueError(f"num_channels: got {num_channels!r}, wanted an integer >= 1")
    chosen = num_channels if groups is None else groups
    if not isinstance(chosen, int) or chosen < 1 or num_channels % chosen:
        raise ValueError(
            f"groups: got {groups!r}, wanted a divisor of the {num_channels} channels, such as 1 "
            f"(all together) or {num_channels} (each alone)"
        )
    return chosen
