"""Findings about the terms of a noisy fit: ambiguous, insignificant, moving with the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.diagnosis import (
    DEVIATIONS,
    STATUSES,
    Drift,
    Finding,
    contamination,
    merged,
    unresolved_pair,
    window_drift,
)
from sciml.powerlaw.error_floor import covariance_with_rounding
from sciml.powerlaw.lack_of_fit import (
    ROUNDING,
    excess_over_noise,
    neighbor_correlation,
    neighbor_pairs,
)
from sciml.powerlaw.radial_terms import RadialTerm, radial_terms
from sciml.powerlaw.search import Candidate, Search
from sciml.powerlaw.separable_fit import SeparableFit

NO_RESIDUAL = 1e-12
"""Relative residual that is rounding."""
EXTENSION = 4
"""So many more terms may explain the drift of a fit of given order."""


BEYOND = 10.0
"""A deviation of exponents that is larger is not worth its digits."""


def terms_of(
    candidate: Candidate, noise: float | None, as_fitted: bool = False
) -> tuple[RadialTerm, ...]:
    """Terms of a candidate with their errors, in the unit of length of the search."""
    fit = candidate.fit
    covariance = covariance_with_rounding(fit, noise)
    return radial_terms(
        candidate.structure, fit.parameters, fit.coefficients, covariance, as_fitted
    )


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """In the order of their statuses."""
    return sorted(findings, key=lambda finding: STATUSES.index(finding.status))


def merge_unresolved(
    search: Search, candidate: Candidate, noise: float | None
) -> tuple[Candidate, list[Finding]]:
    """Refit with one exponent in place of every two that the noise does not tell apart."""
    findings = []
    while not candidate.exact:
        terms = terms_of(candidate, noise)
        pair = unresolved_pair(terms)
        if pair is None:
            break
        low, high = (terms[i] for i in pair)
        if "fixed" in (low.kind, high.kind):
            break
        findings.append(unresolved(low, high, "one merged exponent is reported"))
        candidate = merged(search, candidate, terms, pair)
    return candidate, findings


def unresolved(low: RadialTerm, high: RadialTerm, consequence: str) -> Finding:
    """Say that the noise does not tell two exponents apart, and what was done about it."""
    error = max(abs(low.exponent_error), abs(high.exponent_error))
    size = f"{error:.2g}" if error <= BEYOND else f"more than {BEYOND:g}"
    values = (complex(low.exponent).real, complex(high.exponent).real)
    return Finding(
        "unresolved",
        f"Exponents {values[0]:.4g} and {values[1]:.4g} have deviations of {size}, more than a "
        f"quarter of their gap: {consequence}; less noise, or samples at smaller radii, would "
        "tell them apart.",
    )


def logarithms(candidate: Candidate, noise: float | None) -> list[Finding]:
    """Say that noisy pairs whose gap is not seen may be logarithms or two powers."""
    if candidate.exact:
        return []
    errors = candidate.fit.standard_errors(noise)[0]
    found = []
    for term in terms_of(candidate, noise, as_fitted=True):
        if term.kind != "logarithm":
            continue
        at = candidate.structure.powers + 2 * (term.block - candidate.structure.powers)
        reach = 2.0 * float(np.sqrt(3.0 * errors[at + 1]))
        if np.isnan(reach):
            continue  # there are no errors: `left_over` says why
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
    # an error of NaN says nothing: `left_over` says why there is none
    seen = {t.block for t in terms if not abs(t.coefficient) <= 3 * abs(t.coefficient_error)}
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


def left_over(fit: SeparableFit, places: NDArray | None, noise: float | None) -> list[Finding]:
    """More than the noise is left over, it has structure, or there is nothing to judge by.

    Parameters
    ----------
    fit : SeparableFit
    places : ndarray, shape (rows,) or (rows, d), or None
        Radii or points; None if the rows are no values at places.
    noise : float or None
        Of the weighted rows, if known.

    Returns
    -------
    list of Finding
    """
    rows, unknowns = fit.full_jacobian.shape
    if rows <= unknowns:
        return [
            Finding(
                "saturated",
                f"{rows} samples for {unknowns} exponents and coefficients leave nothing to judge "
                "the fit by, nor errors: give more samples, or a lower order.",
            )
        ]
    relative, found = float(fit.relative_residual), ""
    if noise is not None:
        excess = excess_over_noise(float(np.sum((fit.residual / noise) ** 2)), rows - unknowns)
        # Rounding is more than the noise where next to none is stated.
        if excess is not None and relative > NO_RESIDUAL:
            found = f"{excess:.3g} times the noise"
    elif places is not None and relative > ROUNDING:
        correlation = neighbor_correlation(fit.residual, neighbor_pairs(places))
        if correlation is not None:
            found = f"no noise: neighboring samples correlate by {correlation:.2f}"
    if not found:
        return []
    return [
        Finding(
            "poor_fit",
            f"What is left over (relative residual {relative:.2g}) is {found}: check the center, "
            "give a higher order, or look at the residual; the field may be no sum of powers of "
            "this radius.",
        )
    ]
