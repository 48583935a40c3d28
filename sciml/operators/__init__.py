"""Neural operators that do not feel the grid: statistics and transforms by quadrature.

Examples
--------
>>> import torch
>>> from sciml.operators import FNO
>>> model = FNO(1, 1, 8, n_modes=4, norm="quad_layer", axis_kinds="node", seed=0)
>>> model(torch.rand(2, 1, 33)).shape
torch.Size([2, 1, 33])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "BlendQuadNorm": "quad_norm",
    "DeepONet": "deeponet",
    "FNO": "fno",
    "GlobalPooling": "pooling",
    "PointTransformer": "transolver",
    "QuadNorm": "quad_norm",
    "SpectralConv": "spectral_conv",
    "Transolver": "transolver",
    "UNet": "unet",
    "diagnose_resolution": "resolution_diagnosis",
    "replace_normalization": "replacement",
    "resolution_gap": "resolution",
}

__all__ = [
    "FNO",
    "BlendQuadNorm",
    "DeepONet",
    "GlobalPooling",
    "PointTransformer",
    "QuadNorm",
    "SpectralConv",
    "Transolver",
    "UNet",
    "diagnose_resolution",
    "replace_normalization",
    "resolution_gap",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.operators.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.operators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.operators.deeponet import DeepONet
    from sciml.operators.fno import FNO
    from sciml.operators.pooling import GlobalPooling
    from sciml.operators.quad_norm import BlendQuadNorm, QuadNorm
    from sciml.operators.replacement import replace_normalization
    from sciml.operators.resolution import resolution_gap
    from sciml.operators.resolution_diagnosis import diagnose_resolution
    from sciml.operators.spectral_conv import SpectralConv
    from sciml.operators.transolver import PointTransformer, Transolver
    from sciml.operators.unet import UNet
