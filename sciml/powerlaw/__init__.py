"""Fields that are sums of powers: exponents, corners and sources, with their error bars.

Public names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "SeparableFit": "varpro",
    "SparseDerivatives": "varpro",
    "variable_projection": "varpro",
}

__all__ = ["SeparableFit", "SparseDerivatives", "variable_projection"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.powerlaw.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.powerlaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.powerlaw.varpro import SeparableFit, SparseDerivatives, variable_projection
