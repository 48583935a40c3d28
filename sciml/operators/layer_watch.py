"""Stand between a model and each of its layers that sums over points."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sciml.operators.attention import GalerkinAttention, SliceAttention, SoftmaxAttention
from sciml.operators.deeponet import DeepONet
from sciml.operators.pooling import GlobalPooling
from sciml.operators.quad_norm import BlendQuadNorm, QuadNorm
from sciml.operators.spectral_conv import SpectralConv
from sciml.operators.unet import UNet

__all__ = ["NORMALIZATIONS", "Watch", "watched"]

NORMALIZATIONS = (
    QuadNorm,
    BlendQuadNorm,
    nn.GroupNorm,
    nn.InstanceNorm1d,
    nn.InstanceNorm2d,
    nn.InstanceNorm3d,
)
_ATTENTION = (SliceAttention, SoftmaxAttention, GalerkinAttention)

Watch = Callable[[str, nn.Module, torch.Tensor, Callable[[torch.Tensor], torch.Tensor]], Any]
"""Called as ``watch(name, layer, x, run)`` instead of the layer; returns what `run(x)` would.

Fields have shape (batch, channels, *points). The name is that of the layer, with ``#2`` and so on
from its second call."""


@contextlib.contextmanager
def watched(model: nn.Module, watch: Watch) -> Iterator[None]:
    """Let ``watch`` answer for every layer of ``model`` that sums over points.

    These are normalizations, Fourier layers, attention, branch integrals, pooling, and the averages
    of a U-Net. Plain convolutions are left alone.

    Examples
    --------
    >>> layer, seen = nn.Sequential(nn.GroupNorm(1, 2)), []
    >>> def watch(name, layer, x, run):
    ...     seen.append(name)
    ...     return run(x)
    >>> with watched(layer, watch):
    ...     y = layer(torch.rand(1, 2, 5))
    >>> seen
    ['0']
    """
    calls: Counter[str] = Counter()
    patched: list[tuple[nn.Module, str]] = []

    def asked(name: str, layer: nn.Module, x: Any, run: Any) -> Any:
        calls[name] += 1
        numbered = name if calls[name] == 1 else f"{name}#{calls[name]}"
        return watch(numbered, layer, x, run)

    try:
        for name, layer in model.named_modules():
            found = _wrapped(name or type(layer).__name__, layer, asked)
            if found is not None:
                method, function = found
                # An attribute of this one layer, found before the method of its class.
                layer.__dict__[method] = function
                patched.append((layer, method))
        yield
    finally:
        for layer, method in patched:
            del layer.__dict__[method]


def _wrapped(name: str, layer: nn.Module, watch: Watch) -> tuple[str, Callable[..., Any]] | None:
    if isinstance(layer, SpectralConv):
        return "channels_last", _fourier(name, layer, watch)
    if isinstance(layer, QuadNorm | BlendQuadNorm):
        return "normalize", _plain(name, layer, layer.normalize, watch)
    if isinstance(layer, (*NORMALIZATIONS, GlobalPooling)):
        return "forward", _plain(name, layer, layer.forward, watch)
    if isinstance(layer, DeepONet):
        return "integrals", _plain(name, layer, layer.integrals, watch)
    if isinstance(layer, UNet) and layer.scales == "physical":
        return "averages", _plain(name, layer, layer.averages, watch)
    if isinstance(layer, _ATTENTION):
        return "forward", _attention(name, layer, watch)
    return None


def _plain(
    name: str, layer: nn.Module, original: Callable[..., Any], watch: Watch
) -> Callable[..., Any]:
    def call(x: torch.Tensor, *arguments: Any, **named: Any) -> Any:
        return watch(name, layer, x, lambda field: original(field, *arguments, **named))

    return call


def _attention(name: str, layer: nn.Module, watch: Watch) -> Callable[..., Any]:
    original = layer.forward

    def call(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        def run(field: torch.Tensor) -> torch.Tensor:
            return original(field.transpose(1, 2), weights).transpose(1, 2)

        return watch(name, layer, x.transpose(1, 2), run).transpose(1, 2)

    return call


def _fourier(name: str, layer: SpectralConv, watch: Watch) -> Callable[..., Any]:
    """The layer alone, then its normalization and skip, which it otherwise does in one step."""
    original = layer.channels_last

    def call(
        x: torch.Tensor, quadrature: Any, skip: torch.Tensor | None = None, norm: Any = None
    ) -> torch.Tensor:
        def run(field: torch.Tensor) -> torch.Tensor:
            return original(field.movedim(1, -1), quadrature).movedim(-1, 1)

        y = watch(name, layer, x.movedim(-1, 1), run)
        if norm is not None:
            y = norm.normalize(y, quadrature)
        y = y.movedim(1, -1)
        return y if skip is None else y + functional.linear(x, skip)

    return call
