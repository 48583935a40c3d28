"""Closed-form statements about errors, made before anything is measured. No torch.

Names load on first use, because most of them need SymPy.

Examples
--------
>>> from sciml.theory import Prediction
>>> order = Prediction(name="time order", value=4.0, kind="order")
>>> print(order.judge(3.97))
pass  time order: measured 3.97, predicted order 4 (at least 3.85), ratio 0.993
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "Prediction": "prediction",
    "Verdict": "prediction",
    "critical_growth": "detection",
    "detection_limit": "detection",
    "growth_at_noise": "detection",
    "residual_growth": "detection",
    "predict_chi2": "calibration",
    "predict_coverage": "calibration",
    "gaussian_mean": "debiasing",
    "hermite_power": "debiasing",
    "conservative_terms": "galilean",
    "invariant_terms": "galilean",
    "false_positive_bound": "stability_selection",
    "largest_selection": "stability_selection",
}

__all__ = [
    "Prediction",
    "Verdict",
    "conservative_terms",
    "critical_growth",
    "detection_limit",
    "false_positive_bound",
    "gaussian_mean",
    "growth_at_noise",
    "hermite_power",
    "invariant_terms",
    "largest_selection",
    "predict_chi2",
    "predict_coverage",
    "residual_growth",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.theory.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.theory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.theory.calibration import predict_chi2, predict_coverage
    from sciml.theory.debiasing import gaussian_mean, hermite_power
    from sciml.theory.detection import (
        critical_growth,
        detection_limit,
        growth_at_noise,
        residual_growth,
    )
    from sciml.theory.galilean import conservative_terms, invariant_terms
    from sciml.theory.prediction import Prediction, Verdict
    from sciml.theory.stability_selection import false_positive_bound, largest_selection
