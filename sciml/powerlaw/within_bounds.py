"""Pair blocks of a fit brought into the range of exponents, and unseen gaps closed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.error_floor import covariance_with_rounding
from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.radial_terms import ZERO_GAP, gap_is_seen
from sciml.powerlaw.search import POLISH_STEPS, Candidate, Search
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import STATIONARY, variable_projection

MERGED = 1e-3
"""Two powers nearer than this are ill conditioned and become a pair block again."""

HAIR = 1e-12
"""Rounding of an exponent that stands on a bound."""

DEVIATIONS = 3.0


def within_bounds(search: Search, candidate: Candidate, keep: bool) -> Candidate:
    """Refit pairs ``s +- sqrt(q)`` that leave the range as two powers, which cannot.

    The box of ``s`` and ``q`` holds more than the pairs whose two exponents are in the range.

    Parameters
    ----------
    search : Search
    candidate : Candidate
    keep : bool
        Whether the pairs were asked for and have to remain: then the two powers are written as a
        pair again.

    Returns
    -------
    Candidate
        The same one if no pair leaves the range.
    """
    structure, parameters, taken = candidate.structure, candidate.fit.parameters, 0
    found = candidate
    while True:
        powers, pairs = structure.split(parameters)
        out = [k for k, pair in enumerate(pairs) if _leaves(pair, search.bounds)]
        if not out:
            break
        roots = [np.array([-1.0, 1.0]) * math.sqrt(pairs[k, 1]) + pairs[k, 0] for k in out]
        inside = np.clip(np.concatenate(roots), *search.bounds)
        rest = np.delete(pairs, out, axis=0)
        structure = replace(
            structure, powers=len(powers) + 2 * len(out), pairs=structure.pairs - len(out)
        )
        start = np.concatenate([powers, inside, rest.ravel()])
        found = search.polish(search.fit(structure, start, candidate.source))
        parameters, taken = found.fit.parameters, taken + len(out)
    return found if not taken else _paired(search, found, taken, keep)


def _leaves(pair: NDArray, bounds: tuple[float, float]) -> bool:
    s, q = pair
    if q <= 0.0:
        return False
    low, high = bounds
    root = math.sqrt(q)
    return s - root < low - HAIR * (1 + abs(low)) or s + root > high + HAIR * (1 + abs(high))


def _paired(search: Search, candidate: Candidate, taken: int, keep: bool) -> Candidate:
    """Write the last powers as pairs again, if they have merged or pairs were asked for."""
    structure, fit = candidate.structure, candidate.fit
    powers, pairs = structure.split(fit.parameters)
    bound = np.asarray(fit.at_bound)
    single = len(powers) - 2 * taken
    lone, joined = [*range(single)], []
    for i in range(single, len(powers), 2):
        if keep or abs(powers[i + 1] - powers[i]) < MERGED:
            joined.append((i, i + 1))
        else:
            lone += [i, i + 1]
    if not joined:
        return candidate
    blocks = [
        (0.5 * (powers[i] + powers[j]), 0.25 * (powers[j] - powers[i]) ** 2) for i, j in joined
    ]
    parameters = np.concatenate([powers[lone], pairs.ravel(), np.ravel(blocks)])
    smaller = Structure(len(lone), structure.pairs + len(joined), structure.fixed)
    stuck = [bound[i] or bound[j] for i, j in joined]
    at_bound = np.concatenate([bound[lone], bound[len(powers) :], np.repeat(stuck, 2)])
    # merged ones go on with the gap closed, or as an oscillation: both are in the range
    lower, upper = smaller.bounds(*search.bounds)
    for k, (i, j) in enumerate(joined, start=structure.pairs):
        at = len(lone) + 2 * k
        if abs(powers[j] - powers[i]) < MERGED:
            parameters[at + 1] = upper[at + 1] = 0.0
        else:
            lower[at : at + 2] = upper[at : at + 2] = parameters[at : at + 2]
    rows = search.rows
    again = variable_projection(
        RadialSum(rows.r, smaller, rows.operator),
        rows.y,
        parameters,
        lower=lower,
        upper=upper,
        weights=rows.weights,
        rtol=search.rtol,
        stationary=STATIONARY,
        max_iterations=POLISH_STEPS,
    )
    merged = lower < upper
    found = np.where(merged, np.asarray(again.at_bound), at_bound.astype(bool))
    return Candidate(smaller, replace(again, at_bound=found), candidate.source)


def close_unseen_gaps(search: Search, candidate: Candidate, noise: float | None) -> Candidate:
    """Set to 0 the gap of pairs whose error hides it, and refit the rest: then they are logarithms.

    A fit that is worse then by more than the noise allows keeps its gaps.

    Parameters
    ----------
    search : Search
    candidate : Candidate
    noise : float or None
        Of the weighted rows.

    Returns
    -------
    Candidate
    """
    structure, fit = candidate.structure, candidate.fit
    errors = np.sqrt(np.maximum(np.diag(covariance_with_rounding(fit, noise)), 0.0))
    gaps = structure.powers + 1 + 2 * np.arange(structure.pairs)
    hidden = [
        at
        for at in gaps
        if abs(fit.parameters[at]) > ZERO_GAP
        and not gap_is_seen(fit.parameters[at], errors[structure.n_columns + at])
    ]
    if not hidden:
        return candidate
    lower, upper = structure.bounds(*search.bounds)
    lower[hidden] = upper[hidden] = 0.0
    rows = search.rows
    closed = variable_projection(
        RadialSum(rows.r, structure, rows.operator),
        rows.y,
        fit.parameters,
        lower=lower,
        upper=upper,
        weights=rows.weights,
        rtol=search.rtol,
        stationary=STATIONARY,
        max_iterations=POLISH_STEPS,
    )
    at_bound = np.array(closed.at_bound)
    at_bound[hidden] = False
    found = Candidate(structure, replace(closed, at_bound=at_bound), candidate.source)
    if candidate.exact:
        return found if found.exact else candidate
    count, unknowns = fit.full_jacobian.shape
    before, after = (float(part.residual @ part.residual) for part in (fit, closed))
    variance = before / max(count - unknowns, 1) if noise is None else noise**2
    return found if after - before <= DEVIATIONS**2 * len(hidden) * variance else candidate
