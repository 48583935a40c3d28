"""Exponents of a field about a corner, learned from boundary data and edge conditions."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from pdes.exact import Cone, corner_spectrum
from sciml.powerlaw.arguments import check_noise, check_rtol
from sciml.powerlaw.kinds import warn_of_single_precision
from sciml.powerlaw.rounding import at_least_rounding
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.wedge_arguments import check_wedge, check_wedge_rows
from sciml.powerlaw.wedge_model import WedgeModel, as_corner, largest, least_squares
from sciml.powerlaw.wedge_refit import REACH, nearest_admissible, refit
from sciml.powerlaw.wedge_samples import as_samples, condition_names, locate, row_system
from sciml.powerlaw.wedge_search import EXACT, find_terms
from sciml.powerlaw.wedge_status import ADVICE, is_starved, is_superfluous, judge, lack_of_fit


class WedgeFit(BaseEstimator):
    """Sum of powers about a corner whose exponents are unknown.

    ``u = sum_k r^mu_k (a_k cos mu_k theta + b_k sin mu_k theta)`` with coefficients of their own
    in every sector, `theta` counted from its start. Data rows and the homogeneous edge and
    interface conditions, weighted by `W`, are fitted together; coefficients are eliminated
    (variable projection). Starts come from a scan: no exponent is assumed. With truncated data the
    learned exponents err like ``W^-2``; `quantize` then takes the step to exponents that satisfy
    the conditions exactly.

    Parameters
    ----------
    sectors : float, sequence of (angle, coefficient), Wedge, Sectors or Cone
        Opening of one material in radians, or several materials, or a corner of `pdes.exact`.
    bc : {"DD", "NN", "DN", "ND", "periodic"}, default "DD"
        Value (D) or flux (N) zero on the first and last edge. Only for plain angles: a corner of
        `pdes.exact` has its own.
    order : int or "auto", default 1
        Number of exponents; ``"auto"`` adds terms until the residual is rounding or the Bayesian
        criterion rises.
    start : float, default 0
        Angle of the first edge.
    bounds : tuple of float, default (0.05, 7.0)
        Range that is scanned, and that exponents keep to; positive. The exponent 0 of a constant
        is always admitted where both edges are free of flux.
    rtol : float, default 1e-15
        Of the exponents.

    Attributes
    ----------
    exponents_ : ndarray, shape (terms,)
        Rising.
    coefficients_ : ndarray, shape (terms, sectors, 2), or (terms, 1, 1) for a cone
        Of ``cos mu theta`` and ``sin mu theta``.
    amplitudes_ : ndarray, shape (terms,)
        Largest coefficient of each term, signed.
    constant_ : float
    standard_errors_ : ndarray, shape (terms,)
        Of the exponents; from the residual, or from `noise`.
    shifts_ : ndarray, shape (terms,)
        How far `quantize` moved each exponent.
    residual_ : float
        Norm of what all rows leave, relative to the data.
    status_, advice_ : str
        ``"ok"``, or what is wrong and what to do: ``"unidentifiable"`` (the numbers are NaN),
        ``"at_bound"``, ``"unresolved"``, ``"superfluous"``, ``"saturated"`` (no more
        samples than unknowns; without `noise` errors are NaN), ``"poor_fit"`` (more is left over
        than the noise, or it has structure), ``"not_converged"``; ``"zero"`` and
        ``"constant"`` data have no exponent. After `quantize` ``"quantized"``,
        ``"unquantized"``, or what speaks against the quantized fit.

    Examples
    --------
    >>> theta = np.linspace(0.0, 1.5 * np.pi, 100)
    >>> fit = WedgeFit(1.5 * np.pi, "DD").fit(arc=(theta, np.sin(2 * theta / 3)))
    >>> fit.exponents_.round(12), fit.status_
    (array([0.66666667]), 'ok')
    """

    def __init__(
        self,
        sectors: Any,
        bc: str = "DD",
        order: int | str = 1,
        *,
        start: float = 0.0,
        bounds: tuple[float, float] = (0.05, 7.0),
        rtol: float = 1e-15,
    ) -> None:
        self.sectors = sectors
        self.bc = bc
        self.order = order
        self.start = start
        self.bounds = bounds
        self.rtol = rtol

    def fit(
        self, arc: Any, edges: Any = 60, W: float = 1.0, noise: float | None = None
    ) -> WedgeFit:
        """Learn exponents and coefficients.

        Parameters
        ----------
        arc : (theta, values), (radius, theta, values), or one or more WedgeSamples
            Data; the pair is meant on the arc ``r = 1``.
        edges : int, array_like, (radii, values) or None, default 60
            Points on every edge and interface, spaced evenly in the logarithm from a thousandth
            of the largest radius; or their radii; or radii with measured values of the conditions,
            shape (conditions, n), in the order of `conditions`. None leaves the conditions out.
        W : float, default 1
            Weight of these rows.
        noise : float, optional
            Standard deviation of rows of weight 1; estimated from the residual by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For arguments that make no sense; they are named.
        """
        model = self._prepare(arc, edges, W, noise)
        if self._samples[0]._single:
            warn_of_single_precision()
        if model is not None:
            order, bounds = check_wedge(self.order, self.bounds, self.start)
            ((found, stopped),) = find_terms([model], order, bounds, self.rtol)
            self._adopt(found, stopped, model, bounds)
        return self

    def _prepare(self, arc: Any, edges: Any, W: Any, noise: float | None) -> WedgeModel | None:
        """Rows of the fit; None if there is no exponent to find."""
        order, _ = check_wedge(self.order, self.bounds, self.start)
        check_noise(noise)
        check_rtol(self.rtol)
        self.corner_ = as_corner(self.sectors, self.bc)
        self._samples = samples = as_samples(arc)
        system = row_system(self.corner_, samples, float(self.start), edges, W)
        system, self._unit = system.in_own_unit()
        self._system, self.noise_, self.n_rows_ = system, noise, len(system.values)
        self._noise = None if noise is None else float(noise) / self._unit
        model = WedgeModel(self.corner_, system, self.corner_.has_constant)
        check_wedge_rows(self.n_rows_, model, 1 if order == "auto" else int(order))
        if not np.any(system.values):
            return self._without_terms("zero", 0.0)
        if model.constant:
            alone, left = least_squares(model(np.empty((1, 0)))[0][0], system)
            if left <= EXACT:
                return self._without_terms("constant", float(alone[0]) * self._unit)
        return model

    def conditions(self) -> list[str]:
        """Names of the homogeneous conditions, in the order of measured edge values."""
        return condition_names(as_corner(self.sectors, self.bc))

    def _without_terms(self, status: str, constant: float) -> None:
        shape = (0, 1, 1) if isinstance(self.corner_, Cone) else (0, len(self.corner_.sectors), 2)
        self.exponents_, self.coefficients_ = np.empty(0), np.empty(shape)
        self.standard_errors_, self.amplitudes_ = np.empty(0), np.empty(0)
        self.constant_, self.residual_ = constant, 0.0
        self.terms_ = ()
        self.shifts_ = np.empty(0)
        self._say(status)

    def _adopt(
        self, fit: SeparableFit, stopped: str, model: WedgeModel, bounds: tuple[float, float]
    ) -> None:
        count = fit.parameters.size
        places = np.argsort(fit.parameters, kind="stable")
        self.exponents_ = fit.parameters[places]
        coefficients = fit.coefficients * self._unit
        terms = coefficients[: count * model.per_term].reshape(count, -1)[places]
        functions = 1 if isinstance(self.corner_, Cone) else 2
        self.coefficients_ = terms.reshape(count, -1, functions)
        self.constant_ = float(coefficients[-1]) if model.constant else 0.0
        self.amplitudes_ = largest(terms)
        errors, spread = fit.standard_errors(self._noise)
        if self._noise is None and is_starved(fit, self._system.measured):
            errors = np.full_like(errors, np.nan)  # the residual is that of the edges
            spread = np.full_like(spread, np.nan)
        self.standard_errors_ = errors[places]
        spread = self._unit * spread[: count * model.per_term].reshape(count, -1)[places]
        superfluous = is_superfluous(terms, spread)
        self.residual_ = float(fit.relative_residual)
        self.terms_, self.shifts_ = ("learned",) * count, np.zeros(count)
        self.jacobian_ = fit.full_jacobian.copy()
        self.jacobian_[:, len(coefficients) :] *= self._unit
        status = judge(fit, self.exponents_, self.standard_errors_, superfluous, bounds,
                       self._system.measured)  # fmt: skip
        left = lack_of_fit(fit.residual, self.residual_, self._samples, self._system, self._noise)
        if left and status in ("ok", "not_converged"):
            status = "poor_fit"
        self._say(status, *([left] if status == "poor_fit" else []), stopped)
        if self.status_ == "unidentifiable":
            self.exponents_ = np.full(count, np.nan)
            self.standard_errors_ = np.full(count, np.inf)
            self.coefficients_ = np.full_like(self.coefficients_, np.nan)
            self.amplitudes_ = np.full(count, np.nan)
            self.constant_ = float("nan") if model.constant else 0.0

    def _say(self, status: str, *reasons: str) -> None:
        words = [*reasons, ADVICE[status]]
        self.status_, self.advice_ = status, "; ".join(word for word in words if word)

    def quantize(self) -> WedgeFit:
        """Move every learned exponent to the nearest one that satisfies all conditions exactly.

        Newton's method on the characteristic matrix starts from the learned value. The result
        must lie within three standard errors of it, or within 0.1; otherwise the term keeps its
        learned exponent and the status is ``"unquantized"``. Coefficients are fitted anew, with
        angular factors that satisfy the conditions, and judged anew: data that hold more terms
        leave a ``"poor_fit"``, and a term without a coefficient is ``"superfluous"``, quantized or
        not; `terms_` says which exponents were.

        Returns
        -------
        WedgeFit
            A new one; `shifts_` holds how far each exponent moved.

        Raises
        ------
        sklearn.exceptions.NotFittedError

        Examples
        --------
        >>> theta = np.linspace(0.0, 1.5 * np.pi, 100)
        >>> data = theta * (1.5 * np.pi - theta)  # an infinite series
        >>> fit = WedgeFit(1.5 * np.pi, "DD", order=4).fit(arc=(theta, data), W=1000.0)
        >>> fit.quantize().exponents_[:2]
        array([0.66666667, 2. ])
        """
        self._check_fitted()
        if self.status_ in ("zero", "constant", "unidentifiable"):
            return copy.copy(self)
        exponents, kinds = nearest_admissible(self.corner_, self.exponents_, self.standard_errors_)
        result = copy.copy(self)
        result.shifts_ = exponents - self.exponents_
        result._refit(exponents, kinds, judge_size=True)
        return result

    quantise = quantize

    def extend(self, order: int) -> WedgeFit:
        """Add the next admissible exponents, up to `order` terms in all, and fit the coefficients.

        Parameters
        ----------
        order : int
            Number of terms wanted, at most 60 less the constant.

        Returns
        -------
        WedgeFit
            A new one, quantized.

        Raises
        ------
        ValueError
            If a term is not quantized, or `order` is no larger number.
        """
        self._check_fitted()
        if "learned" in self.terms_ or "unquantized" in self.terms_:
            raise ValueError("extend: some exponents are not quantized; call quantize() first")
        known = self.exponents_
        if not (isinstance(order, (int, np.integer)) and order >= known.size):
            raise ValueError(f"order={order!r}, wanted an integer of at least {known.size}")
        wanted = int(order) + int(self.corner_.has_constant)
        spectrum = [mu for mu in corner_spectrum(self.corner_, wanted).exponents if mu > 0.0]
        fresh = [mu for mu in spectrum if np.all(np.abs(known - mu) > 1e-9 * (1.0 + mu))]
        exponents = np.sort(np.concatenate([known, fresh[: int(order) - known.size]]))
        result = copy.copy(self)
        result._refit(exponents, ("quantized",) * exponents.size)
        return result

    def _refit(
        self, exponents: NDArray, kinds: tuple[str, ...], *, judge_size: bool = False
    ) -> None:
        """Linear fit with given exponents; conditions hold exactly where they are quantized."""
        all_exact = all(kind == "quantized" for kind in kinds)
        system = self._system.without_edges() if all_exact else self._system
        found = refit(self.corner_, system, exponents, kinds, self._noise)
        self.exponents_, self.terms_ = exponents, kinds
        terms = found.terms * self._unit
        self.coefficients_ = terms.reshape(len(kinds), *self.coefficients_.shape[1:])
        self.constant_ = found.constant * self._unit
        self.amplitudes_, self.residual_ = largest(terms), found.relative_residual
        errors = np.zeros(len(kinds))
        if self.standard_errors_.size == len(kinds):
            errors = np.where([k == "quantized" for k in kinds], 0.0, self.standard_errors_)
        self.standard_errors_ = errors
        left = lack_of_fit(
            found.residual, found.relative_residual, self._samples, system, self._noise
        )
        # What was learned from too few samples gets no better by moving it.
        starved = judge_size and (self.status_ == "saturated" or found.spare <= len(kinds))
        status = "quantized"
        if not all_exact:
            status = "unquantized"
        elif starved or found.spare <= 0:
            status = "saturated"
        elif left:
            status = "poor_fit"
        elif judge_size and found.drowned.any():
            status = "superfluous"
        self._say(status, left)

    def predict(self, radius: ArrayLike, angle: ArrayLike) -> NDArray:
        """Field at points in polar coordinates about the corner.

        Parameters
        ----------
        radius, angle : array_like, shapes that broadcast
            The angle counts from the same axis as that of the data.

        Returns
        -------
        ndarray
        """
        self._check_fitted()
        r, theta = np.broadcast_arrays(
            np.asarray(radius, dtype=np.float64), np.asarray(angle, dtype=np.float64)
        )
        if not (np.all(np.isfinite(r)) and np.all(np.isfinite(theta)) and np.all(r >= 0.0)):
            raise ValueError("radius, angle: wanted finite numbers, radii not negative")
        total = np.full(r.size, self.constant_)
        sector, local = locate(self.corner_, theta.ravel(), float(self.start))
        for mu, coefficients in zip(self.exponents_, self.coefficients_, strict=True):
            if isinstance(self.corner_, Cone):
                from sciml.powerlaw.blocks import legendre

                total += coefficients[0, 0] * legendre(r.ravel(), local, mu).value
            else:
                own = coefficients[sector]
                angular = own[:, 0] * np.cos(mu * local) + own[:, 1] * np.sin(mu * local)
                total += r.ravel() ** mu * angular
        return total.reshape(r.shape)

    def table(self) -> list[dict[str, Any]]:
        """Rows of the result: exponent, standard error, amplitude and kind of each term."""
        self._check_fitted()
        columns = (self.exponents_, self.standard_errors_, self.amplitudes_, self.terms_)
        return [
            {"exponent": float(mu), "standard error": float(e), "amplitude": float(a), "kind": kind}
            for mu, e, a, kind in zip(*columns, strict=True)
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw learned exponents with their error bars over the exact spectrum of the corner.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting import plot_corner_spectrum

        self._check_fitted()
        drawn, errors = self.exponents_, self.standard_errors_
        if not np.all(np.isfinite(drawn)):
            raise ValueError(f"there is no exponent to draw: {self.advice_}")
        if not drawn.size:  # the spectrum of the corner alone, with the reason
            axes = plot_corner_spectrum(corner_spectrum(self.corner_, 3), ax)
            axes.annotate(self.advice_, (0.5, 0.5), xycoords="axes fraction", ha="center")
            return axes
        count = 1
        while corner_spectrum(self.corner_, count)[count - 1] < drawn.max() + REACH:
            count += 1
        return plot_corner_spectrum(
            corner_spectrum(self.corner_, count), ax, drawn, np.nan_to_num(errors)
        )

    def __str__(self) -> str:
        if not hasattr(self, "status_"):
            return repr(self)
        lines = [f"{self.corner_}: {self.status_}, relative residual {self.residual_:.2g}"]
        if self.corner_.has_constant:
            lines.append(f"  constant    {self.constant_: .6g}")
        for row in self.table():
            error, exact = row["standard error"], row["kind"] == "quantized"
            error = error if exact else at_least_rounding(error, row["exponent"], 1.0)
            lines.append(
                f"  {row['exponent']:.12g} +- {error:.2g}  amplitude {row['amplitude']: .6g}  "
                f"{row['kind']}"
                if math.isfinite(row["exponent"])
                else "  a term that the rows do not determine"
            )
        return "\n".join(lines + ([f"  {self.advice_}"] if self.advice_ else []))

    def _check_fitted(self) -> None:
        if not hasattr(self, "status_"):
            raise NotFittedError("this WedgeFit is not fitted yet; call fit(arc=...) first")
