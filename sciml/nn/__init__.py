"""Layers and weights that several kinds of learned models share.

Examples
--------
>>> from sciml.nn import quadrature_weights
>>> quadrature_weights((3,), axis_kinds="node").full()
array([0.25, 0.5 , 0.25])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "AXIS_KINDS": "axis_kind",
    "SampleAxis": "axis_kind",
    "SampleGrid": "axis_kind",
    "QuadratureWarning": "axis_rules",
    "axis_weights": "axis_rules",
    "ModelFileError": "model_file",
    "ModelInfo": "model_file",
    "Normalized": "normalized",
    "load_model": "model_file",
    "mesh_quadrature_weights": "mesh_quadrature",
    "model_info": "model_file",
    "point_cloud_weights": "point_cloud",
    "Quadrature": "quadrature",
    "current_quadrature": "quadrature",
    "on_grid": "quadrature",
    "quadrature_weights": "quadrature",
    "register_model": "model_registry",
    "registered_models": "model_registry",
    "save_model": "model_file",
    "weights_for": "quadrature",
}

__all__ = [
    "AXIS_KINDS",
    "ModelFileError",
    "ModelInfo",
    "Normalized",
    "Quadrature",
    "QuadratureWarning",
    "SampleAxis",
    "SampleGrid",
    "axis_weights",
    "current_quadrature",
    "load_model",
    "mesh_quadrature_weights",
    "model_info",
    "on_grid",
    "point_cloud_weights",
    "quadrature_weights",
    "register_model",
    "registered_models",
    "save_model",
    "weights_for",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.nn.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.nn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.nn.axis_kind import AXIS_KINDS, SampleAxis, SampleGrid
    from sciml.nn.axis_rules import QuadratureWarning, axis_weights
    from sciml.nn.mesh_quadrature import mesh_quadrature_weights
    from sciml.nn.model_file import ModelFileError, ModelInfo, load_model, model_info, save_model
    from sciml.nn.model_registry import register_model, registered_models
    from sciml.nn.normalized import Normalized
    from sciml.nn.point_cloud import point_cloud_weights
    from sciml.nn.quadrature import (
        Quadrature,
        current_quadrature,
        on_grid,
        quadrature_weights,
        weights_for,
    )
