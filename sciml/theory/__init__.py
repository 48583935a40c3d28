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
    "best_coefficients": "power_law",
    "best_log": "power_law",
    "best_power": "power_law",
    "best_power_log": "power_law",
    "contamination_bias": "power_law",
    "predict_best_power": "power_law",
    "coefficient_variance": "power_law_noise",
    "cramer_rao_bound": "power_law_noise",
    "exponent_variance": "power_law_noise",
    "pair_deviation": "power_law_noise",
    "predict_deviation": "power_law_noise",
    "resolvable_gap": "power_law_noise",
    "additive_and_radial": "power_law_floors",
    "additive_distance": "power_law_floors",
    "crack_floor": "power_law_floors",
    "predict_radial_floor": "power_law_floors",
    "product_of_sines_floor": "power_law_floors",
    "false_positive_bound": "stability_selection",
    "largest_selection": "stability_selection",
}

__all__ = [
    "Prediction",
    "Verdict",
    "additive_and_radial",
    "additive_distance",
    "best_coefficients",
    "best_log",
    "best_power",
    "best_power_log",
    "coefficient_variance",
    "conservative_terms",
    "contamination_bias",
    "crack_floor",
    "cramer_rao_bound",
    "critical_growth",
    "detection_limit",
    "exponent_variance",
    "false_positive_bound",
    "gaussian_mean",
    "growth_at_noise",
    "hermite_power",
    "invariant_terms",
    "largest_selection",
    "pair_deviation",
    "predict_best_power",
    "predict_chi2",
    "predict_coverage",
    "predict_deviation",
    "predict_radial_floor",
    "product_of_sines_floor",
    "residual_growth",
    "resolvable_gap",
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
    from sciml.theory.power_law import (
        best_coefficients,
        best_log,
        best_power,
        best_power_log,
        contamination_bias,
        predict_best_power,
    )
    from sciml.theory.power_law_floors import (
        additive_and_radial,
        additive_distance,
        crack_floor,
        predict_radial_floor,
        product_of_sines_floor,
    )
    from sciml.theory.power_law_noise import (
        coefficient_variance,
        cramer_rao_bound,
        exponent_variance,
        pair_deviation,
        predict_deviation,
        resolvable_gap,
    )
    from sciml.theory.prediction import Prediction, Verdict
    from sciml.theory.stability_selection import false_positive_bound, largest_selection
