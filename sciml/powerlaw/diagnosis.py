"""Can the numbers be trusted? Statuses of a fit, worst first, with what helps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.rows import RadialRows
from sciml.powerlaw.search import Candidate, Search
from sciml.powerlaw.structure import Structure

STATUSES = (
    "unidentifiable",
    "empty",
    "not_converged",
    "rank_deficient",
    "bound_active",
    "not_a_power_law",
    "unresolved",
    "contaminated",
    "poor_fit",
    "saturated",
    "ok",
)
"""From the worst to the best."""

SHARE_OF_GAP = 4.0
"""Exponents are resolved if their deviation is below the gap divided by this."""

DEVIATIONS = 3.0
RANK = 1e-14


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and what helps.

    Attributes
    ----------
    status : str
        One of `STATUSES`.
    advice : str
    """

    status: str
    advice: str


@dataclass(frozen=True)
class Drift:
    """How the leading exponent moves when the outer half of the radii is left out.

    Attributes
    ----------
    full, half : float
        The exponent from all radii, and from those up to half the largest.
    deviation : float
        Standard deviation that the noise gives the difference.
    predicted : float
        Difference that unmodelled powers predict to first order; 0 if none are known.
    """

    full: float
    half: float
    deviation: float
    predicted: float = 0.0

    @property
    def excess(self) -> float:
        """Difference beyond the prediction, in deviations."""
        return abs(self.half - self.full - self.predicted) / max(self.deviation, 1e-300)


def convergence(candidate: Candidate, bounds: tuple[float, float]) -> list[Finding]:
    """Findings about the iteration itself: rest, rank, bounds."""
    fit, found = candidate.fit, []
    if not bool(fit.converged):
        found.append(
            Finding(
                "not_converged",
                f"The iteration ended because {fit.message}: give more starts, or a lower order.",
            )
        )
    if _share_of_rank(fit.full_jacobian) < RANK:
        found.append(
            Finding(
                "rank_deficient",
                "The samples do not determine all exponents and coefficients: give a lower order, "
                "or samples over a wider range of radii.",
            )
        )
    stuck = np.asarray(fit.at_bound)
    if np.any(stuck):
        values = ", ".join(f"{value:.4g}" for value in fit.parameters[stuck])
        found.append(
            Finding(
                "bound_active",
                f"Parameters {values} stand on the bounds {bounds}: widen bounds, or lower order.",
            )
        )
    return found


def _share_of_rank(jacobian: NDArray) -> float:
    scale = np.linalg.norm(jacobian, axis=0)
    if not np.all(scale > 0):
        return 0.0
    singular = np.linalg.svd(jacobian / scale, compute_uv=False)
    return float(singular[-1] / singular[0])


def unresolved_pair(terms: Sequence[RadialTerm]) -> tuple[int, int] | None:
    """Neighbors whose deviation exceeds a quarter of their gap, the worst of them.

    A logarithm whose coefficient is within three deviations of 0 is one with its power.

    Parameters
    ----------
    terms : sequence of RadialTerm
        By ascending exponent.

    Returns
    -------
    tuple of two indices, or None

    Examples
    --------
    >>> near = [RadialTerm("power", mu, 1.0, 0.05, 0.1, i) for i, mu in enumerate((0.5, 0.6))]
    >>> unresolved_pair(near)
    (0, 1)
    """
    for j, term in enumerate(terms):
        size, error = abs(term.coefficient), abs(term.coefficient_error)
        if term.kind == "logarithm" and size <= DEVIATIONS * error:
            return next(i for i, t in enumerate(terms) if t.block == term.block and i != j), j
    worst, found = 1.0, None
    real = [i for i, term in enumerate(terms) if term.kind in ("power", "fixed")]
    for i, j in itertools.pairwise(real):
        gap = complex(terms[j].exponent).real - complex(terms[i].exponent).real
        deviation = max(abs(terms[i].exponent_error), abs(terms[j].exponent_error))
        share = min(SHARE_OF_GAP * deviation / max(gap, 1e-100), 1e100)
        if share > worst:
            worst, found = share, (i, j)
    return found


def merged(
    search: Search, candidate: Candidate, terms: Sequence[RadialTerm], pair: tuple[int, int]
) -> Candidate:
    """Refit with one power in place of two that cannot be told apart.

    A pair block that loses one of its members leaves the other as a power.
    """
    structure, parameters = candidate.structure, candidate.fit.parameters
    touched = {terms[i].block for i in pair}
    powers = [0.5 * sum(complex(terms[i].exponent).real for i in pair)]
    for i, term in enumerate(terms):
        single = term.block < structure.powers or term.block in touched
        if i not in pair and single and term.kind == "power":
            powers.append(complex(term.exponent).real)
    blocks = structure.split(parameters)[1]
    left = [k for k in range(structure.pairs) if structure.powers + k not in touched]
    smaller = Structure(len(powers), len(left), structure.fixed)
    start = np.concatenate([powers, blocks[left].ravel()])
    return search.polish(search.fit(smaller, start, candidate.source))


def window_drift(search: Search, candidate: Candidate, noise: float | None) -> Drift | None:
    """Fit the radii up to half the largest again, from the fit of all.

    Parameters
    ----------
    search : Search
        Over all rows.
    candidate : Candidate
        Its fit.
    noise : float, optional
        Of the weighted rows, if known.

    Returns
    -------
    Drift or None
        None if the inner half has too few rows or no exponent is free.
    """
    structure, rows = candidate.structure, search.rows
    inner = inner_half(rows)
    if not structure.n_parameters or len(np.unique(inner.r)) < structure.unknowns + 3:
        return None
    half = search.polish(
        Candidate(
            structure, search.fits(structure, candidate.fit.parameters, inner).best(), "window"
        ),
        inner,
    )
    lead = leading(structure, candidate.fit.parameters)
    other = leading(structure, half.fit.parameters)
    errors = [part.fit.standard_errors(noise)[0] for part in (candidate, half)]
    deviation = float(np.hypot(errors[0][lead], errors[1][other]))
    return Drift(
        float(candidate.fit.parameters[lead]), float(half.fit.parameters[other]), deviation
    )


def inner_half(rows: RadialRows) -> RadialRows:
    """Rows at radii up to half the largest."""
    return rows.take(np.flatnonzero(rows.r <= 0.5 * rows.r.max()))


def leading(structure: Structure, parameters: NDArray) -> int:
    """Index of the parameter that is the lowest exponent, or the mean of the lowest pair."""
    powers, pairs = structure.split(np.asarray(parameters))
    lows = [*powers, *(s - max(q, 0.0) ** 0.5 for s, q in pairs)]
    first = int(np.argmin(lows))
    return first if first < len(powers) else len(powers) + 2 * (first - len(powers))


def contamination(search: Search, larger: Candidate, order: int) -> float | None:
    """Drift of the leading exponent that the terms beyond ``order`` predict to first order.

    The first-order change of the fitted parameters is the least-squares solution of
    ``J d = rest`` with the Jacobian of the lowest ``order`` powers and the values of the other
    terms; on uniform samples of the ball and for one power this is the closed form of
    `sciml.theory.contamination_bias`.

    Parameters
    ----------
    search : Search
    larger : Candidate
        A fit with more terms, powers only.
    order : int
        How many of them the smaller fit has.

    Returns
    -------
    float or None
        None if pair blocks are among the terms.
    """
    if larger.structure.pairs or larger.structure.fixed:
        return None
    rank = np.argsort(larger.fit.parameters)
    mu, c = larger.fit.parameters[rank], larger.fit.coefficients[rank]
    shifts = []
    for rows in (search.rows, inner_half(search.rows)):
        columns, slopes = RadialSum(rows.r, Structure(len(mu)))(mu[None])
        columns = columns[0] * rows.weights[:, None]
        by_mu = (slopes.values[0] * c[:, None]).T * rows.weights[:, None]
        jacobian = np.concatenate([columns[:, :order], by_mu[:, :order]], axis=1)
        rest = columns[:, order:] @ c[order:]
        shifts.append(np.linalg.lstsq(jacobian, rest, rcond=None)[0][order])
    return float(shifts[1] - shifts[0])
