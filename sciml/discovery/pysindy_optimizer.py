"""Our selection of terms inside a user's own PySINDy model.

``WhitenedBestSubsetOptimizer`` is a PySINDy optimizer. PySINDy is optional, so the class is made
when its name is first asked for; importing this module does not import PySINDy.

Examples
--------
>>> import pysindy as ps
>>> from sciml.discovery import WeakRowCovariance, WhitenedBestSubsetOptimizer
>>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
>>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
>>> u = (u + 0.02 * np.random.default_rng(0).normal(size=u.shape))[..., None]
>>> library = ps.WeakPDELibrary(
...     function_library=ps.PolynomialLibrary(degree=2, include_bias=False),
...     derivative_order=2,
...     spatiotemporal_grid=np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1),
...     K=60,
...     H_xt=[1.0, 0.4],
... )
>>> optimizer = WhitenedBestSubsetOptimizer(covariance=WeakRowCovariance(library, u))
>>> model = ps.SINDy(optimizer=optimizer, feature_library=library)
>>> model.fit(u, t=t, feature_names=["u"]).equations(precision=1)
[' 0.1 u_11']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.covariance import Whitener
from sciml.discovery.pysindy_adapter import require_pysindy
from sciml.discovery.subset_search import (
    GramSystem,
    choose_size,
    search,
    smallest_adequate_size,
)

RowCovariance = Callable[[NDArray, int], NDArray]
"""Covariance of the residual rows, given the coefficients of a target and its number."""

FLOOR = 1e-2
"""PySINDy takes the field as linear between grid points and differentiates some of it by finite
differences: with a percent of error from the grid, smaller improvements mean nothing."""

ROUNDS = 2


def select_terms(
    matrix: NDArray,
    left: NDArray,
    max_terms: int = 5,
    covariance: Callable[[NDArray], NDArray] | None = None,
    floor: float = FLOOR,
) -> NDArray:
    """Coefficients of the best subset of columns, its size chosen by the tempered EBIC.

    Parameters
    ----------
    matrix : ndarray, shape (rows, columns)
        Features.
    left : ndarray, shape (rows,)
        Left-hand side.
    max_terms : int
        Largest support.
    covariance : callable, optional
        Gives the covariance of the residual rows, up to a factor, for given coefficients; rows
        count as independent without it.
    floor : float
        Relative error that no model is expected to beat.

    Returns
    -------
    ndarray, shape (columns,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(200, 6))
    >>> left = 2 * matrix[:, 1] - matrix[:, 4] + 0.1 * rng.normal(size=200)
    >>> select_terms(matrix, left).round(1).tolist()
    [0.0, 2.0, 0.0, 0.0, -1.0, 0.0]
    """
    coefficients = np.zeros(matrix.shape[1])
    if not np.any(left):
        return coefficients
    system = GramSystem.of(matrix, left)
    result = search(system, max_terms)
    if covariance is None:
        support = result.best[choose_size(result, system, floor)][0]
    else:
        support = result.best[smallest_adequate_size(result)][0]
        for _ in range(ROUNDS):
            coefficients = np.zeros(matrix.shape[1])
            coefficients[list(support)] = system.solve(support)[0]
            whitener = Whitener.of(_checked(covariance(coefficients), len(left)))
            white = whitener.whiten(np.column_stack([matrix, left]))
            system = GramSystem.of(white[:, :-1], white[:, -1])
            result = search(system, max_terms)
            support = result.best[choose_size(result, system, floor)][0]
    coefficients = np.zeros(matrix.shape[1])
    coefficients[list(support)] = system.solve(support)[0]
    return coefficients


def _checked(covariance: NDArray, rows: int) -> NDArray:
    covariance = np.asarray(covariance, float)
    if covariance.shape != (rows, rows):
        raise ValueError(
            f"covariance has shape {covariance.shape} for {rows} rows, wanted ({rows}, {rows}); "
            "with several trajectories give a block for each, and fill missing values before the "
            "fit, since PySINDy drops rows that hold any"
        )
    return covariance


class WeakRowCovariance:
    """Covariance of the rows of PySINDy's weak form, for white noise on the fields.

    The overlap of the windows is exact for the left-hand side and for linear terms; for nonlinear
    terms the response to noise is taken to leading order, where all derivatives of a term act on
    the window.

    Parameters
    ----------
    library : pysindy.WeakPDELibrary
        The library that the model uses. Its function library must be fitted by the time the
        covariance is asked for, which PySINDy sees to.
    x : ndarray, shape (space..., time, fields)
        The one trajectory that the model is fitted to.
    noise : sequence of float, optional
        Standard deviation of the noise of each field; estimated from ``x`` by default.
    """

    def __init__(self, library: Any, x: NDArray, noise: Any = None) -> None:
        self.library = library
        self.x = np.asarray(x, float)
        shape = np.asarray(library.spatiotemporal_grid).shape[:-1]
        if self.x.shape[:-1] != shape:
            raise ValueError(
                f"x has shape {self.x.shape}, wanted the library's grid {shape} and the fields last"
            )
        if noise is None:
            from sciml.discovery.noise import noise_level

            noise = [noise_level(self.x[..., k]) for k in range(self.x.shape[-1])]
        # noise too weak to estimate must not make the covariance singular
        least = 1e-9 * self.x.reshape(-1, self.x.shape[-1]).std(axis=0)
        self.noise = np.maximum(np.asarray(noise, float), least)

    def __call__(self, coefficients: NDArray, target: int = 0) -> NDArray:
        """Covariance of the residual rows.

        Parameters
        ----------
        coefficients : ndarray, shape (features,)
            The equation of one field, over the columns of the library.
        target : int
            Which field.

        Returns
        -------
        ndarray, shape (K, K)
        """
        total = np.zeros((self.library.K, self.library.K))
        for field, level in enumerate(self.noise):
            response = self._response(np.asarray(coefficients, float), target, field)
            total += level**2 * (response @ response.T).toarray()
        return total

    def _response(self, coefficients: NDArray, target: int, field: int) -> Any:
        """Residual of each window per unit of noise at each grid point, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        library = self.library
        plain, derivatives = self._weights(coefficients, field)
        values, columns, starts = [], [], [0]
        for window in range(library.K):
            inside = np.ix_(*library.inds_k[window])
            total = np.zeros(library.fulltweights[window].shape)
            if field == target:
                # the left-hand side is -sum(weights * u), after integration by parts in time
                total -= library.fulltweights[window]
            if plain is not None:
                total -= library.fullweights0[window] * plain[inside]
            for order, weight in derivatives.items():
                sign = (-1.0) ** int(np.sum(library.multiindices[order]))
                total -= sign * library.fullweights1[window][order] * weight[inside]
            values.append(total.ravel())
            flat = np.ravel_multi_index(
                np.ix_(*[np.asarray(i) for i in library.inds_k[window]]), self.x.shape[:-1]
            )
            columns.append(flat.ravel())
            starts.append(starts[-1] + flat.size)
        return csr_matrix(
            (np.concatenate(values), np.concatenate(columns), starts),
            shape=(library.K, int(np.prod(self.x.shape[:-1]))),
        )

    def _weights(
        self, coefficients: NDArray, field: int
    ) -> tuple[NDArray | None, dict[int, NDArray]]:
        """What multiplies the noise of a field under the plain and the differentiated windows."""
        library, fields = self.library, self.x.shape[-1]
        functions = library.function_library
        monomials = int(functions.n_output_features_)
        bias = int(library.include_bias)
        orders = int(library.num_derivatives)
        mixed = orders * fields * monomials if library.include_interaction else 0
        if len(coefficients) != bias + monomials + orders * fields + mixed:
            raise ValueError(
                f"coefficients has {len(coefficients)} entries, the library "
                f"{bias + monomials + orders * fields + mixed} columns"
            )
        powers = coefficients[bias : bias + monomials]
        pure = coefficients[bias + monomials :][: orders * fields].reshape(orders, fields)
        products = np.zeros((orders, fields, monomials))
        if mixed:
            products = coefficients[-mixed:].reshape(orders, fields, monomials)
        plain = None
        if np.any(powers):
            step = 1e-4 * np.std(self.x[..., field])
            shift = np.zeros(fields)
            shift[field] = step
            change = self._functions(self.x + shift) - self._functions(self.x - shift)
            plain = change @ powers / (2 * step)
        derivatives = {}
        for order in range(orders):
            if np.any(products[order, field]) or pure[order, field] != 0.0:
                values = self._functions(self.x) @ products[order, field]
                derivatives[order] = values + pure[order, field]
        return plain, derivatives

    def _functions(self, x: NDArray) -> NDArray:
        from pysindy.utils import AxesArray, comprehend_axes

        return np.asarray(self.library.function_library.transform(AxesArray(x, comprehend_axes(x))))


@cache
def _optimizer_class() -> type:
    """The optimizer, a subclass of PySINDy's base class."""
    base = require_pysindy().optimizers.BaseOptimizer

    class WhitenedBestSubsetOptimizer(base):  # type: ignore[valid-type,misc]
        """PySINDy optimizer that compares all supports and chooses the size by a tempered EBIC.

        Parameters
        ----------
        max_terms : int, default 5
            Largest equation.
        covariance : ndarray of shape (rows, rows), callable, or None
            Covariance of the residual rows up to a factor, for whitening: an array, or a function
            of the coefficients and the number of the target such as
            :class:`sciml.discovery.WeakRowCovariance`. Rows count as independent by default.
        floor : float, default 1e-2
            Relative error that no model is expected to beat: that of PySINDy's quadrature.
        copy_X : bool, default True
            As for every PySINDy optimizer.

        Attributes
        ----------
        coef_ : ndarray, shape (targets, features)
        ind_ : ndarray of bool, shape (targets, features)
        """

        def __init__(
            self,
            max_terms: int = 5,
            covariance: Any = None,
            floor: float = FLOOR,
            copy_X: bool = True,
        ) -> None:
            # the coefficients are those of generalized least squares: PySINDy's refit on plain rows
            # would undo the whitening
            super().__init__(copy_X=copy_X, unbias=False)
            self.max_terms = max_terms
            self.covariance = covariance
            self.floor = floor

        def set_params(self, **params: Any) -> Any:
            """Set parameters and return self, as scikit-learn expects."""
            super().set_params(**params)
            return self

        def _reduce(self, x: NDArray, y: NDArray) -> None:
            if not isinstance(self.max_terms, (int, np.integer)) or self.max_terms < 1:
                raise ValueError(
                    f"max_terms must be a positive whole number, got {self.max_terms!r}"
                )
            x, y = np.asarray(x, float), np.asarray(y, float)
            rows = [
                select_terms(
                    x, y[:, k], self.max_terms, _for_target(self.covariance, k), self.floor
                )
                for k in range(y.shape[1])
            ]
            self.coef_ = np.array(rows)
            self.history_.append(self.coef_)

    WhitenedBestSubsetOptimizer.__module__ = __name__
    WhitenedBestSubsetOptimizer.__qualname__ = "WhitenedBestSubsetOptimizer"
    return WhitenedBestSubsetOptimizer


def _for_target(covariance: Any, target: int) -> Callable[[NDArray], NDArray] | None:
    if covariance is None:
        return None
    if callable(covariance):
        return lambda coefficients: covariance(coefficients, target)
    fixed = np.asarray(covariance, float)
    return lambda coefficients: fixed


def __getattr__(name: str) -> Any:
    if name == "WhitenedBestSubsetOptimizer":
        return _optimizer_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
