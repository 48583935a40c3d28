"""What is wrong with the members of a batch, in the words of a single fit, and as a table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.diagnosis import Finding, convergence, unresolved_pair
from sciml.powerlaw.findings import (
    drifting,
    insignificant,
    left_over,
    terms_of,
    unresolved,
    worst_first,
)
from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.rounding import at_least_rounding
from sciml.powerlaw.rows import values
from sciml.powerlaw.search import Candidate, Search
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.structure import Structure

TWINS, CANCELED = 1e-3, 0.1
"""Powers nearer than the first whose coefficients cancel to less than the second are a logarithm
in disguise."""

PRINTED = 20
"""A table has so many lines at most."""

EMPTY = Finding("empty", "All values are 0: any exponents would do.")
"""What a single fit says of zero data."""


@dataclass(frozen=True)
class Evidence:
    """What the judgment of a batch goes by: its fit, in units of its own, as NumPy arrays.

    Attributes
    ----------
    r : ndarray, shape (rows,) or (batch, rows)
    y : ndarray, shape (batch, rows)
    weights : ndarray, shape (rows,) or (batch, rows), or None
    fit : SeparableFit
    noise : ndarray, shape (batch,), or None
        Standard deviation of the weighted rows of each member.
    bounds : tuple of float
    starts, seed, rtol
        As in `sciml.powerlaw.fit_power_laws`.
    """

    r: NDArray
    y: NDArray
    weights: NDArray | None
    fit: SeparableFit
    noise: NDArray | None
    bounds: tuple[float, float]
    starts: int
    seed: Any
    rtol: float

    def judge(self, member: int) -> tuple[Finding, ...]:
        """Findings about one member, worst first; none if it can be relied on."""
        y = self.y[member]
        if not np.any(y):
            return (EMPTY,)
        scale = 1.0 if self.weights is None else _row(self.weights, member)
        rows = values(_row(self.r, member), y, scale)
        noise = None if self.noise is None else float(self.noise[member])
        fit = self.fit[member]
        candidate = Candidate(Structure(len(fit.parameters)), fit, "batch")
        generator = np.random.default_rng(self.seed)
        search = Search(rows, self.bounds, max(self.starts, 1), generator, self.rtol)
        terms = terms_of(candidate, noise)
        findings = convergence(candidate, self.bounds)
        findings += disguised(terms)
        if not candidate.exact:
            pair = unresolved_pair(terms)
            if pair is not None and not disguised(terms):
                low, high = (terms[i] for i in pair)
                findings.append(unresolved(low, high, "a lower order would do"))
            findings += drifting(search, candidate, noise, auto=False)[1]
        findings += insignificant(terms)
        findings += left_over(fit, rows.r, noise)
        return tuple(worst_first(findings))


def disguised(terms: Sequence[RadialTerm]) -> list[Finding]:
    """Powers whose large coefficients cancel: a logarithm, which a batch of powers does not have.

    Examples
    --------
    >>> twins = [RadialTerm("power", mu, c, 0.0, 0.0, 0) for mu, c in ((0.5, -9e4), (0.50001, 9e4))]
    >>> [finding.status for finding in disguised(twins)]
    ['unresolved']
    """
    found = []
    for low, high in itertools.pairwise(terms):
        one, other = low.coefficient, high.coefficient
        near = abs(high.exponent - low.exponent) < TWINS
        if near and abs(one + other) < CANCELED * (abs(one) + abs(other)):
            found.append(
                Finding(
                    "unresolved",
                    f"Exponents {complex(low.exponent).real:.6g} and "
                    f"{complex(high.exponent).real:.6g} have coefficients {one:.3g} and "
                    f"{other:.3g} that cancel: a logarithm in disguise; PowerLawFit fits it as a "
                    "pair block.",
                )
            )
    return found


def table_of_batch(
    statuses: Sequence[str], exponents: NDArray, errors: NDArray, residuals: NDArray
) -> str:
    """Print members, one a line, with status, exponents and their errors.

    Examples
    --------
    >>> print(table_of_batch(["ok"], np.array([[0.5]]), np.array([[0.01]]), np.array([1e-3])))
    member  status  relative residual  exponents
    0       ok      0.001              0.5 +- 0.01
    """
    lines = [("member", "status", "relative residual", "exponents")]
    for i, status in enumerate(statuses[:PRINTED]):
        pairs = zip(exponents[i].tolist(), errors[i].tolist(), strict=True)
        numbers = [
            f"{mu:.7g} +- {at_least_rounding(error, mu, 1.0).real:.2g}" for mu, error in pairs
        ]
        shown = "none" if status == EMPTY.status else ", ".join(numbers)
        lines.append((str(i), status, f"{float(residuals[i]):.2g}", shown))
    widths = [max(len(line[k]) for line in lines) + 2 for k in range(3)] + [0]
    text = [
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    if len(statuses) > PRINTED:
        text.append(f"... and {len(statuses) - PRINTED} more")
    return "\n".join(text)


def _row(array: NDArray, member: int) -> NDArray:
    return array if array.ndim == 1 else array[member]
