"""What every discoverer shares: reading data, fitting each field, and stating the result."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from pdes import Equation
from sciml.discovery.backend import Backend
from sciml.discovery.evidence import verdict
from sciml.discovery.known import known_terms
from sciml.discovery.library import resolve_library
from sciml.discovery.recording import DiscoveryWarning, Recording, as_recordings
from sciml.discovery.result import Identifiability, PathStep, Selection
from sciml.discovery.symmetry import SymmetryReport
from sciml.discovery.terms import Feature, expand_feature
from sciml.discovery.weak_form import WeakForm
from sciml.discovery.whitened_fit import Assembled


class AbstractDiscoverer(BaseEstimator):
    """Base of the estimators that find equations; subclasses choose the terms.

    A subclass stores its constructor arguments and implements ``_select``.
    """

    library: Any
    target: str | Sequence[str] | None
    periodic: bool | Sequence[str] | None
    half_widths: Sequence[int] | None
    known: Mapping[str, Any] | None = None
    backend: str = "numpy"
    device: str | None = None
    time_order: int = 1

    # ---- fitting --------------------------------------------------------------------------

    def fit(
        self, X: Any, y: None = None, *, coords: Mapping[str, Any] | None = None
    ) -> AbstractDiscoverer:
        """Find the equation of each target field.

        Parameters
        ----------
        X : DataArray, Dataset, array, or list of these
            Recording(s) with dimensions ``time``, ``x`` (``y``, ``z``) and possibly ``sample``;
            a list may hold recordings on different grids. NaN marks missing values.
        y : None
            Ignored; the left-hand side comes from the data.
        coords : mapping, optional
            Coordinates of a plain array's axes, in axis order: ``{"x": x, "t": t}``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If no equation can be found from such data; the message says why and what helps.
        """
        recordings = as_recordings(X, coords, self.periodic)
        first = recordings[0]
        names = tuple(first.fields)
        targets = self._targets(first)
        library = resolve_library(self.library)
        features = library.features(names, first.space)
        known = known_terms(self.known, names, targets, first.space)
        listed = {feature for entries in known.values() for feature in entries}
        columns = features + tuple(feature for feature in listed if feature not in features)
        backend = Backend(self.backend, self.device)
        weak_forms = [
            WeakForm(
                run,
                columns,
                self.half_widths,
                backend=backend,
                time_order=self.time_order,
            )
            for run in recordings
        ]
        matrices = [weak.matrix() for weak in weak_forms]
        self._check_rows(weak_forms, len(features))
        self._remember(recordings, features, targets, known)
        self.n_rows_ = sum(weak.n_rows for weak in weak_forms)
        self.half_widths_ = [
            tuple(windows.half_width for windows in weak.windows) for weak in weak_forms
        ]
        for name in targets:
            fixed = {columns.index(feature): c for feature, c in known[name].items()}
            free = [k for k in range(len(features)) if k not in fixed]
            assembled = Assembled(weak_forms, name, matrices, free, fixed)
            chosen = self._select(assembled, tuple(features[k] for k in free))
            self._selections[name] = chosen.renumbered(free, len(features))
        self._state_result()
        for name, selection in self._selections.items():
            for notice in selection.notices:
                warnings.warn(f"{name}: {notice}", DiscoveryWarning, stacklevel=2)
        return self

    def _remember(
        self,
        recordings: list[Recording],
        features: tuple[Feature, ...],
        targets: tuple[str, ...],
        known: dict[str, dict[Feature, float]],
    ) -> None:
        """Keep of the data what results and simulations need."""
        first = recordings[0]
        self.feature_names_ = [feature.name for feature in features]
        self.fields_ = tuple(first.fields)
        self.coordinates_ = first.space
        self.targets_ = targets
        self.noise_estimate_ = _pooled(recordings, "noise")
        self.field_scale_ = _pooled(recordings, "spread")
        self.complex_fields_ = first.complex_fields
        self._features = features
        self._known = known
        self._domains = [
            {name: values.copy() for name, values in run.coordinates.items()} for run in recordings
        ]
        self._periodic = first.periodic
        self._selections: dict[str, Selection] = {}

    @abstractmethod
    def _select(self, assembled: Assembled, features: tuple[Feature, ...]) -> Selection:
        """Choose the terms of one equation."""

    def _targets(self, run: Recording) -> tuple[str, ...]:
        names = tuple(run.fields)
        if self.target is None:
            return names
        wanted = (self.target,) if isinstance(self.target, str) else tuple(self.target)
        out: list[str] = []
        for name in wanted:
            if name in run.complex_fields:
                out += [f"{name}_re", f"{name}_im"]
            elif name in names:
                out.append(name)
            else:
                import difflib

                close = difflib.get_close_matches(name, names, 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"target {name!r} is not a field; fields are {list(names)}{hint}")
        return tuple(out)

    def _check_rows(self, weak_forms: list[WeakForm], columns: int) -> None:
        rows = sum(weak.n_rows for weak in weak_forms)
        if rows < columns + 5:
            raise ValueError(
                f"only {rows} windows fit the data for {columns} library terms: record more "
                "points, fill gaps, set periodic=True if the axis is periodic, or use a smaller "
                "library, for instance library=sciml.Library(degree=2, order=2)"
            )

    # ---- stating the result -----------------------------------------------------------------

    def _state_result(self) -> None:
        self.support_: dict[str, tuple[str, ...]] = {}
        self.coef_: dict[str, NDArray] = {}
        self.chi2_: dict[str, float] = {}
        self.adequate_: dict[str, bool] = {}
        self.path_: dict[str, list[PathStep]] = {}
        self.symmetry_: dict[str, SymmetryReport] = {}
        self.identifiability_: dict[str, Identifiability] = {}
        self.notices_: dict[str, tuple[str, ...]] = {}
        self.inclusion_: dict[str, dict[str, float]] = {}
        names = self.feature_names_
        for target, selection in self._selections.items():
            self.support_[target] = tuple(names[k] for k in selection.support)
            coefficients = np.zeros(len(names))
            coefficients[list(selection.support)] = selection.coefficients
            self.coef_[target] = coefficients
            self.chi2_[target] = selection.chi2
            self.adequate_[target] = selection.adequate
            self.path_[target] = list(selection.path)
            self.symmetry_[target] = selection.symmetry
            self.notices_[target] = selection.notices
            ratios = {names[r.without]: r.ratio for r in selection.rivals}
            worst = min(ratios.values(), default=float("nan"))
            word = verdict(worst) if ratios else "unknown"
            if selection.traveling_wave and word == "identified":
                word = "weak"
            self.identifiability_[target] = Identifiability(word, worst, ratios, selection.notices)
            if selection.inclusion is not None:
                self.inclusion_[target] = dict(
                    zip(names, map(float, selection.inclusion), strict=True)
                )
        for cached in ("_statement",):
            self.__dict__.pop(cached, None)

    def _check_fitted(self) -> None:
        if not hasattr(self, "_selections"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call fit(data) first"
            )

    def _stated(self) -> dict[str, Any]:
        """Expanded terms, made on first use since they need SymPy."""
        self._check_fitted()
        if "_statement" not in self.__dict__:
            terms, errors, covariances = {}, {}, {}
            for target, selection in self._selections.items():
                known = self._known[target]
                count = len(selection.support)
                covariance = np.zeros((count + len(known), count + len(known)))
                covariance[:count, :count] = selection.covariance
                terms[target], covariances[target] = self._expand(
                    [*(self._features[k] for k in selection.support), *known],
                    [*selection.coefficients, *known.values()],
                    covariance,
                )
                deviations = np.sqrt(np.maximum(np.diag(covariances[target]), 0.0))
                errors[target] = {
                    term: float(d) for term, d in zip(terms[target], deviations, strict=True)
                }
            equation = None
            if set(terms) == set(self.fields_):
                equation = self._as_equation(terms)
            self.__dict__["_statement"] = {
                "terms": terms,
                "errors": errors,
                "covariances": covariances,
                "equation": equation,
            }
        return self.__dict__["_statement"]

    def _as_equation(self, terms: dict[str, dict[str, float]]) -> Equation:
        """The system; one of second order in time gets the rates of its fields as fields."""
        coordinates = self._features[0].coordinates
        if self.time_order == 2:
            rates = {f"{name}_rate": entries for name, entries in terms.items()}
            terms = {name: {f"{name}_rate": 1.0} for name in terms} | rates
        return Equation.from_terms(terms, name="discovered", coordinates=coordinates)

    def _expand(
        self,
        features: Sequence[Feature],
        coefficients: Sequence[float] | NDArray,
        covariance: NDArray,
    ) -> tuple[dict[str, float], NDArray]:
        """Canonical terms of a combination of features, and their coefficients' covariance."""
        expansions = [expand_feature(feature, self.fields_) for feature in features]
        basis = list(dict.fromkeys(term for item in expansions for term in item))
        change = np.array([[item.get(term, 0.0) for item in expansions] for term in basis])
        if not basis:
            return {}, np.zeros((0, 0))
        values = change @ np.asarray(coefficients)
        return (
            {term: float(value) for term, value in zip(basis, values, strict=True)},
            change @ covariance @ change.T,
        )

    @property
    def terms_(self) -> dict[str, dict[str, float]]:
        """Field -> canonical term -> coefficient, fully expanded."""
        return copy.deepcopy(self._stated()["terms"])

    @property
    def standard_errors_(self) -> dict[str, dict[str, float]]:
        """Standard errors, with the keys of ``terms_``."""
        return copy.deepcopy(self._stated()["errors"])

    @property
    def cov_(self) -> dict[str, NDArray]:
        """Covariance of the coefficients of each field, in the order of ``terms_``."""
        return {name: values.copy() for name, values in self._stated()["covariances"].items()}

    @property
    def equation_(self) -> Equation:
        """The found equation(s); needs every field to be a target.

        An equation of second order in time is stated as a system with the field ``u_rate``.
        """
        equation = self._stated()["equation"]
        if equation is None:
            missing = sorted(set(self.fields_) - set(self.targets_))
            raise ValueError(
                f"no equation was sought for {missing}: fit with target=None for the whole system"
            )
        return equation

    @property
    def rivals_(self) -> dict[str, list[dict[str, Any]]]:
        """For each field the best equations that do without one of its terms.

        Each is a dict with ``without``, ``terms``, ``ratio`` and ``verdict``.
        """
        self._check_fitted()
        out: dict[str, list[dict[str, Any]]] = {}
        for target, selection in self._selections.items():
            out[target] = []
            for rival in selection.rivals:
                size = len(rival.support)
                columns = [self._features[k] for k in rival.support]
                terms, _ = self._expand(columns, rival.coefficients, np.zeros((size, size)))
                out[target].append(
                    {
                        "without": self.feature_names_[rival.without],
                        "terms": terms,
                        "ratio": rival.ratio,
                        "verdict": verdict(rival.ratio),
                    }
                )
        return out

    # ---- using the result -------------------------------------------------------------------

    def predict(self, X: Any, *, coords: Mapping[str, Any] | None = None) -> NDArray:
        """Weak time derivative that the equation predicts, one row per window.

        Parameters
        ----------
        X, coords
            Recording(s) as for ``fit``.

        Returns
        -------
        ndarray, shape (rows,) or (rows, targets)
        """
        return self._both_sides(X, coords)[0]

    def score(self, X: Any, y: None = None, *, coords: Mapping[str, Any] | None = None) -> float:
        """Share of the variance of the weak time derivative that the equation explains.

        Parameters
        ----------
        X, coords
            Recording(s) as for ``fit``.
        y : None
            Ignored.

        Returns
        -------
        float
            Coefficient of determination, averaged over the target fields; 1 is best.
        """
        predicted, measured = self._both_sides(X, coords)
        predicted = predicted.reshape(len(predicted), -1)
        measured = measured.reshape(len(measured), -1)
        residual = np.sum((measured - predicted) ** 2, axis=0)
        total = np.sum((measured - measured.mean(axis=0)) ** 2, axis=0)
        return float(np.mean(1.0 - residual / np.maximum(total, 1e-300)))

    def _both_sides(self, X: Any, coords: Mapping[str, Any] | None) -> tuple[NDArray, NDArray]:
        self._check_fitted()
        recordings = as_recordings(X, coords, self.periodic)
        if tuple(recordings[0].fields) != self.fields_:
            raise ValueError(
                f"data has fields {tuple(recordings[0].fields)}, the equation was found for "
                f"{self.fields_}"
            )
        predicted, measured = [], []
        known = [feature for entries in self._known.values() for feature in entries]
        columns = (*self._features, *dict.fromkeys(f for f in known if f not in self._features))
        weights = np.zeros((len(columns), len(self.targets_)))
        for position, target in enumerate(self.targets_):
            weights[: len(self._features), position] = self.coef_[target]
            for feature, coefficient in self._known[target].items():
                weights[columns.index(feature), position] = coefficient
        for run in recordings:
            weak = WeakForm(run, columns, self.half_widths, time_order=self.time_order)
            predicted.append(weak.matrix() @ weights)
            measured.append(np.column_stack([weak.left_side(t) for t in self.targets_]))
        left, right = np.concatenate(predicted), np.concatenate(measured)
        if len(self.targets_) == 1:
            return left[:, 0], right[:, 0]
        return left, right

    def simulate(self, u0: Any, times: Any, **options: Any) -> xr.Dataset:
        """Solve the found equation.

        Parameters
        ----------
        u0 : DataArray, Dataset or array
            Initial field(s), on the grid of the recording if an array.
        times : array_like
            Output times; the first is the time of ``u0``.
        **options
            Passed on, see :func:`sciml.discovery.simulation.simulate_equation`.

        Returns
        -------
        xarray.Dataset
        """
        from sciml.discovery.simulation import simulate_equation

        self._check_fitted()
        return simulate_equation(
            self.equation_, u0, times, self._domains[0], self._periodic, **options
        )

    def detection_limit(self) -> dict[str, dict[str, float]]:
        """Noise level at which each term would be lost, relative to the field's spread.

        Returns
        -------
        dict of str to dict of str to float
            Field -> library term -> noise level. A forecast from the standard errors, good to a
            factor of about two; NaN where the method has none or the data are too clean to tell.
        """
        self._check_fitted()
        out: dict[str, dict[str, float]] = {}
        for target, selection in self._selections.items():
            level = self.noise_estimate_[target] / self.field_scale_[target]
            limits = selection.noise_limits
            out[target] = {
                self.feature_names_[k]: float("nan") if limits is None else float(level * limits[j])
                for j, k in enumerate(selection.support)
            }
        return out

    # ---- showing the result -----------------------------------------------------------------

    def equations(self, digits: int = 4) -> list[str]:
        """The equations as text, one per field; complex fields are rejoined.

        Parameters
        ----------
        digits : int
            Significant digits of the coefficients.

        Returns
        -------
        list of str
        """
        from sciml.discovery.statement import equation_lines

        return equation_lines(self, digits)

    def latex(self, digits: int = 4) -> str:
        """The equations in LaTeX, separated by line breaks."""
        from sciml.discovery.statement import equation_latex

        return equation_latex(self, digits)

    def summary(self) -> str:
        """Table of terms, coefficients and evidence, as text."""
        from sciml.discovery.statement import summary_text

        return summary_text(self)

    def plot(self, axes: Any = None) -> Any:
        """Plot coefficients with their errors, rivals, and the residual by number of terms.

        Parameters
        ----------
        axes : sequence of two or three matplotlib.axes.Axes, optional
            Three by default; two leave out the rivals.

        Returns
        -------
        ndarray of matplotlib.axes.Axes
        """
        from sciml.plotting.discovery import plot_evidence

        self._check_fitted()
        return plot_evidence(self, axes)


def _pooled(recordings: list[Recording], what: str) -> dict[str, float]:
    """Root mean square over recordings of the noise or the spread of each field."""
    out = {}
    for name in recordings[0].fields:
        if what == "noise":
            values = [run.noise[name] for run in recordings]
        else:
            values = [run.spread(name) for run in recordings]
        out[name] = float(np.sqrt(np.mean(np.square(values))))
    return out
