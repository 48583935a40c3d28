"""Trained forecasters of flows, repaired after the loop and inside it.

For each loss, on the forecast as it is or on its projection, networks are trained from several
seeds and rolled out: raw, post hoc and in the loop. What theory guarantees is asserted; what the
data decide is reported, with the honest baseline beside it.
"""

from __future__ import annotations

import functools

from sciml.validation import Case

from ._repair_flows import Protocol
from ._repair_tables import LARGE_GAIN, MISMATCH, NEVER_HURTS, matrix, mismatch

SMALL = Protocol(points=32, fine=64)

MATRIX = Case(
    name="decaying-turbulence",
    tier="full",
    title="Two losses, three ways to repair",
    description=(
        "Residual Fourier operators forecast decaying turbulence. After the loop an exact "
        "projection cannot hurt. The large gains in the loop that have been reported appear when "
        "the loss is taken after the projection, because nothing then restrains the divergent part."
    ),
    run=functools.partial(matrix, SMALL),
    predictions=(NEVER_HURTS, LARGE_GAIN),
)

STRENGTHS = Case(
    name="wrong-geometry",
    tier="full",
    title="Trained forecasters repaired by projections of a wrong geometry",
    description=(
        "Errors after 40 steps. The closed form |C e|^2 + S_u holds to rounding, the strength "
        "fitted on other trajectories does not hurt, and harm follows the target distortion."
    ),
    run=functools.partial(mismatch, SMALL),
    predictions=MISMATCH,
)

CASES = [MATRIX, STRENGTHS]
