"""Which sum of powers is looked for, its fit in the unit of the samples, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.arguments import check_rows
from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.rows import RadialRows
from sciml.powerlaw.samples import R_MIN
from sciml.powerlaw.search import Candidate, Search
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import variable_projection

LARGEST_ORDER = 8
"""``order="auto"`` looks no further."""

ROUNDED, NEARLY_CONSTANT = 1e-9, 1e-2
"""In the center an exponent counts as 0 up to the first, or up to three standard errors but not
beyond the second: that power is a constant down to the smallest radius, to a quarter."""

DEVIATIONS = 3.0


def choose(
    search: Search, structure: Structure | None, order: int | str, noise: float | None
) -> Candidate | None:
    """Best candidate of the order or structure that is wanted.

    Parameters
    ----------
    search : Search
    structure : Structure or None
        What was asked for block by block; then the order does not count.
    order : int or "auto"
    noise : float or None
        Standard deviation of a row of weight one.

    Returns
    -------
    Candidate or None
        None if there are too few different radii.

    Raises
    ------
    ValueError
        For fewer rows than unknowns.
    """
    rows = len(search.rows)
    distinct = len(np.unique(search.rows.r))
    enough = min(distinct, rows) if search.rows.operator is None else rows
    if structure is not None:
        check_rows(rows, structure.unknowns)
        return search.of_structure(structure) if structure.unknowns <= enough else None
    if order == "auto":
        largest = min(LARGEST_ORDER, (enough - len(search.fixed)) // 2)
        if largest < 1 and not search.fixed:
            check_rows(rows, 2)
            return None
        return search.best_order(largest, noise)
    unknowns = 2 * int(order) + len(search.fixed)
    check_rows(rows, unknowns)
    return search.of_order(int(order)) if unknowns <= enough else None


def at_rest(rows: RadialRows, candidate: Candidate) -> SeparableFit:
    """Fit of a candidate to rows in another unit of length: exponents stay, coefficients follow.

    Parameters
    ----------
    rows : RadialRows
    candidate : Candidate

    Returns
    -------
    SeparableFit
        With the course of the candidate's iteration.
    """
    fit = variable_projection(
        RadialSum(rows.r, candidate.structure, rows.operator),
        rows.y,
        candidate.fit.parameters,
        weights=rows.weights,
        max_iterations=0,
    )
    return replace(
        fit,
        converged=candidate.fit.converged,
        iterations=candidate.fit.iterations,
        at_bound=candidate.fit.at_bound,
        message=candidate.fit.message,
    )


def evaluate(
    r: NDArray, structure: Structure, fit: SeparableFit, terms: Sequence[RadialTerm]
) -> NDArray:
    """Values of a fitted sum.

    Parameters
    ----------
    r : ndarray, shape (n,)
        Radii.
    structure : Structure
    fit : SeparableFit
    terms : sequence of RadialTerm
        The same sum, which says whether it is singular at the center.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        For a radius below 1e-12 where the sum is singular there.
    """
    singular = any(
        complex(term.exponent).real < -_reach(term) or term.kind not in ("power", "fixed")
        for term in terms
    )
    if singular and np.any(r < R_MIN):
        raise ValueError(
            f"X comes as near as r={r.min():.3g} to the center, below r_min={R_MIN}, where "
            "negative exponents and logarithms are singular: leave that place out"
        )
    center = r == 0.0
    # a constant whose exponent is 0 to rounding is 0 or infinite in the center by its column
    columns, _ = RadialSum(np.where(center, 1.0, r), structure)(fit.parameters[None])
    constant = sum(
        complex(term.coefficient).real
        for term in terms
        if abs(complex(term.exponent)) <= _reach(term)
    )
    return np.where(center, constant, columns[0] @ fit.coefficients)


def _reach(term: RadialTerm) -> float:
    """Size of an exponent that is not told from 0."""
    if term.kind == "fixed":
        return 0.0
    error = DEVIATIONS * abs(complex(term.exponent_error).real)
    return max(ROUNDED, min(error, NEARLY_CONSTANT) if np.isfinite(error) else 0.0)
