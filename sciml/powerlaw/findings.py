"""Findings about the terms of a noisy fit: ambiguous, insignificant, moving with the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sciml.powerlaw.diagnosis import DEVIATIONS, Drift, Finding, contamination, window_drift
from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.search import Candidate, Search

EXTENSION = 4
"""So many more terms may explain the drift of a fit of given order."""


def logarithms(
    candidate: Candidate, terms: Sequence[RadialTerm], noise: float | None
) -> list[Finding]:
    """Say that noisy pairs whose gap is not seen may be logarithms or two powers."""
    if candidate.exact:
        return []
    errors = candidate.fit.standard_errors(noise)[0]
    found = []
    for term in terms:
        if term.kind != "logarithm":
            continue
        at = candidate.structure.powers + 2 * (term.block - candidate.structure.powers)
        reach = 2.0 * float(np.sqrt(3.0 * errors[at + 1]))
        found.append(
            Finding(
                "unresolved",
                f"A logarithm at exponent {complex(term.exponent).real:.4g} fits as well as "
                f"two powers, or an oscillation, with a gap up to {reach:.2g}: less noise "
                "would tell them apart.",
            )
        )
    return found


def insignificant(terms: Sequence[RadialTerm]) -> list[Finding]:
    """Terms whose coefficient is within three errors of 0."""
    found = []
    seen = {t.block for t in terms if abs(t.coefficient) > 3 * abs(t.coefficient_error)}
    for term in terms:
        if term.block not in seen:
            found.append(
                Finding(
                    "unresolved",
                    f"The coefficient of {term.expression} is within three standard errors of "
                    "0: a lower order would do.",
                )
            )
    return found


def drifting(
    search: Search, candidate: Candidate, noise: float | None, auto: bool
) -> tuple[Drift | None, list[Finding]]:
    """Measure the drift of the leading exponent, and what it means."""
    drift = window_drift(search, candidate, noise)
    if drift is None or drift.excess <= DEVIATIONS:
        return drift, []
    moved = (
        f"The leading exponent moves from {drift.full:.4g} to {drift.half:.4g} when the outer "
        f"half of the radii is left out, where noise allows {DEVIATIONS * drift.deviation:.2g}"
    )
    if not auto:
        # more terms may explain it: then they must meet the samples and not drift themselves
        larger = search.best_order(EXTENSION + candidate.structure.order, noise)
        own = None if larger.exact else window_drift(search, larger, noise)
        holds = larger.exact or (own is not None and own.excess <= DEVIATIONS)
        if larger.structure.order > candidate.structure.order and holds:
            predicted = contamination(search, larger, candidate.structure.order)
            if predicted is not None:
                drift = replace(drift, predicted=predicted)
            return drift, [
                Finding(
                    "contaminated",
                    f"{moved}: {larger.structure.order} exponents hold in both windows; set "
                    f"order={larger.structure.order} or 'auto'.",
                )
            ]
    return drift, [
        Finding(
            "not_a_power_law",
            f"{moved}: the exponents describe this window and not the field; look at the "
            "residual against the radius, and at smaller radii.",
        )
    ]
