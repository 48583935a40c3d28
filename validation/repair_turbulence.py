"""Forecasters of turbulence on finer grids: decaying and forced at 64^2, and at 128^2.

The protocol follows the published one in its form: two losses, raw, post hoc and in the loop,
three seeds, a hundred steps. Viscosity, force, time step, network and epochs of the published runs
are not known to us, so that no number here is to equal one of theirs. Networks and trainings are of
a size for single processors: width 16, 12 modes, 300 to 700 steps of eight pairs.
"""

from __future__ import annotations

import dataclasses
import functools

from sciml.validation import Case, Measurements

from ._repair_flows import Protocol
from ._repair_tables import LARGE_GAIN, MISMATCH, NEVER_HURTS, matrix, mismatch

DECAYING = Protocol(points=64, fine=96, modes=12, test=8)
FORCED = dataclasses.replace(
    DECAYING, forced=True, viscosity=2e-2, frame=0.05, time_step=0.0125, steps=300
)
FINER = dataclasses.replace(DECAYING, points=128, fine=192, time_step=0.0125, test=4)
THIN = dataclasses.replace(FINER, viscosity=1e-3, training=16, validation=0, steps=300, seeds=(0,))

DECAYING_MATRIX = Case(
    name="decaying-64",
    tier="full",
    title="Decaying turbulence at 64^2: two losses, three ways to repair",
    description=(
        "Residual Fourier operators, trained with the loss on their forecast and on its "
        "projection. After the loop an exact projection cannot hurt, at any of a hundred steps; "
        "the large gain in the loop belongs to the loss after the projection."
    ),
    run=functools.partial(matrix, DECAYING),
    predictions=(NEVER_HURTS, LARGE_GAIN),
)

FORCED_MATRIX = Case(
    name="forced-64",
    tier="full",
    title="Forced turbulence at 64^2: two losses, three ways to repair",
    description=(
        "The same for Kolmogorov flow, which is chaotic: errors of forecasts trained on "
        "themselves are nearly free of divergence, and no projection can rescue them."
    ),
    run=functools.partial(matrix, FORCED),
    predictions=(NEVER_HURTS, LARGE_GAIN),
)

DECAYING_GEOMETRY = Case(
    name="wrong-geometry-64",
    tier="full",
    title="Decaying turbulence at 64^2, repaired by projections of a wrong geometry",
    description=(
        "The closed form |C e|^2 + S_u holds to rounding, the strength fitted on other "
        "trajectories does not hurt, and harm follows the target distortion."
    ),
    run=functools.partial(mismatch, DECAYING),
    predictions=MISMATCH,
)

FORCED_GEOMETRY = Case(
    name="wrong-geometry-forced-64",
    tier="full",
    title="Forced turbulence at 64^2, repaired by projections of a wrong geometry",
    description="The same where the error is nearly free of divergence.",
    run=functools.partial(mismatch, FORCED),
    predictions=MISMATCH,
)


def _finer() -> Measurements:
    said = "Trained at 64^2 and used at 128^2, on 4 trajectories solved with 192^2 points. "
    return matrix(DECAYING, FINER, said=said + "Training: ")


TRANSFER = Case(
    name="decaying-64-used-at-128",
    tier="full",
    title="Networks of 64^2 used at 128^2",
    description=(
        "No training at the finer resolution: the networks of `decaying-64` forecast flows that "
        "are solved and stored with twice the points."
    ),
    run=_finer,
    predictions=(NEVER_HURTS, LARGE_GAIN),
)

THIN_MATRIX = Case(
    name="decaying-128",
    tier="full",
    title="Decaying turbulence of a tenth of the viscosity, trained at 128^2",
    description="One seed and a short training: two losses, three ways to repair.",
    run=functools.partial(matrix, THIN),
    predictions=(NEVER_HURTS, LARGE_GAIN),
)

CASES = [
    DECAYING_MATRIX,
    DECAYING_GEOMETRY,
    FORCED_MATRIX,
    TRANSFER,
    FORCED_GEOMETRY,
    THIN_MATRIX,
]
