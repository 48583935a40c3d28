"""Attention over points that stand for different parts of the domain.

Attention on functions has integrals where attention on words has sums. With quadrature weights
q_j of sum 1, points of a fine corner of a mesh do not outvote the rest of the domain:

    slices    z_g = sum_i q_i s_ig x_i / sum_i q_i s_ig   (H. Wu et al., Transolver, ICML 2024)
    softmax   weights proportional to q_j exp(<Q_i, K_j>/sqrt(d)): log q_j is added to the logits
    Galerkin  Q_i sum_j q_j K_j V_j^T                     (S. Cao, NeurIPS 2021)

With equal weights these are the plain layers. Fields have shape (batch, points, channels).
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

__all__ = ["ATTENTIONS", "GalerkinAttention", "SliceAttention", "SoftmaxAttention"]


class SliceAttention(nn.Module):
    """Attention between slices, weighted means of the field (Physics-Attention of Transolver).

    Parameters
    ----------
    channels : int
        Width.
    n_heads : int
        It divides the width.
    n_slices : int, default 32
        Slices of each head.

    Notes
    -----
    On structured grids the reference code takes the features of a slice from a convolution over
    3 x 3 points, which means another thing on every grid. They are pointwise here on all points.

    Examples
    --------
    >>> layer = SliceAttention(8, n_heads=2, n_slices=4)
    >>> layer(torch.rand(3, 50, 8), torch.full((50,), 1 / 50)).shape
    torch.Size([3, 50, 8])
    """

    def __init__(self, channels: int, n_heads: int, n_slices: int = 32) -> None:
        super().__init__()
        self.n_heads, width = n_heads, channels // n_heads
        self.features = nn.Linear(channels, channels)
        self.places = nn.Linear(channels, channels)
        self.slices = nn.Linear(width, n_slices)
        nn.init.orthogonal_(self.slices.weight)
        self.temperature = nn.Parameter(torch.full((n_heads, 1, 1), 0.5))
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Map a field, with weights of shape (points,) or (batch, points)."""
        # Colder than 0.1 a slice is a single point; the reference code has the same bound.
        logits = self.slices(split_heads(self.places(x), self.n_heads))
        shares = (logits / self.temperature.clamp(min=0.1)).softmax(-1)
        tokens = slice_tokens(split_heads(self.features(x), self.n_heads), shares, weights)
        mixed = functional.scaled_dot_product_attention(
            self.query(tokens), self.key(tokens), self.value(tokens)
        )
        return self.out(join_heads(shares @ mixed))


def slice_tokens(x: torch.Tensor, shares: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted mean of a field over every slice, ``sum_i q_i s_ig x_i / sum_i q_i s_ig``.

    Parameters
    ----------
    x : Tensor, shape (batch, heads, points, width)
        Features.
    shares : Tensor, shape (batch, heads, points, slices)
        How much of a point belongs to each slice.
    weights : Tensor, shape (points,) or (batch, points)
        Of sum 1.

    Returns
    -------
    Tensor, shape (batch, heads, slices, width)

    Examples
    --------
    >>> x, shares = torch.tensor([[[[0.0], [3.0]]]]), torch.ones(1, 1, 2, 1)
    >>> slice_tokens(x, shares, torch.tensor([0.25, 0.75])).flatten()
    tensor([2.2500])
    """
    parts = shares * weights[..., None, :, None].to(shares)
    total = parts.sum(2).clamp_min(torch.finfo(parts.dtype).tiny)
    return parts.transpose(2, 3) @ x / total.unsqueeze(-1)


class SoftmaxAttention(nn.Module):
    """Softmax attention of every point to every other, with ``log q_j`` added to the logits.

    Time and memory grow with the square of the number of points.

    Parameters
    ----------
    channels : int
        Width.
    n_heads : int
        It divides the width.

    Examples
    --------
    A point of weight 0, in a solid, is not seen:

    >>> layer = SoftmaxAttention(4, n_heads=1)
    >>> x = torch.rand(1, 3, 4)
    >>> part = layer(x[:, :2], torch.tensor([0.3, 0.7]))
    >>> bool(torch.allclose(layer(x, torch.tensor([0.3, 0.7, 0.0]))[:, :2], part))
    True
    """

    def __init__(self, channels: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Map a field, with weights of shape (points,) or (batch, points)."""
        query, key, value = (
            split_heads(layer(x), self.n_heads) for layer in (self.query, self.key, self.value)
        )
        bias = weights.log().to(query)[..., None, None, :]
        bias = bias.expand(*bias.shape[:-2], x.shape[1], x.shape[1])
        return self.out(
            join_heads(functional.scaled_dot_product_attention(query, key, value, bias))
        )


class GalerkinAttention(nn.Module):
    """Linear attention ``Q (K^T diag(q) V)``: integrals of products of two fields.

    Keys and values are normalized over the channels of a head at each point, as in the source.

    Parameters
    ----------
    channels : int
        Width.
    n_heads : int
        It divides the width.
    """

    def __init__(self, channels: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, width = n_heads, channels // n_heads
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.key_norm, self.value_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Map a field, with weights of shape (points,) or (batch, points)."""
        query = split_heads(self.query(x), self.n_heads)
        key = self.key_norm(split_heads(self.key(x), self.n_heads))
        value = self.value_norm(split_heads(self.value(x), self.n_heads))
        integrals = (key * weights[..., None, :, None].to(key)).transpose(2, 3) @ value
        return self.out(join_heads(query @ integrals))


ATTENTIONS: dict[str, type[nn.Module]] = {
    "slices": SliceAttention,
    "softmax": SoftmaxAttention,
    "galerkin": GalerkinAttention,
}
"""Layers by name."""


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(batch, points, channels) to (batch, heads, points, width)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def join_heads(x: torch.Tensor) -> torch.Tensor:
    """(batch, heads, points, width) to (batch, points, channels)."""
    return x.transpose(1, 2).flatten(2)


def check_heads(channels: int, n_heads: int) -> None:
    """Refuse heads that do not divide the width."""
    if not isinstance(n_heads, int) or n_heads < 1 or channels % n_heads:
        fitting = [n for n in range(1, min(channels, 16) + 1) if channels % n == 0]
        raise ValueError(
            f"n_heads: got {n_heads!r}, wanted a divisor of hidden_channels {channels}, such as "
            f"{fitting[len(fitting) // 2]}"
        )
