"""Operators trained on Darcy flow at one resolution and used at another."""

from __future__ import annotations

from typing import Any

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_TRAIN, _TEST, _STEPS, _COARSE, _FINE = 160, 20, 300, 33, 257


def _short() -> Measurements:
    import torch

    from sciml.nn import quadrature_weights
    from sciml.operators import FNO

    from ._darcy import errors, samples, tensors, train

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    x, y = tensors(*samples(_TRAIN, 128, seed=0), _COARSE)
    a, u = samples(_TEST, _FINE - 1, seed=1)
    weights = quadrature_weights((_COARSE, _COARSE), axis_kinds="node").full()
    found: dict[Any, dict[str, float]] = {}
    for norm in (None, "instance", "quad_layer"):
        model = FNO(
            1,
            1,
            16,
            (16, 16),
            norm=norm,  # pyright: ignore[reportArgumentType]
            axis_kinds="node",
            channel_mlp=False,
            seed=0,
        )
        train(model, x, y, steps=_STEPS, batch=8, seed=0, weights=weights)
        found[norm] = errors(model, a, u, (_COARSE, _FINE))
    torch.set_num_threads(threads)
    return Measurements(
        values={
            "QuadNorm: E(257)/E(33)": found["quad_layer"]["ratio"],
            "I of instance norm over I of QuadNorm": found["instance"]["I"]
            / found["quad_layer"]["I"],
        },
        table=[{"norm": str(norm), **row} for norm, row in found.items()],
    )


CASES = [
    Case(
        name="darcy-short",
        title="Darcy flow: trained at 33^2, used at 257^2",
        tier="full",
        description=(
            "Permeability 12 or 3, 160 samples, 300 steps of 8, width 16, 16 modes, four layers, "
            "quadrature Fourier layers; 20 test samples. E is the mean relative error, I the "
            "distance of the model from itself on both grids. Without normalization the error is "
            "the smallest in this short training. Instance normalization moves the output several "
            "times farther than QuadNorm; whether that adds to the error or takes from it is not "
            "predicted, and differs between trainings."
        ),
        run=_short,
        predictions=(
            Prediction(
                name="QuadNorm: E(257)/E(33)",
                value=1.02,
                kind="at_most",
                source="layers of second order leave the error of the training grid",
            ),
            Prediction(
                name="I of instance norm over I of QuadNorm",
                value=2.0,
                kind="at_least",
                source="mismatch of first order against second, and the jumps that both see",
            ),
        ),
    )
]
