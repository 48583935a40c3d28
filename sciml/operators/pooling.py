"""Means over the domain, of points that stand for different parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from sciml.nn.axis_kind import check_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.quadrature import weights_for
from sciml.operators.spectral_conv import check_field

__all__ = ["GlobalPooling"]


@register_model
class GlobalPooling(nn.Module):
    """Integral mean of every channel over the domain: global average pooling by quadrature.

    Parameters
    ----------
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`), unless every call gives weights or grid.

    Examples
    --------
    >>> x = torch.linspace(0, 1, 5).view(1, 1, 5) ** 2
    >>> GlobalPooling(axis_kinds="node")(x), x.mean(2)
    (tensor([[0.3438]]), tensor([[0.3750]]))
    """

    def __init__(self, *, axis_kinds: str | Sequence[str] | None = None) -> None:
        super().__init__()
        self.axis_kinds = check_kinds(axis_kinds)

    def forward(self, x: torch.Tensor, weights: Any = None) -> torch.Tensor:
        """Map a field of shape (batch, channels, *points) to (batch, channels).

        ``weights`` are of the points of this input; see `sciml.nn.weights_for` for what counts
        without them. Half precision is summed in single precision.
        """
        channels = x.shape[1] if isinstance(x, torch.Tensor) and x.ndim > 1 else 1
        check_field(x, channels, None, "GlobalPooling")
        found = weights_for(x, weights=weights, axis_kinds=self.axis_kinds, layer="GlobalPooling")
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        share = found.flat_tensor(wide)
        with torch.autocast(x.device.type, enabled=False):
            mean = (wide.flatten(2) * share.view(-1, 1, share.shape[-1])).sum(2)
        return mean.to(x.dtype)
