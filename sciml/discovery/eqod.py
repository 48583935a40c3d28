"""EqOD: a symmetry gate, then stability selection, with a fallback to a plain regression.

After N'guessan and Kim, "EqOD: Symmetry-Informed Stability Selection for PDE Identification",
arXiv:2605.11524, as outlined in its abstract. It is kept as a reference; the default estimator
:class:`sciml.WhitenedBestSubset` finds more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.base import AbstractDiscoverer
from sciml.discovery.plain_fit import plain_fit
from sciml.discovery.result import Selection
from sciml.discovery.sparse_supports import Choice, lasso_support, path_by_size, stlsq_support
from sciml.discovery.stability import StabilityPath, stability_selection
from sciml.discovery.subset_search import GramSystem
from sciml.discovery.symmetry import SymmetryReport, allowed_columns, symmetry_report
from sciml.discovery.terms import Feature
from sciml.discovery.whitened_fit import (
    FLOOR_CLEAN,
    FLOOR_WHITENED,
    Assembled,
    whitened_best_subset,
)

LARGEST_RATIO = 1.25
"""Residual of the reduced library over that of the full one, at which the plain gate closes."""

WORSE = 1.5
MARGIN = 1e-3
"""A selection is dropped if its relative residual exceeds ``WORSE`` times that of the full library
plus ``MARGIN``."""

BASELINES = ("lasso", "stlsq")
FINALS = ("lasso", "stlsq", "stability")
GATES = ("whitened", "rss_ratio")


class EqOD(AbstractDiscoverer):
    """Equation discovery by a symmetry gate and stability selection.

    If the data are compatible with Galilean invariance, the library is reduced to the terms that
    it allows and ``final`` chooses among them; otherwise stability selection chooses from the
    whole library. A selection that is empty, or fits much worse than the whole library, is
    replaced by that of ``baseline`` on the whole library.

    Parameters
    ----------
    library : Library, list of str, or None
        Candidate terms; see :class:`sciml.Library` for the default.
    baseline : {"stlsq", "lasso"}, default "stlsq"
        Method to fall back on, on the whole library; ``"lasso"`` is the weaker one.
    final : {"lasso", "stlsq", "stability"}, default "stability"
        Method on the reduced library when the gate is open.
    gate : {"whitened", "rss_ratio"}, default "whitened"
        ``"whitened"`` opens if the F statistic of the forbidden columns on whitened rows is at most
        20; ``"rss_ratio"`` if leaving them out raises the squared residual on plain rows by at
        most a quarter, which weak forbidden terms in noisy data can pass.
    n_subsamples : int, default 100
        Random halves of the rows in stability selection.
    threshold : float, default 0.8
        Share of the halves that must choose a term.
    expected_false : float, default 1.0
        Accepted expected number of false terms, if false columns were exchangeable. With 1, a run
        may choose 1.9 of the six invariant terms of the default library, so that a longer equation
        seldom stands and the baseline decides; 4 allows 3.8.
    target, periodic, half_widths, known
        As for :class:`sciml.WhitenedBestSubset`.
    random_state : int, default 0
        Seed of the halves and of the random penalty weights.

    Attributes
    ----------
    terms_, standard_errors_, cov_, chi2_, adequate_, path_, notices_
        As for :class:`sciml.WhitenedBestSubset`.
    symmetry_ : dict of str to SymmetryReport
        Structure tests; ``applied`` is ``"galilean"`` if the gate was open.
    gate_ : dict of str to str
        ``"open"``, ``"closed"``, or ``"not applicable"`` for several fields or coefficients that
        depend on position.
    inclusion_ : dict of str to dict of str to float
        Largest selection frequency of each term, where stability selection was run.
    stability_ : dict of str to StabilityPath
        The whole paths of frequencies, over the columns that were offered.
    fallback_ : dict of str to bool
        Whether the baseline's terms are returned.

    Examples
    --------
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = EqOD(periodic=True).fit(u, coords={"x": x, "t": t})
    >>> model.terms_, model.gate_, model.fallback_
    ({'u': {'u_xx': 0.1...}}, {'u': 'open'}, {'u': False})
    """

    def __init__(
        self,
        library: Any = None,
        *,
        baseline: str = "stlsq",
        final: str = "stability",
        gate: str = "whitened",
        n_subsamples: int = 100,
        threshold: float = 0.8,
        expected_false: float = 1.0,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        half_widths: Sequence[int] | None = None,
        known: Mapping[str, Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.library = library
        self.baseline = baseline
        self.final = final
        self.gate = gate
        self.n_subsamples = n_subsamples
        self.threshold = threshold
        self.expected_false = expected_false
        self.target = target
        self.periodic = periodic
        self.half_widths = half_widths
        self.known = known
        self.random_state = random_state

    def fit(self, X: Any, y: None = None, *, coords: Mapping[str, Any] | None = None) -> EqOD:
        """Find the equation of each target field.

        Parameters
        ----------
        X, coords
            Recording(s) as for :meth:`sciml.WhitenedBestSubset.fit`.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        for name, allowed in (("baseline", BASELINES), ("final", FINALS), ("gate", GATES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        self.gate_: dict[str, str] = {}
        self.stability_: dict[str, StabilityPath] = {}
        self.fallback_: dict[str, bool] = {}
        super().fit(X, y, coords=coords)
        return self

    def _select(self, assembled: Assembled, features: tuple[Feature, ...]) -> Selection:
        matrix, left = assembled.plain
        system = GramSystem.of(matrix, left)
        state, report = self._test_gate(assembled, features, system)
        columns = list(range(len(features)))
        method = "stability"
        if state == "open":
            columns = allowed_columns(features, "galilean")
            method = self.final
        choice, inclusion = self._choose(method, assembled.target, matrix, left, columns)
        notices: tuple[str, ...] = ()
        reason = _failure(system, choice.support)
        if reason:
            choice = _regress(self.baseline, matrix, left)
            notices = (f"{reason}: the terms are those of {self.baseline!r} on the whole library",)
        self.gate_[assembled.target] = state
        self.fallback_[assembled.target] = bool(reason)
        fit = plain_fit(assembled, choice.support)
        return Selection(
            support=fit.support,
            coefficients=fit.coefficients,
            covariance=fit.covariance,
            chi2=fit.chi2,
            adequate=fit.adequate,
            notices=(*notices, *fit.notices),
            path=path_by_size(choice, system, [feature.name for feature in features]),
            symmetry=report,
            inclusion=inclusion,
        )

    def _test_gate(
        self, assembled: Assembled, features: tuple[Feature, ...], system: GramSystem
    ) -> tuple[str, SymmetryReport]:
        """Whether the data are compatible with Galilean invariance, and all structure tests."""
        floor = FLOOR_CLEAN if assembled.clean else FLOOR_WHITENED
        if self.gate == "whitened" and not assembled.clean:
            # white rows need an equation to know how noise enters: the best one of any structure
            tested = whitened_best_subset(assembled, 5).system
        else:
            tested = system
        report = symmetry_report(tested, features, floor)
        if "galilean" not in report.tests:
            return "not applicable", report
        opens = report.gate_open
        if self.gate == "rss_ratio":
            base = floor**2 * system.square
            _, full = system.solve(tuple(range(system.size)))
            _, reduced = system.solve(tuple(allowed_columns(features, "galilean")))
            opens = reduced + base <= LARGEST_RATIO * (full + base)
        if not opens:
            return "closed", report
        return "open", replace(report, applied="galilean")

    def _choose(
        self, method: str, target: str, matrix: NDArray, left: NDArray, columns: list[int]
    ) -> tuple[Choice, NDArray | None]:
        """Terms among some columns, and how often each column of the library was chosen."""
        offered = matrix[:, columns]
        if method != "stability":
            choice = _regress(method, offered, left)
            inclusion = None
        else:
            path = stability_selection(
                offered,
                left,
                n_subsamples=self.n_subsamples,
                threshold=self.threshold,
                expected_false=self.expected_false,
                random_state=self.random_state,
            )
            self.stability_[target] = path
            choice = Choice(path.support)
            inclusion = np.zeros(matrix.shape[1])
            inclusion[columns] = path.max_frequencies

        def back(support: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(columns[k] for k in support)

        steps = tuple((back(support), score) for support, score in choice.steps)
        return Choice(back(choice.support), steps), inclusion


def _regress(method: str, matrix: NDArray, left: NDArray) -> Choice:
    if method == "lasso":
        return lasso_support(matrix, left)
    return stlsq_support(GramSystem.of(matrix, left))


def _failure(system: GramSystem, support: tuple[int, ...]) -> str:
    """Why a selection cannot stand; empty if it can."""
    if not support:
        return "no term was chosen often enough"
    relative = (system.solve(support)[1] / system.square) ** 0.5
    best = (system.solve(tuple(range(system.size)))[1] / system.square) ** 0.5
    if relative > WORSE * best + MARGIN:
        return (
            f"the chosen terms leave {relative:.2%} of the time derivative unexplained, the whole "
            f"library {best:.2%}"
        )
    return ""
