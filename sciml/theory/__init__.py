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
    "FaceMoments": "quadrature",
    "equal_weight_gap": "quadrature",
    "left_mean_error": "quadrature",
    "lipschitz_constant": "quadrature",
    "midpoint_error": "quadrature",
    "transfer_bound": "quadrature",
    "trapezoid_error": "quadrature",
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
    "GIBBS_OVERSHOOT": "fourier_tail",
    "asymptotic_tail": "fourier_tail",
    "box_tail": "fourier_tail",
    "cosine_tail": "trigonometric_tails",
    "disc_tail": "fourier_tail",
    "edge_frequency": "fourier_tail",
    "gaussian_tail": "fourier_tail",
    "line_tail": "fourier_tail",
    "modes_for_tolerance": "fourier_tail",
    "periodic_tail": "fourier_tail",
    "region_tail": "fourier_tail",
    "sampled_box_tail": "fourier_tail",
    "sampled_tail": "fourier_tail",
    "transported_tail": "fourier_tail",
    "trigonometric_tail": "trigonometric_tails",
    "variation_bound": "fourier_tail",
    "wave_jumps": "fourier_tail",
    "amplitude_bound": "wave_phase",
    "best_window": "wave_phase",
    "foot_bound": "wave_phase",
    "multiplier_bound": "wave_phase",
    "multiplier_error": "wave_phase",
    "phase_bound": "wave_phase",
    "phase_factor": "wave_phase",
    "pointwise_bound": "wave_phase",
    "position_bound": "wave_phase",
    "ray_bound": "wave_phase",
    "relation_bound": "wave_phase",
    "shift_error": "wave_phase",
    "shift_gain": "wave_phase",
    "predict_asymptotic_tail": "window_predictions",
    "predict_disc_tail": "window_predictions",
    "predict_gaussian_tail": "window_predictions",
    "predict_multiplier_error": "window_predictions",
    "predict_overshoot": "window_predictions",
    "predict_shift_error": "window_predictions",
    "predict_tail": "window_predictions",
}

__all__ = [
    "GIBBS_OVERSHOOT",
    "FaceMoments",
    "Prediction",
    "Verdict",
    "additive_and_radial",
    "additive_distance",
    "amplitude_bound",
    "asymptotic_tail",
    "best_coefficients",
    "best_log",
    "best_power",
    "best_power_log",
    "best_window",
    "box_tail",
    "coefficient_variance",
    "conservative_terms",
    "contamination_bias",
    "cosine_tail",
    "crack_floor",
    "cramer_rao_bound",
    "critical_growth",
    "detection_limit",
    "disc_tail",
    "edge_frequency",
    "equal_weight_gap",
    "exponent_variance",
    "false_positive_bound",
    "foot_bound",
    "gaussian_mean",
    "gaussian_tail",
    "growth_at_noise",
    "hermite_power",
    "invariant_terms",
    "largest_selection",
    "left_mean_error",
    "line_tail",
    "lipschitz_constant",
    "midpoint_error",
    "modes_for_tolerance",
    "multiplier_bound",
    "multiplier_error",
    "pair_deviation",
    "periodic_tail",
    "phase_bound",
    "phase_factor",
    "pointwise_bound",
    "position_bound",
    "predict_asymptotic_tail",
    "predict_best_power",
    "predict_chi2",
    "predict_coverage",
    "predict_deviation",
    "predict_disc_tail",
    "predict_gaussian_tail",
    "predict_multiplier_error",
    "predict_overshoot",
    "predict_radial_floor",
    "predict_shift_error",
    "predict_tail",
    "product_of_sines_floor",
    "ray_bound",
    "region_tail",
    "relation_bound",
    "residual_growth",
    "resolvable_gap",
    "sampled_box_tail",
    "sampled_tail",
    "shift_error",
    "shift_gain",
    "transfer_bound",
    "transported_tail",
    "trapezoid_error",
    "trigonometric_tail",
    "variation_bound",
    "wave_jumps",
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
    from sciml.theory.fourier_tail import (
        GIBBS_OVERSHOOT,
        asymptotic_tail,
        box_tail,
        disc_tail,
        edge_frequency,
        gaussian_tail,
        line_tail,
        modes_for_tolerance,
        periodic_tail,
        region_tail,
        sampled_box_tail,
        sampled_tail,
        transported_tail,
        variation_bound,
        wave_jumps,
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
    from sciml.theory.quadrature import (
        FaceMoments,
        equal_weight_gap,
        left_mean_error,
        lipschitz_constant,
        midpoint_error,
        transfer_bound,
        trapezoid_error,
    )
    from sciml.theory.stability_selection import false_positive_bound, largest_selection
    from sciml.theory.trigonometric_tails import cosine_tail, trigonometric_tail
    from sciml.theory.wave_phase import (
        amplitude_bound,
        best_window,
        foot_bound,
        multiplier_bound,
        multiplier_error,
        phase_bound,
        phase_factor,
        pointwise_bound,
        position_bound,
        ray_bound,
        relation_bound,
        shift_error,
        shift_gain,
    )
    from sciml.theory.window_predictions import (
        predict_asymptotic_tail,
        predict_disc_tail,
        predict_gaussian_tail,
        predict_multiplier_error,
        predict_overshoot,
        predict_shift_error,
        predict_tail,
    )
