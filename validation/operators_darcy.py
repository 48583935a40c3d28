"""Operators trained on Darcy flow at one resolution and used at another."""

from __future__ import annotations

import dataclasses
import logging
import os
import unittest
from typing import Any

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._darcy_protocol import PROTOCOL, REDUCED, Protocol, summary, table

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


_RATIO = "QuadNorm of all channels: largest E(finest)/E(train)"
_APART = "I of instance norm over I of QuadNorm, smallest"
_INSTANCE = "instance norm: smallest E(finest)/E(train)"
_log = logging.getLogger(__name__)


def _protocol(settings: Protocol) -> Measurements:
    rows = table(settings, told=_log.info)

    def of(norm: str, column: str) -> list[float]:
        return [row[column] for row in rows if row["model"] == f"quadrature fno, {norm}"]

    apart = zip(of("instance", "I"), of("quad_layer", "I"), strict=True)
    return Measurements(
        values={
            _RATIO: max(of("quad_layer", "E(finest)/E(train)")),
            _APART: min(one / other for one, other in apart),
        },
        table=summary(rows),
    )


def _instance_stated() -> Measurements:
    rows = table(REDUCED, names=["quadrature fno, instance"])
    return Measurements(
        values={_INSTANCE: min(row["E(finest)/E(train)"] for row in rows)}, table=summary(rows)
    )


def _whole_protocol(settings: Protocol) -> Measurements:
    if not os.environ.get("SCIML_DARCY_PROTOCOL"):
        raise unittest.SkipTest(
            "48 runs of ten minutes and more: set SCIML_DARCY_PROTOCOL=1 to make them, and call "
            "again to go on where it was cut off"
        )
    return _protocol(settings)


def _protocol_case(name: str, title: str, settings: Protocol, text: str) -> Case:
    grids = ", ".join(f"{n}^2" for n in settings.test_points)
    return Case(
        name=name,
        title=title,
        tier="full",
        description=(
            f"Permeability 12 or 3, {settings.train_samples} samples at {settings.train_points}^2, "
            f"{settings.test_samples} test samples at {grids}; width {settings.width}, "
            f"{settings.n_modes} modes, {settings.depth} layers, {settings.steps} steps of "
            f"{settings.batch}, seeds {settings.seeds}. Fourier operators with the usual layer "
            '("periodic") and with that by quadrature, by normalization; U-Net on cells of the '
            "domain and, plain, on points; Transolver with and, plain, without weights; these with "
            f"seeds {settings.seeds_of_others}. E is the mean relative error, I the distance of a "
            f"model from itself between the training and the finest grid. {text}"
        ),
        run=lambda: (_protocol if settings == REDUCED else _whole_protocol)(settings),
        predictions=(
            Prediction(
                name=_RATIO,
                value=1.02,
                kind="at_most",
                source="layers of second order leave the error of the training grid",
            ),
            Prediction(
                name=_APART,
                value=2.0,
                kind="at_least",
                source="mismatch of first order against second, and the jumps that both see",
            ),
        ),
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
    ),
    _protocol_case(
        "darcy-reduced",
        "Darcy flow across resolutions, in short",
        REDUCED,
        "Not the whole protocol (darcy-protocol-*), which no table here has: "
        f"{REDUCED.differences(PROTOCOL)}, and no runs of 8 layers. Errors are those of short "
        "trainings of small networks.",
    ),
    Case(
        name="darcy-instance-stated",
        title="Darcy flow across resolutions, in short: what instance norm loses, as first stated",
        tier="full",
        description=(
            "First stated as an error at least 1.10 times that of the training grid, from a "
            "prototype's 1.20 to 1.28. Runs are those of darcy-reduced, quadrature Fourier layers. "
            "Instance norm does move the output from grid to grid; that this adds to the error, "
            "and does not take from it, has no derivation."
        ),
        run=_instance_stated,
        predictions=(
            Prediction(
                name=_INSTANCE, value=1.10, kind="at_least", source="a prototype's 1.20 to 1.28"
            ),
        ),
    ),
    *(
        _protocol_case(
            f"darcy-protocol-{depth}-layers",
            f"Darcy flow across resolutions, the whole protocol, {depth} layers",
            dataclasses.replace(PROTOCOL, depth=depth),
            "Some ten minutes a run on one core and 48 runs; a run that was cut off goes on.",
        )
        for depth in (4, 8)
    ),
]
