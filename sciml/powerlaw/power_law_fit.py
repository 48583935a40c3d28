"""Estimator of sums of powers of the radius."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sciml.powerlaw.arguments import check_arguments, read_blocks, read_seed
from sciml.powerlaw.choice import at_rest, choose, evaluate
from sciml.powerlaw.diagnosis import Drift, Finding, convergence
from sciml.powerlaw.efficiency import Efficiency, measure_efficiency
from sciml.powerlaw.error_floor import covariance_with_rounding
from sciml.powerlaw.findings import (
    drifting,
    insignificant,
    left_over,
    logarithms,
    merge_unresolved,
    worst_first,
)
from sciml.powerlaw.radial_terms import RadialTerm, columns_of, radial_terms, table
from sciml.powerlaw.rows import RadialRows, stack
from sciml.powerlaw.samples import check_bounds, places, radii, read_samples, width
from sciml.powerlaw.search import Candidate, Search
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.units import in_unit, unit_of
from sciml.powerlaw.within_bounds import close_unseen_gaps, within_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PowerLawFit(RegressorMixin, BaseEstimator):
    """Fit ``y = sum_k c_k r^(mu_k)`` with free exponents, logarithms and oscillations.

    Coefficients are eliminated by variable projection, exponents iterate by Levenberg-Marquardt
    from start values that a matrix pencil reads off the samples, from random ones, and from fits of
    lower order. Exponents that meet are fitted as a pair block, which passes smoothly from two
    powers over ``r^s, r^s log r`` to oscillations.

    Parameters
    ----------
    order : int or "auto", default "auto"
        Number of free exponents. ``"auto"`` takes the first that meets the samples to rounding
        (relative residual 1e-12; up to 8), else the one of smallest BIC (up to 6).
    blocks : "auto", "powers" or sequence, default "auto"
        ``"powers"`` forbids pair blocks. A sequence fixes the model: ``"power"`` and ``"pair"`` for
        free blocks and numbers for known exponents, such as ``("power", 0.0)`` for one power
        and a constant; the order is then that of the sequence.
    bounds : tuple of float, default (-3, 5)
        Range of exponents. Those at or below ``-d/2`` are not square integrable at the center
        of ``d`` dimensions: right for samples that stay away from it.
    starts : int, default 40
        Random starts per order.
    rtol : float, default 1e-15
        Relative step at which the iteration rests.
    random_state : int, RandomState or None, default 0
        Seed of the random starts.
    center : array_like, optional
        Center of the radii, if samples are points; the origin by default.

    Attributes
    ----------
    exponents_ : ndarray of complex, shape (order,)
        Ascending.
    coefficients_ : ndarray, shape (order,)
        In the same order; complex if exponents are. See ``terms_`` for their functions.
    standard_errors_ : dict of ndarray
        ``"exponents"`` and ``"coefficients"``; complex ones hold the errors of both parts. They
        count the rounding of the samples, all there is if these are exact.
    terms_ : tuple of RadialTerm
        Exponents with coefficients, errors and what function they belong to.
    blocks_ : tuple of str
        ``"power"``, ``"pair"`` and ``"fixed"``.
    status_ : str
        ``"ok"``, or what is wrong: ``"unidentifiable"``, ``"empty"`` (all values are 0),
        ``"not_converged"``, ``"rank_deficient"``, ``"bound_active"``, ``"unresolved"`` (exponents
        that the noise does not tell apart, reported merged), ``"not_a_power_law"`` (the leading
        exponent drifts with the window), ``"contaminated"`` (more terms are there than were asked
        for, and they bias these), ``"poor_fit"`` (more is left over than the noise, or it has
        structure), ``"saturated"`` (as many samples as unknowns: nothing to judge by).
    advice_ : tuple of str
        What helps, empty if the status is ok.
    drift_ : Drift or None
        Movement of the leading exponent when the outer half of the radii is left out.
    relative_residual_ : float
    fit_ : SeparableFit
        The fit behind it all.

    Examples
    --------
    >>> r = np.linspace(0.01, 1.0, 200)
    >>> model = PowerLawFit().fit(r, 2.0 / r + np.log(r))
    >>> model.status_, model.blocks_
    ('ok', ('power', 'pair'))
    >>> print(model)
    PowerLawFit: 3 exponents, relative residual ...e-1..., ok
    term        exponent  error...
    r^-1        -1 ...
    """

    fit_: SeparableFit
    terms_: tuple[RadialTerm, ...]
    status_: str

    def __init__(
        self,
        order: int | str = "auto",
        blocks: str | Sequence[str | float] = "auto",
        bounds: tuple[float, float] = (-3, 5),
        starts: int = 40,
        rtol: float = 1e-15,
        random_state: Any = 0,
        center: ArrayLike | None = None,
    ) -> None:
        self.order = order
        self.blocks = blocks
        self.bounds = bounds
        self.starts = starts
        self.rtol = rtol
        self.random_state = random_state
        self.center = center

    # ---- fitting --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, weights: Any = None, noise: float | None = None) -> PowerLawFit:
        """Fit samples.

        Parameters
        ----------
        X : array_like or torch.Tensor, shape (n,), (n, 1) or (n, d)
            Radii, or points whose distance from the center counts.
        y : array_like or torch.Tensor, shape (n,)
            Values.
        weights : array_like, shape (n,), optional
            Residuals are multiplied by it, as in `numpy.polyfit`: the inverse of the standard
            deviation of each sample, up to a factor.
        noise : float, optional
            Standard deviation of a sample of weight one. Estimated from the residual if left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For samples or arguments that cannot be used; the message names the remedy.
        """
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: wanted a value per sample"
            )
        bounds = check_bounds(self.bounds)
        rows = read_samples(X, y, weights, self.center, bounds)
        self.n_features_in_ = width(X)
        self._places = places(X) if self.n_features_in_ > 1 else rows.r
        return self._fit(rows, bounds, noise)

    def fit_rows(
        self, rows: RadialRows | Sequence[RadialRows], noise: float | None = None
    ) -> PowerLawFit:
        """Fit rows of any kind: values, and linear equations in the radius.

        Parameters
        ----------
        rows : RadialRows or sequence of RadialRows
            From `sciml.powerlaw.rows`: `values` and `equation`.
        noise : float, optional
            Standard deviation of the weighted rows.

        Returns
        -------
        self

        Examples
        --------
        The equation ``x u'' + u'/2 = 0`` with ``u(1) = 1``, and exponents above 0 for ``u(0) = 0``:

        >>> from sciml.powerlaw.rows import equation, values
        >>> x = np.linspace(0.1, 1.0, 20)
        >>> model = PowerLawFit(bounds=(0.01, 3)).fit_rows(
        ...     [equation(x, 0.0, second=x, first=0.5), values(1.0, 1.0)]
        ... )
        >>> model.exponents_.real
        array([0.5])
        """
        parts = [rows] if isinstance(rows, RadialRows) else list(rows)
        bounds = check_bounds(self.bounds)
        self.n_features_in_, self._places = 1, None
        return self._fit(stack(parts), bounds, noise)

    def _fit(
        self, rows: RadialRows, bounds: tuple[float, float], noise: float | None
    ) -> PowerLawFit:
        check_arguments(self.order, self.starts, self.rtol, noise)
        self.noise_ = noise
        self.drift_: Drift | None = None
        self._height = unit_of(rows.y)
        self._rows = rows = replace(rows, y=rows.y / self._height)
        self._scaled_noise = None if noise is None else noise / self._height
        structure, fixed, pairs = read_blocks(self.blocks)
        if not np.any(rows.y):
            return self._empty("empty", "All values are 0: any exponents would do.")
        distinct = len(np.unique(rows.r))
        if distinct < 2:
            return self._empty(
                "unidentifiable",
                f"All samples are at one radius, {rows.r[0]:.6g}, where every exponent fits: give "
                "samples at different radii.",
            )
        self._scale = float(rows.r.max())
        search = Search(
            rows.scaled(self._scale),
            bounds,
            self.starts,
            read_seed(self.random_state),
            self.rtol,
            fixed,
            pairs,
        )
        candidate = choose(search, structure, self.order, self._scaled_noise)
        if candidate is None:
            return self._empty(
                "unidentifiable",
                f"{distinct} different radii do not determine {self._wanted(structure)} exponents "
                "with their coefficients: give more radii, or a lower order.",
            )
        self._conclude(search, candidate)
        return self

    def _conclude(self, search: Search, candidate: Candidate) -> None:
        """Judge the fit, merge what is not resolved, and report in the true unit of length."""
        findings: list[Finding] = []
        given = isinstance(read_blocks(self.blocks)[0], Structure)
        candidate = within_bounds(search, candidate, keep=given)
        if not given:
            candidate, findings = merge_unresolved(search, candidate, self._scaled_noise)
            candidate = within_bounds(search, candidate, keep=False)
        candidate = close_unseen_gaps(search, candidate, self._scaled_noise)
        findings += logarithms(candidate, self._scaled_noise)
        findings += convergence(candidate, search.bounds)
        if search.rows.operator is None and not candidate.exact:
            self.drift_, moving = drifting(
                search, candidate, self._scaled_noise, self.order == "auto"
            )
            findings += moving
        self._report(candidate)
        findings += insignificant(self.terms_)
        findings += left_over(self.fit_, self._places, self._scaled_noise)
        self._restore_height()
        findings = worst_first(findings)
        self.status_ = findings[0].status if findings else "ok"
        self.advice_ = tuple(finding.advice for finding in findings)

    # ---- results --------------------------------------------------------------------------

    def _report(self, candidate: Candidate) -> None:
        """Coefficients and errors in the unit of length of the samples."""
        self.fit_, structure = at_rest(self._rows, candidate), candidate.structure
        self.structure_ = structure
        self.blocks_ = structure.blocks
        self.relative_residual_ = float(self.fit_.relative_residual)
        self.terms_ = radial_terms(
            structure,
            self.fit_.parameters,
            self.fit_.coefficients,
            covariance_with_rounding(self.fit_, self._scaled_noise),
            as_fitted=True,
        )

    def _restore_height(self) -> None:
        """Turn the results into the unit of the values."""
        if self._height != 1.0:
            self.fit_, self.terms_ = in_unit(self.fit_, self.terms_, self._height)
            self._rows = replace(self._rows, y=self._rows.y * self._height)
        self._unpack()

    def _unpack(self) -> None:
        columns = columns_of(self.terms_)
        self.exponents_ = columns["exponent"].astype(complex)
        self.coefficients_ = columns["coefficient"]
        self.standard_errors_ = {
            "exponents": columns["exponent_error"],
            "coefficients": columns["coefficient_error"],
        }

    def _empty(self, status: str, advice: str) -> PowerLawFit:
        """Report no numbers."""
        self.status_, self.advice_ = status, (advice,)
        self.structure_, self.terms_, self.blocks_ = Structure(), (), ()
        self.relative_residual_ = float("nan") if status == "unidentifiable" else 0.0
        self.exponents_, self.coefficients_ = np.zeros(0, complex), np.zeros(0)
        self.standard_errors_ = {"exponents": np.zeros(0), "coefficients": np.zeros(0)}
        return self

    def predict(self, X: Any) -> NDArray:
        """Evaluate the fitted sum.

        Parameters
        ----------
        X : array_like, shape (n,), (n, 1) or (n, d)
            As in `fit`.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError
            If nothing was identified, or a place is closer to the center than 1e-12 while an
            exponent is negative or a logarithm is there. An exponent that its error does not tell
            from 0 counts as 0 in the center.
        """
        check_is_fitted(self)
        features = width(X)
        if features != self.n_features_in_:
            remedy = " Reshape your data to (n, d)." if np.ndim(X) == 1 else ""
            raise ValueError(
                f"X has {features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input.{remedy}"
            )
        r = radii(X, self.center)
        if self.status_ == "unidentifiable":
            raise ValueError(f"nothing to predict with: {self.advice_[0]}")
        if not self.terms_:
            return np.zeros(len(r))
        return evaluate(r, self.structure_, self.fit_, self.terms_)

    def efficiency(
        self, trials: int = 200, noise: float | None = None, random_state: int = 0
    ) -> Efficiency:
        """Repeat the fit on simulated noise and hold its scatter against the Cramer-Rao bound.

        Parameters
        ----------
        trials : int, default 200
            Number of simulated recordings.
        noise : float, optional
            Standard deviation of a sample of weight one; that of `fit`, or of the residual.
        random_state : int, default 0

        Returns
        -------
        Efficiency
        """
        check_is_fitted(self)
        if not self.terms_:
            raise ValueError(f"nothing to repeat: {self.advice_[0]}")
        sigma = noise if noise is not None else self.noise_
        return measure_efficiency(
            self._rows, self.structure_, self.fit_, sigma, trials, random_state, self.rtol
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the exponents with their error bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting.power_law import plot_exponents

        check_is_fitted(self)
        return plot_exponents(self, ax)

    def plot_residual(self, ax: Axes | None = None) -> Axes:
        """Draw the residual against the radius.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting.power_law import plot_radial_residual

        check_is_fitted(self)
        return plot_radial_residual(self, ax)

    def __str__(self) -> str:
        if not hasattr(self, "status_"):
            return repr(self)
        count = len(self.terms_)
        head = (
            f"{type(self).__name__}: {count} exponent{'s' if count != 1 else ''}, relative "
            f"residual {self.relative_residual_:.2g}, {self.status_}"
        )
        return "\n".join([head, *([table(self.terms_)] if count else []), *self.advice_])

    def _wanted(self, structure: Structure | None) -> Any:
        if structure is not None:
            return structure.n_columns
        return "the" if self.order == "auto" else self.order

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a function of the radius alone
        return tags
