"""Search for the best sum of powers of a given order, and for the order."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.rows import RadialRows
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.starts import (
    LogProfile,
    pencil_start,
    profiles,
    scan_starts,
    split_starts,
    stratified_starts,
)
from sciml.powerlaw.structure import CLOSE, Structure, group
from sciml.powerlaw.varpro import STATIONARY, reduced_residuals, variable_projection

_log = logging.getLogger(__name__)

EXACT = 1e-12
"""Relative residual at which data count as free of noise and the search is over."""

NEARLY = 1e-10
"""Relative residual from which a candidate of the search is worth finishing at once."""

SMOOTH = 1e-9
"""Relative misfit of the profile below which samples may be exact."""

RANKED, SEARCH_STEPS = 1e-6, 30
"""While starts are only ranked, a fit rests when a step promises this share of the residual."""

POLISH_STEPS = 100

PENCIL_STARTS = 2
"""So many of the pencil's starts are followed, those that leave the smallest residual."""

RACE_STEPS, RACE_TRIALS, RACE_FINALISTS, RACE_ROWS = 8, 6, 3, 400
"""Random starts run this many steps, with so many failures, on so many rows; the best run on."""

LARGEST_BY_BIC = 6
"""Samples that are not met to rounding do not determine more exponents than this."""

LOOK_AHEAD = 2
"""So many orders in a row must fail to lower BIC before the search for the order ends."""


@dataclass(frozen=True)
class Candidate:
    """A structure with its fit.

    Attributes
    ----------
    structure : Structure
    fit : SeparableFit
    source : str
        Which start led to it.
    """

    structure: Structure
    fit: SeparableFit
    source: str

    @property
    def misfit(self) -> float:
        """Relative residual."""
        return float(self.fit.relative_residual)

    @property
    def exact(self) -> bool:
        """Whether the data are met to rounding."""
        return self.misfit <= EXACT

    def bic(self, noise: float | None = None) -> float:
        """``N log RSS + (unknowns) log N``, or with ``RSS/noise^2`` if the noise is known."""
        rows = len(self.fit.residual)
        total = float(self.fit.residual @ self.fit.residual)
        penalty = self.structure.unknowns * math.log(rows)
        if noise is not None:
            return total / noise**2 + penalty
        return rows * math.log(max(total, 1e-300)) + penalty


@dataclass
class Search:
    """Finds the best fit of each order once, and remembers it.

    Parameters
    ----------
    rows : RadialRows
        What is to be met. The pencil is used if all are values.
    bounds : tuple of float
        Range of exponents.
    starts : int
        Number of random starts.
    rng : numpy.random.Generator
    rtol : float
        As in `variable_projection`.
    fixed : tuple of float
        Exponents that are known.
    pairs : bool
        Whether pair blocks may be used.
    """

    rows: RadialRows
    bounds: tuple[float, float]
    starts: int
    rng: np.random.Generator
    rtol: float = 1e-15
    fixed: tuple[float, ...] = ()
    pairs: bool = True
    _known: dict[int, Candidate] = field(default_factory=dict)
    _profiles: list[LogProfile] | None = None

    def of_order(self, order: int) -> Candidate:
        """Best fit with this many free exponents, iterated to rest."""
        found = self._of_order(order)
        return found if found.exact else self.tidy(self.polish(found))

    def _of_order(self, order: int) -> Candidate:
        if order not in self._known:
            found = self._search(order)
            _log.info("order %d: relative residual %.3g from %s", order, found.misfit, found.source)
            self._known[order] = found
        return self._known[order]

    def of_structure(self, structure: Structure) -> Candidate:
        """Best fit of given blocks: from random starts, pairs from their exponents."""
        if structure.n_parameters == 0:
            return self._of_order(0)
        drawn = stratified_starts(structure.n_parameters, self.bounds, self.starts, self.rng)
        starts = drawn.copy()
        for k in range(structure.pairs):
            at = structure.powers + 2 * k
            low, high = drawn[:, at], drawn[:, at + 1]
            starts[:, at], starts[:, at + 1] = 0.5 * (low + high), 0.25 * (high - low) ** 2
        best = self.fit(structure, starts, "random starts")
        return self.polish(best)

    def best_order(self, largest: int, noise: float | None = None) -> Candidate:
        """Smallest BIC over the orders, or the first that meets the data to rounding.

        Parameters
        ----------
        largest : int
            Orders from 1 (0 if exponents are fixed) to this one.
        noise : float, optional
            Standard deviation of the weighted rows, if known.
        """
        if (exact := self._exact_order(largest)) is not None:
            return exact
        best: Candidate | None = None
        worse = 0
        for order in range(0 if self.fixed else 1, min(largest, LARGEST_BY_BIC) + 1):
            found = self._of_order(order)
            if found.exact:
                return found
            if best is None or found.bic(noise) < best.bic(noise):
                best, worse = found, 0
            else:
                worse += 1
                if worse >= LOOK_AHEAD:
                    break
        assert best is not None
        return self.of_order(best.structure.order)

    def fit(
        self,
        structure: Structure,
        starts: NDArray,
        source: str,
        rows: RadialRows | None = None,
        **options: Any,
    ) -> Candidate:
        """Fit one structure from one or several starts, and keep the best."""
        fits = self.fits(structure, starts, rows, **options)
        return Candidate(structure, fits.best(), source)

    def fits(
        self,
        structure: Structure,
        starts: NDArray,
        rows: RadialRows | None = None,
        **options: Any,
    ) -> SeparableFit:
        """Fit one structure from several starts as one batch, to the tolerance of the search."""
        rows = self.rows if rows is None else rows
        lower, upper = structure.bounds(*self.bounds)
        return variable_projection(
            RadialSum(rows.r, structure, rows.operator),
            rows.y,
            np.atleast_2d(starts),
            lower=lower,
            upper=upper,
            weights=rows.weights,
            **{"rtol": self.rtol, "stationary": RANKED, "max_iterations": SEARCH_STEPS, **options},
        )

    def polish(self, candidate: Candidate, rows: RadialRows | None = None) -> Candidate:
        """Iterate a candidate to rest."""
        options = {"stationary": STATIONARY, "max_iterations": POLISH_STEPS}
        start = candidate.fit.parameters
        found = self.fit(candidate.structure, start, candidate.source, rows, **options)
        return found if found.misfit <= candidate.misfit * (1 + 1e-9) else candidate

    def _search(self, order: int) -> Candidate:
        if order == 0:
            return self.fit(Structure(fixed=self.fixed), np.zeros((1, 0)), "fixed exponents")
        found: list[Candidate] = []
        for attempt in (self._from_pencil, self._from_race, self._from_lower_order):
            found += attempt(order)
            best = min(found, key=lambda candidate: candidate.misfit, default=None)
            if best is not None and best.misfit < NEARLY:
                finished = self.tidy(self.polish(best))
                if finished.exact:
                    return finished
        return min(found, key=lambda candidate: candidate.misfit)

    def _exact_order(self, largest: int) -> Candidate | None:
        """Order that the pencil alone finds where the samples are those of a smooth profile."""
        if not self.profiles or self.profiles[0].misfit > SMOOTH:
            return None
        for order in range(1, largest + 1):
            found = self._from_pencil(order)
            best = min(found, key=lambda candidate: candidate.misfit)
            if best.misfit > NEARLY:
                continue
            best = self.tidy(self.polish(best))
            if best.exact:
                self._known[order] = best
                return best
        return None

    @property
    def profiles(self) -> list[LogProfile]:
        """What the pencil looks at; nothing if the rows are not all values of free powers."""
        if self._profiles is None:
            usable = self.rows.operator is None and not self.fixed
            self._profiles = profiles(self.rows) if usable else []
        return self._profiles

    def _from_pencil(self, order: int, **options: Any) -> list[Candidate]:
        """Follow what the pencil sees in each profile, with close exponents as pairs and apart."""
        starts: list[tuple[float, Structure, NDArray]] = []
        for profile in self.profiles:
            exponents = pencil_start(profile, order, self.bounds)
            for close in (True, False) if self.pairs else (False,):
                structure, start = self._arrange(exponents, close)
                model = RadialSum(self.rows.r, structure)
                cost = reduced_residuals(model, self.rows.y, start[None], self.rows.weights)
                starts.append((float(cost[0]), structure, start))
                if structure.pairs == 0:
                    break
        starts.sort(key=lambda entry: entry[0])
        found: list[Candidate] = []
        for _, structure, start in starts[:PENCIL_STARTS]:
            found.append(self.fit(structure, start, "matrix pencil", **options))
            if found[-1].misfit < NEARLY:
                break
        return found

    def _arrange(self, exponents: NDArray, close: bool) -> tuple[Structure, NDArray]:
        """Put exponents in blocks; without pairs, close ones are kept apart."""
        if close:
            return group(exponents, self.fixed)
        real = np.sort(np.real(exponents))
        apart = np.maximum.accumulate(real + 1e-3 * np.arange(len(real)))
        return Structure(len(real), 0, self.fixed), np.clip(apart, *self.bounds)

    def _from_race(self, order: int) -> list[Candidate]:
        """Random starts run a few steps on some of the rows; the best run on to the end."""
        structure = Structure(order, 0, self.fixed)
        starts = stratified_starts(order, self.bounds, self.starts, self.rng)
        short = {"max_iterations": RACE_STEPS, "max_trials": RACE_TRIALS}
        fits = self.fits(structure, starts, self._some_rows(), **short)
        ranking = np.argsort(fits.relative_residual, kind="stable")[:RACE_FINALISTS]
        return [self.fit(structure, fits.parameters[ranking], "random starts")]

    def _some_rows(self) -> RadialRows:
        """Every so manieth row in the order of the radii, all rows of few."""
        if len(self.rows) <= RACE_ROWS or self.rows.operator is not None:
            return self.rows
        places = np.linspace(0, len(self.rows) - 1, RACE_ROWS).round().astype(int)
        return self.rows.take(np.argsort(self.rows.r, kind="stable")[places])

    def _from_lower_order(self, order: int) -> list[Candidate]:
        """One term more than the best fit of the order below: scanned, or split off."""
        if order == 1:
            structure, parameters = Structure(fixed=self.fixed), np.zeros(0)
        else:
            below = self._of_order(order - 1)
            structure, parameters = below.structure, below.fit.parameters
        larger, starts = scan_starts(self.rows, structure, parameters, self.bounds)
        found = [self.fit(larger, starts, "scan")]
        if self.pairs and (split := split_starts(structure, parameters)) is not None:
            found.append(self.fit(*split, "split"))
        return found

    def tidy(self, candidate: Candidate, changes: int = 3) -> Candidate:
        """Turn close powers into a pair block, and a wide pair into two powers.

        Powers that merge with growing coefficients of opposite sign are a logarithm in disguise;
        the pair block reaches it, and is well conditioned.

        Not more often than ``changes``: a poor fit may turn to and fro.
        """
        if changes == 0:
            return candidate
        structure, parameters = candidate.structure, candidate.fit.parameters
        powers, pairs = structure.split(parameters)
        order = np.argsort(powers)
        gaps = np.diff(powers[order])
        # a hair below the width at which a pair parts: no turning to and fro
        close = np.flatnonzero(gaps < 0.99 * CLOSE)
        wide = np.flatnonzero(pairs[:, 1] > (0.5 * CLOSE) ** 2) if len(pairs) else []
        if self.pairs and len(close):
            nearest = close[np.argmin(gaps[close])]
            i, j = order[nearest], order[nearest + 1]
            pair = [0.5 * (powers[i] + powers[j]), 0.25 * (powers[j] - powers[i]) ** 2]
            start = np.concatenate([np.delete(powers, [i, j]), pairs.ravel(), pair])
            changed = replace(structure, powers=len(powers) - 2, pairs=len(pairs) + 1)
        elif len(wide):
            s, q = pairs[wide[0]]
            both = np.clip([s - math.sqrt(q), s + math.sqrt(q)], *self.bounds)
            start = np.concatenate([powers, both, np.delete(pairs, wide[0], axis=0).ravel()])
            changed = replace(structure, powers=len(powers) + 2, pairs=len(pairs) - 1)
        else:
            return candidate
        refit = self.polish(self.fit(changed, start, candidate.source))
        # the same functions in other coordinates: only rounding may make it worse
        if refit.misfit <= max(1.0000001 * candidate.misfit, 1e-15):
            return self.tidy(refit, changes - 1)
        return candidate
